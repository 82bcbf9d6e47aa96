"""Every candidate's ends, intersected: the largest lower end and the smallest upper one.

An exact law leaves no room for chance: ends that cross there refute the graph. Plug-in ends of
counted rows cross by noise; such a row keeps the narrowest single rule and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.candidate import Candidate
from boundit.bounds.rules import Plan
from boundit.bounds.sequential import Ends, Numbers, PlugIn, Proof
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import Bound, Key
from boundit.terms.errors import BounditError, shortened
from boundit.terms.explanation import RANGE, counted
from boundit.terms.names import Nodes

NEVER_LOGGED = "this arm was never logged in this context"
CROSSED = "the rules contradict each other here; this is the narrowest single one"
NO_FIT = "by chance no model of the graph fits {!r} here, so that rule was left out"
MOST_EXPLAINED = 5_000
"""Up to how many rows each carry the numbers they were made from."""
_ROUNDING = 1e-9
Places = NDArray[np.intp]


class EndsCross(BounditError):
    """Bounds that exclude each other: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: {len(rows)} intervals are empty, "
            f"{shortened('; '.join(rows), 400)}"
        )


class NoModelFits(BounditError):
    """Numbers that no model of the graph can give: the data refute the graph."""

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = tuple(rows)
        super().__init__(
            f"the data refute the graph: no model of it has these probabilities, "
            f"{shortened('; '.join(rows), 400)}"
        )


@dataclass(frozen=True, eq=False)
class Tightened:
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
    def notes(self) -> tuple[str, ...]:
        """What the rules have to say of the whole table, each once."""
        return tuple(dict.fromkeys(note for ends in self.all_ends for note in ends.notes))


def tightest(
    plan: Plan,
    evaluator: Evaluator,
    log: CountTable,
    query: EffectQuery,
    reward_range: tuple[float, float],
    *,
    confident: Numbers | None = None,
    refutes: bool = True,
) -> tuple[dict[Key, Bound], tuple[str, ...]]:
    """Intersect the candidates for every arm and context, and keep which gave each end.

    ``refutes`` says that the rules hold, so that ends which cross can only blame the graph.
    With the bounds come notes on the whole table.
    """
    axes = query.treatments + query.context
    shape = [len(log.levels[axis]) for axis in axes]
    sure = refutes and (log.exact or confident is not None)
    estimates = _intersected(plan, PlugIn(evaluator), shape, strict=sure and log.exact)
    best = estimates
    if confident is not None:
        best = _intersected(plan, confident, shape, strict=sure)
    if sure and best.crossed.any():
        raise EndsCross(_named(best, plan, log, axes))
    if sure:
        _refuse_empty(best, plan, log, axes)
    writer = _Writer(plan.candidates, evaluator, log, query, reward_range)
    numbers = np.broadcast_to(log.marginal(axes).aligned(axes), shape)
    bounds = {
        writer.key(place): writer.bound(place, best, estimates, float(numbers[place]))
        for place in product(*map(range, shape))
    }
    return bounds, best.notes


def _intersected(
    plan: Plan, numbers: Numbers, shape: Sequence[int], *, strict: bool
) -> Tightened:
    """Take the largest lower and the smallest upper end; where they cross, the narrowest.

    ``strict`` leaves crossing ends to be named and refused.
    """
    all_ends = [Ends(np.zeros(shape), np.ones(shape))]
    all_ends += [candidate.ends(numbers) for candidate in plan.candidates]
    lowers = np.stack([ends.lower for ends in all_ends])
    uppers = np.stack([ends.upper for ends in all_ends])
    low_by, high_by = lowers.argmax(axis=0), uppers.argmin(axis=0)
    lower, upper = lowers.max(axis=0), uppers.min(axis=0)
    crossed = lower > upper + _ROUNDING
    if not crossed.any() or strict:
        upper = np.maximum(upper, lower)
        return Tightened(lower, upper, low_by, high_by, crossed, all_ends)
    narrowest = (uppers - lowers).argmin(axis=0)
    low_by, high_by = (
        np.where(crossed, narrowest, low_by),
        np.where(crossed, narrowest, high_by),
    )
    lower = np.take_along_axis(lowers, low_by[None], 0)[0]
    upper = np.take_along_axis(uppers, high_by[None], 0)[0]
    upper = np.maximum(upper, lower)
    return Tightened(lower, upper, low_by, high_by, crossed, all_ends)


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
        self.needs = [candidate.needs for candidate in candidates]
        self.marginals: dict[Nodes, NamedArray] = {}
        rows = np.prod([len(log.levels[axis]) for axis in self.axes])
        self.explains = rows <= MOST_EXPLAINED

    def marginal(self, names: Nodes) -> NamedArray:
        """Count by some variables, once however many rows ask."""
        if names not in self.marginals:
            self.marginals[names] = self.log.marginal(names)
        return self.marginals[names]

    def key(self, place: tuple[int, ...]) -> Key:
        values = tuple(self.log.levels[a][i] for a, i in zip(self.axes, place, strict=True))
        return values[: self.n_arms], values[self.n_arms :]

    def bound(
        self, place: tuple[int, ...], best: Tightened, estimates: Tightened, n: float
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
        return Bound(
            lower=self.scaled(best.lower[place]),
            upper=self.scaled(best.upper[place]),
            lower_estimate=self.scaled(estimates.lower[place]),
            upper_estimate=self.scaled(estimates.upper[place]),
            n=n,
            lower_rule=self.name(low_by),
            upper_rule=self.name(high_by),
            lower_cells=self.cells(low_by, place, best.all_ends[low_by], upper=False),
            upper_cells=self.cells(high_by, place, best.all_ends[high_by], upper=True),
            marks=marks,
        )

    def scaled(self, share: float) -> float:
        return float(self.low + (self.high - self.low) * share)

    def name(self, which: int) -> str:
        return RANGE if which == 0 else self.candidates[which - 1].rule.name

    def cells(
        self, which: int, place: tuple[int, ...], ends: Ends, *, upper: bool
    ) -> tuple[str, ...]:
        """The numbers a row was made from: where, how much, and of how many rows."""
        if which == 0 or not self.explains:
            return ()
        if ends.proof is not None:
            proof = ends.proof(place, upper)
            return () if proof is None else self.proved(proof)
        here = dict(zip(self.axes, place, strict=True))
        lines = []
        candidate, needs = self.candidates[which - 1], self.needs[which - 1]
        for levels, share in candidate.cells(self.evaluator, place):
            where = ", ".join(f"{n}={self.log.levels[n][i]!r}" for n, i in levels.items())
            read = {n: i for n, i in (here | levels).items() if n in needs}
            rows = counted(float(self.marginal(frozenset(read)).at(read)))
            worth = "never logged" if np.isnan(share) else f"{self.scaled(share):.4g}"
            lines.append(f"{where or 'value'}: {worth} ({rows})")
        return tuple(lines)

    def proved(self, proof: Proof) -> tuple[str, ...]:
        """An end as a sum of observed probabilities, on the scale from 0 to 1."""
        lines = [f"{proof.constant:.4g}"] if abs(proof.constant) > _ROUNDING else []
        for times, cell, value in proof.terms:
            of = ", ".join(self.at(n, i) for n, i in cell.items() if n in proof.of)
            given = ", ".join(self.at(n, i) for n, i in cell.items() if n not in proof.of)
            shown = f"P({of}{' | ' * bool(given)}{given})"
            lines.append(
                f"{'-' if times < 0 else '+'} {abs(times):.4g} x {shown} = {value:.4g}"
            )
        return tuple(lines)

    def at(self, name: str, place: int) -> str:
        """A variable at a level; of the reward one of the ends of its range."""
        if name == self.log.reward:
            return f"{name}={self.scaled(float(place)):g}"
        return f"{name}={self.log.levels[name][place]!r}"


def _refuse_empty(best: Tightened, plan: Plan, log: CountTable, axes: Sequence[str]) -> None:
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


def _named(best: Tightened, plan: Plan, log: CountTable, axes: Sequence[str]) -> list[str]:
    names = [RANGE, *(candidate.rule.name for candidate in plan.candidates)]
    return [
        f"{_row(place, log, axes)} ({names[int(best.low_by[place])]!r} "
        f"against {names[int(best.high_by[place])]!r})"
        for place in map(tuple, np.argwhere(best.crossed))
    ]
