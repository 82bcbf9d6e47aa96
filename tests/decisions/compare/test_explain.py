"""What a comparison took for granted, in sentences."""

from dataclasses import replace

import pytest

import boundit as bd
from boundit.decisions.compare.compare import compare
from tests.decisions.compare.tables import make_table


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        ("any", "The 2 contexts may come as often as they will"),
        ({0: 1, 1: 1}, "Contexts weigh as given, 2 of them."),
        ({"C": [0, 1, 1]}, "Contexts weigh as in 3 visitors of the dict of columns, a sample"),
    ],
)
def test_it_says_how_contexts_were_weighed(contexts: object, said: str) -> None:
    assert any(
        said in reason for reason in compare(make_table(), "b", "a", contexts=contexts).reasons
    )


def test_it_says_where_contexts_were_not_tied() -> None:
    tied = "not tied to what is unknown in another"
    assert tied in str(compare(make_table(), "b", "a", contexts={0: 1, 1: 1}))
    assert tied not in str(compare(make_table(), "b", "a"))


def test_it_says_how_chances_of_missing_add_up() -> None:
    table = replace(make_table(), confidence=0.95, profile="sound")
    found = compare(table, "b", bd.Measured(0.2, confidence=0.9), contexts={0: 1})
    assert "The measured 0.2 lies in [0.200, 0.200] with confidence 0.9" in str(found)
    assert "misses with chance 0.1; both chances of missing add up" in str(found)


def test_it_says_what_a_confidence_cannot_promise() -> None:
    table = replace(make_table(), confidence=0.95, inference="approximate")
    assert "The bounds hold nearly as often" in str(compare(table, "b", "a"))
    units = "independent clusters by User"
    clustered = replace(make_table(), confidence=0.95, units=units)
    sampled = compare(clustered, "b", "a", contexts={"C": [0, 1]})
    assert f"The bounds are of {units}" in str(sampled)
    assert units not in str(compare(clustered, "b", "a"))


def test_it_says_where_no_chance_was_allowed_for() -> None:
    plug_in = replace(make_table(), profile="sound")
    assert "right for an exact law alone" in str(compare(plug_in, "b", "a"))
    assert "right for an exact law alone" not in str(compare(make_table(), "b", "a"))
