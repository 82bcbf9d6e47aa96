"""Every rule's ends, intersected: the largest lower end and the smallest upper one.

An exact law leaves no room for chance: ends that cross there refute the graph. Plug-in ends of
counted rows cross by noise; such a row keeps the narrowest single rule and says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, repeat, starmap

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.explain import Explainer
from boundit.bounds.numbers import Ends, PlugInNumbers
from boundit.bounds.plan import BoundPlan
from boundit.bounds.try_rules import EndFinder, try_rules
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable
from boundit.terms.bound import Bound, Key
from boundit.terms.errors import BounditError, shorten
from boundit.terms.explanation import EMPTY, NEVER_LOGGED, RANGE
from boundit.terms.formula import Line
from boundit.terms.interval import Interval
from boundit.terms.long_work import Progress, say_nothing
from boundit.terms.message import Note
from boundit.terms.rounding import ROUNDING
from boundit.terms.sampling import RowSampling

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
    left_out: tuple[Note, ...] = ()

    def find_empty(self, which: int) -> NDArray[np.bool_]:
        """Find the arms and contexts at which no model of the graph fits the numbers of a rule.

        The rule is number ``which``; number 0 is the reward's range.
        """
        found = self.all_ends[which].empty
        return np.zeros(self.lower.shape, dtype=bool) if found is None else found

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on the whole table: rules left out, and those of rules, as on programs.

        Each comes once.
        """
        of_rules = (note for ends in self.all_ends for note in ends.notes)
        return tuple(dict.fromkeys((*self.left_out, *of_rules)))


def intersect_rules(
    plan: BoundPlan,
    evaluator: Evaluator,
    log: CountTable,
    outcome_range: tuple[float, float],
    *,
    finder: EndFinder | None = None,
    boxes: Sequence[str | None] = (),
    progress: Progress = say_nothing,
) -> tuple[dict[Key, Bound], tuple[Note, ...]]:
    """Intersect the ends of all rules into a bound for every arm and context.

    ``finder`` finds ends that allow for chance. ``boxes`` say of each rule why its cells have
    intervals of their own. Each bound keeps which rules gave its ends; with the bounds come
    notes on the whole table. Rules of a sound plan hold, so that ends which cross can only
    blame the graph.
    """
    axes = plan.query.treatments + plan.query.context
    shape = [len(log.levels[axis]) for axis in axes]
    sure = plan.is_sound and (log.exact or finder is not None)
    # Where time runs out, the ends that hold come before the estimates.
    best = None if finder is None else _intersect_ends(plan, finder, shape, progress, sure)
    plug_in = partial(try_rules, PlugInNumbers(evaluator))
    estimates = _intersect_ends(plan, plug_in, shape, progress, sure and log.exact)
    best = best or estimates
    if sure:
        _refuse_empty(best, plan, log, axes)
        if best.crossed.any():
            raise EndsCross(_name_crossed(best, plan, log, axes))
    explainer = Explainer(
        [p.rule for p in plan.rules],
        evaluator,
        log,
        axes,
        outcome_range,
        boxes=boxes,
    )
    names = [RANGE, *(planned.record.name for planned in plan.rules)]
    writer = _RowWriter(explainer, names, axes, len(plan.query.treatments))
    numbers = np.broadcast_to(log.marginalize(axes).align(axes), shape)
    bounds = writer.write_rows(best, estimates, numbers)
    return bounds, tuple(dict.fromkeys(best.notes + estimates.left_out))


def _intersect_ends(
    plan: BoundPlan,
    finder: EndFinder,
    shape: Sequence[int],
    progress: Progress,
    strict: bool,  # noqa: FBT001
) -> Intersection:
    """Ask every rule for its ends; keep the largest lower and the smallest upper one.

    Where these cross (lower above upper), the narrowest single rule is kept, unless ``strict``
    leaves them to be named and refused.
    """
    found, left_out = finder(plan.rules, shape, progress)
    all_ends = [Ends(np.zeros(shape), np.ones(shape)), *found]
    lowers = np.stack([ends.lower for ends in all_ends])
    uppers = np.stack([ends.upper for ends in all_ends])
    low_by, high_by = lowers.argmax(axis=0), uppers.argmin(axis=0)
    lower, upper = lowers.max(axis=0), uppers.min(axis=0)
    crossed = lower > upper + ROUNDING
    if not crossed.any() or strict:
        upper = np.maximum(upper, lower)
        return Intersection(lower, upper, low_by, high_by, crossed, all_ends, left_out)
    narrowest = (uppers - lowers).argmin(axis=0)
    low_by, high_by = (
        np.where(crossed, narrowest, low_by),
        np.where(crossed, narrowest, high_by),
    )
    lower = np.take_along_axis(lowers, low_by[None], 0)[0]
    upper = np.take_along_axis(uppers, high_by[None], 0)[0]
    upper = np.maximum(upper, lower)
    return Intersection(lower, upper, low_by, high_by, crossed, all_ends, left_out)


def find_intervals(
    plan: BoundPlan, finder: EndFinder, log: CountTable, outcome_range: tuple[float, float]
) -> dict[Key, Interval]:
    """Intersect the ends that ``finder`` finds into an interval for every arm and context.

    They stand beside those of a table and say nothing of the graph where they cross.
    """
    treatments, context = plan.query.treatments, plan.query.context
    shape = [len(log.levels[axis]) for axis in treatments + context]
    found = _intersect_ends(plan, finder, shape, say_nothing, strict=False)
    ends = (_scale_ends(each, outcome_range) for each in (found.lower, found.upper))
    keys = _list_keys(log, treatments, context)
    return dict(zip(keys, starmap(Interval, zip(*ends, strict=True)), strict=True))


def _list_keys(
    log: CountTable, treatments: Sequence[str], context: Sequence[str]
) -> Iterator[Key]:
    """List the names of arm and context at all places, as the arrays of ends have them.

    The names are keys of tables.
    """
    arms, contexts = ([log.levels[axis] for axis in axes] for axes in (treatments, context))
    return product(list(product(*arms)), list(product(*contexts)))


def _scale_ends(shares: Floats, outcome_range: tuple[float, float]) -> list[float]:
    """Turn ends on the scale from 0 to 1 into rewards within their range, place by place."""
    low, high = outcome_range
    found: list[float] = (low + (high - low) * shares).ravel().tolist()
    return found


class _RowWriter:
    """Turns places in arrays into rows that a person can read."""

    def __init__(
        self, explainer: Explainer, names: Sequence[str], axes: Sequence[str], n_arms: int
    ) -> None:
        self.explainer, self.names, self.axes, self.n_arms = explainer, names, axes, n_arms

    def write_rows(
        self, best: Intersection, estimates: Intersection, numbers: Floats
    ) -> dict[Key, Bound]:
        """Make the ``Bound`` of every arm and context: ends, estimates, rules, numbers, marks.

        ``numbers`` are how many rows were logged there.
        """
        explainer, n = self.explainer, self.n_arms
        scale = partial(_scale_ends, outcome_range=(explainer.low, explainer.high))
        low_by, high_by = best.low_by.ravel().tolist(), best.high_by.ravel().tolist()
        columns = (
            scale(best.lower),
            scale(best.upper),
            scale(estimates.lower),
            scale(estimates.upper),
            numbers.astype(float).ravel().tolist(),
            [self.names[which] for which in low_by],
            [self.names[which] for which in high_by],
            self._list_all_cells(low_by, best, estimates, upper=False),
            self._list_all_cells(high_by, best, estimates, upper=True),
            self._list_marks(best, estimates, numbers),
            repeat(None, best.lower.size) if best is estimates else self._list_sampling(best),
        )
        keys = _list_keys(explainer.log, self.axes[:n], self.axes[n:])
        return dict(zip(keys, starmap(Bound, zip(*columns, strict=True)), strict=True))

    def _list_marks(
        self, best: Intersection, estimates: Intersection, numbers: Floats
    ) -> list[tuple[str, ...]]:
        """List what a reader must know of each row alone; most rows have no such mark."""
        said = [(estimates.crossed, CROSSED)] if best is estimates else []
        said.append((numbers == 0, NEVER_LOGGED))
        said.append((self._find_unseen(estimates) & (numbers > 0), EMPTY))
        for name, ends in zip(self.names, best.all_ends, strict=True):
            if ends.empty is not None:
                said.append((ends.empty, NO_FIT.format(name)))
        marks: list[tuple[str, ...]] = [()] * best.lower.size
        shared = dict[tuple[str, ...], tuple[str, ...]]()
        for there, mark in said:
            for i in np.flatnonzero(there).tolist():
                extended = (*marks[i], mark)
                marks[i] = shared.setdefault(extended, extended)
        return marks

    def _find_unseen(self, estimates: Intersection) -> NDArray[np.bool_]:
        """Find the rows that are no points and rest on cells which were never logged.

        Where the range gave an end, these are the cells of any rule.
        """
        by, none = (estimates.low_by, estimates.high_by), np.zeros(estimates.lower.shape, bool)
        if not self.explainer.is_small:
            return none
        unseen = [self.explainer.find_unseen(rule) for rule in range(len(self.names) - 1)]
        every = [np.logical_or.reduce(unseen) if unseen else none, *unseen]
        rests = [(each == which) & found for each in by for which, found in enumerate(every)]
        wide = estimates.upper - estimates.lower > ROUNDING
        return np.asarray(np.logical_or.reduce(rests) & wide)

    def _list_sampling(self, best: Intersection) -> Iterator[RowSampling | None]:
        """List why chance widens each row as it does; None where nobody says anything of it."""
        if not self.explainer.is_sampled:
            yield from repeat(None, best.lower.size)
            return
        low_by, high_by = best.low_by.ravel().tolist(), best.high_by.ravel().tolist()
        places = product(*map(range, best.lower.shape))
        for place, low, high in zip(places, low_by, high_by, strict=True):
            lower, upper = (
                self.explainer.explain_sampling(
                    which - 1, place, best.all_ends[which], upper=which_end
                )
                if which
                else None
                for which, which_end in ((low, False), (high, True))
            )
            said = lower is not None or upper is not None
            yield RowSampling(lower, upper) if said else None

    def _list_all_cells(
        self,
        rules: Sequence[int],
        best: Intersection,
        estimates: Intersection,
        *,
        upper: bool,
    ) -> Iterable[tuple[Line, ...]]:
        """List the lines that explain one end of every row; none where the range gave it.

        ``rules`` are the numbers of the rules that gave the ends.
        """
        if not self.explainer.is_small:
            return repeat((), len(rules))
        places = product(*map(range, best.lower.shape))
        return (
            self.explainer.list_numbers(
                which - 1,
                place,
                best.all_ends[which],
                estimates.all_ends[which],
                upper=upper,
            )
            if which
            else ()
            for which, place in zip(rules, places, strict=True)
        )


def _refuse_empty(
    best: Intersection, plan: BoundPlan, log: CountTable, axes: Sequence[str]
) -> None:
    """Raise ``NoModelFits`` naming the arms and contexts that no model fits, and the rules."""
    found = [
        f"{_write_row(place, log, axes)} (by {planned.record.name!r})"
        for which, planned in enumerate(plan.rules, start=1)
        for place in map(tuple, np.argwhere(best.find_empty(which)))
    ]
    if found:
        raise NoModelFits(found)


def _write_row(place: tuple[int, ...], log: CountTable, axes: Sequence[str]) -> str:
    """Write the arm and context at a place, as in "X=1, C='a'"."""
    return ", ".join(f"{a}={log.levels[a][i]!r}" for a, i in zip(axes, place, strict=True))


def _name_crossed(
    best: Intersection, plan: BoundPlan, log: CountTable, axes: Sequence[str]
) -> list[str]:
    """List in words the arms and contexts whose lower end exceeds the upper, and the rules.

    Two rules disagree in each.
    """
    names = [RANGE, *(planned.record.name for planned in plan.rules)]
    return [
        f"{_write_row(place, log, axes)} ({names[int(best.low_by[place])]!r} "
        f"against {names[int(best.high_by[place])]!r})"
        for place in map(tuple, np.argwhere(best.crossed))
    ]
