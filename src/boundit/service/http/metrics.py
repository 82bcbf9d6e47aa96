"""Prometheus metrics: requests, the writer's counters, and gauges of each policy."""

from collections.abc import Iterator
from contextlib import suppress

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from boundit.service.engine import Engine
from boundit.service.errors import ServiceError

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_GAUGES = {
    "position": "Events of a policy.",
    "open_decisions": "Decisions that are not closed.",
    "learned_decisions": "Decisions that were learned.",
    "unlearned_rewards": "Rewards that the policy could not learn in this process.",
    "bounds_version": "The version of the bounds in force.",
    "refuted": "1 where rewards refuted the bounds.",
    "last_event_age_seconds": "Age of the newest event; below 0 where a clock was ahead.",
    "overdue_seconds": "How long ago a window should have been closed.",
}


def make_metrics(engine: Engine) -> tuple[Counter, Histogram]:
    """Register the metrics of requests and policies beside those of the engine."""
    engine.registry.register(PolicyCollector(engine))
    requests = Counter(
        "boundit_requests",
        "Requests, by operation and status.",
        ["operation", "status"],
        registry=engine.registry,
    )
    seconds = Histogram(
        "boundit_request_seconds",
        "Time from the headers of a request to its answer.",
        ["operation"],
        buckets=_SECONDS,
        registry=engine.registry,
    )
    return requests, seconds


class PolicyCollector(Collector):
    """Gauges of the policies, read from their head rows when they are asked for.

    So a policy that cannot be loaded has them too, and no writer is waited for.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> Iterator[Metric]:
        """Describe nothing, so that registering reads nothing."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Read all gauges of all policies."""
        gauges = {
            name: GaugeMetricFamily(f"boundit_policy_{name}", says, labels=["policy"])
            for name, says in _GAUGES.items()
        }
        with suppress(ServiceError), self._engine.store.read() as transaction:
            heads, due, now = (
                transaction.list_heads(),
                transaction.find_next_due(),
                transaction.now,
            )
            for head in heads:
                values = (
                    head.head,
                    head.open_decisions,
                    head.learned_decisions,
                    self._engine.count_unlearned(head.name),
                    head.bounds_version,
                    head.refuted_version >= head.bounds_version,
                    (now - head.last_at) / 1e6,
                    max(now - due.get(head.id, now), 0) / 1e6,
                )
                for gauge, value in zip(gauges.values(), values, strict=True):
                    gauge.add_metric([head.name], value)
        yield from gauges.values()
