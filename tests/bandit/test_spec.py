import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from boundit.bandit.errors import BadArm, BadContext, BadOption, BadReward, NeedsArms, OtherArms
from boundit.bandit.spec import BanditSpec, parse_arms
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from boundit.terms.saving.codec import decode, encode

TABLE = BoundTable.from_rows(
    [{"Ad": ad, "Age": 1, "lower": 0, "upper": 9} for ad in "AB"],
    outcome="Y",
    treatments=["Ad"],
    context=["Age"],
    outcome_range=(-1, 9),
)


def make_spec(**given: object) -> BanditSpec:
    options: dict[str, object] = {
        "prior": None,
        "arms": None,
        "context": None,
        "reward_range": None,
    }
    return BanditSpec.of(**{**options, **given})  # type: ignore[arg-type]


def test_the_prior_fills_what_was_not_given() -> None:
    found = make_spec(prior=TABLE)

    assert found.arms == (("A",), ("B",))
    assert found.context == ("Age",)
    assert found.reward_range == (-1.0, 9.0)
    assert make_spec().reward_range == (0.0, 1.0)


def test_arms_beside_those_of_the_prior_are_welcome() -> None:
    found = make_spec(prior=TABLE, arms=["A", "New"], context={"Age": [1, 2]})

    assert found.arms == (("A",), ("New",))
    assert found.arm_levels == (("A", "B", "New"),)
    assert found.read_context(2) == (2,)


@pytest.mark.parametrize(
    ("given", "read"),
    [((1, "x"), (1, "x")), ([1], (1,)), (3, (3,)), ((), ()), (np.int64(2), (2,))],
)
def test_an_unnamed_context_is_a_tuple_of_any_length(
    given: object, read: tuple[object, ...]
) -> None:
    assert make_spec(arms=["A"]).read_context(given) == read


def test_a_mapping_needs_names() -> None:
    with pytest.raises(BadContext, match=r"name them with context=\[...\] when making the"):
        make_spec(arms=["A"]).read_context({"Age": 1})
    assert make_spec(context=["B", "A"]).read_context({"A": 1, "B": 2}) == (2, 1)


def test_names_without_levels_take_any_value() -> None:
    assert make_spec(context=["Age"]).read_context((77,)) == (77,)
    with pytest.raises(OutsideDomain, match="'Age' has no level 77"):
        make_spec(context={"Age": [1, 2]}).read_context(77)


def test_held_arms_come_first_and_in_their_order() -> None:
    found = make_spec(arms=["B", "A"])

    assert found.read_arms(["Z", "A", "C", "B", "A"]) == (("B",), ("A",), ("C",), ("Z",))
    with pytest.raises(NeedsArms):
        found.read_arms([])


def test_numpy_scalars_become_plain() -> None:
    assert parse_arms(np.array([1, 2])) == ((1,), (2,))
    assert [type(v) for (v,) in parse_arms(np.array([1, 2]))] == [int, int]


@pytest.mark.parametrize(
    "reward", [np.nan, np.inf, -1.01, 9.01, "3", b"3", None, [1], 10**400, object(), 1j]
)
def test_only_numbers_inside_the_range_are_rewards(reward: object) -> None:
    with pytest.raises(BadReward, match="decision '7' must be a number from -1 to 9"):
        make_spec(prior=TABLE).read_reward(reward, "7")


@pytest.mark.parametrize("reward", [True, 1, np.float32(0.5), -1, 9, np.bool_(True)])
def test_numbers_of_any_kind_are_rewards(reward: float) -> None:
    assert make_spec(prior=TABLE).read_reward(reward, "7") == float(reward)


def test_what_is_unbound_is_filled_and_nothing_else() -> None:
    found = make_spec(arms=["A"]).fill(["B"], ["Age"])

    assert (found.arms, found.context) == ((("A",),), ("Age",))
    assert make_spec().fill(["B"], None) == make_spec(arms=["B"])
    assert make_spec(prior=TABLE).fill(["C"], ["Other"]) == make_spec(prior=TABLE)


@pytest.mark.parametrize("given", [{"prior": TABLE}, {}, {"arms": [(0, 1)], "context": ["U"]}])
def test_a_record_is_read_back(given: dict[str, object]) -> None:
    assert decode(BanditSpec, encode(make_spec(**given))) == make_spec(**given)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"arms": "AB"}, BadOption),
        ({"arms": [("A",), ("A", "B")]}, BadOption),
        ({"arms": [{}]}, BadArm),
        ({"context": ["U", "U"]}, BadOption),
        ({"context": [1]}, BadOption),
        ({"reward_range": (1, 0)}, BadOption),
        ({"reward_range": 3}, BadOption),
        ({"reward_range": (0, np.inf)}, BadOption),
        ({"reward_range": (-1e308, 1e308)}, BadOption),
        ({"reward_range": (0, 10**400)}, BadOption),
        ({"prior": TABLE, "arms": [("A", "B")]}, WrongLength),
    ],
)
def test_bad_options_are_refused(given: dict[str, object], error: type[BounditError]) -> None:
    with pytest.raises(error) as caught:
        make_spec(**given)
    assert "\n" not in str(caught.value)


SPEC = BanditSpec((("A",),), (("A",),), ("U", "V"), ((0, 1), ()))


@pytest.mark.parametrize("given", [(1, 0.5), [1, 0.5], {"V": 0.5, "U": 1, "W": 3}])
def test_a_context_is_read_alike_again_and_again(given: object) -> None:
    spec = replace(SPEC)

    assert [spec.read_context(given) for _ in range(3)] == [(1, 0.5)] * 3
    assert spec.read_context((1, 0.5)) == (1, 0.5)
    assert spec._known_contexts == {(1, 0.5)}
    assert not copy.deepcopy(spec)._known_contexts


def test_equal_values_keep_the_type_they_came_with() -> None:
    spec = replace(SPEC)
    spec.read_context((1, 1))

    found = [spec.read_context(given) for given in ((True, 1.0), (np.int64(1), 1), (1, 1))]

    assert [list(map(type, values)) for values in found] == [
        [bool, float],
        [int, int],
        [int, int],
    ]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((7, 0), OutsideDomain),
        ((1,), WrongLength),
        ({"U": 1}, BadContext),
        ((1, float("nan")), BadContext),
        ((1, [2]), BadContext),
    ],
)
def test_a_refused_context_is_refused_each_time(given: object, error: type[Exception]) -> None:
    spec = replace(SPEC)
    for _ in range(2):
        with pytest.raises(error):
            spec.read_context(given)


def test_one_name_is_read_from_a_mapping_too() -> None:
    spec = BanditSpec((("A",),), (("A",),), ("U",), ((),))

    assert spec.read_context({"U": 3}) == spec.read_context(3) == (3,)


def test_the_memory_of_contexts_is_bounded() -> None:
    spec = BanditSpec()
    for i in range(40_000):
        spec.read_context((i,))

    assert len(spec._known_contexts) <= 2**14


def _bound(arms: Sequence[object], ages: Sequence[object] = ("old",)) -> BoundTable:
    rows: list[dict[str, object]] = [
        {"Ad": arm, "Age": age, "lower": 0, "upper": 1} for arm in arms for age in ages
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["Ad"], context=["Age"], outcome_range=(0, 1)
    )


def test_arms_and_levels_follow_a_new_table() -> None:
    """Kept arms keep their order; what vanished is known still."""
    old = _bound("abc")
    spec = BanditSpec.of(prior=old, arms=None, context=None, reward_range=None)

    found = spec.follow(_bound("dca", ["new"]), old, None)

    assert found.arms == (("a",), ("c",), ("d",))
    assert found.retired == (("b",),)
    assert found.arm_levels == (("a", "b", "c", "d"),)
    assert found.context_levels == (("old", "new"),)
    assert not found.arms_given
    assert spec.follow(old, old, None) == spec
    assert copy.deepcopy(found) == found


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (_bound("xy"), "the bounds are for other arms"),
        (_bound(["a", 1]), r"did you mean '1' \(str\) for 1 \(int\)"),
    ],
)
def test_a_table_of_foreign_arms_is_not_followed(table: BoundTable, line: str) -> None:
    old = _bound(["a", "1"])
    spec = BanditSpec.of(prior=old, arms=None, context=None, reward_range=None)

    with pytest.raises(BounditError, match=line):
        spec.follow(table, old, None)


def test_given_arms_are_followed_when_told_alone() -> None:
    old = _bound("abc")
    spec = BanditSpec.of(prior=old, arms=["a", "b"], context=None, reward_range=None)

    assert spec.follow(_bound("abc"), old, None) == spec
    for table in (_bound("abcd"), _bound("ac")):
        with pytest.raises(OtherArms):
            spec.follow(table, old, None)
    found = spec.follow(_bound("ad"), old, ["a", "d"])
    assert (found.arms, found.retired) == ((("a",), ("d",)), (("b",),))
    assert found.arms_given


def _cut(table: BoundTable, *edges: float) -> BoundTable:
    return replace(table, bins={"Age": edges, "Ad": (1.0,)})


def test_numbers_find_the_bins_of_the_prior() -> None:
    table = _cut(_bound("ab", ["< 30", ">= 30"]), 30.0)
    spec = BanditSpec.of(prior=table, arms=None, context=None, reward_range=None)

    assert spec.bins == ((30.0,),)
    assert spec.read_context({"Age": 41.5}) == (41.5,)
    assert spec.find_cell((41.5,)) == spec.find_cell((">= 30",)) == (">= 30",)
    assert decode(BanditSpec, encode(spec)) == spec
    with pytest.raises(OutsideDomain):
        spec.read_context("30")
    assert BanditSpec().find_cell((41.5,)) == (41.5,)


def test_a_bin_without_rows_is_a_context_without_bounds() -> None:
    table = _cut(_bound("ab", ["< 30"]), 30.0)
    spec = BanditSpec.of(prior=table, arms=None, context=None, reward_range=None)

    assert spec.context_levels == (("< 30", ">= 30"),)
    assert spec.read_context(50) == (50,)


def test_bins_are_kept_where_a_new_table_has_none() -> None:
    old, plain = _cut(_bound("ab", ["< 30"]), 30.0), _bound("ab", ["< 30"])
    spec = BanditSpec.of(prior=old, arms=None, context=None, reward_range=None)

    assert spec.follow(plain, old, None).bins == ((30.0,),)
    assert spec.follow(_cut(plain, 40.0), old, None).bins == ((40.0,),)


def test_unseen_levels_are_let_through_if_asked() -> None:
    asked = make_spec(prior=TABLE, unseen="range")

    for value in (7, "new", None):
        assert asked.read_context((value,)) == (value,)
        with pytest.raises(OutsideDomain):
            make_spec(prior=TABLE).read_context((value,))
    with pytest.raises(OutsideDomain, match=r"did you mean 1 \(int\)"):
        asked.read_context("1")
    with pytest.raises(BadOption, match="unseen must be 'error' or 'range', found 'skip'"):
        make_spec(unseen="skip")


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT])
def test_a_missing_value_of_pandas_is_refused(missing: object) -> None:
    for asked in (make_spec(prior=TABLE), make_spec(prior=TABLE, unseen="range"), make_spec()):
        with pytest.raises(BadContext, match="is no level of a variable"):
            asked.read_context((missing,))
