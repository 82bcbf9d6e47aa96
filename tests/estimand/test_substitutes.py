"""Algorithm 3 in its three forms, on the paper's graph and on exact models."""

from collections.abc import Iterator
from itertools import chain, combinations, pairwise
from math import comb
from random import Random
from typing import TypedDict

import numpy as np
import pytest

from boundit.core.names import Nodes
from boundit.core.verdict import Verdict
from boundit.counts.formula import evaluate
from boundit.counts.named_array import NamedArray
from boundit.estimand.expression import P
from boundit.estimand.substitutes import (
    Form,
    Substitute,
    SubstituteQuestion,
    find_substitutes,
    shortlist,
)
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.environments import make_paper_model
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from tests.nodes import make_nodes

# A long chain of causes of Y, and a shorter one by which X acts on it; B confounds the two.
CHAIN = CausalGraph.of(
    directed=[
        *pairwise([*(f"V{i}" for i in range(500)), "Y"]),
        *pairwise(["V200", "B", "X", *(f"M{i}" for i in range(20)), "Y"]),
    ]
)
ROLES = {"outcomes": make_nodes("Y"), "treatments": make_nodes("X"), "context": make_nodes()}
USABLE = CHAIN.nodes - make_nodes("X", "Y")


def test_everything_is_kept_where_every_set_can_be_tried() -> None:
    few = make_nodes("V10", "V9", "V400")

    assert shortlist(CHAIN, few, **ROLES, max_size=3, max_sets=8) == ["V9", "V10", "V400"]


def test_the_list_is_as_long_as_the_number_of_sets_allows() -> None:
    chosen = shortlist(CHAIN, USABLE, **ROLES, max_size=2, max_sets=100)

    assert sum(comb(len(chosen), k) for k in range(3)) <= 100
    assert sum(comb(len(chosen) + 1, k) for k in range(3)) > 100


def test_separators_come_first_then_what_is_near_the_outcome() -> None:
    """V499 and B separate X from Y behind its back, at either end; M19 is next to Y."""
    chosen = shortlist(CHAIN, USABLE, **ROLES, max_size=1, max_sets=5)

    assert chosen == ["B", "M18", "M19", "V499"]


class Roles(TypedDict):
    outcomes: Nodes
    treatments: Nodes
    context: Nodes


FIGURE_2 = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]")
ARMS = Roles(
    outcomes=make_nodes("Y"), treatments=make_nodes("X1", "X2"), context=make_nodes("U1", "U2")
)
SETS: list[Form] = ["guarded", "conditioning"]


def random_roles(n: int, seed: int) -> Iterator[tuple[CausalGraph, Roles, list[Nodes]]]:
    drawn, rng = np.random.default_rng(seed), Random(seed)
    for _ in range(n):
        dense, confounded = rng.choice([0.2, 0.4]), rng.choice([0.0, 0.15, 0.3])
        graph = draw_graph(
            rng.randint(3, 5), drawn, directed=dense, bidirected=confounded, selection=True
        )
        names = sorted(graph.observed)
        rng.shuffle(names)
        x, y, *rest = names
        # Contexts are settled before the arm is chosen.
        c = [v for v in rest if v not in graph.descendants(x) and rng.random() < 0.4]
        table = frozenset(v for v in names if rng.random() < 0.6)
        roles = Roles(outcomes=make_nodes(y), treatments=make_nodes(x), context=frozenset(c))
        yield graph, roles, rng.choice([[], [table]])


def bracket(numbers: NamedArray, substitute: Nodes) -> tuple[NamedArray, NamedArray]:
    """The least and the greatest over the substitute's values."""
    gone = tuple(i for i, axis in enumerate(numbers.axes) if axis in substitute)
    left = tuple(axis for axis in numbers.axes if axis not in substitute)
    values = numbers.values
    return NamedArray(left, values.min(axis=gone)), NamedArray(left, values.max(axis=gone))


def numbers_of(substitute: Substitute, model: SCM, tables: list[Nodes]) -> NamedArray:
    return evaluate(
        substitute.formula,
        model.log(),
        external=[model.distribution(table) for table in tables],
    )


def holds_the_truth(
    substitute: Substitute, model: SCM, roles: Roles, tables: list[Nodes]
) -> bool:
    low, high = bracket(numbers_of(substitute, model, tables), substitute.variables)
    truth = model.effect(**roles)
    axes = truth.axes
    return bool(
        (low.align(axes) <= truth.values + 1e-9).all()
        and (truth.values <= high.align(axes) + 1e-9).all()
    )


def every_set(graph: CausalGraph, roles: Roles) -> list[Nodes]:
    named = roles["outcomes"] | roles["treatments"] | roles["context"]
    rest = sorted(graph.observed - named)
    sizes = (combinations(rest, k) for k in range(len(rest) + 1))
    return [frozenset(w) for w in chain.from_iterable(sizes)]


def accepted(
    graph: CausalGraph, roles: Roles, form: Form, tables: list[Nodes]
) -> list[Substitute]:
    """Every substitute there is, supersets too."""
    question = SubstituteQuestion.of(graph, **roles, tables=tables)
    answers = (question.judge(w, form) for w in every_set(graph, roles))
    return [answer for answer in answers if isinstance(answer, Substitute)]


@pytest.mark.parametrize("form", SETS)
def test_sound_forms_always_hold_the_effect(form: Form) -> None:
    """Guarded and conditioning substitutes bracket P(y | do(x), c) in every model."""
    uses, rng = 0, np.random.default_rng(1)
    for graph, roles, tables in random_roles(700, seed=1):
        model = draw_model(graph, rng, levels=(2, 3))
        for found in accepted(graph, roles, form, tables):
            assert holds_the_truth(found, model, roles, tables), (str(graph), roles, found)
            uses += bool(found.variables)
    assert uses > 200


@pytest.mark.parametrize("form", ["paper", *SETS])
def test_each_formula_is_the_law_it_claims_to_be(form: Form) -> None:
    """P(y, c | do(x, w)), P(y | do(x, w), c) and P(y | do(x), c, w), by form."""
    seen, rng = 0, np.random.default_rng(2)
    for graph, roles, tables in random_roles(250, seed=2):
        model = draw_model(graph, rng, levels=(2,))
        for found in accepted(graph, roles, form, tables):
            gap = numbers_of(found, model, tables).measure_gap(claimed(found, model, roles))

            assert gap < 1e-9, (str(graph), roles, found)
            assert found.reasons
            assert all(found.reasons)
            seen += 1
    assert seen > 100


def claimed(substitute: Substitute, model: SCM, roles: Roles) -> NamedArray:
    y, x, c = roles["outcomes"], roles["treatments"], roles["context"]
    w = substitute.variables
    match substitute.form:
        case "paper":
            return model.effect(outcomes=y | c, treatments=x | w)
        case "guarded":
            return model.effect(outcomes=y, treatments=x | w, context=c)
        case "conditioning":
            return model.effect(outcomes=y, treatments=x, context=c | w)


@pytest.mark.parametrize("form", SETS)
def test_the_search_finds_every_set_that_holds_no_smaller_one(form: Form) -> None:
    """What a superset adds only widens, and what causes nothing asked about adds nothing."""
    for graph, roles, tables in random_roles(300, seed=3):
        every = [s.variables for s in accepted(graph, roles, form, tables)]

        found = {
            s.variables for s in find_substitutes(graph, **roles, form=form, tables=tables)
        }

        assert found == {w for w in every if not any(v < w for v in every)}


def test_the_printed_form_misses_where_the_guard_refuses() -> None:
    """Theorem 4 fails: W mostly copies the coin Z and Y asks whether it did."""
    graph = parse("Z -> W -> Y; Z -> Y; X; [S]")
    model = SCM(
        graph,
        {
            "Z": ([], 0.5),
            "W": (["Z"], [0.1, 0.9]),
            "Y": (["W", "Z"], [[1.0, 0.0], [0.0, 1.0]]),
            "X": ([], 0.5),
            "S": ([], 0.5),
        },
    )
    roles = Roles(outcomes=make_nodes("Y"), treatments=make_nodes("X"), context=make_nodes())

    printed = find_substitutes(graph, **roles, form="paper")
    (substitute,) = [s for s in printed if s.variables == make_nodes("W")]
    low, high = bracket(numbers_of(substitute, model, []), make_nodes("W"))
    case = {"X": 1, "Y": 1}

    assert substitute.covariates == make_nodes("Z")
    assert float(low.at(case)) == float(high.at(case)) == pytest.approx(0.5)
    assert float(model.effect(**roles).at(case)) == pytest.approx(0.9)
    assert SubstituteQuestion.of(graph, **roles).judge(make_nodes("W"), "guarded") == Verdict(
        holds=False,
        clause="Rule 2",
        reason="do(W) does not equal conditioning",
        witness=("Y", "<-", "Z", "->", "W"),
    )


def test_on_figure_2_the_mediator_is_no_substitute_to_set() -> None:
    """Figure 2: the text returns {I1}; with C1 hidden, I1 <-> Y cannot be adjusted for."""
    assert make_nodes("I1") not in {
        s.variables for s in find_substitutes(FIGURE_2, **ARMS, form="paper")
    }
    answer = SubstituteQuestion.of(FIGURE_2, **ARMS).judge(make_nodes("I1"), "guarded")

    assert isinstance(answer, Verdict)
    assert answer.witness == ("Y", "<->", "I1")


def test_on_figure_2_the_confounder_would_have_to_be_measured_without_selection() -> None:
    """Figure 2 with C1 observed: the log alone still has another law of C1 and U1."""
    graph = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <- C1 -> Y; I1 -> [S]")
    roles = Roles(
        outcomes=make_nodes("Y"), treatments=make_nodes("X1", "X2"), context=make_nodes()
    )

    def answer(*tables: Nodes) -> Substitute | Verdict:
        question = SubstituteQuestion.of(graph, **roles, tables=tables)
        return question.judge(make_nodes("I1"), "paper")

    assert not isinstance(answer(), Substitute)
    assert not isinstance(answer(make_nodes("C1")), Substitute)
    assert isinstance(answer(make_nodes("C1", "U1")), Substitute)


def test_on_figure_2_observing_the_mediator_brackets_the_effect() -> None:
    """Figure 2: W = {I1} gives [0.165, 0.375] around 0.254 for x = (0, 0), u1 = 0."""
    (found,) = find_substitutes(FIGURE_2, **ARMS, form="conditioning")
    low, high = bracket(numbers_of(found, make_paper_model(), []), found.variables)
    case = {"Y": 1, "X1": 0, "X2": 0, "U1": 0, "U2": 0}

    assert found.variables == make_nodes("I1")
    assert found.formula == P(make_nodes("Y"), make_nodes("X1", "X2", "U1", "U2", "I1"))
    assert float(low.at(case)) == pytest.approx(0.165, abs=5e-4)
    assert float(high.at(case)) == pytest.approx(0.375, abs=5e-4)
    assert float(make_paper_model().effect(**ARMS).at(case)) == pytest.approx(0.254, abs=5e-4)


def test_sets_come_by_size_and_no_larger_than_asked() -> None:
    graph = parse("X -> Y; A -> Y; A -> [S]; B -> Y; B -> S")
    roles = Roles(outcomes=make_nodes("Y"), treatments=make_nodes("X"), context=make_nodes())

    found = find_substitutes(graph, **roles, form="conditioning")

    assert [s.variables for s in found] == [make_nodes("A", "B")]
    assert not find_substitutes(graph, **roles, form="conditioning", max_size=1).found
    sizes = [
        len(s.variables) for s in find_substitutes(parse("X -> Y; A; B"), **roles, form="paper")
    ]
    assert sizes == [0, 1, 1, 2]


def test_a_wide_graph_is_searched_where_it_matters_and_the_rest_is_named() -> None:
    """Five hundred causes of Y; the one that also steers selection is among the first tried."""
    names = [f"V{i}" for i in range(500)]
    graph = CausalGraph.of(
        directed=[*pairwise(names), ("V499", "Y"), ("X", "Y"), ("V77", "Y"), ("V77", "S")],
        selection="S",
    )
    roles = Roles(outcomes=make_nodes("Y"), treatments=make_nodes("X"), context=make_nodes())

    search = find_substitutes(graph, **roles, form="conditioning", max_size=2, max_sets=50)

    assert make_nodes("V77") in {s.variables for s in search}
    assert len(search.left_out) == 491
    assert search.left_out[0] == "V0"


def test_a_substitute_is_neither_treatment_nor_context() -> None:
    for form in SETS:
        search = find_substitutes(FIGURE_2, **ARMS, form=form)
        tried = frozenset(search.left_out).union(*(found.variables for found in search))
        assert not tried & {"Y", "X1", "X2", "U1", "U2", "S"}
