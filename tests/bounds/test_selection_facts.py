from math import inf, nan

import pytest

from boundit.bounds.selection_facts import FactsRefuted, SelectionFacts
from boundit.core.errors import OptionError
from boundit.graph.text import parse


def read(rate: object = None, limit: object = None) -> SelectionFacts:
    return SelectionFacts.from_options(selection_rate=rate, selection_limit=limit)


def test_of_a_range_only_the_lower_end_binds() -> None:
    """Section 3.5: r >= P(S=1), and a chance of being logged is at most one."""
    assert read((0.3, 0.6)).least_ratio == read([0.3, 0.9]).least_ratio == 0.3
    assert read(0.4).rate == (0.4, 0.4)
    assert read(1).least_ratio == 1


def test_a_limit_binds_from_both_sides() -> None:
    facts = read(0.4, 2)

    assert facts.least_ratio == 0.5
    assert (facts.find_greatest_share(0.1), facts.find_greatest_share(0.0)) == (0.2, 0.0)
    assert read(0.6, 2).least_ratio == 0.6


def test_an_infinite_limit_says_only_that_all_may_be_logged() -> None:
    facts = read(None, inf)

    assert (
        facts.least_ratio,
        facts.find_greatest_share(0.1),
        facts.find_greatest_share(0.0),
    ) == (0, inf, 0)
    assert str(facts) == "r is finite (selection limit)"
    assert facts


def test_nothing_known_says_so() -> None:
    assert not read()
    assert str(read()) == "nothing is known of r"
    assert read().find_greatest_share(0.0) == inf


@pytest.mark.parametrize(
    "rate", [-0.1, 1.1, nan, True, "half", (0.6, 0.3), (0.1, 0.2, 0.3), (0.1, None), ()]
)
def test_a_rate_that_is_no_chance_is_refused(rate: object) -> None:
    with pytest.raises(OptionError, match=r"selection_rate must be a probability such as 0\.4"):
        read(rate)


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="yet rows were logged"):
        read(0)


@pytest.mark.parametrize("limit", [0.9, -1, nan, True, "2", (1, 2)])
def test_a_limit_below_one_is_refused(limit: object) -> None:
    with pytest.raises(OptionError, match="selection_limit must be a limit of at least 1"):
        read(None, limit)


def test_facts_need_a_selection_node() -> None:
    read().require_in(parse("X -> Y"))
    read(0.4).require_in(parse("X -> Y -> [S]"))
    with pytest.raises(OptionError, match="the graph has no selection node"):
        read(0.4).require_in(parse("X -> Y"))


def test_a_refutation_names_what_was_stated() -> None:
    assert "(r >= 0.4 (selection rate))" in str(FactsRefuted(str(read(0.4))))
