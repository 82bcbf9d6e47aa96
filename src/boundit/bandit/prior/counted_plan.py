"""The pools and cells in which rounds count that narrow the bounds of a table, as arrays.

A plan of a table (``Living``) says which variables to see, and where the mean reward lies in
each of their cells by the log alone. Where the table also counts rows of the log in the same
cells (``FusedPlan``), these rows are the first draws of a sequence, and rounds go on with it:
means of cells are then learned as well as weights. Elsewhere weights alone are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import final

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.narrowing import NarrowedEnds, NarrowingPlan
from boundit.terms.bound import Key, Value
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import Factor, FusedPlan
from boundit.terms.interval import Interval
from boundit.terms.living import Living


@final
@dataclass(frozen=True)
class CountedPlan:
    """One plan of a table with what rounds count in.

    ``shape`` has the pools and cells of all pairs and the rows of the log in them, none where
    the log's rows are no draws. ``ends`` are where the log alone says that the mean of each
    cell lies; ``learns`` says whether rounds narrow them. ``leaves`` are the places of the
    combinations of levels.
    """

    living: Living
    shape: FusedPlan
    ends: tuple[Interval, ...]
    learns: bool
    leaves: Mapping[tuple[Value, ...], int]

    @classmethod
    def of(cls, living: Living, table: BoundTable) -> "CountedPlan":
        """Find the pools and cells of one plan, with the log's rows where the table has them.

        Estimates that were taken for the truth have no rows: more of them would contradict it.
        Called by ``NarrowingBounds.__init__`` for each plan.
        """
        fused = table.fused
        learns = (
            isinstance(fused, FusedPlan)
            and table.confidence is not None
            and set(fused.variables) == set(living.variables)
            and set(fused.pairs) == living.pools.keys()
        )
        shape = fused if isinstance(fused, FusedPlan) and learns else _shape_weights(living)
        leaves = _place_leaves(living, shape)
        return cls(living, shape, _intersect_ends(living, shape, leaves), learns, leaves)

    @property
    def n_proportions(self) -> int:
        """How many chances have a sequence of their own; of two cells, one gives the other.

        Read by ``_PlanLists.add`` to share the error out.
        """
        sizes = ((len(factor.cells), factor.n_pools) for factor in self.shape.factors)
        return sum((size if size > 2 else 1) * n for size, n in sizes)

    def list_chances(self) -> list[Interval]:
        """List where the log alone says that chances lie, those of all factors and pools.

        Called by ``make_unseen_ends`` and ``CountedPlan.has_same_chances``.
        """
        if self.learns and self.living.chances:
            return [e for factor in self.living.chances for pool in factor for e in pool]
        n = sum(factor.n_pools * len(factor.cells) for factor in self.shape.factors)
        return [Interval(0.0, 1.0)] * n

    def has_same_laws(self, other: "CountedPlan") -> bool:
        """Tell whether rounds count in the same pools and cells as in another plan.

        Called by ``NarrowingBounds._copy_counts`` for a new table, whose log may be another.
        """
        return self.list_laws() == other.list_laws()

    def has_same_chances(self, other: "CountedPlan") -> bool:
        """Tell whether the same rows of the log count for chances as in another plan.

        Called by ``NarrowingBounds._copy_counts``: what was narrowed then stays so.
        """
        mine, theirs = (
            ([factor.counts for factor in plan.shape.factors], plan.list_chances())
            for plan in (self, other)
        )
        return mine == theirs

    def has_same_rewards(self, other: "CountedPlan") -> bool:
        """Tell whether rows of the log say the same of means in cells as in another plan.

        Called by ``NarrowingBounds._copy_counts``.
        """
        mine, theirs = ((plan.shape.n, plan.shape.sums, plan.ends) for plan in (self, other))
        return mine == theirs

    def list_laws(self) -> tuple[object, ...]:
        """List what says which rounds count together.

        Called by ``CountedPlan.has_same_laws``.
        """
        shape = self.shape
        factors = [(factor.variables, factor.cells, factor.pools) for factor in shape.factors]
        return shape.pairs, shape.cells, factors, self.learns


def _shape_weights(living: Living) -> FusedPlan:
    """Shape a plan of which weights alone are learned: one factor, and no rows of the log.

    Each pair has cells of its own. Called by ``CountedPlan.of``.
    """
    pairs, k = tuple(living.pools), living.n_cells
    numbers = {pool: i for i, pool in enumerate(dict.fromkeys(living.pools.values()))}
    pools = tuple((numbers[pool],) for pool in living.pools.values())
    factor = Factor(living.variables, living.cells, pools, ((0,) * k,) * len(numbers))
    cells = tuple(tuple(range(i * k, i * k + k)) for i in range(len(pairs)))
    n = len(pairs) * k
    return FusedPlan(pairs, (factor,), cells, (0,) * n, (0.0,) * n)


def _place_leaves(living: Living, shape: FusedPlan) -> dict[tuple[Value, ...], int]:
    """Find the leaf of each combination of levels, in the order of the plan's variables.

    Called by ``CountedPlan.of``.
    """
    found = {}
    for values in living.cells:
        named, leaf = dict(zip(living.variables, values, strict=True)), 0
        for factor in shape.factors:
            place = factor.cells.index(tuple(named[name] for name in factor.variables))
            leaf = leaf * len(factor.cells) + place
        found[values] = leaf
    return found


def _intersect_ends(
    living: Living, shape: FusedPlan, leaves: Mapping[tuple[Value, ...], int]
) -> tuple[Interval, ...]:
    """Find where the log says that the mean of each cell lies: for all pairs that share it.

    Called by ``CountedPlan.of``.
    """
    lower, upper = [-np.inf] * len(shape.n), [np.inf] * len(shape.n)
    for pair, cells in zip(shape.pairs, shape.cells, strict=True):
        for leaf, interval in zip(leaves.values(), living.ends[pair], strict=True):
            cell = cells[leaf]
            lower[cell] = max(lower[cell], interval.lower)
            upper[cell] = min(upper[cell], interval.upper)
    return tuple(map(Interval, lower, upper))


def lay_out_plans(
    plans: Sequence[CountedPlan],
    pairs: Mapping[Key, int],
    error: float,
    reward_range: tuple[float, float],
) -> NarrowingPlan:
    """Put plans into arrays for kernels: what never changes while rounds come.

    The error is shared evenly by the plans. Where means of cells are learned, half of a plan's
    share is theirs, and the other half that of chances; each half is shared evenly. Called by
    ``NarrowingBounds.__init__``.
    """
    found = _PlanLists()
    for plan in plans:
        found.add(plan, pairs, error / len(plans))
    lowest, highest = reward_range
    return NarrowingPlan(
        _add_up(found.pool_sizes),
        np.array(found.pool_level, np.float64),
        np.array(found.rows, np.int64),
        np.array(found.cell_level, np.float64),
        np.array(found.cell_rows, np.int64),
        np.array(found.cell_sums, np.float64),
        np.array(found.pair, np.int64),
        np.array(found.first, np.int64),
        np.array(found.stop, np.int64),
        np.array(found.sizes, np.int64),
        _add_up(map(len, found.pools))[:-1],
        np.array([pool for each in found.pools for pool in each], np.int64),
        _add_up(map(len, found.leaves))[:-1],
        np.array([leaf for each in found.leaves for leaf in each], np.int64),
        *_list_users(found.pools, len(found.pool_sizes)),
        *_list_users(found.leaves, len(found.cell_rows)),
        float(lowest),
        float(highest - lowest),
    )


@dataclass
class _PlanLists:
    """What becomes arrays once all plans are in: see ``NarrowingPlan``."""

    pool_sizes: list[int] = field(default_factory=list)
    pool_level: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    cell_level: list[float] = field(default_factory=list)
    cell_rows: list[int] = field(default_factory=list)
    cell_sums: list[float] = field(default_factory=list)
    pair: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    pools: list[list[int]] = field(default_factory=list)
    leaves: list[list[int]] = field(default_factory=list)

    def add(self, plan: CountedPlan, pairs: Mapping[Key, int], error: float) -> None:
        """Add one plan with its share of the error after those that are in.

        Called by ``lay_out_plans``.
        """
        shape, of_cells = plan.shape, 0.5 if plan.learns else 0.0
        n_cells, n_sizes = len(self.cell_rows), len(self.sizes)
        starts = self._add_factors(shape, error * (1.0 - of_cells) / plan.n_proportions)
        for i, pair in enumerate(shape.pairs):
            self.pair.append(pairs[pair])
            self.first.append(n_sizes)
            self.stop.append(len(self.sizes))
            at = zip(starts, shape.factors, strict=True)
            self.pools.append([start + pool for start, each in at for pool in each.pools[i]])
            self.leaves.append([n_cells + cell for cell in shape.cells[i]])
        self.cell_level += [error * of_cells / len(shape.n)] * len(shape.n)
        self.cell_rows += shape.n
        self.cell_sums += shape.sums

    def _add_factors(self, shape: FusedPlan, level: float) -> list[int]:
        """Add the pools of all factors of a plan, and say where those of each start.

        Called by ``_PlanLists.add``.
        """
        starts = []
        for factor in shape.factors:
            starts.append(len(self.pool_sizes))
            self.pool_sizes += [len(factor.cells)] * factor.n_pools
            self.pool_level += [level] * factor.n_pools
            self.rows += [n for counts in factor.counts for n in counts]
            self.sizes.append(len(factor.cells))
        return starts


def _list_users(places: Sequence[Sequence[int]], n: int) -> tuple[Places, Places]:
    """List for each of ``n`` pools or cells the members that have it, one after another.

    Gives where the members of each start, and all members. Called by ``lay_out_plans``.
    """
    users: list[list[int]] = [[] for _ in range(n)]
    for member, found in enumerate(places):
        for place in dict.fromkeys(found):
            users[place].append(member)
    return _add_up(map(len, users)), np.array([m for each in users for m in each], np.int64)


def _add_up(sizes: Iterable[int]) -> Places:
    """Say where parts of some sizes start that follow each other, and where the last ends.

    Called by ``lay_out_plans`` and ``_list_users``.
    """
    return np.array(list(accumulate(sizes, initial=0)), np.int64)


def make_unseen_ends(
    table: BoundTable, pairs: Iterable[Key], plans: Sequence[CountedPlan]
) -> NarrowedEnds:
    """Make the arrays that rounds will change: counts of 0, and ends by the log alone.

    Called by ``NarrowingBounds.__init__``.
    """
    rows = [table[key] for key in pairs]
    cells = [interval for plan in plans for interval in plan.ends]
    chances = [interval for plan in plans for interval in plan.list_chances()]
    return NarrowedEnds(
        np.zeros(len(chances), np.int64),
        np.array([interval.lower for interval in chances], np.float64),
        np.array([interval.upper for interval in chances], np.float64),
        np.zeros(len(cells), np.int64),
        np.zeros(len(cells)),
        np.array([interval.lower for interval in cells], np.float64),
        np.array([interval.upper for interval in cells], np.float64),
        np.array([interval.lower for interval in rows], np.float64),
        np.array([interval.upper for interval in rows], np.float64),
    )
