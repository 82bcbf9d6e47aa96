"""Chains that end in a program, or in a chain for a lighter question."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.intersect import NoModelFits
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED
from boundit.bounds.rules import response_program
from boundit.bounds.rules.chain import ChainSearch, KnownFormula
from boundit.bounds.rules.nested_chain import MOST_NESTED, NestedChain, find_nested_chains
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.terms.long_work import FOR_EVER, TimeBudget
from tests.bounds.exact import as_log
from tests.bounds.programs import models, numbers
from tests.bounds.reweighted import plug_in


def rules(
    drawn: str, query: str = "Y | do(X)", *, longest: int = 3, budget: TimeBudget = FOR_EVER
) -> list[NestedChain]:
    search = ChainSearch(parse(drawn), parse_query(query))
    return list(find_nested_chains(search, longest=longest, budget=budget))


def names(found: list[NestedChain]) -> list[str]:
    return [rule.write_record().name for rule in found]


def test_a_front_door_whose_mediator_is_selected_goes_on_without_its_arm() -> None:
    """Given M the arm is irrelevant, so its natural value is one more variable."""
    (found,) = rules("X -> M -> Y; X <-> Y; M -> [S]")

    assert str(found.asked) == "P(Y | do(M))"
    assert isinstance(found.core, KnownFormula)
    assert found.n_unknown == 2
    rule = found.write_record()
    assert rule.name == "conditioning on M, then conditioning on X"
    assert str(rule.claim) == (
        "P(Y | do(X)) lies between min/max over M of (min/max over X of (P(Y | M, X, S=1)))"
    )


def test_a_covariate_that_is_selected_is_a_link_before_the_natural_bounds() -> None:
    found = rules("W -> X -> Y; W -> Y; X <-> Y; W -> [S]")

    assert names(found) == ["conditioning on W, then natural bounds of X, Y"]
    assert found[0].n_unknown == 2


def test_weights_that_are_known_are_used() -> None:
    found = rules("W -> X -> Y; W -> Y; X <-> Y")

    assert "recovery through W, then natural bounds of X, Y" in names(found)
    rule = next(s for s in found if s.links and s.links[0].weights)
    assert "sum over W of P(W) x (" in str(rule.write_record().claim)
    assert rule.formulas[-1] == rule.links[0].weights.expression  # type: ignore[union-attr]


def test_a_program_says_what_it_agrees_with() -> None:
    across, alone = rules("Z -> X -> Y; X <-> Y", longest=0)

    assert isinstance(across.core, ResponseProgram)
    assert names([across, alone]) == ["program over X, Y across Z", "natural bounds of X, Y"]
    rule = across.write_record()
    assert str(rule.claim).endswith("that agree with P(X, Y | Z) at every Z")
    assert not any(str(step).startswith("by the do-calculus") for step in rule.steps)


def test_a_context_that_tells_nothing_is_said_to_go() -> None:
    query = "Y | do(X), Z"
    (first, *_) = rules("Z -> X -> Y; X <-> Y", query)

    assert (
        str(first.write_record().steps[0]) == "by the do-calculus the question is P(Y | do(X))"
    )


def test_variables_that_the_light_question_does_not_name_are_no_links() -> None:
    for drawn in ("X -> Y; X <-> Y; V -> X", "X -> Y; X <-> Y; Y -> V"):
        found = rules(drawn)
        assert found
        assert all(not rule.links for rule in found)


def test_there_is_an_end_to_the_list_and_to_the_time() -> None:
    many = "; ".join(f"W{i} -> X; W{i} -> Y" for i in range(6))
    drawn = f"X -> Y; X <-> Y; {many}"

    assert len(rules(drawn)) < MOST_NESTED + 10
    assert rules(drawn, budget=TimeBudget(0.0)) == []


FRONT_DOOR = parse("X -> M -> Y; X <-> Y; M -> [S]")


def test_the_selected_front_door_lies_between_the_extremes_over_mediator_and_arm() -> None:
    for rng in default_rng(0).spawn(10):
        model = draw_model(FRONT_DOOR, rng, levels=(2,))
        table = derive_bounds(FRONT_DOOR, "Y | do(X)", as_log(model.log()), confidence=None)
        (rule,) = find_nested_chains(
            ChainSearch(FRONT_DOOR, parse_query("Y | do(X)")), longest=3
        )
        ends = rule.find_ends(plug_in(model))
        cells = model.log().condition_on(("M", "X")).at({"Y": 1}).values
        truth = model.effect(outcomes="Y", treatments="X").at({"Y": 1}).values
        assert ends.lower == pytest.approx(np.full(2, cells.min()))
        assert ends.upper == pytest.approx(np.full(2, cells.max()))
        for x in range(2):
            assert cells.min() <= table[x, ()].lower
            assert table[x, ()].upper <= cells.max()
            assert truth[x] in table[x, ()]


def test_natural_bounds_in_each_stratum_are_averaged_or_bracketed() -> None:
    drawn = "W -> X -> Y; W -> Y; X <-> Y"
    for selected in (False, True):
        text = f"{drawn}; W -> [S]" if selected else drawn
        for rng in default_rng(1).spawn(5):
            graph = parse(text)
            model = draw_model(graph, rng, levels=(2,))
            table = derive_bounds(graph, "Y | do(X)", as_log(model.log()), confidence=None)
            law = model.log().condition_on("W").align(("W", "X", "Y"))
            share = model.log().marginalize("W").values
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


def test_programs_left_out_or_stopped_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    (model,) = models("Z -> X -> M -> Y; X <-> Y <-> M", 1, default_rng(3))
    query = parse_query("Y | do(X)")
    first = next(find_nested_chains(ChainSearch(model.graph, query), longest=0))
    known = numbers(model.law())

    hurried = first.find_ends(known, TimeBudget(0.0))
    assert hurried.notes == (UNFINISHED,)
    monkeypatch.setattr(response_program, "MOST_WORK", 0)
    left_out = first.find_ends(known)
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


@pytest.mark.full
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


def test_numeric_rewards_are_scaled_between_the_ends_of_their_range() -> None:
    graph = parse("X -> Y; X <-> Y")
    rows = {"X": [0, 0, 1, 1], "Y": [10, 20, 0, 5]}
    table = derive_bounds(graph, "Y | do(X)", rows, confidence=None, outcome_range=(0, 20))

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
