"""Every candidate's ends, intersected: the largest lower end and the smallest upper one.

An exact law leaves no room for chance: ends that cross there refute the graph. Plug-in ends of
counted rows cross by noise; such a row keeps the narrowest single rule and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.explain import Explainer
from boundit.bounds.numbers import Ends, Numbers, PlugInNumbers
from boundit.bounds.plan import BoundPlan
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import Bound, Key
from boundit.terms.errors import BounditError, shorten
from boundit.terms.explanation import RANGE
from boundit.terms.message import Note
from boundit.terms.rounding import ROUNDING

NEVER_LOGGED = "this arm was never logged in this context"
CROSSED = "the rules contradict each other here; this is the narrowest single one"
NO_FIT = "by chance no model of the graph fits {!r} here, so that rule was left out"
Places = NDArray[np.intp]


class EndsCross(BounditError):
    """Bounds that exclude each other: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: {len(rows)} intervals are empty, "
            f"{shorten('; '.join(rows), 400)}"
        )


class NoModelFits(BounditError):
    """Numbers that no model of the graph can give: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: no model of it has these probabilities, "
            f"{shorten('; '.join(rows), 400)}"
        )


@dataclass(frozen=True, eq=False)
class Intersection:
    """The best ends of all rules, which rule gave each, and where they cross."""

    lower: Floats
    upper: Floats
    low_by: Places
    high_by: Places
    crossed: NDArray[np.bool_]
    all_ends: Sequence[Ends] = ()

    def empty(self, which: int) -> NDArray[np.bool_]:
        """Where a rule says that no model of the graph fits the numbers."""
        found = self.all_ends[which].empty
        return np.zeros(self.lower.shape, dtype=bool) if found is None else found

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the rules have to say of the whole table, each once."""
        return tuple(dict.fromkeys(note for ends in self.all_ends for note in ends.notes))


def tightest(
    plan: BoundPlan,
    evaluator: Evaluator,
    log: CountTable,
    query: EffectQuery,
    reward_range: tuple[float, float],
    *,
    confident: Numbers | None = None,
    refutes: bool = True,
) -> tuple[dict[Key, Bound], tuple[Note, ...]]:
    """Intersect the candidates for every arm and context, and keep which gave each end.

    ``refutes`` says that the rules hold, so that ends which cross can only blame the graph.
    With the bounds come notes on the whole table.
    """
    axes = query.treatments + query.context
    shape = [len(log.levels[axis]) for axis in axes]
    sure = refutes and (log.exact or confident is not None)
    estimates = _intersected(plan, PlugInNumbers(evaluator), shape, strict=sure and log.exact)
    best = estimates
    if confident is not None:
        best = _intersected(plan, confident, shape, strict=sure)
    if sure and best.crossed.any():
        raise EndsCross(_named(best, plan, log, axes))
    if sure:
        _refuse_empty(best, plan, log, axes)
    teller = Explainer(plan.candidates, evaluator, log, axes, reward_range)
    writer = _RowWriter(teller, axes, len(query.treatments))
    numbers = np.broadcast_to(log.marginalize(axes).align(axes), shape)
    bounds = {
        writer.key(place): writer.bound(place, best, estimates, float(numbers[place]))
        for place in product(*map(range, shape))
    }
    return bounds, best.notes


def _intersected(
    plan: BoundPlan, numbers: Numbers, shape: Sequence[int], *, strict: bool
) -> Intersection:
    """Take the largest lower and the smallest upper end; where they cross, the narrowest.

    ``strict`` leaves crossing ends to be named and refused.
    """
    all_ends = [Ends(np.zeros(shape), np.ones(shape))]
    all_ends += [candidate.ends(numbers) for candidate in plan.candidates]
    lowers = np.stack([ends.lower for ends in all_ends])
    uppers = np.stack([ends.upper for ends in all_ends])
    low_by, high_by = lowers.argmax(axis=0), uppers.argmin(axis=0)
    lower, upper = lowers.max(axis=0), uppers.min(axis=0)
    crossed = lower > upper + ROUNDING
    if not crossed.any() or strict:
        upper = np.maximum(upper, lower)
        return Intersection(lower, upper, low_by, high_by, crossed, all_ends)
    narrowest = (uppers - lowers).argmin(axis=0)
    low_by, high_by = (
        np.where(crossed, narrowest, low_by),
        np.where(crossed, narrowest, high_by),
    )
    lower = np.take_along_axis(lowers, low_by[None], 0)[0]
    upper = np.take_along_axis(uppers, high_by[None], 0)[0]
    upper = np.maximum(upper, lower)
    return Intersection(lower, upper, low_by, high_by, crossed, all_ends)


class _RowWriter:
    """Turns places in arrays into rows that a person can read."""

    def __init__(self, teller: Explainer, axes: Sequence[str], n_arms: int) -> None:
        self.teller, self.axes, self.n_arms = teller, axes, n_arms

    def key(self, place: tuple[int, ...]) -> Key:
        levels = self.teller.log.levels
        values = tuple(levels[a][i] for a, i in zip(self.axes, place, strict=True))
        return values[: self.n_arms], values[self.n_arms :]

    def bound(
        self, place: tuple[int, ...], best: Intersection, estimates: Intersection, n: float
    ) -> Bound:
        marks: tuple[str, ...] = (
            (CROSSED,) if estimates.crossed[place] and best is estimates else ()
        )
        if not n:
            marks += (NEVER_LOGGED,)
        marks += tuple(
            NO_FIT.format(self.name(which))
            for which in range(len(best.all_ends))
            if best.empty(which)[place]
        )
        low_by, high_by = int(best.low_by[place]), int(best.high_by[place])
        scaled = self.teller.scaled
        return Bound(
            lower=scaled(best.lower[place]),
            upper=scaled(best.upper[place]),
            lower_estimate=scaled(estimates.lower[place]),
            upper_estimate=scaled(estimates.upper[place]),
            n=n,
            lower_rule=self.name(low_by),
            upper_rule=self.name(high_by),
            lower_cells=self.cells(low_by, place, best, upper=False),
            upper_cells=self.cells(high_by, place, best, upper=True),
            marks=marks,
        )

    def name(self, which: int) -> str:
        return RANGE if which == 0 else self.teller.candidates[which - 1].rule.name

    def cells(
        self, which: int, place: tuple[int, ...], best: Intersection, *, upper: bool
    ) -> tuple[str, ...]:
        if which == 0:
            return ()
        return self.teller.cells(which - 1, place, best.all_ends[which], upper=upper)


def _refuse_empty(
    best: Intersection, plan: BoundPlan, log: CountTable, axes: Sequence[str]
) -> None:
    """Say which rows no model of the graph can make, and by which rule."""
    found = [
        f"{_row(place, log, axes)} (by {candidate.rule.name!r})"
        for which, candidate in enumerate(plan.candidates, start=1)
        for place in map(tuple, np.argwhere(best.empty(which)))
    ]
    if found:
        raise NoModelFits(found)


def _row(place: tuple[int, ...], log: CountTable, axes: Sequence[str]) -> str:
    return ", ".join(f"{a}={log.levels[a][i]!r}" for a, i in zip(axes, place, strict=True))


def _named(
    best: Intersection, plan: BoundPlan, log: CountTable, axes: Sequence[str]
) -> list[str]:
    names = [RANGE, *(candidate.rule.name for candidate in plan.candidates)]
    return [
        f"{_row(place, log, axes)} ({names[int(best.low_by[place])]!r} "
        f"against {names[int(best.high_by[place])]!r})"
        for place in map(tuple, np.argwhere(best.crossed))
    ]
