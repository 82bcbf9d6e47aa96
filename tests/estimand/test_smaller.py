"""Smaller formulas are equal to those they replace."""

from collections.abc import Iterator
from itertools import chain
from random import Random

import pytest

from boundit.estimand.derivation import Identification, Question
from boundit.estimand.expression import count_cells, find_variables
from boundit.estimand.smaller import SmallerSearch, compact
from boundit.estimand.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.graph.text import parse
from tests.estimand.truth import Case, gap, random_cases
from tests.nodes import make_nodes
from tests.strategies import random_graph

Y, X = make_nodes("Y"), make_nodes("X")


def test_a_long_way_is_cut_short() -> None:
    """Front-door through a chain: any one of its nodes will do."""
    graph = parse("X -> A -> B -> C -> Y; X <-> Y")
    asked = Question(Y, X)

    answer = compact(graph, asked, (), Solver(graph).solve(asked))

    assert str(answer) == "Σ_{C} P(C | X) Σ_{X'} P(X') P(Y | C, X')"
    assert str(answer.steps[0]) == "projection: A, B may be hidden"


def test_the_whole_back_door_is_one_set_of_parents() -> None:
    graph = parse("A -> B -> C -> X -> Y; A -> D -> Y; B -> D")
    asked = Question(Y, X)

    answer = compact(graph, asked, (), Solver(graph).solve(asked))

    assert answer.expression is not None
    assert len(find_variables(answer.expression) - Y - X) == 1


def test_no_answer_stays_none() -> None:
    none = Identification(None)

    assert compact(parse("X -> Y; X <-> Y"), Question(Y, X), (), none) is none


def test_smaller_formulas_are_true_and_not_larger() -> None:
    smaller = 0
    plain = random_cases(100, seed=21, sizes=(6, 7), selection=False)
    tabled = random_cases(60, seed=22, sizes=(5, 6), tables=1)
    for i, case in enumerate(chain(plain, tabled)):
        asked = Question(case.outcomes, case.treatments, case.context)
        first = Solver(case.graph, case.external).solve(asked)
        answer = compact(case.graph, asked, case.external, first)
        if first.expression is None or answer.expression is None:
            assert first.expression is answer.expression
            continue
        assert gap(case, answer.expression, i) < 1e-9
        before, after = find_variables(first.expression), find_variables(answer.expression)
        assert len(after - asked.variables) <= len(before - asked.variables)
        smaller += len(after) < len(before)
    assert smaller > 2


Y, X = make_nodes("Y"), make_nodes("X")
WIDE = "X -> Y; A -> Z; " + "; ".join(f"Z -> B{i} -> X; Z -> D{i} -> Y" for i in range(6))
"""A product of c-factors sums over every D, and one Z would do."""


def draw_cases(
    n: int,
    seed: int,
    *,
    sizes: tuple[int, ...] = (5, 6),
    arcs: float = 0.1,
    selection: bool = True,
    tables: int = 0,
) -> Iterator[Case]:
    """Draw sparse graphs, where some set separates more often than not."""
    rng = Random(seed)
    for _ in range(n):
        size = rng.choice(sizes)
        graph = random_graph(rng, size, arrows=0.3, arcs=arcs, selection=selection)
        names = [node for node in graph.order if node in graph.observed]
        x, y = sorted(rng.sample(range(size), 2))
        rest = [name for i, name in enumerate(names) if i not in {x, y}]
        external = tuple(
            frozenset(rng.sample(rest, rng.randrange(1, 4))) for _ in range(tables)
        )
        context = frozenset(rng.sample(rest, rng.randrange(3)))
        yield Case(graph, make_nodes(names[y]), make_nodes(names[x]), context, external)


def solve_smaller(
    text: str, asked: Question, *tables: str
) -> tuple[Identification, Identification]:
    graph = parse(text)
    solver = Solver(graph, [make_nodes(*table.split()) for table in tables])
    found = solver.solve(asked)
    return found, SmallerSearch(graph, solver).find_smaller(asked, found)


def holds(graph: CausalGraph, answer: Identification) -> bool:
    """Whether every separation that its steps rest on is one of the graph."""
    return all(
        open_walk(
            graph.without_edges_into(fact.into).without_edges_out_of(fact.out_of),
            *(fact.of, fact.others),
            given=fact.given,
        )
        is None
        for step in answer.steps
        if (fact := step.fact) is not None
    )


@pytest.mark.parametrize(
    ("share", "at_least", "deeper"),
    [(6, 50, 1), pytest.param(1, 301, 6, marks=pytest.mark.full)],
)
def test_every_equivalent_is_the_effect_and_its_separations_hold(
    share: int, at_least: int, deeper: int
) -> None:
    """Selection, contexts, hidden causes, up to two external tables; depths 0 to 2."""
    compared = deep = 0
    cases = chain(
        draw_cases(300 // share, seed=31, selection=False),
        draw_cases(600 // share, seed=32),
        draw_cases(400 // share, seed=33, tables=2),
    )
    for i, case in enumerate(cases):
        asked = Question(case.outcomes, case.treatments, case.context)
        solver = Solver(case.graph, case.external)
        search = SmallerSearch(case.graph, solver)
        shallow = list(search.list_equivalents(asked, 0))
        for answer in (*shallow, *search.list_equivalents(asked, 2)):
            assert answer.expression is not None
            assert gap(case, answer.expression, i) < 1e-9
            assert holds(case.graph, answer)
            compared += 1
            deep += answer not in shallow
    assert compared >= at_least
    assert deep >= deeper


def test_a_wide_back_door_is_closed_by_one_covariate() -> None:
    found, smaller = solve_smaller(WIDE, Question(Y, X))

    assert found.expression is not None
    assert len(find_variables(found.expression)) > 8
    assert str(smaller) == "Σ_{Z} P(Y | X, Z) P(Z)"
    assert [str(step) for step in smaller.steps] == [
        "chain rule: sum over Z",
        "Rule 3: do(X) may be dropped",
        "Rule 2: conditioning on Z equals do(Z)",
        "Rule 2: do(X, Z) equals conditioning",
    ]


def test_a_front_door_is_one_mediator_and_the_arm_as_it_came() -> None:
    ways = "; ".join(f"X -> A{i} -> M; M -> B{i} -> Y" for i in range(4))
    found, smaller = solve_smaller(f"{ways}; X <-> Y", Question(Y, X))

    assert found.expression is not None
    assert str(smaller) == "Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')"


def test_weights_come_from_a_table_where_selection_changes_them() -> None:
    graph, within = f"{WIDE}; Z -> [S]", Question(Y, X, make_nodes("A"))

    _, smaller = solve_smaller(graph, Question(Y, X), "Z")
    _, in_context = solve_smaller(graph, within, "A Z")
    _, none = solve_smaller(graph, within)

    assert str(smaller) == "Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert str(in_context) == "Σ_{Z} P(Y | X, Z, S=1) P(Z | A)"
    assert not none


def test_a_formula_that_is_not_large_stays_as_it_is() -> None:
    found, same = solve_smaller("Z -> X -> Y; Z -> Y; Z -> A -> Y", Question(Y, X))
    none, still = solve_smaller("X -> Y; X <-> Y", Question(Y, X))

    assert same is found
    assert still is none


@pytest.mark.full
def test_what_takes_the_place_of_a_large_formula_is_the_effect_and_smaller() -> None:
    """Graphs of 11 or 12 nodes, where formulas are large; some are made compact too."""
    smaller, kinds = 0, set[str]()
    limits = {"sizes": (11, 12), "arcs": 0.04}
    cases = chain(
        draw_cases(50, seed=35, selection=False, **limits),  # type: ignore[arg-type]
        draw_cases(70, seed=36, tables=1, **limits),  # type: ignore[arg-type]
    )
    for i, case in enumerate(cases):
        asked = Question(case.outcomes, case.treatments, case.context)
        solver = Solver(case.graph, case.external)
        found = solver.solve(asked)
        answer = SmallerSearch(case.graph, solver).find_smaller(asked, found)
        if answer is found:
            continue
        assert found.expression is not None
        assert answer.expression is not None
        assert count_cells(answer.expression) <= count_cells(found.expression)
        assert gap(case, answer.expression, i, levels=(2,)) < 1e-9
        smaller += 1
        kinds |= {step.algorithm for step in answer.steps}
    assert smaller > 5
    assert kinds >= {"chain rule", "projection"}
