"""The door: labels, the literature's graphs, the paper's figure, truth, size."""

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from boundit.core.errors import OverlappingRoles, QueryError, UnknownNode
from boundit.estimand.derivation import Identification
from boundit.estimand.expression import CFactor, Expression, P, Product, Ratio, Sum
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.estimand.truth import Case, gap, labelled, random_cases, recover_sets
from tests.nodes import make_nodes
from tests.oracles.do_search import is_derivable
from tests.paper import ARM, CONTEXT, FIGURE_2, OUTCOME

if TYPE_CHECKING:
    from boundit.core.names import Nodes


def recovered(case: Case) -> Identification:
    return recover_sets(
        case.graph,
        outcomes=case.outcomes,
        treatments=case.treatments,
        context=case.context,
        external=case.external,
    )


def asked(graph: str, y: str, x: str = "", c: str = "", *tables: str) -> Case:
    outcomes, treatments, context, *external = (
        frozenset(t.split()) for t in (y, x, c, *tables)
    )
    return Case(parse(graph), outcomes, treatments, context, tuple(external))


@pytest.mark.parametrize(
    "file", ["id_idc", "selection_unconditional", "selection_conditional", "selection_external"]
)
def test_verdicts_agree_with_independent_programs(file: str) -> None:
    """Every labelled graph; and every formula is the effect in a random model."""
    for case in labelled(file):
        answer = recovered(case)

        assert bool(answer) == case.answer, case.name
        if answer.expression is not None:
            assert gap(case, answer.expression) < 1e-9, case.name
            assert answer.steps, case.name


SELECTED = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
BACK_DOOR = "Z -> X -> Y; Z -> Y"
FRONT_DOOR = "X -> M -> Y; X <-> Y"
NAPKIN = "W -> R -> X -> Y; W <-> X; W <-> Y"

LITERATURE = {
    "back-door": (asked(BACK_DOOR, "Y", "X"), "Σ_{Z} P(Y | X, Z) P(Z)"),
    "front-door": (asked(FRONT_DOOR, "Y", "X"), "Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')"),
    "napkin": (
        asked(NAPKIN, "Y", "X"),
        "[Σ_{W} P(W) P(X, Y | R, W)] / [Σ_{W} P(W) P(X | R, W)], for any R",
    ),
    "M-bias": (asked("X -> Y; X <-> M <-> Y", "Y", "X"), "P(Y | X)"),
    "M-bias, given the collider": (asked("X -> Y; X <-> M <-> Y", "Y", "X", "M"), None),
    "bow": (asked("X -> Y; X <-> Y", "Y", "X"), None),
    "instrument": (asked("Z -> X -> Y; X <-> Y", "Y", "X"), None),
    "a mediator that shares the treatment's causes": (
        asked("X -> M -> Y; X <-> M", "Y", "X"),
        None,
    ),
    "Verma": (
        asked("A -> B -> C -> D; B <-> D", "D", "C"),
        "Σ_{B} P(B) P(D | B, C)",
    ),
    "two treatments in turn": (
        asked("X1 -> Z -> X2 -> Y; X1 -> Y; Z -> Y; X1 <-> Z", "Y", "X1 X2"),
        None,
    ),
    "Tian's cond-identify": (asked("X -> Y; X -> Z; Y -> Z; Z <-> X", "Y", "X", "Z"), None),
    "selection by the treatment": (asked("X -> Y; X -> [S]", "Y", "X"), "P(Y | X, S=1)"),
    "selection by the outcome": (asked("X -> Y; Y -> [S]", "Y", "X"), None),
    "selection by a confounder": (asked(f"{BACK_DOOR}; Z -> [S]", "Y", "X"), None),
    "selection by a confounder that is given": (
        asked(f"{BACK_DOOR}; Z -> [S]", "Y", "X", "Z"),
        "P(Y | X, Z, S=1)",
    ),
    "selection by a confounder known of everyone": (
        asked(f"{BACK_DOOR}; Z -> [S]", "Y", "X", "", "Z"),
        "Σ_{Z} P(Y | X, Z, S=1) P(Z)",
    ),
    "selection by a mediator": (asked(f"{FRONT_DOOR}; M -> [S]", "Y", "X"), None),
    "selection by a mediator known of everyone": (
        asked(f"{FRONT_DOOR}; M -> [S]", "Y", "X", "", "M X"),
        "Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X', S=1)",
    ),
    "no treatment at all": (asked("X -> Y; X -> [S]", "Y", "", "X"), "P(Y | X, S=1)"),
    "the outcome's law, from a table": (asked("Y -> [S]; Y -> X", "Y", "", "", "Y"), "P(Y)"),
}


@pytest.mark.parametrize("name", LITERATURE)
def test_graphs_of_the_literature(name: str) -> None:
    """Each verdict is that of an independent search, each formula the known one and true."""
    case, formula = LITERATURE[name]
    graph = case.graph
    answer = recovered(case)

    assert bool(answer) == is_derivable(
        graph.directed,
        graph.bidirected,
        graph.selection,
        *(case.outcomes, case.treatments, case.context),
        case.external,
    )
    assert (str(answer) if answer else None) == formula
    if answer.expression is not None:
        assert max(gap(case, answer.expression, seed) for seed in range(3)) < 1e-9


def test_questions_may_be_text_or_a_query_and_tables_any_names() -> None:
    by_text = identify(SELECTED, "Y | do(X)", external=["Z"])
    by_query = identify(SELECTED, EffectQuery(("Y",), ("X",)), external=[{"Z"}])

    assert str(by_text) == str(by_query) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert by_text.latex().startswith(r"\sum")


def test_an_effect_in_a_context_can_be_known_where_the_joint_one_is_not() -> None:
    """The text before Algorithm 1 says "if and only if"; under selection it is not so."""
    assert identify(SELECTED, "Y | do(X), Z")
    assert not identify(SELECTED, "Y, Z | do(X)")


def test_figure_2_tells_why_its_effect_is_lost() -> None:
    """The worked example: Q[I1, Y] stops Algorithm 2, and I1 carries selection to Y."""
    answer = recover_sets(FIGURE_2, outcomes=OUTCOME, treatments=ARM, context=CONTEXT)

    assert not answer
    assert list(map(str, answer.steps)) == [
        "Rule 1: the condition U2 may be dropped",
        "Rule 2: conditioning on U1 equals do(U1)",
        "c-factors: P(Y | do(U1, X1, X2)) needs Q[I1, Y]",
        "Algorithm 2, line 15: divide by Q[U2, X2]",
        "Algorithm 2, line 9: every c-component has an ancestor of selection",
        "c-factors: Q[I1, Y] is not identified",
        "Rule 1: P(Y | do(U1, X1, X2)) depends on selection [Y <- I1 -> S]",
    ]


def test_figure_2_is_whole_again_with_the_mediator_measured_of_everyone() -> None:
    answer = recover_sets(
        FIGURE_2,
        outcomes=OUTCOME,
        treatments=ARM,
        context=CONTEXT,
        external=[make_nodes("I1", "X1", "U1")],
    )

    assert str(answer) == "Σ_{I1} P(I1 | U1, X1) P(Y | I1, U1, X1, X2, S=1)"


def test_no_is_proved_only_where_a_theorem_says_so() -> None:
    plain = recovered(asked("X -> Y; X <-> Y", "Y", "X"))
    selected = recovered(asked("X -> Y; Y -> [S]", "Y", "X"))
    conditional = recovered(asked("X -> Y; Y -> [S]; Y -> Z", "Y", "X", "Z"))
    external = recovered(asked("X -> Y; Y -> [S]", "Y", "X", "", "X"))

    assert "Shpitser and Pearl 2006" in str(plain)
    assert "Correa, Tian and Bareinboim 2019" in str(selected)
    assert str(conditional) == str(external) == "not found by these rules"


@pytest.mark.parametrize(("selection", "tables"), [(False, 0), (True, 0), (True, 2)])
def test_what_is_recovered_is_true(selection: bool, tables: int) -> None:
    """Soundness on larger graphs too, several outcomes, any conditions, any tables."""
    found = 0
    cases = random_cases(
        120, seed=20 + tables, sizes=(5, 6, 7), selection=selection, tables=tables
    )
    for i, case in enumerate(cases):
        if len(case.graph.bidirected) > 9:
            continue
        answer = recovered(case)
        if answer.expression is not None:
            found += 1
            assert gap(case, answer.expression, i) < 1e-9
    assert found > 10


@pytest.mark.parametrize("tables", [0, 2])
def test_what_a_step_rests_on_is_so_in_the_graph(tables: int) -> None:
    """Each separation of a rule holds in its cut graph, or else its walk is open there."""
    rules, failed = set[str](), 0
    for case in random_cases(250, seed=40, tables=tables):
        for step in recovered(case).steps:
            if (fact := step.fact) is None:
                assert not step.algorithm.startswith("Rule")
                continue
            cut = case.graph.without_edges_into(fact.into).without_edges_out_of(fact.out_of)
            walk = open_walk(cut, fact.of, fact.others, given=fact.given)
            assert (walk or ()) == fact.walk, (str(case.graph), str(step))
            rules.add(step.algorithm)
            failed += bool(fact.walk)
    assert rules == {"Rule 1", "Rule 2", "Rule 3"}
    assert failed > 5


def test_arbitrary_variables_are_those_outside_the_question() -> None:
    assert recovered(asked(NAPKIN, "Y", "X")).arbitrary == make_nodes("R")
    assert recovered(asked(FRONT_DOOR, "Y", "X")).arbitrary == make_nodes()


def size(formula: Expression) -> int:
    match formula:
        case P() | CFactor():
            return 1
        case Sum(_, body):
            return 1 + size(body)
        case Product(factors):
            return 1 + sum(map(size, factors))
        case Ratio(top, bottom):
            return 1 + size(top) + size(bottom)


def zigzag(n: int) -> CausalGraph:
    names = [f"V{i}" for i in range(n)]
    return CausalGraph.of(
        directed=pairwise(names),
        bidirected=zip(names, names[2:], strict=False),
    )


@pytest.mark.parametrize("n", [10, 30, 90])
def test_formulas_grow_with_the_graph_and_no_faster(n: int) -> None:
    """Dividing leaves conditionals out; ratios of ratios would double with every step."""
    answer = recover_sets(
        zigzag(n), outcomes=make_nodes(f"V{n - 1}"), treatments=make_nodes("V0")
    )

    assert answer.expression is not None
    assert size(answer.expression) <= n + 10


def test_a_sparse_graph_of_a_hundred_nodes_is_answered() -> None:
    rng = Random(0)
    names = [f"V{i}" for i in range(100)]
    arrows = {(names[rng.randrange(max(0, j - 9), j)], names[j]) for j in range(1, 100)}
    arcs = {(names[j - 3], names[j]) for j in rng.sample(range(3, 100), 25)}
    graph = CausalGraph.of(
        names, directed=arrows | {("V50", "S")}, bidirected=arcs, selection="S"
    )
    below = [v for v in names if v not in graph.selecting()]
    tables: list[Nodes] = [graph.selecting() - {"S"}]

    answer = recover_sets(
        graph, outcomes=make_nodes(below[-1]), treatments=make_nodes(below[20]), external=tables
    )

    assert answer.expression is not None
    assert size(answer.expression) < 400


def test_senseless_questions_are_refused() -> None:
    graph = parse("X -> Y -> [S]")
    with pytest.raises(OverlappingRoles, match="'X' is an outcome and a treatment at once"):
        recover_sets(graph, outcomes=make_nodes("X"), treatments=make_nodes("X"))
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and in the query"):
        recover_sets(graph, outcomes=make_nodes("S"))
    with pytest.raises(OverlappingRoles, match="'S' is the selection node and in a table"):
        recover_sets(graph, outcomes=make_nodes("Y"), external=[make_nodes("S", "X")])
    with pytest.raises(UnknownNode, match="no node 'W'"):
        identify(graph, "Y | do(W)")
    with pytest.raises(UnknownNode, match="no node 'Q'"):
        recover_sets(graph, outcomes=make_nodes("Y"), external=[make_nodes("Q")])
    with pytest.raises(QueryError, match="names no outcome"):
        recover_sets(graph, outcomes=make_nodes())
