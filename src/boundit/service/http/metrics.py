"""What Prometheus reads: requests, times, and how far each policy has come."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from boundit.service.engine import Engine
from boundit.service.errors import ServiceError

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counters of one app, and the policies as they are when somebody asks."""

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
            "Time from the first byte of a body to the answer.",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._registry.register(PolicyCollector(engine))
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a request; called by ``Door.answer`` for each."""
        known = self._known.get((operation, status))
        if known is None:
            requests = self._requests.labels(operation, str(status))
            known = self._known[operation, status] = requests, self._seconds.labels(operation)
        requests, times = known
        requests.inc()
        times.observe(seconds)

    def write(self) -> bytes:
        """Write all as Prometheus reads it; called for ``/metrics``."""
        return generate_latest(self._registry)


class PolicyCollector(Collector):
    """Gauges of the policies, read from the store when they are asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> Iterator[Metric]:
        """Say nothing before it is asked; the registry calls it."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give the gauges of all policies; the registry calls it for every page of metrics."""
        waiting = GaugeMetricFamily("boundit_waiting_rows", "Rows that wait to be written.")
        waiting.add_metric([], self._engine.n_waiting)
        yield waiting
        try:
            policies = self._engine.list_policies()
        except ServiceError:
            policies = []
        for name, says in (
            ("position", "Events of a policy."),
            ("n_open", "Decisions whose window has not closed."),
            ("n_learned", "Decisions that were learned."),
            ("bounds_version", "The version of the bounds in force."),
        ):
            gauge = GaugeMetricFamily(f"boundit_policy_{name}", says, labels=["policy"])
            for one in policies:
                gauge.add_metric([one.name], getattr(one, name))
            yield gauge
        refuted = GaugeMetricFamily(
            "boundit_policy_refuted", "1 where rewards refuted the bounds.", labels=["policy"]
        )
        for one in policies:
            refuted.add_metric([one.name], float(one.refuted is not None))
        yield refuted
