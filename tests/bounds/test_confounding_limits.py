"""Limits on hidden confounding as options: what is one, and what is refused in one line."""

from math import inf, nan

import numpy as np
import pytest

from boundit.bounds.confounding_limits import (
    NO_LIMITS,
    ConfoundingLimits,
    describe_limit,
    name_edge,
)
from boundit.core.errors import OptionError
from boundit.graph.text import parse

BOW = parse("X -> Y; X <-> Y; Z -> X")


def test_an_edge_may_be_written_either_way_round_and_is_kept_once() -> None:
    limits = ConfoundingLimits.from_option({"Y<->X": 2}, BOW)

    assert limits.by_edge == {"X <-> Y": 2.0}
    assert limits.find("Y", "X") == limits.find("X", "Y") == 2.0
    assert limits
    assert not NO_LIMITS
    assert not ConfoundingLimits.from_option(None, BOW)
    assert not ConfoundingLimits.from_option({}, BOW)


def test_a_hidden_common_cause_is_the_edge_that_it_projects_to() -> None:
    graph = parse("hidden U; U -> X; U -> Y; X -> Y")

    assert ConfoundingLimits.from_option({"X <-> Y": 1}, graph).by_edge == {"X <-> Y": 1.0}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (1.5, r"confounding_limit must be a mapping such as \{'X <-> Y': 1.5\}, found 1.5"),
        ({"X": 2}, "must name an edge such as 'X <-> Y', found 'X'"),
        ({"X -> Y": 2}, "must name an edge such as 'X <-> Y', found 'X -> Y'"),
        ({"X <-> Y; Z <-> Y": 2}, "must name an edge"),
        ({"X <-> ": 2}, "must name an edge"),
        ({3: 2}, "must name an edge such as 'X <-> Y', found 3"),
        ({"Z <-> Y": 2}, "limits Y <-> Z, an edge that the graph lacks; it has X <-> Y"),
        ({"X <-> Y": 0.5}, "of X <-> Y must be a number from 1 on, found 0.5; an edge without"),
        ({"X <-> Y": inf}, "must be a number from 1 on, found inf"),
        ({"X <-> Y": nan}, "must be a number from 1 on, found nan"),
        ({"X <-> Y": True}, "must be a number from 1 on, found True"),
        ({"X <-> Y": "2"}, "must be a number from 1 on, found '2'"),
        ({"X <-> Y": 2, "Y <-> X": 3}, "has two limits on X <-> Y; one is enough"),
    ],
)
def test_what_is_no_limit_is_refused_in_one_line(given: object, said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        ConfoundingLimits.from_option(given, BOW)

    assert caught.value.option == "confounding_limit"
    assert "\n" not in str(caught.value)


def test_a_graph_without_hidden_causes_says_so() -> None:
    with pytest.raises(OptionError, match="lacks; it has none"):
        ConfoundingLimits.from_option({"X <-> Y": 2}, parse("X -> Y"))


def test_names_with_blanks_are_quoted_as_in_graph_text() -> None:
    graph = parse('"My arm" <-> Y')

    (edge,) = ConfoundingLimits.from_option({'"My arm" <-> Y': 2}, graph).by_edge
    assert edge == name_edge(("My arm", "Y")) == '"My arm" <-> Y'
    assert describe_limit("My arm", ("My arm", "Y"), 2).endswith("of at most 2")


def test_a_limit_given_more_holds_given_less() -> None:
    """Odds of a mean of chances: by Jensen, whatever the weights (see the module)."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        limit, weights = 1 + rng.exponential(3), rng.dirichlet(np.ones(4))
        plain = rng.random(4)
        factor = limit ** rng.uniform(-1, 1, 4)
        moved = factor * plain / (1 - plain + factor * plain)
        one, other = weights @ moved, weights @ plain
        ratio = one / (1 - one) / (other / (1 - other))
        assert 1 / limit - 1e-9 <= ratio <= limit + 1e-9
