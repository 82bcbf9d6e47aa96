"""Chains that end in a program, or in a chain for a lighter question."""

import time

from boundit.bounds.rules.chain import ChainSearch, KnownFormula
from boundit.bounds.rules.nested_chain import MOST_STAGED, NestedChain, staged
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.estimand.query import parse_query
from boundit.graph.text import parse


def rules(
    drawn: str, query: str = "Y | do(X)", *, longest: int = 3, deadline: float | None = None
) -> list[NestedChain]:
    planner = ChainSearch(parse(drawn), parse_query(query))
    return list(staged(planner, longest=longest, deadline=deadline))


def names(found: list[NestedChain], query: str = "Y | do(X)") -> list[str]:
    return [stage.rule(parse_query(query)).name for stage in found]


def test_a_front_door_whose_mediator_is_selected_goes_on_without_its_arm() -> None:
    """Given M the arm is irrelevant, so its natural value is one more variable."""
    (found,) = rules("X -> M -> Y; X <-> Y; M -> [S]")

    assert str(found.asked) == "P(Y | do(M))"
    assert isinstance(found.core, KnownFormula)
    assert found.n_unknown == 2
    rule = found.rule(parse_query("Y | do(X)"))
    assert rule.name == "conditioning on M, then conditioning on X"
    assert rule.claim == (
        "P(Y | do(X)) lies between min/max over M of (min/max over X of (P(Y | M, X, S=1)))"
    )


def test_a_covariate_that_is_selected_is_a_link_before_the_natural_bounds() -> None:
    found = rules("W -> X -> Y; W -> Y; X <-> Y; W -> [S]")

    assert names(found) == ["conditioning on W, then natural bounds of X, Y"]
    assert found[0].n_unknown == 2


def test_weights_that_are_known_are_used() -> None:
    found = rules("W -> X -> Y; W -> Y; X <-> Y")

    assert "recovery through W, then natural bounds of X, Y" in names(found)
    stage = next(s for s in found if s.links and s.links[0].weights)
    rule = stage.rule(parse_query("Y | do(X)"))
    assert "sum over W of P(W) x (" in rule.claim
    assert stage.formulas[-1] == stage.links[0].weights.expression  # type: ignore[union-attr]


def test_a_program_says_what_it_agrees_with() -> None:
    across, alone = rules("Z -> X -> Y; X <-> Y", longest=0)

    assert isinstance(across.core, ResponseProgram)
    assert names([across, alone]) == ["program over X, Y across Z", "natural bounds of X, Y"]
    rule = across.rule(parse_query("Y | do(X)"))
    assert rule.claim.endswith("that agree with P(X, Y | Z) at every Z")
    assert not any(step.startswith("by the do-calculus") for step in rule.steps)


def test_a_context_that_tells_nothing_is_said_to_go() -> None:
    query = "Y | do(X), Z"
    (first, *_) = rules("Z -> X -> Y; X <-> Y", query)

    assert first.rule(parse_query(query)).steps[0] == (
        "by the do-calculus the question is P(Y | do(X))"
    )


def test_variables_that_the_light_question_does_not_name_are_no_links() -> None:
    for drawn in ("X -> Y; X <-> Y; V -> X", "X -> Y; X <-> Y; Y -> V"):
        found = rules(drawn)
        assert found
        assert all(not stage.links for stage in found)


def test_there_is_an_end_to_the_list_and_to_the_time() -> None:
    many = "; ".join(f"W{i} -> X; W{i} -> Y" for i in range(6))
    drawn = f"X -> Y; X <-> Y; {many}"

    assert len(rules(drawn)) < MOST_STAGED + 10
    assert rules(drawn, deadline=time.monotonic() - 1) == []
