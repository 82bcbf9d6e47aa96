"""What Prometheus reads: requests, times, failures, and how far each policy has come."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from boundit.service.engine import Engine
from boundit.service.errors import ServiceError
from boundit.service.store.base import Head

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counts of one app, and the policies as they are when somebody asks."""

    def __init__(self, engine: Engine) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "boundit_requests",
            "Requests, by operation and status.",
            ["operation", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "boundit_request_seconds",
            "Time from the headers of a request to its answer.",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._registry.register(_EngineCollector(engine))

    def make_note(self, operation: str) -> Callable[[int, float], None]:
        """Make what counts a request of an operation: its status and its seconds."""
        seconds, requests = self._seconds.labels(operation), dict[int, Counter]()

        def note(status: int, taken: float) -> None:
            counter = requests.get(status)
            if counter is None:
                counter = requests[status] = self._requests.labels(operation, str(status))
            counter.inc()
            seconds.observe(taken)

        return note

    def write(self) -> bytes:
        """Write all as Prometheus reads it."""
        return generate_latest(self._registry)


class _EngineCollector(Collector):
    """Counts of the engine and gauges of the policies, read when they are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> Iterator[Metric]:
        """Say nothing before it is asked."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give all counts; those of policies come from head rows alone.

        So a policy that cannot be opened is told of too, and nobody waits.
        """
        engine, counts = self._engine, self._engine.counts
        yield GaugeMetricFamily(
            "boundit_waiting_rows", "Rows that wait to be written.", engine.n_waiting
        )
        for name, says, value in (
            ("store_failures", "Groups that the store did not take.", counts.store_failures),
            ("refused_commands", "Commands that were refused.", counts.refused),
            ("bugs", "Groups that failed by a bug of ours.", counts.bugs),
            ("written_rows", "Rows that were written.", counts.rows),
        ):
            yield CounterMetricFamily(f"boundit_{name}", says, value)
        heads, due, now = self._read()

        def since(head: Head) -> float:
            return (now - head.last_at) / 1e6

        for name, says, find in (
            ("position", "Events of a policy.", lambda head: head.head),
            (
                "open_decisions",
                "Decisions that are not closed.",
                lambda head: head.open_decisions,
            ),
            (
                "learned_decisions",
                "Decisions that were learned.",
                lambda head: head.learned_decisions,
            ),
            (
                "unlearned_rewards",
                "Rewards that the policy could not learn in this process.",
                lambda head: engine.count_unlearned(head.name),
            ),
            (
                "bounds_version",
                "The version of the bounds in force.",
                lambda head: head.bounds_version,
            ),
            (
                "refuted",
                "1 where rewards refuted the bounds.",
                lambda head: head.refuted_version >= head.bounds_version,
            ),
            (
                "last_event_age_seconds",
                "Age of the newest event; below 0 where a clock was ahead.",
                since,
            ),
            (
                "overdue_seconds",
                "For how long a window should have been closed.",
                lambda head: max(now - due.get(head.id, now), 0) / 1e6,
            ),
        ):
            gauge = GaugeMetricFamily(f"boundit_policy_{name}", says, labels=["policy"])
            for head in heads:
                gauge.add_metric([head.name], find(head))
            yield gauge

    def _read(self) -> tuple[list[Head], dict[int, int], int]:
        with suppress(ServiceError), self._engine.store.read() as transaction:
            return transaction.list_heads(), transaction.find_next_due(), transaction.now
        return [], {}, 0
