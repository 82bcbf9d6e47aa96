import numpy as np
import pytest

from boundit.bandit.errors import BadObservation
from boundit.bandit.prior.narrowing import NarrowingBounds
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.living import Living
from tests.bandit.all_policies import ARMS, CONTEXTS
from tests.bandit.narrowing_tables import W, chances, living_table, plan, truth

A, C = ARMS[0], CONTEXTS[0]


def seen(ends: NarrowingBounds, rounds: int, seed: int = 0) -> NarrowingBounds:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arm, context = ARMS[rng.integers(4)], CONTEXTS[rng.integers(4)]
        cell = int(rng.choice(3, p=chances(arm)))
        assert not isinstance(ends.learn_cells(arm, context, (cell,)), Living)
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
            ends.learn_cells(A, C, (2,))

    assert shared.find_ends(A, CONTEXTS[1]) != start
    assert shared.find_ends((1, 0), CONTEXTS[1]) == NarrowingBounds(
        living_table(), 0.05
    ).find_ends((1, 0), CONTEXTS[1])
    assert apart.find_ends(A, CONTEXTS[1]) == start


def test_only_contexts_whose_ends_moved_are_named() -> None:
    ends = NarrowingBounds(living_table(plan(pooled=False)), 0.05)
    rng = np.random.default_rng(0)
    moved = [ends.learn_cells(A, C, (int(rng.choice(3, p=chances(A))),)) for _ in range(100)]

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

    assert one.claims.level.tolist() == pytest.approx([0.06 / 2 / 3] * 2)
    assert two.claims.level.tolist() == pytest.approx([0.01 / 2] * 2 + [0.01 / 16] * 16)


def test_two_cells_have_one_proportion() -> None:
    two_cells = Living(
        ("W",),
        ((0, 1),),
        plan().pools,
        {key: ends[:2] for key, ends in plan().ends.items()},
    )

    assert NarrowingBounds(living_table(two_cells), 0.06).claims.level.tolist() == [0.03, 0.03]


def test_a_plan_counts_once_all_its_variables_are_seen() -> None:
    ends = NarrowingBounds(living_table(), 0.05)

    assert ends.variables == ("W",)
    assert ends.read_cells({"W": "high", "other": 3}) == (2,)
    assert ends.read_cells({"W": np.int64(1)}) == (1,)
    assert ends.read_cells({"other": 3}) == (None,)
    assert ends.learn_cells(A, C, (None,)) == ()
    assert ends.learn_cells((7, 7), C, (1,)) == ()
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
        with pytest.raises(OutsideDomain, match="'V'"):
            ends.read_cells({"V": 2, "W": 1})


@pytest.mark.parametrize("level", [7, "1", None, [1]])
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
