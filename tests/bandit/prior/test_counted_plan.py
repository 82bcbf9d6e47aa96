from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.kernels.narrowing import NarrowedEnds
from boundit.bandit.prior.counted_plan import CountedPlan, lay_out_plans, make_unseen_ends
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan
from boundit.terms.interval import Interval
from tests.bandit.narrowing_tables import W, fused_table, living_table, plan


def counted(table: BoundTable) -> CountedPlan:
    return CountedPlan.of(table.living[0], table)


def test_rows_count_where_table_and_plan_speak_of_the_same_cells() -> None:
    table = fused_table()
    found = counted(table)

    assert found.learns
    assert found.shape is table.fused
    assert found.leaves == {(w,): i for i, w in enumerate(W)}
    few = dict(list(plan().pools.items())[:3])
    for other in (
        replace(table, fused=NoFusedPlan("none")),
        replace(table, confidence=None),
        replace(table, living=(replace(plan(), variables=("V",)),)),
        replace(
            table, living=(replace(plan(), pools=few, ends={k: plan().ends[k] for k in few}),)
        ),
    ):
        weights = counted(other)
        assert not weights.learns
        assert len(weights.shape.n) == 3 * len(weights.living.pools)
        assert not any(weights.shape.n)


def test_leaves_go_by_the_factors_and_not_by_the_order_of_the_variables() -> None:
    """The chain has V before W, and 1 before 0."""
    found = counted(fused_table(chain=True))

    assert found.living.variables == ("W", "V")
    assert found.leaves[0, 1] == 0
    assert found.leaves["high", 1] == 2
    assert found.leaves[0, 0] == 3
    assert found.n_proportions == 2 + 3 * 3


def test_a_cell_lies_where_all_its_pairs_say() -> None:
    table = fused_table()
    (first,) = table.living
    key = next(iter(first.ends))
    ends = {**first.ends, key: (Interval(0.3, 0.4), *first.ends[key][1:])}
    found = counted(replace(table, living=(replace(first, ends=ends),)))

    assert isinstance(table.fused, FusedPlan)
    assert found.ends[table.fused.cells[0][0]] == Interval(0.3, 0.4)


def test_laws_and_rows_are_told_apart() -> None:
    one, more, chain = (
        counted(t) for t in (fused_table(), fused_table(300), fused_table(chain=True))
    )

    assert one.has_same_laws(more)
    assert one.has_same_chances(more)
    assert not one.has_same_rewards(more)
    assert not one.has_same_laws(chain)
    assert not chain.has_same_chances(counted(fused_table(300, chain=True)))
    assert not one.has_same_laws(counted(living_table()))


def make_arrays(table: BoundTable) -> tuple[NarrowedEnds, list[int]]:
    plans = [CountedPlan.of(each, table) for each in table.living]
    pairs = {key: i for i, key in enumerate(plan().pools)}
    claims = lay_out_plans(plans, pairs, 0.06, table.reward_range)
    assert claims.pools_at.size == claims.pair.size == 16 * len(plans)
    assert claims.cell_users_at[-1] == claims.cell_users.size
    found = make_unseen_ends(table, pairs, plans)
    return found, claims.pool_starts.tolist()


@pytest.mark.parametrize(
    ("table", "starts", "n_cells"),
    [
        (fused_table(), [0, 3, 6], 12),
        (fused_table(chain=True), [0, 2, 4, 7, 10, 13], 12),
        (living_table(plan(), plan()), [0, 3, 6, 9, 12], 96),
    ],
)
def test_plans_follow_each_other_in_arrays(
    table: BoundTable, starts: list[int], n_cells: int
) -> None:
    found, pool_starts = make_arrays(table)

    assert pool_starts == starts
    assert found.least.size == found.n.size == n_cells
    assert not found.counts.any()
    assert np.all(found.lower <= found.upper)
    assert found.lower.tolist() == [table[key].lower for key in plan().pools]


def test_chances_start_from_what_the_log_says() -> None:
    table = fused_table(chain=True)
    known = tuple(
        tuple((Interval(0.1, 0.8),) * len(factor.cells) for _ in factor.counts)
        for factor in (table.fused.factors if isinstance(table.fused, FusedPlan) else ())
    )
    told = replace(table, living=(replace(table.living[0], chances=known),))
    found, _ = make_arrays(told)

    assert set(found.low) == {0.1}
    assert set(found.high) == {0.8}
    assert not counted(table).has_same_chances(counted(told))
    # Without rows that count, plans have one factor, and start from nothing.
    found, _ = make_arrays(replace(told, confidence=None))
    assert set(found.low) == {0.0}
