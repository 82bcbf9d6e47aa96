import numpy as np
import pytest

from boundit.estimand.query import parse_query
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_model, paper_world
from boundit.terms.bound_errors import WrongLength
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
    assert table.marginal("U1").values == pytest.approx(world.model.log().marginal("U1").values)


def test_a_question_the_model_cannot_answer_is_refused() -> None:
    with pytest.raises(UnknownNode):
        World(paper_model(), parse_query("Z | do(X1)"))
    with pytest.raises(WrongLength, match="must have one value each for X1, X2"):
        paper_world().mean((0,), (0, 0))
