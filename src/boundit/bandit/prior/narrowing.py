"""Bounds that narrow while a policy plays: it learns what the log left open.

A table may say what ``E[Y | do(x), c, w]`` lies between for every cell ``w`` of some variables
(``Living``). Whoever sees ``w`` after each round learns how likely the cells are, in a
confidence sequence that holds at all times, and the ends of a pair are then the extreme means
over all laws left. Where rows of the log count in the same cells (``FusedPlan``), the means of
cells have sequences too: rows first, rounds after. Valid when rounds are drawn from the whole
population by the mechanisms that made the log, the arm was chosen before ``w`` was seen, and
whether ``w`` is told hangs neither on what it is nor on the reward.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from typing import TypeAlias, final

import numpy as np

from boundit.bandit.errors import BadObservation
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.narrowing import (
    REFUTED,
    SAME,
    learn_round_from_arrays,
    narrow_all,
)
from boundit.bandit.prior.counted_plan import CountedPlan, lay_out_plans, make_unseen_ends
from boundit.bandit.serialization import Record
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.bound_table import BoundTable
from boundit.terms.living import Living
from boundit.terms.names import sort_names
from boundit.terms.scalars import unwrap_scalar

Cells: TypeAlias = tuple[int | None, ...]
"""For each plan the place of the cell that was seen, None if some variable of it was not."""
_COUNTS = "counts", "n", "sums"
"""What rounds add up in."""


@final
class NarrowingBounds:
    """What was seen of all plans of a table, and the ends of its pairs now.

    Chances of cells have intervals with half of the error where means of cells are learned too,
    and with all of it elsewhere; it is shared evenly by the plans and their sequences.
    """

    def __init__(self, table: BoundTable, error: float) -> None:
        self.plans, self.error = table.living, error
        self.counted = tuple(CountedPlan.of(plan, table) for plan in self.plans)
        keys = dict.fromkeys(key for plan in self.plans for key in plan.pools)
        self.pairs = {key: i for i, key in enumerate(keys)}
        self.claims = lay_out_plans(self.counted, self.pairs, error, table.reward_range)
        self.found = make_unseen_ends(table, self.pairs, self.counted)
        # The table's own ends miss with this chance, and so do those of its cells, which have
        # half of it where rounds go on to count in them.
        missing = 1 - table.confidence if table.confidence is not None else 0.0
        learns = any(plan.learns for plan in self.counted)
        self.offline_error = missing * (1.5 if learns else 2.0)
        self.version = 0
        # Members, pools and cells are numbered over all plans.
        self._members = _number_members(self.counted)
        self.spans = [_Span.of(self.counted, i) for i in range(len(self.counted))]
        self._levels = {
            name: levels
            for plan in self.plans
            for name, levels in zip(plan.variables, plan.levels, strict=True)
        }
        self._known: dict[tuple[object, ...], Cells] = {}
        self._contexts: dict[tuple[int, int], tuple[Context, ...]] = {}

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
        return max((int(self.found.n[span.cells].sum()) for span in self.spans), default=0)

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

        None for a plan some variable of which was not observed, or is None; a level that no
        plan knows is refused. Called by ``BoundMonitor.read_observed`` and
        ``lay_out_narrowing``.
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
            if observed.get(name) is not None:
                seen[name] = unwrap_scalar(observed[name])
                if seen[name] not in levels:
                    raise OutsideDomain(name, seen[name], levels)
        found = tuple(
            plan.leaves[tuple([seen[name] for name in plan.living.variables])]
            if all(name in seen for name in plan.living.variables)
            else None
            for plan in self.counted
        )
        if len(seen) == len(self._levels):
            self._known[tuple(seen.values())] = found
        return found

    def find_member(self, plan: int, arm: Arm, context: Context) -> int | None:
        """Find the number of an arm and context in one plan, or None if it does not have them.

        Numbers go over all plans. Called by ``NarrowingBounds.learn_cells``,
        ``NarrowingBounds.count_rounds`` and ``lay_out_narrowing``.
        """
        return self._members[plan].get((arm, context))

    def learn_cells(
        self, arm: Arm, context: Context, cells: Cells, reward: float
    ) -> tuple[Context, ...] | Living:
        """Count what one round showed, and narrow the ends of the pairs that it tells of.

        A pair is an arm and a context; ``cells`` has for each plan the observed combination of
        levels. Gives the contexts whose ends moved, or the plan that the counts refute. Called
        by ``BoundMonitor.narrow`` for every reward that comes with an observation.
        """
        moved: tuple[Context, ...] = ()
        for i, leaf in enumerate(cells):
            member = None if leaf is None else self.find_member(i, arm, context)
            if leaf is None or member is None:
                continue
            came = learn_round_from_arrays(member, leaf, reward, *self.found, *self.claims)
            if came == REFUTED:
                return self.plans[i]
            if came != SAME:
                self.version += 1
                moved += self._find_contexts(member, leaf)
        return moved

    def _find_contexts(self, member: int, leaf: int) -> tuple[Context, ...]:
        """Find the contexts with arms whose ends a round may move: those to rank anew.

        They share a pool or the cell of the round's arm and context. Called by
        ``NarrowingBounds.learn_cells`` where ends moved; each is found once.
        """
        if (member, leaf) not in self._contexts:
            claims, keys = self.claims, list(self.pairs)
            cell = claims.leaves[claims.leaves_at[member] + leaf]
            at = claims.pools_at[member]
            stop = claims.pools_at[member + 1] if member + 1 < claims.pools_at.size else None
            users = [_list_span(claims.cell_users_at, claims.cell_users, cell)]
            users += [
                _list_span(claims.pool_users_at, claims.pool_users, pool)
                for pool in claims.pools[at:stop]
            ]
            found = [keys[claims.pair[user]][1] for each in users for user in each]
            self._contexts[member, leaf] = tuple(dict.fromkeys(found))
        return self._contexts[member, leaf]

    def settle(self) -> Living | None:
        """Narrow the ends of all arms and contexts by all rounds counted so far.

        Gives the plan (``Living``) that the counts refute, if any. Called by
        ``BoundMonitor.judge_all`` after counts of another table or policy were put in.
        """
        self.version += 1
        for plan, span in zip(self.plans, self.spans, strict=True):
            if narrow_all(self.found, self.claims, *span.list_places()) == REFUTED:
                return plan
        return None

    def count_rounds(self, plan: Living, arm: Arm, context: Context) -> int:
        """Count the observed rounds that tell of an arm and context in one plan.

        These are the rounds of its first pool. Called by ``BoundMonitor._make_refutation``,
        which says how many contradict the bounds.
        """
        member = self.find_member(self.plans.index(plan), arm, context)
        if member is None:
            return 0
        pool = self.claims.pools[self.claims.pools_at[member]]
        return int(self.found.counts[slice(*self.claims.pool_starts[pool : pool + 2])].sum())

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
        for name in _COUNTS:
            mine, theirs, both = (getattr(e.found, name) for e in (self, other, result))
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
        """Copy another's counts of rounds, and what it narrowed, into this object.

        For the plans whose rounds count in the same pools and cells. Called by
        ``NarrowingBounds.resume`` and ``NarrowingBounds.join``.
        """
        for plan, here in zip(self.counted, self.spans, strict=True):
            for its, there in zip(other.counted, other.spans, strict=True):
                if not plan.has_same_laws(its):
                    continue
                same = self.error / len(self.plans) == other.error / len(other.plans)
                parts = [("counts", "chances"), ("n", "cells"), ("sums", "cells")]
                # An interval of another error, or that begins with other rows, is made anew.
                if same and plan.has_same_chances(its):
                    parts += [("low", "chances"), ("high", "chances")]
                if same and plan.has_same_rewards(its):
                    parts += [("least", "cells"), ("most", "cells")]
                for name, where in parts:
                    mine, theirs = getattr(self.found, name), getattr(other.found, name)
                    mine[getattr(here, where)] = theirs[getattr(there, where)]
                break


@final
@dataclass(frozen=True)
class _Span:
    """Where the numbers of one plan lie among those of all plans."""

    chances: slice
    pools: slice
    cells: slice
    members: slice

    @classmethod
    def of(cls, plans: Sequence[CountedPlan], i: int) -> "_Span":
        """Find where the numbers of one of some plans lie.

        Called by ``NarrowingBounds.__init__``.
        """
        sizes = [
            (
                sum(factor.n_pools * len(factor.cells) for factor in plan.shape.factors),
                sum(factor.n_pools for factor in plan.shape.factors),
                len(plan.shape.n),
                len(plan.shape.pairs),
            )
            for plan in plans
        ]
        ends = (list(accumulate(column, initial=0)) for column in zip(*sizes, strict=True))
        return cls(*(slice(*each[i : i + 2]) for each in ends))

    def list_places(self) -> tuple[Places, Places, Places]:
        """List the numbers of its pools, cells and members, for a kernel.

        Called by ``NarrowingBounds.settle``.
        """
        pools, cells, members = (
            np.arange(part.start, part.stop) for part in (self.pools, self.cells, self.members)
        )
        return pools, cells, members


def _number_members(plans: Sequence[CountedPlan]) -> list[dict[Key, int]]:
    """Number the pairs of arm and context of all plans, one plan after another.

    Called by ``NarrowingBounds.__init__``.
    """
    numbers = count()
    return [{pair: next(numbers) for pair in plan.shape.pairs} for plan in plans]


def _list_span(starts: Places, places: Places, i: int) -> list[int]:
    """List the members of one pool or cell.

    Called by ``NarrowingBounds._find_contexts``.
    """
    found: list[int] = places[starts[i] : starts[i + 1]].tolist()
    return found
