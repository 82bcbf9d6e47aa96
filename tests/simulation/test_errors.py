"""Messages: one line, what is wrong, what would work."""

import pytest

from boundit.simulation import errors
from boundit.terms.errors import BounditError

KNOWN = frozenset({"X", "Y"})


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            errors.MissingTable("Z", KNOWN),
            "node 'Z' has no table; there are tables for X, Y",
        ),
        (
            errors.MissingTable("Z", frozenset()),
            "node 'Z' has no table; there are tables for none",
        ),
        (
            errors.UnknownParent("Y", "Z", KNOWN),
            (
                "the table of 'Y' reads 'Z', which has no table of its own; "
                "there are tables for X, Y"
            ),
        ),
        (
            errors.NotADistribution("Y", {"X": 1, "Z": 0}, [0.5, 0.4]),
            (
                "the table of 'Y' at X = 1, Z = 0 is (0.5, 0.4); "
                "probabilities are at least 0 and add up to 1"
            ),
        ),
        (
            errors.NotADistribution("Y", {}, [-0.5, 1.5]),
            "the table of 'Y' is (-0.5, 1.5); probabilities are at least 0 and add up to 1",
        ),
        (
            errors.NotInGraph("X 1", "Y", "<->"),
            'the tables need "X 1" <-> Y, which the graph does not have; add the edge',
        ),
        (
            errors.SelectionNotBinary("S", 3),
            "the selection node 'S' has 3 levels; a row is logged (1) or not (0)",
        ),
        (
            errors.NeverSelected("S"),
            "'S' is never 1, so there is no log; raise its table above 0",
        ),
        (
            errors.RewardNotBinary("Y", 3),
            (
                "the reward 'Y' has 3 levels, and a world pays 0 or 1; "
                "give it two levels, 1 with the chance it should pay"
            ),
        ),
        (
            errors.PulledElsewhere("UCB", (7,), [(0,), (1,)]),
            "policy 'UCB' pulled (7,), which is no arm of the world; it has (0,), (1,)",
        ),
        (
            errors.NotAWorld("shop.json", "it has no tables"),
            "'shop.json' describes no world: it has no tables",
        ),
        (
            errors.DamagedResult("a.npz", "it does not say so"),
            "'a.npz' is no saved simulation of ours: it does not say so",
        ),
    ],
)
def test_messages_read_as_one_line(error: BounditError, says: str) -> None:
    assert str(error) == says


def test_a_crowd_of_names_is_cut_short() -> None:
    crowd = frozenset(f"V{i}" for i in range(500))

    assert len(str(errors.ModelTooLarge(crowd, 2**500, 2**22))) < 500
    assert len(str(errors.MissingTable("Z", crowd))) < 250
