"""Rules as sums of levels, against brute force on exact laws."""

from collections.abc import Iterable

import numpy as np
import pytest

from boundit.bounds.claims.level_form import (
    Level,
    LevelForm,
    RatioForm,
    Unmet,
    find_form,
)
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules.chain import Chain, ChainLink, KnownFormula
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.estimand.language.expression import CFactor, Expression, P, Product, Ratio, Sum
from boundit.estimand.query import parse_query
from boundit.estimand.recovery.question import Question
from boundit.graph.text import parse
from boundit.terms.long_work import FOR_EVER
from tests.bounds.claims.exact_forms import (
    draw_forms,
    evaluate_form,
    find_forms,
    read_exactly,
    write_form,
)
from tests.bounds.exact import questions
from tests.nodes import make_nodes

B, C, W, X, Y, Z = (make_nodes(name) for name in "BCWXYZ")
BACK_DOOR = "Z -> X -> Y; Z -> Y"
TWO_CAUSES = "Z -> W -> Y; Z -> X -> Y; Z -> Y"
SEQUENCE = "A -> B -> X -> Y; A -> X; A -> Y; B -> Y; B -> [S]"
TWO_STEPS = "Z1 -> X1 -> Z2 -> X2 -> Y; Z1 -> Z2; Z1 -> Y; X1 -> Y; Z2 -> Y"
SELECTED = "Z -> X -> Y; Z -> Y; Z -> [S]"


def forms_of(drawn: str, query: str = "Y | do(X)", tables: Iterable[str] = ()) -> list[str]:
    graph = parse(drawn)
    plan = plan_bounds(graph, parse_query(query), tables=map(make_nodes, tables))
    found = (find_form(planned.rule, graph) for planned in plan.rules)
    return list(dict.fromkeys(write_form(form) for form in found))


def form_of(reward: Expression, *links: tuple[str, Expression | None], drawn: str) -> str:
    """Write the form of a chain with these laws, true or not."""
    made = tuple(
        ChainLink(name, None if law is None else KnownFormula(law, ())) for name, law in links
    )
    chain = Chain(parse_query("Y | do(X)"), made, KnownFormula(reward, ()))
    return write_form(find_form(chain, parse(drawn)))


@pytest.mark.parametrize(
    ("drawn", "query", "tables", "form"),
    [
        (BACK_DOOR, "Y | do(X)", (), "P(Z)* P(Y | X, Z)*"),
        (BACK_DOOR, "Y | do(X), Z", (), "P(Y | X, Z)*"),
        ("X -> M -> Y; X <-> Y", "Y | do(X)", (), "P(X')* P(M | X)* P(Y | M, X')*"),
        (
            TWO_STEPS,
            "Y | do(X1, X2)",
            (),
            "P(Z1)* P(Z2 | X1, Z1)* P(Y | X1, X2, Z1, Z2)*",
        ),
        (
            "W -> R -> X -> Y; W <-> X; W <-> Y",
            "Y | do(X)",
            (),
            "ratio: P(W)* P(X, Y | R, W)*, any R",
        ),
        (SELECTED, "Y | do(X)", (), "worst Z: P(Y | X, Z)@1"),
        (SELECTED, "Y | do(X)", ("Z",), "P(Z)* P(Y | X, Z)"),
        (
            SEQUENCE,
            "Y | do(X)",
            ("A",),
            "worst B: P(A)* P(Y | A, B, X)@1",
        ),
        (
            SEQUENCE,
            "Y | do(X)",
            (),
            "worst B: P(A | B)@1 P(Y | A, B, X)@1",
        ),
        (
            "X -> M -> Y; X <-> Y; M -> [S]",
            "Y | do(X)",
            (),
            "worst M, X': P(Y | M, X')@2",
        ),
    ],
    ids=[
        "back door",
        "back door in a context",
        "front door",
        "two steps",
        "napkin",
        "conditioning",
        "external weights",
        "a sequence, the unknown within",
        "a sequence, the unknown outside",
        "a chain within over a treatment",
    ],
)
def test_known_questions_have_the_form_of_their_formula(
    drawn: str, query: str, tables: tuple[str, ...], form: str
) -> None:
    assert form in forms_of(drawn, query, tables)


def test_a_form_has_the_ends_of_its_rule_on_the_exact_law() -> None:
    """The sum is taken over all assignments; idle variables may have any level."""
    n_worst = n_ratios = n_nested = 0
    for asked, rule, form in draw_forms():
        inner = form.form if isinstance(form, RatioForm) else form
        ends = rule.find_ends(read_exactly(asked), FOR_EVER)
        lower, upper = evaluate_form(form, asked.model)
        idle = tuple(range(lower.ndim - len(inner.idle), lower.ndim))
        np.testing.assert_allclose(lower, np.expand_dims(ends.lower, idle), atol=1e-12)
        np.testing.assert_allclose(upper, np.expand_dims(ends.upper, idle), atol=1e-12)
        n_worst += bool(inner.worst)
        n_ratios += isinstance(form, RatioForm)
        n_nested += isinstance(rule, NestedChain)
    assert min(n_worst, n_ratios, n_nested) > 0


def test_only_chains_that_end_in_a_formula_have_a_form() -> None:
    for asked in questions(30, seed=4):
        for rule, form in find_forms(asked):
            if isinstance(rule, NestedChain):
                assert isinstance(form, Unmet) or isinstance(rule.core, KnownFormula)
            elif not isinstance(rule, Chain):
                assert form == Unmet("it multiplies c-factors, of which some may be lost")


def test_every_summed_variable_is_drawn_once_before_it_is_read() -> None:
    for _, _, form in draw_forms():
        inner = form.form if isinstance(form, RatioForm) else form
        fixed = {*inner.axes, *inner.worst, *inner.idle, inner.outcome}
        drawn = list[str]()
        for level in inner.levels:
            assert level.given <= fixed.union(drawn)
            drawn += level.of - fixed
        assert sorted(drawn) == sorted(inner.drawn)
        assert inner.outcome in inner.last.of


@pytest.mark.full
def test_what_a_minimum_chooses_comes_after_all_weights_outside_it() -> None:
    for _, _, form in draw_forms():
        inner = form.form if isinstance(form, RatioForm) else form
        for place, level in enumerate(inner.levels):
            if (level.of | level.given) & {*inner.worst}:
                later = inner.levels[place + 1 :]
                assert all(other.depth >= level.depth for other in later)


def test_a_sum_of_a_taken_name_gets_a_fresh_one() -> None:
    inner = Sum(X, Product((P(X), P(Y, X | Z))))
    form = form_of(Sum(Z, Product((P(Z, X), inner))), drawn="X -> Z -> Y; X <-> Y")

    assert form == "P(X') P(Z | X) P(Y | X', Z)"


def test_a_column_read_twice_is_read_off_another_fold() -> None:
    law = Sum(Z, Product((P(Z), P(W, Z))))
    form = form_of(P(Y, X | Z | W), ("Z", P(Z)), ("W", law), drawn=TWO_CAUSES)

    assert form in (
        "P(Z)/1 P(Z') P(W | Z') P(Y | W, X, Z)",
        "P(Z')/1 P(Z) P(W | Z') P(Y | W, X, Z)",
    )


def test_what_depends_on_more_than_it_is_given_is_read_off_another_fold() -> None:
    """W is drawn given nothing, and after Z, which causes it."""
    form = form_of(P(Y, X | Z | W), ("Z", P(Z)), ("W", P(W)), drawn=TWO_CAUSES)

    assert form.count("/1") == 1
    apart = form_of(P(Y, X | Z | W), ("Z", P(Z)), ("W", P(W)), drawn="Z -> Y; W -> Y; X -> Y")
    assert apart == "P(W) P(Z) P(Y | W, X, Z)"


def test_no_choice_is_made_before_the_weights_outside_it() -> None:
    """Only P(C | B) before P(Z | X) would do in one fold, and B hangs on Z."""
    reward = Sum(C, Product((P(C, B), P(Y, C | Z))))
    drawn = "B -> C -> X -> Z -> Y; C -> Y"
    form = form_of(reward, ("Z", P(Z, X)), ("B", None), drawn=drawn)

    assert form.startswith("worst B: P(Z | X)")
    assert form.count("/1") == 1


def test_the_outcome_is_last_even_if_that_takes_a_fold() -> None:
    """Only P(Y | W) before P(X | Z) would do in one fold."""
    form = form_of(Product((P(Y, W), P(X, Z))), drawn="W -> Y -> Z -> X")

    assert form == "P(X | Z)/1 P(Y | W), any W, Z"


def test_without_selection_tables_of_everyone_are_the_log() -> None:
    everyone = Sum(Z, Product((P(Z, logged=False), P(W, Z))))
    links = (("Z", P(Z)), ("W", everyone))

    assert "/1" in form_of(P(Y, X | Z | W), *links, drawn=TWO_CAUSES)
    assert "/1" not in form_of(P(Y, X | Z | W), *links, drawn=f"{TWO_CAUSES}; Z -> [S]")


def test_tables_of_everyone_come_first() -> None:
    links = (("Z", P(Z)), ("W", P(W, logged=False)))
    form = form_of(P(Y, X | Z | W), *links, drawn=f"{TWO_CAUSES}; Z -> [S]")

    assert form == "P(W)* P(Z) P(Y | W, X, Z)"


def test_a_chain_within_knows_the_lighter_question_alone() -> None:
    """The arm that it no longer names is any level of the same column, not the arm's."""
    query, light = parse_query("Y | do(X)"), Question(Y, W, frozenset())
    inner = NestedChain(query, (), light, KnownFormula(P(Y, X | W), ()))
    rule = NestedChain(query, (ChainLink("W", None),), light, inner)
    form = find_form(rule, parse("X -> W -> Y; X <-> Y"))

    assert write_form(form) == "worst W: P(Y | W, X')@1, any X'"


def test_factors_that_sum_to_one_are_dropped_one_after_another() -> None:

    assert form_of(P(Y, X), ("Z", P(Z)), ("W", P(W, Z)), drawn=TWO_CAUSES) == "P(Y | X)"
    joint = form_of(P(Y, X | Z), ("Z", P(Z)), ("W", P(W | X, Z)), drawn=TWO_CAUSES)
    assert "P(X | Z)" in joint


def test_a_variable_of_unknown_law_that_nobody_reads_is_dropped() -> None:
    form = form_of(P(Y, X | Z), ("W", None), ("Z", None), drawn="Z -> X -> Y; Z -> Y; W -> Y")

    assert form == "worst Z: P(Y | X, Z)@1"


@pytest.mark.parametrize(
    ("reward", "links", "reason"),
    [
        (CFactor(Y), (), "a factor has no formula"),
        (
            Ratio(P(Y | Z, X), P(Z)),
            (("Z", P(Z)),),
            "a ratio inside a sum",
        ),
        (Ratio(P(Y | Z, X), P(X)), (("Z", None),), "a ratio under a minimum"),
        (
            Ratio(Product((P(Y), P(X, Y))), Sum(Y, Product((P(Y), P(X, Y))))),
            (),
            "a ratio in which Y is given",
        ),
        (Ratio(P(Y | X), P(Y)), (), "a ratio in which Y is given"),
        (P(Y, X | Z), (("Z", Product((P(Z), P(Z, X)))),), "2 factors draw Z"),
        (P(Y, X | Z), (("Z", P(X, Z)),), "no factors draw Z"),
        (P(X, Y), (), "no factor draws Y"),
        (
            Product((P(Y, Z), P(Z, W), P(W, Z))),
            (("Z", P(frozenset())), ("W", P(frozenset()))),
            "what one factor reads",
        ),
    ],
)
def test_other_formulas_are_refused_with_the_condition_that_fails(
    reward: Expression, links: tuple[tuple[str, Expression | None], ...], reason: str
) -> None:
    form = form_of(reward, *links, drawn=TWO_CAUSES)

    assert form.startswith(f"unmet: {reason}")


def test_columns_that_need_too_many_folds_are_named() -> None:
    laws = Product(tuple(Sum(Z, Product((P(Z), P(X, Z)))) for _ in range(4)))
    form = form_of(Product((laws, P(Y, X))), drawn=BACK_DOOR)

    assert form == "unmet: the columns of X, Z are read twice"


def test_formulas_that_share_parts_endlessly_are_refused() -> None:
    shared: Expression = P(Y, X)
    for _ in range(200):
        shared = Product((shared, shared))

    assert form_of(shared, drawn=BACK_DOOR) == "unmet: it has more than 12 factors"


def test_a_form_can_be_kept_in_a_set() -> None:
    level = Level(P(Y, X), {"X": "X'"}, 0, 2)

    form = LevelForm((level,), ("X",), "Y")
    assert len({form, LevelForm((Level(P(Y, X), {"X": "X'"}, 0, 2),), ("X",), "Y")}) == 1
    assert form.n_folds == 3
    assert form.last.columns == {"Y": "Y", "X'": "X"}
