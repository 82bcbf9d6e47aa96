"""Staged rules on numbers."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.intersect import NoModelFits
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED
from boundit.bounds.rules import type_layout
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.nested_chain import staged
from boundit.bounds.rules.nested_chain_ends import staged_ends
from boundit.bounds.rules.type_program import TimeBudget
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import random_model
from tests.bounds.exact import as_log
from tests.bounds.programs import models, numbers

FRONT_DOOR = parse("X -> M -> Y; X <-> Y; M -> [S]")


def test_the_selected_front_door_lies_between_the_extremes_over_mediator_and_arm() -> None:
    for rng in default_rng(0).spawn(10):
        model = random_model(FRONT_DOOR, rng, levels=(2,))
        table = derive_bounds(FRONT_DOOR, "Y | do(X)", as_log(model.log()), confidence=None)
        cells = model.log().given(("M", "X")).at({"Y": 1}).values
        truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
        for x in range(2):
            assert table[x, ()].lower == pytest.approx(cells.min())
            assert table[x, ()].upper == pytest.approx(cells.max())
            assert truth[x] in table[x, ()]


def test_natural_bounds_in_each_stratum_are_averaged_or_bracketed() -> None:
    drawn = "W -> X -> Y; W -> Y; X <-> Y"
    for selected in (False, True):
        text = f"{drawn}; W -> [S]" if selected else drawn
        for rng in default_rng(1).spawn(5):
            graph = parse(text)
            model = random_model(graph, rng, levels=(2,))
            table = derive_bounds(graph, "Y | do(X)", as_log(model.log()), confidence=None)
            law = model.log().given("W").aligned(("W", "X", "Y"))
            share = model.log().marginal("W").values
            for x in range(2):
                low, high = law[:, x, 1], 1 - law[:, x, 0]
                ends = (low.min(), high.max()) if selected else (share @ low, share @ high)
                found = table[x, ()]
                assert (found.lower, found.upper) == pytest.approx(ends)


def test_a_row_says_which_probabilities_prove_its_ends() -> None:
    (model,) = models("Z -> X -> Y; X <-> Y", 1, default_rng(2))
    table = derive_bounds(model.graph, "Y | do(X)", as_log(model.law()), confidence=None)

    said = table.explain(arm=1)

    assert "x P(X=1, Y=1 | Z=" in said
    assert "Identify stops for Q[Y] within X, Y" in said


def test_programs_left_out_or_stopped_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (model,) = models("Z -> X -> M -> Y; X <-> Y <-> M", 1, default_rng(3))
    query = parse_query("Y | do(X)")
    first = next(staged(ChainSearch(model.graph, query), longest=0))
    known = numbers(model.law())
    sets = {"outcome": "Y", "axes": ("X",)}

    hurried = staged_ends(first, known, clock=TimeBudget(0.0), **sets)  # type: ignore[arg-type]
    assert hurried.notes == (UNFINISHED,)
    monkeypatch.setattr(type_layout, "MOST_WORK", 0)
    left_out = staged_ends(first, known, clock=TimeBudget(None), **sets)  # type: ignore[arg-type]
    assert left_out.notes == (LEFT_OUT,)
    truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
    for ends in (hurried, left_out):
        assert (ends.lower <= truth).all()
        assert (truth <= ends.upper).all()


def test_an_empty_program_within_a_chain_is_said_of_every_row_it_is_part_of() -> None:
    graph = parse("Z -> X -> Y; X <-> Y; C -> X; C -> Y; C -> [S]")
    rows = {"Z": [0, 1, 0, 1] * 2, "X": [0] * 8, "Y": [0, 1, 0, 0] * 2, "C": [0, 0, 1, 1] * 2}
    table = derive_bounds(graph, "Y | do(X)", rows, confidence=None, domain={"X": [0, 1]})

    assert all(
        "no model of the graph fits" in bound.marks[-1] for bound in table.bounds.values()
    )
    assert np.isfinite([bound.lower for bound in table.bounds.values()]).all()


@pytest.mark.parametrize("size", [60, 600])
def test_with_a_confidence_programs_hold_and_narrow_with_rows(size: int) -> None:
    """Interval rows instead of equations: 80 logs of the instrument, at most a few missed."""
    (model,) = models("Z -> X -> Y; X <-> Y", 1, default_rng(4))
    truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
    missed, widths = 0, []
    for rng in default_rng(5).spawn(80):
        rows = {name: column.tolist() for name, column in model.sample_log(size, rng).items()}
        levels = {"X": [0, 1], "Z": [0, 1]}
        table = derive_bounds(model.graph, "Y | do(X)", rows, confidence=0.9, domain=levels)
        missed += any(truth[x] not in table[x, ()] for x in range(2))
        widths.append(table[1, ()].upper - table[1, ()].lower)
    assert missed <= 8
    assert np.mean(widths) < {60: 0.95, 600: 0.8}[size]


def test_a_confident_program_that_is_empty_refutes_the_graph() -> None:
    """Y turns with Z though X stays: no chance makes that of an instrument."""
    graph = parse("Z -> X -> Y; X <-> Y")
    rows = {"Z": [0, 1] * 500, "X": [0, 0] * 500, "Y": [0, 1] * 500}

    with pytest.raises(NoModelFits, match="program over X, Y across Z"):
        derive_bounds(graph, "Y | do(X)", rows, domain={"X": [0, 1]})


def test_numeric_rewards_are_coins_between_the_ends_of_their_range() -> None:
    graph = parse("X -> Y; X <-> Y")
    rows = {"X": [0, 0, 1, 1], "Y": [10, 20, 0, 5]}
    table = derive_bounds(graph, "Y | do(X)", rows, confidence=None, reward_range=(0, 20))

    assert table[0, ()].lower == pytest.approx(30 / 4)
    assert table[0, ()].upper == pytest.approx(30 / 4 + 20 / 2)


def test_a_context_with_many_levels_costs_no_more_types() -> None:
    """Given the context each stratum is a bow; the same holds across an instrument."""
    rng = default_rng(6)
    drawn = rng.integers(0, [2, 2, 2, 60], (4_000, 4))
    rows = dict(zip("ZXYC", drawn.T.tolist(), strict=True))
    graph = parse("C -> X -> Y; C -> Y; X <-> Y; Z -> X")
    table = derive_bounds(graph, "Y | do(X), C", rows, confidence=None)

    assert len(table.bounds) == 120
    assert not any("types" in caveat for caveat in table.caveats)
    rules = {bound.lower_rule for bound in table.bounds.values()}
    assert rules <= {"program over X, Y across Z", "natural bounds of X, Y"}
