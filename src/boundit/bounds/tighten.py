"""Every candidate's ends, intersected: the largest lower end and the smallest upper one.

An exact law leaves no room for chance: ends that cross there refute the graph. Plug-in ends of
counted rows cross by noise; such a row keeps the narrowest single rule and says so.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from boundit.bounds.rules import Candidate, Plan
from boundit.bounds.sequential import Ends
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import Bound, Key
from boundit.terms.errors import BounditError, shortened
from boundit.terms.explanation import counted

RANGE = "range"
CROSSED = "the rules disagree by chance here; this is the narrowest single one"
MOST_EXPLAINED = 5_000
"""Up to how many rows each carry the numbers they were made from."""
_ROUNDING = 1e-9


class EndsCross(BounditError):
    """Bounds that exclude each other: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: {len(rows)} intervals are empty, "
            f"{shortened('; '.join(rows), 400)}"
        )


def tightest(
    plan: Plan,
    evaluator: Evaluator,
    log: CountTable,
    query: EffectQuery,
    reward_range: tuple[float, float],
) -> dict[Key, Bound]:
    """Intersect the candidates for every arm and context, and keep which gave each end."""
    axes = query.treatments + query.context
    shape = [len(log.levels[axis]) for axis in axes]
    all_ends = [Ends(np.zeros(shape), np.ones(shape))]
    all_ends += [candidate.ends(evaluator) for candidate in plan.candidates]
    lowers = np.stack([ends.lower for ends in all_ends])
    uppers = np.stack([ends.upper for ends in all_ends])
    low_by, high_by = lowers.argmax(axis=0), uppers.argmin(axis=0)
    crossed = lowers.max(axis=0) > uppers.min(axis=0) + _ROUNDING
    if crossed.any():
        if log.exact:
            raise EndsCross(_named(crossed, low_by, high_by, plan, log, axes))
        narrowest = (uppers - lowers).argmin(axis=0)
        low_by = np.where(crossed, narrowest, low_by)
        high_by = np.where(crossed, narrowest, high_by)
    lower = np.take_along_axis(lowers, low_by[None], 0)[0]
    upper = np.maximum(np.take_along_axis(uppers, high_by[None], 0)[0], lower)
    writer = _Writer(plan.candidates, evaluator, log, query, reward_range)
    numbers = log.marginal(axes).aligned(axes)
    return {
        writer.key(place): writer.bound(
            place, lower[place], upper[place], low_by[place], high_by[place], numbers[place],
            marks=(CROSSED,) if crossed[place] else (),
        )
        for place in product(*map(range, shape))
    }  # fmt: skip


class _Writer:
    """Turns places in arrays into rows that a person can read."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        evaluator: Evaluator,
        log: CountTable,
        query: EffectQuery,
        reward_range: tuple[float, float],
    ) -> None:
        self.candidates, self.evaluator, self.log = candidates, evaluator, log
        self.axes, self.n_arms = query.treatments + query.context, len(query.treatments)
        self.low, self.high = reward_range
        rows = np.prod([len(log.levels[axis]) for axis in self.axes])
        self.explains = rows <= MOST_EXPLAINED

    def key(self, place: tuple[int, ...]) -> Key:
        values = tuple(self.log.levels[a][i] for a, i in zip(self.axes, place, strict=True))
        return values[: self.n_arms], values[self.n_arms :]

    def bound(
        self,
        place: tuple[int, ...],
        lower: float,
        upper: float,
        low_by: int,
        high_by: int,
        n: float,
        *,
        marks: tuple[str, ...],
    ) -> Bound:
        ends = self.scaled(lower), self.scaled(upper)
        if not n:
            marks += ("this arm was never logged in this context",)
        return Bound(
            *ends,
            *ends,
            float(n),
            self.name(low_by),
            self.name(high_by),
            self.cells(low_by, place),
            self.cells(high_by, place),
            marks,
        )

    def scaled(self, share: float) -> float:
        return float(self.low + (self.high - self.low) * share)

    def name(self, which: int) -> str:
        return RANGE if which == 0 else self.candidates[which - 1].rule.name

    def cells(self, which: int, place: tuple[int, ...]) -> tuple[str, ...]:
        """The numbers a row was made from: where, how much, and of how many rows."""
        if which == 0 or not self.explains:
            return ()
        here = dict(zip(self.axes, place, strict=True))
        lines = []
        candidate = self.candidates[which - 1]
        for levels, share in candidate.cells(self.evaluator, place):
            where = ", ".join(f"{n}={self.log.levels[n][i]!r}" for n, i in levels.items())
            read = {n: i for n, i in (here | levels).items() if n in candidate.needs}
            rows = counted(float(self.log.marginal(read).at(read)))
            worth = "never logged" if np.isnan(share) else f"{self.scaled(share):.4g}"
            lines.append(f"{where or 'value'}: {worth} ({rows})")
        return tuple(lines)


def _named(
    crossed: Floats,
    low_by: Floats,
    high_by: Floats,
    plan: Plan,
    log: CountTable,
    axes: Sequence[str],
) -> list[str]:
    names = [RANGE, *(candidate.rule.name for candidate in plan.candidates)]
    return [
        ", ".join(f"{a}={log.levels[a][i]!r}" for a, i in zip(axes, place, strict=True))
        + f" ({names[int(low_by[place])]!r} against {names[int(high_by[place])]!r})"
        for place in map(tuple, np.argwhere(crossed))
    ]
