"""What Prometheus reads: requests, times, and how far each policy has come."""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from boundit.service.engine import Engine
from boundit.service.errors import ServiceError
from boundit.service.store.store import Head

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The counts of one app, and the policies as they are when somebody asks."""

    def __init__(self, engine: Engine) -> None:
        self._registry, self._counts = CollectorRegistry(), RequestCounts()
        self._registry.register(self._counts)
        self._registry.register(PolicyCollector(engine))

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a request; called by ``Door.answer`` for each."""
        self._counts.note(operation, status, seconds)

    def write(self) -> bytes:
        """Write all as Prometheus reads it; called for ``/metrics``."""
        return generate_latest(self._registry)


@final
class RequestCounts(Collector):
    """Requests by operation and status, and how long they took.

    Counted by the event loop alone, which needs no locks for it.
    """

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a request; called by ``Metrics.note``."""
        key = operation, status
        self._requests[key] = self._requests.get(key, 0) + 1
        if operation not in self._buckets:
            self._buckets[operation] = [0] * (len(_SECONDS) + 1)
            self._seconds[operation] = 0.0
        self._buckets[operation][bisect_left(_SECONDS, seconds)] += 1
        self._seconds[operation] += seconds

    def describe(self) -> Iterator[Metric]:
        """Say nothing before it is asked; the registry calls it."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give what was counted; the registry calls it for every page of metrics."""
        requests = CounterMetricFamily(
            "boundit_requests",
            "Requests, by operation and status.",
            labels=["operation", "status"],
        )
        for (operation, status), n in list(self._requests.items()):
            requests.add_metric([operation, str(status)], n)
        yield requests
        times = HistogramMetricFamily(
            "boundit_request_seconds",
            "Time from the first byte of a body to the answer.",
            labels=["operation"],
        )
        ends = [*map(floatToGoString, _SECONDS), "+Inf"]
        for operation, buckets in list(self._buckets.items()):
            below = list(zip(ends, map(float, accumulate(buckets)), strict=True))
            times.add_metric([operation], below, self._seconds[operation])
        yield times


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
        heads, due, now = self._read()
        for name, says, find in (
            ("position", "Events of a policy.", lambda head: head.head),
            ("n_open", "Decisions whose window has not closed.", lambda head: head.n_open),
            ("n_learned", "Decisions that were learned.", lambda head: head.n_learned),
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
                "seconds_ahead",
                "By how much an event lies ahead of the clock, as one was wrong.",
                lambda head: max(head.last_at - now, 0) / 1e6,
            ),
            (
                "seconds_overdue",
                "For how long a window should have been closed.",
                lambda head: max(now - due.get(head.id, now), 0) / 1e6,
            ),
        ):
            gauge = GaugeMetricFamily(f"boundit_policy_{name}", says, labels=["policy"])
            for head in heads:
                gauge.add_metric([head.name], find(head))
            yield gauge

    def _read(self) -> tuple[list[Head], dict[int, int], int]:
        # Head rows alone: a policy that cannot be opened is told of too, and nobody waits.
        with suppress(ServiceError), self._engine.store.read() as transaction:
            return transaction.list_heads(), transaction.find_next_due(), transaction.now
        return [], {}, 0
