"""What a figure of intervals shows: everything, or the weightiest where there is too much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from boundit.report.errors import NothingToDraw
from boundit.report.figures.marks import (
    MISSED,
    TRUTH,
    Mark,
    make_bound_marks,
    make_point_marks,
    make_span_marks,
)
from boundit.report.records import IntervalSeries, PointEstimates
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable

MOST_CONTEXTS, MOST_ARMS, MOST_LINES = 12, 40, 120
_PAD = 0.04
_MOSTLY = 0.55
"""What share of the reward's range must be in use for all of it to be shown."""
T = TypeVar("T")


@dataclass(frozen=True)
class Whiskers:
    """Bounds to be drawn, and whatever is known beside them.

    >>> table = BoundTable.from_rows(
    ...     [{"Ad": ad, "lower": 0.1, "upper": 0.3} for ad in range(50)],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> Whiskers(table).omission
    'Shown are the 40 of 50 arms with the highest upper ends; the table has all.'
    """

    table: BoundTable
    truth: Mapping[Key, float] | None = None
    points: Sequence[PointEstimates] = ()
    spans: Sequence[IntervalSeries] = ()

    def __post_init__(self) -> None:
        if not self.table.bounds:
            raise NothingToDraw("the table has no rows")

    @cached_property
    def contexts(self) -> tuple[Context, ...]:
        """The contexts to draw: those with the most logged rows, in the table's order."""
        logged = dict.fromkeys(self.table.contexts, 0.0)
        for (_, context), bound in self.table.bounds.items():
            logged[context] += bound.n
        most = min(MOST_CONTEXTS, max(MOST_LINES // len(self.arms), 2))
        return _keep_greatest(self.table.contexts, logged.__getitem__, most)

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms to draw: those with the highest upper ends, in the table's order."""
        best = dict.fromkeys(self.table.arms, float("-inf"))
        for (arm, _), bound in self.table.bounds.items():
            best[arm] = max(best[arm], bound.upper)
        return _keep_greatest(self.table.arms, best.__getitem__, MOST_ARMS)

    @property
    def omission(self) -> str:
        """Which contexts and arms the figure leaves out, in words; empty when none."""
        contexts, arms = len(self.table.contexts), len(self.table.arms)
        parts = []
        if len(self.contexts) < contexts:
            parts.append(
                f"the {len(self.contexts)} of {contexts:,} contexts with the most logged rows"
            )
        if len(self.arms) < arms:
            parts.append(f"the {len(self.arms)} of {arms:,} arms with the highest upper ends")
        return f"Shown are {' and '.join(parts)}; the table has all." if parts else ""

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The marks that the figure's legend explains: each a line or marker with its words."""
        sampled = any(
            bound.lower < bound.lower_estimate or bound.upper > bound.upper_estimate
            for bound in self.table.bounds.values()
        )
        known = any(key in (self.truth or {}) for key in self._keys)
        return (
            *make_bound_marks(sampled=sampled),
            *((TRUTH,) if known else ()),
            *make_point_marks(self.points),
            *make_span_marks(self.spans, len(self.points)),
            *((MISSED,) if any(map(self.has_any_miss, self._keys)) else ()),
        )

    @property
    def marks_misses(self) -> bool:
        """Whether any interval leaves the truth out."""
        return MISSED in self.marks

    @cached_property
    def scale(self) -> tuple[float, float]:
        """The ends of the reward axis, the same for all panels."""
        low, high = self.table.outcome_range
        used = [end for key in self._keys for end in self._list_ends(key)]
        least, most = min(used), max(used)
        pad = _PAD * ((most - least) or (high - low) or 1.0)
        if most - least >= _MOSTLY * (high - low):
            return min(low, least) - pad / 2, max(high, most) + pad / 2
        return least - pad, most + pad

    def has_bound_miss(self, key: Key) -> bool:
        """Tell whether the bounds of a pair of arm and context leave its truth out."""
        truth, bound = (self.truth or {}).get(key), self.table.bounds.get(key)
        if truth is None or bound is None:
            return False
        return IntervalSeries("bounds", {key: bound.interval}).has_missed(key, truth)

    def has_span_miss(self, spans: IntervalSeries, key: Key) -> bool:
        """Tell whether another interval of a pair, such as a printed one, leaves its truth out."""
        truth = (self.truth or {}).get(key)
        return truth is not None and spans.has_missed(key, truth)

    def has_any_miss(self, key: Key) -> bool:
        """Tell whether any interval of a pair leaves the truth out."""
        return self.has_bound_miss(key) or any(self.has_span_miss(s, key) for s in self.spans)

    @cached_property
    def _keys(self) -> tuple[Key, ...]:
        """The pairs of arm and context that the figure draws."""
        return tuple((arm, context) for context in self.contexts for arm in self.arms)

    def _list_ends(self, key: Key) -> list[float]:
        """List all numbers of a pair that the figure shows: ends, estimates and truth."""
        bound = self.table.bounds.get(key)
        ends = [bound.lower, bound.upper] if bound else list(self.table.outcome_range)
        ends += [s.values[key].lower for s in self.spans if key in s.values]
        ends += [s.values[key].upper for s in self.spans if key in s.values]
        ends += [p.values[key] for p in self.points if key in p.values]
        return [*ends, self.truth[key]] if self.truth and key in self.truth else ends


def _keep_greatest(
    found: Sequence[T], weight: Callable[[T], float], most: int
) -> tuple[T, ...]:
    """Keep the ``most`` arms or contexts of greatest weight, in their order."""
    if len(found) <= most:
        return tuple(found)
    kept = sorted(range(len(found)), key=lambda i: (-weight(found[i]), i))[:most]
    return tuple(found[i] for i in sorted(kept))
