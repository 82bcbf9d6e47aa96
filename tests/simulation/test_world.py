import numpy as np
import pytest

from boundit.bounds.request import NotABanditQuestion
from boundit.estimand.query import parse_query
from boundit.simulation.errors import RewardNotBinary
from boundit.simulation.model import Model
from boundit.simulation.world import World
from boundit.simulation.worlds import make_paper_model, paper_world, random_world
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.errors import UnknownNode


def test_means_are_the_effects_of_the_model() -> None:
    world = paper_world()
    effect = world.model.effect(outcomes="Y", treatments=("X1", "X2"), context=("U1", "U2"))

    assert len(world.means()) == 16
    for (arm, context), mean in world.means().items():
        place = dict(zip(("X1", "X2", "U1", "U2"), arm + context, strict=True)) | {"Y": 1}
        assert mean == world.mean(arm, context) == float(effect.at(place))


def test_a_drawn_log_repeats_by_its_seed_and_holds_only_logged_rows() -> None:
    world = paper_world()
    one, again = (world.log(1_000, 4).count(["I1"]) for _ in range(2))

    assert np.array_equal(one.n, again.n)
    assert 400 < one.rows < 550  # about 47.6 percent are logged


def test_the_exact_log_is_the_law_of_the_log() -> None:
    world = paper_world()
    table = world.exact_log().count(["U1"])

    assert table.exact
    assert table.marginalize("U1").values == pytest.approx(
        world.model.log().marginalize("U1").values
    )


def test_a_question_the_model_cannot_answer_is_refused() -> None:
    with pytest.raises(UnknownNode):
        World(make_paper_model(), parse_query("Z | do(X1)"))
    with pytest.raises(WrongLength, match="must have one value each for X1, X2"):
        paper_world().mean((0,), (0, 0))


def test_the_stage_has_the_means_by_place() -> None:
    """Arms in the order of the query, as ``means`` lists them; contexts likewise."""
    world = random_world(1, arms=3, contexts=2)
    environment = world.environment

    assert environment.arms == ((0,), (1,), (2,))
    assert environment.contexts == ((0, 0), (0, 1), (1, 0), (1, 1))
    for i, context in enumerate(environment.contexts):
        for j, arm in enumerate(environment.arms):
            assert environment.means[i, j] == world.mean(arm, context)
    assert world.shares.sum() == pytest.approx(1)


def test_a_world_without_contexts_has_one_place() -> None:
    environment = random_world(0, arms=2, contexts=0).environment

    assert (environment.contexts, environment.means.shape) == (((),), (1, 2))


def test_a_world_pays_0_or_1_under_arms_chosen_in_time() -> None:
    three = {"X": ([], 0.5), "Y": (["X"], [[0.2, 0.3, 0.5]] * 2)}
    with pytest.raises(RewardNotBinary, match="'Y' has 3 levels, and a world pays 0 or 1"):
        World(Model.of(three), parse_query("Y | do(X)"))  # type: ignore[arg-type]
    with pytest.raises(NotABanditQuestion, match="'I1' is an effect of the treatments"):
        World(make_paper_model(), parse_query("Y | do(X1), I1"))
    with pytest.raises(NotABanditQuestion, match="has no treatment"):
        World(make_paper_model(), parse_query("Y | U1"))


def test_what_rounds_show_has_the_law_of_the_model() -> None:
    """``P(w | do(x), c, y)`` weighed with the reward's chance is ``P(w | do(x), c)``."""
    world = paper_world()
    environment = world.make_environment(["I1", "elsewhere"])
    law = world.model.effect(outcomes="I1", treatments=("X1", "X2"), context=("U1", "U2"))

    assert environment.side_observation is not None
    assert (environment.side_observation.variables, environment.side_observation.levels) == (
        ("I1",),
        ((0, 1),),
    )
    chances = np.diff(environment.side_observation.ends, axis=-1, prepend=0.0)
    pays = environment.means[..., None]
    found = pays * chances[:, :, 1] + (1 - pays) * chances[:, :, 0]
    expected = law.align(("U1", "U2", "X1", "X2", "I1")).reshape(4, 4, 2)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_what_a_world_does_not_have_it_does_not_show() -> None:
    world = paper_world()

    assert (
        world.make_environment(()) is world.make_environment(["elsewhere"]) is world.environment
    )
    assert world.make_environment(["I1"]) is world.make_environment(["I1"])
    assert world.make_environment(["I1"]).means is world.environment.means


def test_an_arm_that_always_pays_shows_something_all_the_same() -> None:
    tables = {"X": ([], 0.5), "W": (["X"], [0.2, 0.7]), "Y": (["X", "W"], [[1, 1], [0.5, 1]])}
    world = World(Model.of(tables), parse_query("Y | do(X)"))  # type: ignore[arg-type]
    observation = world.make_environment(["W"]).side_observation

    assert observation is not None
    assert np.isfinite(observation.ends).all()
    assert observation.observe(0, 0, 1.0, 0.79) == {"W": 0}
    assert observation.observe(0, 0, 1.0, 0.81) == {"W": 1}


LEVELS = {"X1": ("a", "b"), "U2": ("old", "young"), "I1": ("no", "yes")}


def test_levels_may_have_the_names_of_a_log() -> None:
    plain = paper_world()
    world = World(plain.model, plain.query, levels=LEVELS)

    assert world.mean(("b", 0), (1, "old")) == plain.mean((1, 0), (1, 0))
    assert world.means()[("b", 0), (1, "old")] == plain.mean((1, 0), (1, 0))
    assert world.environment.arms[0] == ("a", 0)
    assert world.environment.contexts[1] == (0, "young")
    assert set(world.log(50, seed=1).count(["X1"]).levels["X1"]) == {"a", "b"}
    assert world.exact_log().count(["U2"]).levels["U2"] == ("old", "young")
    assert world.list_levels("U2") == ("old", "young")
    shown = world.make_environment(["I1"]).side_observation
    assert shown is not None
    assert shown.levels == (("no", "yes"),)
    with pytest.raises(OutsideDomain):
        world.mean(("c", 0), (1, "old"))
