import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from boundit.bandit.errors import BadObservation
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import NoFusedPlan
from boundit.terms.living import Living
from tests.bandit.all_policies import ARMS, CONTEXTS
from tests.bandit.narrowing_tables import (
    W,
    chances,
    fused_table,
    given,
    living_table,
    plan,
    truth,
)

A, C = ARMS[0], CONTEXTS[0]


def draw_reward(
    arm: tuple[Any, ...], context: tuple[Any, ...], cell: int, rng: np.random.Generator
) -> float:
    return float(rng.random() < given(arm, context)[cell])


def seen(ends: NarrowingBounds, rounds: int, seed: int = 0) -> NarrowingBounds:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arm, context = ARMS[rng.integers(4)], CONTEXTS[rng.integers(4)]
        cell = int(rng.choice(3, p=chances(arm)))
        assert not isinstance(
            ends.learn_cells(arm, context, (cell,), draw_reward(arm, context, cell, rng)),
            Living,
        )
    return ends


def test_before_anything_is_seen_ends_are_those_of_the_table() -> None:
    table = living_table()
    ends = NarrowingBounds(table, 0.05)

    for arm in ARMS:
        for context in CONTEXTS:
            interval = table[arm, context]
            assert ends.find_ends(arm, context) == (interval.lower, interval.upper)
    assert ends.find_ends((7, 7), C) is None


def test_a_pool_learns_together_and_another_does_not() -> None:
    shared = NarrowingBounds(living_table(plan()), 0.05)
    apart = NarrowingBounds(living_table(plan(pooled=False)), 0.05)
    start = shared.find_ends(A, CONTEXTS[1])
    for ends in (shared, apart):
        for _ in range(50):
            ends.learn_cells(A, C, (2,), 1.0)

    assert shared.find_ends(A, CONTEXTS[1]) != start
    assert shared.find_ends((1, 0), CONTEXTS[1]) == NarrowingBounds(
        living_table(), 0.05
    ).find_ends((1, 0), CONTEXTS[1])
    assert apart.find_ends(A, CONTEXTS[1]) == start


def test_only_contexts_whose_ends_moved_are_named() -> None:
    ends = NarrowingBounds(living_table(plan(pooled=False)), 0.05)
    rng = np.random.default_rng(0)
    moved = [
        ends.learn_cells(A, C, (int(rng.choice(3, p=chances(A))),), 1.0) for _ in range(100)
    ]

    assert set(moved) == {(), (C,)}
    assert ends.version == sum(map(bool, moved))


def test_ends_close_in_on_the_truth() -> None:
    ends = seen(NarrowingBounds(living_table(), 0.05), 8000)

    for arm in ARMS:
        for context in CONTEXTS:
            lower, upper = ends.find_ends(arm, context) or (0, 0)
            assert lower <= truth(arm, context) <= upper
            assert upper - lower < 0.17
    assert ends.n_seen == 8000


def test_the_error_is_shared_by_plans_pools_and_cells() -> None:
    one = NarrowingBounds(living_table(plan()), 0.06)
    two = NarrowingBounds(living_table(plan(), plan(pooled=False)), 0.06)

    assert one.claims.pool_level.tolist() == pytest.approx([0.06 / 2 / 3] * 2)
    assert two.claims.pool_level.tolist() == pytest.approx([0.01 / 2] * 2 + [0.01 / 16] * 16)


def test_two_cells_have_one_proportion() -> None:
    two_cells = Living(
        ("W",),
        ((0, 1),),
        plan().pools,
        {key: ends[:2] for key, ends in plan().ends.items()},
    )

    assert NarrowingBounds(living_table(two_cells), 0.06).claims.pool_level.tolist() == [
        0.03,
        0.03,
    ]


def test_a_plan_counts_once_all_its_variables_are_seen() -> None:
    ends = NarrowingBounds(living_table(), 0.05)

    assert ends.variables == ("W",)
    assert ends.read_cells({"W": "high", "other": 3}) == (2,)
    assert ends.read_cells({"W": np.int64(1)}) == (1,)
    assert ends.read_cells({"other": 3}) == (None,)
    assert ends.learn_cells(A, C, (None,), 1.0) == ()
    assert ends.learn_cells((7, 7), C, (1,), 1.0) == ()
    assert ends.n_seen == 0


def test_what_was_read_before_is_read_alike() -> None:
    """With two plans over two variables, in any order, by levels that are equal or not."""
    both = Living(
        ("V", "W"),
        ((0, 1), W),
        plan().pools,
        {key: (*ends, *ends) for key, ends in plan().ends.items()},
    )
    ends = NarrowingBounds(living_table(plan(), both), 0.05)
    for _ in range(2):
        assert ends.read_cells({"W": "high", "V": 1}) == (2, 5)
        assert ends.read_cells({"V": True, "W": np.int64(1)}) == (1, 4)
        assert ends.read_cells({"V": 0, "W": 1, "U": 9}) == (1, 1)
        assert ends.read_cells({"W": 1}) == (1, None)
        assert ends.read_cells({"V": 1}) == (None, None)
        assert ends.read_cells({"V": None, "W": 1}) == (1, None)
        with pytest.raises(OutsideDomain, match="'V'"):
            ends.read_cells({"V": 2, "W": 1})


@pytest.mark.parametrize("level", [7, "1", [1]])
def test_an_unknown_level_is_refused(level: object) -> None:
    with pytest.raises(OutsideDomain):
        NarrowingBounds(living_table(), 0.05).read_cells({"W": level})


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(BadObservation, match="observed must map names to values"):
        NarrowingBounds(living_table(), 0.05).read_cells([("W", 1)])  # type: ignore[arg-type]


def test_another_table_goes_on_where_its_pools_are_the_same() -> None:
    old = seen(NarrowingBounds(living_table(plan(slack=0.05)), 0.05), 500)
    narrower = old.resume(living_table(plan(slack=0.01)))
    other = old.resume(living_table(plan(pooled=False)))

    assert narrower.settle() is None
    np.testing.assert_array_equal(narrower.found.low, old.found.low)
    mine, theirs = narrower.find_ends(A, C), old.find_ends(A, C)
    assert mine is not None
    assert theirs is not None
    assert mine[1] < theirs[1]
    assert other.n_seen == 0


def test_with_another_error_intervals_are_worked_out_anew() -> None:
    old = seen(NarrowingBounds(living_table(), 0.05), 500)
    both = old.resume(living_table(plan(), plan(pooled=False)))

    assert both.settle() is None
    assert both.n_seen == 500
    n = old.found.low.size
    assert (both.found.low[:n] <= old.found.low).all()
    assert (both.found.low[:n] < old.found.low).any()


def test_joined_counts_add_up_and_own_intervals_are_left_out() -> None:
    """The rounds of one stream are not a prefix of both: its error is not spent."""
    table = living_table()
    base = seen(NarrowingBounds(table, 0.05), 100)
    one, two = (seen(base.resume(table), 200, seed) for seed in (1, 2))

    both = one.join(two, base, table)
    before = both.found.low.copy()

    assert both.n_seen == 500
    np.testing.assert_array_equal(before, base.found.low)
    assert both.settle() is None
    fresh = NarrowingBounds(table, 0.05)
    fresh.found.counts[:] = both.found.counts
    fresh.settle()
    np.testing.assert_array_equal(both.found.low, np.maximum(fresh.found.low, base.found.low))


def test_a_record_is_read_back_exactly() -> None:
    table = living_table()
    ends, other = seen(NarrowingBounds(table, 0.05), 300), NarrowingBounds(table, 0.05)

    other.restore(ends.to_record())

    assert other.to_record() == ends.to_record()
    for one in (ends, other):
        seen(one, 50, seed=9)
    assert other.to_record() == ends.to_record()
    with pytest.raises(ValueError, match="low does not fit"):
        other.restore({**ends.to_record(), "low": [0.0]})


def test_levels_are_those_of_the_plan() -> None:
    assert plan().cells == tuple((w,) for w in W)


def see_rounds(table: BoundTable, rounds: int, seed: int, error: float) -> NarrowingBounds:
    """Play an arm that hangs on what was earned before, and show all that was seen."""
    ends, rng = NarrowingBounds(table, error), np.random.default_rng(seed)
    won = dict.fromkeys(ARMS, 1.0)
    for _ in range(rounds):
        context = CONTEXTS[rng.integers(4)]
        arm = max(ARMS, key=lambda each: rng.random() * won[each])
        w = int(rng.choice(3, p=chances(arm)))
        reward = draw_reward(arm, context, w, rng)
        won[arm] = 0.9 * won[arm] + reward
        cells = ends.read_cells({"W": W[w], "V": int(w == 0)})
        if isinstance(ends.learn_cells(arm, context, cells, reward), Living):
            ends.found.lower[:] = 2.0
            break
    return ends


@pytest.mark.parametrize("chain", [False, True])
def test_means_of_cells_are_learned_where_rows_of_the_log_count_in_them(chain: bool) -> None:
    table = fused_table(chain=chain)
    without = replace(table, fused=NoFusedPlan("none"))
    fused, frozen = (see_rounds(each, 3_000, 1, 0.05) for each in (table, without))

    widths = []
    for arm, context in product(ARMS, CONTEXTS):
        for ends in (fused, frozen):
            lower, upper = ends.find_ends(arm, context) or (1, 0)
            assert lower <= truth(arm, context) <= upper
            widths.append(upper - lower)
    assert max(widths[::2]) < 0.7 * min(widths[1::2])


@pytest.mark.parametrize("chain", [False, True])
def test_ends_ever_miss_in_no_more_runs_than_allowed(chain: bool) -> None:
    """Of fresh logs and adaptive rounds; ends only narrow, so that the last ones tell."""
    missed, runs, error = 0, 60, 0.2
    for seed in range(runs):
        table = fused_table(60, seed=seed, chain=chain, slack=1.0)
        ends = see_rounds(table, 300, seed, error)
        pairs = product(ARMS, CONTEXTS)
        found = [(truth(*pair), *(ends.find_ends(*pair) or (1, 0))) for pair in pairs]
        missed += not all(lower <= mean <= upper for mean, lower, upper in found)
    assert missed <= error * runs


def test_half_of_the_error_is_that_of_cells_where_these_are_learned() -> None:
    ends = NarrowingBounds(fused_table(), 0.06)
    chain = NarrowingBounds(fused_table(chain=True), 0.06)

    assert ends.claims.pool_level.tolist() == pytest.approx([0.03 / 6] * 2)
    assert ends.claims.cell_level.tolist() == pytest.approx([0.03 / 12] * 12)
    assert chain.claims.pool_level.tolist() == pytest.approx([0.03 / 11] * 5)
    assert not NarrowingBounds(living_table(), 0.06).claims.cell_level.any()
    assert ends.offline_error == pytest.approx(1.5 * 0.05)
    plain = NarrowingBounds(replace(living_table(), confidence=0.95), 0.06)
    assert plain.offline_error == pytest.approx(2 * 0.05)
    assert NarrowingBounds(living_table(), 0.06).offline_error == 0


def test_estimates_that_were_taken_for_the_truth_are_not_learned() -> None:
    ends = NarrowingBounds(fused_table(confidence=None), 0.05)

    assert not ends.claims.cell_level.any()
    assert not ends.claims.cell_rows.any()


def test_rewards_that_contradict_the_log_are_refuted() -> None:
    ends = NarrowingBounds(fused_table(2_000), 0.05)
    came = [ends.learn_cells(A, C, (0,), 1.0) for _ in range(400)]

    assert came[0] == () or isinstance(came[0], tuple)
    assert isinstance(came[-1], Living)


def test_rounds_count_in_any_order_and_merged_as_one() -> None:
    table = fused_table(chain=True)
    rng = np.random.default_rng(3)
    rounds = [
        (ARMS[rng.integers(4)], CONTEXTS[rng.integers(4)], int(rng.integers(6)), reward)
        for reward in rng.integers(2, size=60).astype(float)
    ]

    def learn(some: list[tuple[tuple[Any, ...], tuple[Any, ...], int, float]]) -> Any:
        ends = NarrowingBounds(table, 0.05)
        for arm, context, leaf, reward in some:
            ends.learn_cells(arm, context, (leaf,), reward)
        return ends

    forth, back = learn(rounds), learn(rounds[::-1])
    both = learn(rounds[:20]).join(learn(rounds[20:]), NarrowingBounds(table, 0.05), table)
    for name in ("counts", "n", "sums"):
        counted = getattr(forth.found, name)
        np.testing.assert_array_equal(getattr(back.found, name), counted)
        np.testing.assert_array_equal(getattr(both.found, name), counted)
    assert both.settle() is None
    assert (both.found.least <= forth.found.least).all()
    read = NarrowingBounds(table, 0.05)
    read.restore(json.loads(json.dumps(forth.to_record())))
    assert read.to_record() == forth.to_record()


def test_another_log_keeps_the_rounds_and_leaves_its_own_rows() -> None:
    """Rounds stay; a mean's sequence begins with other rows, so that it is made anew."""
    old = see_rounds(fused_table(), 500, 0, 0.05)
    table = fused_table(400, seed=1)
    new = old.resume(table)

    np.testing.assert_array_equal(new.found.sums, old.found.sums)
    np.testing.assert_array_equal(new.found.low, old.found.low)
    np.testing.assert_array_equal(new.found.least, NarrowingBounds(table, 0.05).found.least)
    assert new.settle() is None
    same = old.resume(fused_table())
    np.testing.assert_array_equal(same.found.least, old.found.least)


def test_rewards_of_another_range_are_counted_from_0_to_1() -> None:
    """Wider intervals, as the range might be filled, and valid all the same."""
    unit, scaled = fused_table(), fused_table(reward_range=(-0.5, 1.5))
    narrow, wide = (see_rounds(each, 2_000, 2, 0.05) for each in (unit, scaled))

    np.testing.assert_allclose(wide.found.sums, (narrow.found.sums + 0.5 * wide.found.n) / 2)
    assert (wide.found.least < narrow.found.least).any()
    for arm, context in product(ARMS, CONTEXTS):
        lower, upper = wide.find_ends(arm, context) or (1, 0)
        assert lower <= truth(arm, context) <= upper
        assert upper - lower < unit[arm, context].width - 0.1
