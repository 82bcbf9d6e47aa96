import numpy as np

from boundit.bandit.laws import CutBeta, win_chance
from boundit.bandit.lineup import Entrant, Lineup
from boundit.bandit.sampling import drawn, winning_chance

LINEUP = Lineup.of(
    [
        Entrant(("C",), 0.0, 0.5, 0),
        Entrant(("A",), 0.6, 0.9, 1),
        Entrant(("B",), 0.0, 0.8, 2),
    ]
)


def law_of(entrant: Entrant) -> CutBeta:
    return CutBeta(1, 1, entrant.lower, entrant.upper)


def test_what_was_drawn_is_shown_in_the_order_of_the_call() -> None:
    """Two of three were drawn; B's free draw lay above its bound, A's below."""
    draws, free = np.array([0.63, 0.76, np.nan]), np.array([0.2, 0.95, np.nan])

    outcome = drawn(LINEUP, (1, 2), draws, free, features=(1.0,), propensity=0.25)

    assert outcome.arm == ("B",)
    assert list(outcome.index.items()) == [(("A",), 0.63), (("B",), 0.76)]
    assert outcome.capped == (("B",),)
    assert (outcome.skipped, outcome.features, outcome.propensity) == (1, (1.0,), 0.25)
    assert drawn(LINEUP, (1, 2), draws, free).propensity is None


def test_without_bounds_nothing_is_capped() -> None:
    loose = Lineup.of([Entrant(("A",), -np.inf, np.inf, 0)])

    assert drawn(loose, (0, 1), np.array([0.1]), np.array([0.9])).capped == ()


def test_the_dominated_are_not_counted_in_the_chance() -> None:
    """B is uniform on [0, 0.8], A on [0.6, 0.9]: B wins with chance 1/4 x 1/3."""
    chance = winning_chance(LINEUP, 1, law_of, win_chance)

    assert abs(chance - 1 / 12) < 0.001


def test_a_point_that_no_other_reaches_wins_for_sure() -> None:
    lineup = Lineup.of([Entrant(("A",), 0.6, 0.6, 0), Entrant(("B",), 0.0, 0.5, 1)])

    assert winning_chance(lineup, 0, law_of, win_chance) == 1.0
