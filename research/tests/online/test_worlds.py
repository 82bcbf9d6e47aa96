"""Seven environments that the paper's graph gets wrong, by as much as is said of them."""

import numpy as np
import pytest

from boundit.simulation.environment import Environment
from boundit.simulation.environments import paper_environment
from boundit_research.online.worlds import Assumed, make_wrong

ARMS, CONTEXT = ("X1", "X2"), ("U1", "U2")


def mislead(world: Environment) -> np.ndarray:
    """What the exact log's cells make of each mean, with the right chances of I1."""
    cells = world.model.log().align((*ARMS, *CONTEXT, "I1", "Y"))
    chances = world.model.effect(outcomes=("I1",), treatments=ARMS, context=CONTEXT)
    weights = chances.align((*ARMS, *CONTEXT, "I1"))
    means = np.array(list(world.means().values())).reshape(2, 2, 2, 2)
    return np.asarray((weights * cells[..., 1] / cells.sum(-1)).sum(-1) - means)


@pytest.mark.parametrize(
    ("i", "error"), [*enumerate([0.25, 0.05, 0.03, 0.0, 0.28, 0.0, 0.0])], ids=str
)
def test_the_log_misleads_by_as_much_as_is_said(i: int, error: float) -> None:
    wrong = make_wrong()[i]

    assert wrong.graph == paper_environment().graph != wrong.environment.graph
    assert np.abs(mislead(wrong.environment)).max() == pytest.approx(error, abs=0.006)


def test_no_extra_edge_no_error() -> None:
    right = Assumed.right(paper_environment())

    assert right.graph == right.environment.graph
    assert np.abs(mislead(right.environment)).max() < 1e-12


def test_best_arms_look_best_no_more() -> None:
    """X2 is flipped in every context; or the best arm alone looks bad."""
    worlds = {wrong.environment.name: wrong.environment for wrong in make_wrong()}
    flips, alone = worlds["Y -> S flips X2"], worlds["Y -> S best arm"]
    means = np.array(list(flips.means().values())).reshape(2, 2, 2, 2)
    seen = means + mislead(flips)

    assert (means[:, 1] > means[:, 0]).all()
    assert (seen[:, 1] < seen[:, 0]).all()
    assert np.abs(mislead(alone).reshape(4, 4)[:3]).max() < 1e-12


def test_arms_that_share_a_chance_of_the_middle_do_not() -> None:
    for wrong in make_wrong():
        if wrong.environment.name.startswith("X2 -> I1"):
            law = wrong.environment.model.effect(outcomes=("I1",), treatments=ARMS, context=())
            chances = law.align((*ARMS, "I1"))[..., 1]
            assert np.abs(chances[:, 0] - chances[:, 1]).max() > 0.15
