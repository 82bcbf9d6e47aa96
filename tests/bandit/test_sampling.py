import numpy as np

from boundit.bandit.laws import CutBeta, win_chance
from boundit.bandit.prior import Entrant
from boundit.bandit.sampling import draw_best

ENTRANTS = [
    Entrant(("A",), 0.6, 0.9, 0),
    Entrant(("B",), 0.0, 0.8, 1),
    Entrant(("C",), 0.0, 0.5, 2),
]


def law_of(entrant: Entrant) -> CutBeta:
    return CutBeta(1, 1, entrant.lower, entrant.upper)


def test_the_highest_draw_wins_and_the_dominated_are_not_drawn() -> None:
    outcome = draw_best(ENTRANTS, law_of, np.array([0.1, 0.95, 0.99]), win_chance)

    assert outcome.arm == ("B",)
    assert outcome.index == {("A",): 0.63, ("B",): 0.76}
    assert outcome.skipped == 1
    assert outcome.capped == (("B",),)
    assert outcome.propensity is not None
    assert abs(outcome.propensity - 0.0833) < 0.001


def test_propensities_can_be_spared() -> None:
    shares = np.array([0.1, 0.95, 0.99])

    assert draw_best(ENTRANTS, law_of, shares, None).propensity is None


def test_a_point_that_no_other_reaches_wins_for_sure() -> None:
    entrants = [Entrant(("A",), 0.6, 0.6, 0), Entrant(("B",), 0.0, 0.5, 1)]

    outcome = draw_best(entrants, law_of, np.array([0.5, 0.9]), win_chance)

    assert (outcome.arm, outcome.propensity, outcome.skipped) == (("A",), 1.0, 1)
