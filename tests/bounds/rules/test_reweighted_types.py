"""Which programs of the population there are when rows were selected (3.4 with 3.5)."""

import pytest

from boundit.bounds.rules.reweighted_types import TypesReweighted, types_reweighted
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.names import make_nodes

RATE = SelectionFacts((0.5, 0.5))
INSTRUMENT = "Z -> X -> Y; X <-> Y; X -> [S]; Y -> [S]"


def found_in(
    text: str, asked: str = "Y | do(X)", facts: SelectionFacts = RATE, tables: str = ""
) -> list[TypesReweighted]:
    held = [make_nodes(*table) for table in tables.split()]
    return types_reweighted(parse(text), parse_query(asked), facts, held)


def test_an_instrument_is_varied_and_its_chance_is_unknown_under_selection() -> None:
    (found,) = found_in(INSTRUMENT)

    assert (found.program.inside, found.program.varied) == (("X", "Y"), ("Z",))
    assert found.reweighting.steering == {"X", "Y"}
    assert found.chances is None


def test_a_table_of_the_instrument_tells_its_chance() -> None:
    (found,) = found_in(INSTRUMENT, facts=NOTHING_KNOWN, tables="Z")

    assert found.chances is not None
    assert found.reweighting.tables == (make_nodes("Z"),)


def test_the_context_has_one_value_in_a_program() -> None:
    text = f"{INSTRUMENT}; C -> Z; C -> X; C -> Y"
    (found, *_) = found_in(text, "Y | do(X), C")

    assert found.given == {"C"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Z -> X -> Y; X <-> Y", RATE),  # nothing was selected
        ("Z -> X -> Y; X -> [S]", RATE),  # nothing is confounded
        ("X -> M -> Y; X <-> Y; X <-> M; Y -> [S]", NOTHING_KNOWN),
        ("X -> Y; X <-> Y; X -> [S]", RATE),  # natural bounds do as well
    ],
)
def test_there_is_none_where_it_says_no_more(text: str, facts: SelectionFacts) -> None:
    assert found_in(text, facts=facts) == []


def test_an_instrument_says_something_where_nothing_is_known() -> None:
    (found,) = found_in(INSTRUMENT, facts=NOTHING_KNOWN)

    assert found.program.varied == ("Z",)


def test_the_rule_says_what_is_reproduced_and_what_is_known_of_selection() -> None:
    (found,) = found_in(INSTRUMENT)
    rule = found.rule(parse_query("Y | do(X)"))

    assert rule.name == "program over X, Y across Z, reweighted"
    assert "agree with P*(X, Y | Z) at every Z" in rule.claim
    assert "r >= 0.5 (selection rate)" in rule.claim
    assert rule.steps[-1] == "Rule 1: given X, Y, selection tells nothing of Z"
