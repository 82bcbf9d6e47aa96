from copy import deepcopy
from math import inf

from boundit.bandit.lineup import Entrant, Lineup

THREE = [
    Entrant(("A",), 0.1, 0.3, 0),
    Entrant(("B",), 0.2, 0.6, 1),
    Entrant(("C",), 0.0, 0.6, 2),
]


def test_arms_come_by_decreasing_cap_and_are_shown_in_order() -> None:
    lineup = Lineup.of(THREE)

    assert list(lineup) == [THREE[1], THREE[2], THREE[0]]
    assert lineup.upper.tolist() == [0.6, 0.6, 0.3]
    assert lineup.lower.tolist() == [0.2, 0.0, 0.1]
    assert lineup.place.tolist() == [1, 2, 0]
    assert lineup.shown == ((2, ("A",)), (0, ("B",)), (1, ("C",)))
    assert lineup.first(2) == ((0, ("B",)), (1, ("C",)))
    assert lineup.first(3) is lineup.shown


def test_beaten_arms_are_kept_aside() -> None:
    lineup = Lineup.of(THREE[1:], THREE[:1])

    assert lineup.beaten == (THREE[0],)
    assert len(lineup) == 2
    assert Lineup(THREE).beaten == ()
    assert deepcopy(lineup).beaten == lineup.beaten


def test_without_ends_nothing_bounds() -> None:
    free = Lineup.of([Entrant(("A",), -inf, inf, 0)])

    assert not free.bounded
    assert Lineup.of([Entrant(("A",), -inf, 1.0, 0)]).bounded
    assert Lineup.of([Entrant(("A",), 0.0, inf, 0)]).bounded
