"""Both biases at once: natural bounds on a log that selection reweighted (3.4 with 3.5)."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.bounds.rules.natural import find_natural_bounds
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from tests.bounds.exact import as_log

RATE = SelectionFacts((0.5, 0.5))
ASKED = parse_query("Y | do(X), Z")
GRAPHS = (
    "X -> Y; X <-> Y; Z -> X; Z -> Y; X -> [S]; Z -> [S]",
    "X -> Y; X <-> Y; Z -> Y; Y -> [S]",
    "X -> M -> Y; X <-> Y; X <-> M; Z -> X; M -> [S]",
)


def truth(model: Model, query: EffectQuery) -> dict[tuple[int, ...], float]:
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({"Y": 1})
    found = effect.align(query.treatments + query.context)
    return {tuple(map(int, place)): float(value) for place, value in np.ndenumerate(found)}


@pytest.mark.parametrize("text", GRAPHS)
def test_with_the_true_rate_no_end_misses_and_something_is_said(text: str) -> None:
    graph, rng, widths = parse(text), np.random.default_rng(1), []
    for _ in range(12):
        model = draw_model(graph, rng, levels=(2,))
        rate = model.selection_rate()
        table = derive_bounds(
            graph, ASKED, as_log(model.log()), confidence=None, selection_rate=rate
        )
        for (x, z), value in truth(model, ASKED).items():
            found = table[x, z]
            assert found.lower - 1e-9 <= value <= found.upper + 1e-9
            widths.append(found.width)
    assert np.mean(widths) < 0.97


def test_a_log_of_everyone_gives_the_natural_bounds() -> None:
    """Manski: P(x, y) to P(x, y) + 1 - P(x); a limit of 1 says that nobody was left out."""
    graph = parse("X -> Y; X <-> Y; X -> [S]")
    model = draw_model(graph, np.random.default_rng(3), levels=(2,))
    law = model.log().marginalize(("X", "Y")).align(("X", "Y"))

    table = derive_bounds(
        graph, "Y | do(X)", as_log(model.log()), confidence=None, selection_limit=1
    )

    for x in (0, 1):
        assert table[x, ()].lower == pytest.approx(law[x, 1], abs=1e-6)
        assert table[x, ()].upper == pytest.approx(1 - law[x, 0], abs=1e-6)
        assert "natural bounds on X, reweighted" in table.explain(x)


def test_only_confounded_arms_are_taken_as_they_came() -> None:
    graph = parse("X -> Y; X <-> Y; A -> Y; B -> A; B -> Y; X -> [S]")

    found = find_natural_bounds(graph, parse_query("Y | do(X, A), B"), RATE, ())

    assert found is not None
    assert found.chosen == {"X"}
    assert found.block.given == {"A", "B"}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("X -> Y; X <-> Y", RATE),  # nothing was selected
        ("X -> Y; X -> [S]", RATE),  # nothing is confounded
        ("X -> Y; X <-> Y; X -> [S]", NOTHING_KNOWN),
    ],
)
def test_it_is_left_to_other_rules_where_one_bias_is_missing(
    text: str, facts: SelectionFacts
) -> None:
    assert find_natural_bounds(parse(text), parse_query("Y | do(X)"), facts, ()) is None


def test_an_unselected_table_serves_as_well() -> None:
    graph = parse("X -> Y; X <-> Y; X -> [S]")
    found = find_natural_bounds(
        graph, parse_query("Y | do(X)"), NOTHING_KNOWN, (frozenset("X"),)
    )

    assert found is not None
    assert "unselected table" in str(found.write_record().claim)
