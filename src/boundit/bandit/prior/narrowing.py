"""Bounds that narrow while a policy plays: it learns the weights that the log left open.

A table may say what ``E[Y | do(x), c, w]`` lies between for every cell ``w`` of some variables
(``Living``). Whoever sees ``w`` after each round learns how likely the cells are, in a
confidence sequence that holds at all times, and the ends of a pair are then the extreme means
over all laws left. Valid when rounds are drawn from the whole population by the mechanisms that
made the log, the arm was chosen before ``w`` was seen, and whether ``w`` is told does not hang
on what it is.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TypeAlias, final

import numpy as np

from boundit.bandit.errors import BadObservation
from boundit.bandit.kernels.narrowing import (
    REFUTED,
    SAME,
    NarrowedEnds,
    NarrowingPlan,
    learn_cell_from_arrays,
    narrow_pool,
)
from boundit.bandit.serialization import Record
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.bound_table import BoundTable
from boundit.terms.living import Living, Pool
from boundit.terms.names import sort_names
from boundit.terms.scalars import unwrap_scalar

Cells: TypeAlias = tuple[int | None, ...]
"""For each plan the place of the cell that was seen, None if some variable of it was not."""


@final
class NarrowingBounds:
    """What was seen of all plans of a table, and the ends of its pairs now.

    The error is shared evenly by the plans, the pools of each and the cells of a pool; a pool
    of two cells has one proportion.
    """

    def __init__(self, table: BoundTable, error: float) -> None:
        self.plans, self.error = table.living, error
        keys = dict.fromkeys(key for plan in self.plans for key in plan.pools)
        self.pairs = {key: i for i, key in enumerate(keys)}
        # Pools are numbered over all plans.
        numbers = count()
        self.pools = [
            {pool: next(numbers) for pool in dict.fromkeys(plan.pools.values())}
            for plan in self.plans
        ]
        self.claims = _lay_out_plan(table, self.pairs, error)
        self.found = _make_unseen_ends(table, self.pairs, int(self.claims.cells[-1]))
        self.version = 0
        self._cells = [{cell: i for i, cell in enumerate(p.cells)} for p in self.plans]
        self._levels = {
            name: levels
            for plan in self.plans
            for name, levels in zip(plan.variables, plan.levels, strict=True)
        }
        self._known: dict[tuple[object, ...], Cells] = {}
        self._contexts = _list_contexts(self.plans, self.pools)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables whose values, seen after a round, narrow the bounds.

        Read by ``BoundMonitor.observes``.
        """
        return tuple(sort_names(self._levels))

    @property
    def n_seen(self) -> int:
        """The number of rounds whose other variables were observed, to show in a ``repr``.

        Of the plan (``Living``) that used most of them. Read by ``BoundMonitor.describe``.
        """
        return max(
            (sum(map(self._count_in_pool, found.values())) for found in self.pools), default=0
        )

    def find_ends(self, arm: Arm, context: Context) -> tuple[float, float] | None:
        """Find the lower and upper end of an arm in a context, as observations narrowed them.

        None if no plan (``Living``) speaks of the pair. Called by ``PriorBounds._find_ends``.
        """
        place = self.pairs.get((arm, context))
        if place is None:
            return None
        return float(self.found.lower[place]), float(self.found.upper[place])

    def read_cells(self, observed: Mapping[str, object]) -> Cells:
        """Find for each plan the cell (combination of levels) that observed values fall into.

        None for a plan some variable of which was not observed; a level that no plan knows is
        refused. Called by ``BoundMonitor.read_observed`` and ``lay_out_narrowing``.
        """
        if not isinstance(observed, Mapping):
            raise BadObservation(observed)
        try:
            return self._known[tuple([observed[name] for name in self._levels])]
        except (KeyError, TypeError):
            return self._find_cells(observed)

    def _find_cells(self, observed: Mapping[str, object]) -> Cells:
        """Find the cell of each plan for values observed for the first time, and remember it.

        Called by ``NarrowingBounds.read_cells`` where it does not remember them.
        """
        seen = {}
        for name, levels in self._levels.items():
            if name in observed:
                seen[name] = unwrap_scalar(observed[name])
                if seen[name] not in levels:
                    raise OutsideDomain(name, seen[name], levels)
        found = tuple(
            cells[tuple([seen[name] for name in plan.variables])]
            if all(name in seen for name in plan.variables)
            else None
            for plan, cells in zip(self.plans, self._cells, strict=True)
        )
        if len(seen) == len(self._levels):
            self._known[tuple(seen.values())] = found
        return found

    def find_pool(self, plan: int, arm: Arm, context: Context) -> int | None:
        """Find the number of the pool that an arm and context belong to in one plan, or None.

        A pool is all pairs in which the observed variables have the same law, so that their
        rounds count together; pools are numbered over all plans. Called by
        ``NarrowingBounds.learn_cells``, ``NarrowingBounds.count_rounds`` and
        ``lay_out_narrowing``.
        """
        found = self.plans[plan].pools.get((arm, context))
        return None if found is None else self.pools[plan][found]

    def learn_cells(
        self, arm: Arm, context: Context, cells: Cells
    ) -> tuple[Context, ...] | Living:
        """Count what one round showed, and narrow the ends of the pairs that it tells of.

        A pair is an arm and a context; ``cells`` has for each plan the observed combination of
        levels. Gives the contexts whose ends moved, or the plan that the counts refute. Called
        by ``BoundMonitor.narrow`` for every reward that comes with an observation.
        """
        moved: tuple[Context, ...] = ()
        for i, cell in enumerate(cells):
            pool = None if cell is None else self.find_pool(i, arm, context)
            if cell is None or pool is None:
                continue
            came = learn_cell_from_arrays(pool, cell, *self.found, *self.claims)
            if came == REFUTED:
                return self.plans[i]
            if came != SAME:
                self.version += 1
                moved += self._contexts[pool]
        return moved

    def settle(self) -> Living | None:
        """Narrow the ends of all arms and contexts by all rounds counted so far.

        Gives the plan (``Living``) that the counts refute, if any. Called by
        ``BoundMonitor.judge_all`` after counts of another table or policy were put in.
        """
        self.version += 1
        for plan, pools in zip(self.plans, self.pools, strict=True):
            if any(narrow_pool(self.found, self.claims, i) == REFUTED for i in pools.values()):
                return plan
        return None

    def count_rounds(self, plan: Living, arm: Arm, context: Context) -> int:
        """Count the observed rounds that tell of an arm and context in one plan.

        Called by ``BoundMonitor._make_refutation``, which says how many contradict the bounds.
        """
        pool = self.find_pool(self.plans.index(plan), arm, context)
        return 0 if pool is None else self._count_in_pool(pool)

    def resume(self, table: BoundTable) -> "NarrowingBounds":
        """Make narrowing bounds of a new table that start from the rounds counted here.

        As far as a plan of both tables observes the same variables in the same pools. Called by
        ``BoundMonitor.refresh``.
        """
        fresh = NarrowingBounds(table, self.error)
        fresh._copy_counts(self)
        return fresh

    def join(
        self, other: "NarrowingBounds", shared: "NarrowingBounds", table: BoundTable
    ) -> "NarrowingBounds":
        """Put together what two have seen of one table since they parted.

        Counts add up, and intervals are worked out from them and from what both shared. What
        each narrowed by itself is left out: the rounds of one are another sequence than those
        of both, and its error would have to be spent too. Called by ``BoundMonitor.join``.
        """
        result = NarrowingBounds(table, self.error)
        result._copy_counts(shared)
        mine, theirs, both = (ends.found.counts for ends in (self, other, result))
        # Less than what was shared: it was forgotten in between, and counts for nothing.
        both[:] = np.maximum(mine + theirs - both, 0)
        return result

    def to_record(self) -> Record:
        """Write counts and ends as a JSON object; called by ``BoundMonitor.to_record``."""
        return {name: part.tolist() for name, part in self.found._asdict().items()}

    def restore(self, record: Record) -> None:
        """Fill in the counts and ends that ``to_record`` wrote.

        Called by ``BoundMonitor.from_record``.
        """
        for name, part in self.found._asdict().items():
            numbers = np.array(record[name], part.dtype)
            if numbers.shape != part.shape:
                raise ValueError(f"{name} does not fit the plans of the table")
            part[:] = numbers

    def _copy_counts(self, other: "NarrowingBounds") -> None:
        """Copy another's counts of cells, and intervals of their chances, into this object.

        For the plans that observe the same variables in the same pools. Called by
        ``NarrowingBounds.resume`` and ``NarrowingBounds.join``.
        """
        known = [(plan.variables, plan.levels, plan.pools) for plan in other.plans]
        for plan, pools in zip(self.plans, self.pools, strict=True):
            law = plan.variables, plan.levels, plan.pools
            if law not in known:
                continue
            its = other.pools[known.index(law)]
            for pool, i in pools.items():
                here, there = self.find_span(i), other.find_span(its[pool])
                self.found.counts[here] = other.found.counts[there]
                # An interval of another error is worked out anew.
                if self.claims.level[i] == other.claims.level[its[pool]]:
                    self.found.low[here] = other.found.low[there]
                    self.found.high[here] = other.found.high[there]

    def find_span(self, pool: int) -> slice:
        """Find where the counts of a pool's cells lie in the array of all counts, as a slice.

        Called by ``NarrowingBounds._copy_counts`` and ``NarrowingBounds._count_in_pool``.
        """
        return slice(*self.claims.cells[pool : pool + 2].tolist())

    def _count_in_pool(self, pool: int) -> int:
        """Count the observed rounds of one pool: the sum over its cells.

        Called by ``NarrowingBounds.n_seen`` and ``NarrowingBounds.count_rounds``.
        """
        return int(self.found.counts[self.find_span(pool)].sum())


def _lay_out_plan(table: BoundTable, pairs: Mapping[Key, int], error: float) -> NarrowingPlan:
    """Put the plans of a table (``Living``) into arrays for kernels: what never changes.

    Pools of arms and contexts that share counts, their cells, and the ends of each pair in each
    cell. Called by ``NarrowingBounds.__init__``.
    """
    cells, level, members = [0], list[float](), [0]
    pair, at = list[int](), list[int]()
    least, most, rising, falling = list[float](), list[float](), list[int](), list[int]()
    for plan in table.living:
        n, pools = plan.n_cells, _group_by_pool(plan)
        n_proportions = len(table.living) * len(pools) * (n if n > 2 else 1)
        for keys in pools.values():
            for key in keys:
                low = [interval.lower for interval in plan.ends[key]]
                high = [interval.upper for interval in plan.ends[key]]
                pair.append(pairs[key])
                at.append(len(least))
                least += low
                most += high
                rising += sorted(range(n), key=low.__getitem__)
                falling += sorted(range(n), key=high.__getitem__, reverse=True)
            cells.append(cells[-1] + n)
            level.append(error / n_proportions)
            members.append(len(pair))
    lowest, highest = table.reward_range
    return NarrowingPlan(
        np.array(cells, np.int64),
        np.array(level, np.float64),
        np.array(members, np.int64),
        np.array(pair, np.int64),
        np.array(at, np.int64),
        np.array(least, np.float64),
        np.array(most, np.float64),
        np.array(rising, np.int64),
        np.array(falling, np.int64),
        float(highest - lowest),
    )


def _group_by_pool(plan: Living) -> dict[Pool, list[Key]]:
    """List the arms and contexts in each pool of a plan, a pool being what shares counts.

    Called by ``_lay_out_plan``.
    """
    found: dict[Pool, list[Key]] = {}
    for key, pool in plan.pools.items():
        found.setdefault(pool, []).append(key)
    return found


def _make_unseen_ends(table: BoundTable, pairs: Mapping[Key, int], size: int) -> NarrowedEnds:
    """Make the arrays that observations will change: counts of 0 and the table's own ends.

    Called by ``NarrowingBounds.__init__``.
    """
    ends = [table[key] for key in pairs]
    return NarrowedEnds(
        np.zeros(size, np.int64),
        np.zeros(size),
        np.ones(size),
        np.array([interval.lower for interval in ends], np.float64),
        np.array([interval.upper for interval in ends], np.float64),
    )


def _list_contexts(
    plans: Sequence[Living], pools: Sequence[Mapping[Pool, int]]
) -> list[tuple[Context, ...]]:
    """List for each pool the contexts that it has arms in: those to rank anew when it moves.

    Called by ``NarrowingBounds.__init__``.
    """
    found: list[dict[Context, None]] = [{} for numbers in pools for _ in numbers]
    for plan, numbers in zip(plans, pools, strict=True):
        for (_, context), pool in plan.pools.items():
            found[numbers[pool]][context] = None
    return [tuple(contexts) for contexts in found]
