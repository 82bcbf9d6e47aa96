import numpy as np
import pytest

from boundit.bandit.errors import BadArm, BadContext, BadOption, BadReward, NeedsArms
from boundit.bandit.spec import BanditSpec, read_arms
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError

TABLE = BoundTable.from_rows(
    [{"Ad": ad, "Age": 1, "lower": 0, "upper": 9} for ad in "AB"],
    outcome="Y",
    treatments=["Ad"],
    context=["Age"],
    reward_range=(-1, 9),
)


def scene(**given: object) -> BanditSpec:
    options: dict[str, object] = {
        "prior": None,
        "arms": None,
        "context": None,
        "reward_range": None,
    }
    return BanditSpec.of(**{**options, **given})  # type: ignore[arg-type]


def test_the_prior_tells_what_was_not_given() -> None:
    found = scene(prior=TABLE)

    assert found.arms == (("A",), ("B",))
    assert found.context == ("Age",)
    assert found.reward_range == (-1.0, 9.0)
    assert scene().reward_range == (0.0, 1.0)


def test_arms_beside_those_of_the_prior_are_welcome() -> None:
    found = scene(prior=TABLE, arms=["A", "New"], context={"Age": [1, 2]})

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
    assert scene(arms=["A"]).read_context(given) == read


def test_a_mapping_needs_names() -> None:
    with pytest.raises(BadContext, match=r"name them with context=\[...\] when making the"):
        scene(arms=["A"]).read_context({"Age": 1})
    assert scene(context=["B", "A"]).read_context({"A": 1, "B": 2}) == (2, 1)


def test_names_without_levels_take_any_value() -> None:
    assert scene(context=["Age"]).read_context((77,)) == (77,)
    with pytest.raises(OutsideDomain, match="'Age' has no level 77"):
        scene(context={"Age": [1, 2]}).read_context(77)


def test_held_arms_come_first_and_in_their_order() -> None:
    found = scene(arms=["B", "A"])

    assert found.read_among(["Z", "A", "C", "B", "A"]) == (("B",), ("A",), ("C",), ("Z",))
    assert found.read_among(None) == (("B",), ("A",))
    with pytest.raises(NeedsArms):
        scene().read_among(None)


def test_numpy_scalars_become_plain() -> None:
    assert read_arms(np.array([1, 2])) == ((1,), (2,))
    assert [type(v) for (v,) in read_arms(np.array([1, 2]))] == [int, int]


@pytest.mark.parametrize(
    "reward", [np.nan, np.inf, -1.01, 9.01, "3", b"3", None, [1], 10**400, object(), 1j]
)
def test_only_numbers_inside_the_range_are_rewards(reward: object) -> None:
    with pytest.raises(BadReward, match="decision '7' must be a number from -1 to 9"):
        scene(prior=TABLE).read_reward(reward, "7")


@pytest.mark.parametrize("reward", [True, 1, np.float32(0.5), -1, 9, np.bool_(True)])
def test_numbers_of_any_kind_are_rewards(reward: float) -> None:
    assert scene(prior=TABLE).read_reward(reward, "7") == float(reward)


def test_the_unit_scale() -> None:
    found = scene(prior=TABLE)

    assert [found.unit(x) for x in (-1, 4, 9, -np.inf, np.inf)] == [0, 0.5, 1, 0, 1]


def test_what_is_unbound_is_filled_and_nothing_else() -> None:
    found = scene(arms=["A"]).filled(["B"], ["Age"])

    assert (found.arms, found.context) == ((("A",),), ("Age",))
    assert scene().filled(["B"], None) == scene(arms=["B"])
    assert scene(prior=TABLE).filled(["C"], ["Other"]) == scene(prior=TABLE)


@pytest.mark.parametrize("given", [{"prior": TABLE}, {}, {"arms": [(0, 1)], "context": ["U"]}])
def test_a_record_is_read_back(given: dict[str, object]) -> None:
    assert BanditSpec.read(scene(**given).record()) == scene(**given)


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
        ({"prior": TABLE, "arms": [("A", "B")]}, WrongLength),
    ],
)
def test_bad_options_are_refused(given: dict[str, object], error: type[BounditError]) -> None:
    with pytest.raises(error) as caught:
        scene(**given)
    assert "\n" not in str(caught.value)
