"""What every program must do: hold the truth, be sharp where theory says so, and repeat."""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.inference.cells import CellIntervals
from boundit.bounds.program import rule
from boundit.bounds.program.rule import (
    choose_variables,
    find_program,
    find_relevant,
    turn_hidden_causes,
)
from boundit.bounds.program.solve import NEAR
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.counts.named_array import NamedArray
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import draw_problems
from tests.bounds.core import make_run as make_exact_run
from tests.bounds.exact import questions
from tests.bounds.program.problems import Case, assert_inside, draw_case, make_run

FACTS = ("nothing", "rate", "limit")
INSTRUMENT = "Z -> X -> Y; X <-> Y"
CHAINED = "X -> M -> Y; U -> X; U -> Y; M <-> Y; M -> [S]"


def choose_facts(case: Case, kind: str) -> SelectionFacts:
    if kind == "nothing" or case.graph.selection is None:
        return NOTHING_KNOWN
    if kind == "rate":
        return case.know_rate()
    blanket = case.graph.observed
    everyone, logged = case.model.distribution(blanket).values, case.model.log(blanket).values
    ratio = everyone[logged > 0] / logged[logged > 0]
    return SelectionFacts(None, float(max(ratio.max(), 1 / ratio.min())) * (1 + 1e-9))


@pytest.fixture
def few_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MAX_BOXES", 5)


@pytest.mark.usefixtures("few_boxes")
@pytest.mark.parametrize("kind", FACTS)
@pytest.mark.parametrize("seed", [101, pytest.param(102, marks=pytest.mark.full)])
def test_holds_the_truth_of_random_models(seed: int, kind: str) -> None:
    n = 12 if seed == 101 else 200
    for problem in draw_problems(seed, n):
        case = Case(problem.model.graph, problem.query, problem.model, problem.tables)
        assert_inside(case.solve(choose_facts(case, kind)), case.truth)


@pytest.mark.usefixtures("few_boxes")
@pytest.mark.parametrize(
    ("graph", "query"),
    [
        ("X -> Y -> C; X <-> Y; C -> [S]", "Y | do(X)"),
        ("X -> W; Y -> C; C -> W; C <-> X; W -> [S]", "Y | do(X), C"),
        ("Y -> C; Y <-> X; C <-> X; X -> W; W -> [S]", "Y | do(X), C"),
        ("A -> Y; B -> Y; Y -> [S]", "Y | do(A), B"),
        ("X -> Y; Y <-> W; W -> C; C <-> [S]; X -> [S]", "Y | do(X), C"),
    ],
)
@pytest.mark.parametrize("kind", ["nothing", "rate"])
def test_holds_the_truth_where_cells_are_struck_out_and_outcomes_have_effects(
    graph: str, query: str, kind: str
) -> None:
    rng = np.random.default_rng(7)
    for zeros in (0.0, 0.3, 0.3):
        case = draw_case(graph, query, rng, zeros=zeros, floor=0.0)
        if case.model.selection_rate() > 0:
            assert_inside(case.solve(choose_facts(case, kind)), case.truth)


@pytest.mark.usefixtures("few_boxes")
@pytest.mark.parametrize("kind", ["nothing", "rate"])
def test_holds_the_truth_of_one_hidden_cause_with_many_levels(kind: str) -> None:
    """A c-component may have one hidden cause of all its members, not one for each pair."""
    graph = parse("X -> M -> Y; X <-> M; M <-> Y; X <-> Y; M -> [S]")
    arrows = [("U", v) for v in "XMY"] + list(graph.directed)
    hidden = CausalGraph.of(directed=arrows, selection="S")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        drawn = draw_model(hidden, rng, levels=(7,), binary=["X", "M", "Y"], floor=0.0)
        case = Case(hidden, parse_query("Y | do(X)"), drawn)
        program = find_program(graph, case.query, (), choose_facts(case, kind))
        assert program is not None
        run = make_run(graph, case.query, [drawn.log(["X", "M", "Y"])])
        assert_inside(program.solve(run), case.truth)


def test_instrument_is_the_closed_form_of_balke_and_pearl() -> None:
    for seed in range(4):
        case = draw_case(INSTRUMENT, "Y | do(X)", np.random.default_rng(seed))
        p = case.model.log().condition_on("Z").align(("Z", "X", "Y"))
        found = case.solve()
        for x in (0, 1):
            least = [p[z, x, 1] for z in (0, 1)]
            for z, w in ((0, 1), (1, 0)):
                least += [
                    p[z, 1 - x, 0] + p[z, x, 1] - p[w, 1 - x, 0] - p[w, x, 0],
                    p[z, 1 - x, 1] + p[z, x, 1] - p[w, 1 - x, 1] - p[w, x, 0],
                ]
            most = [1 - p[z, x, 0] for z in (0, 1)]
            for z, w in ((0, 1), (1, 0)):
                most += [
                    p[z, 1 - x, 0] + p[z, x, 1] + p[w, 1 - x, 1] + p[w, x, 1],
                    p[z, 1 - x, 1] + p[z, x, 1] + p[w, 1 - x, 0] + p[w, x, 1],
                ]
            assert found.lower[x] == pytest.approx(max(least), abs=1e-9)
            assert found.upper[x] == pytest.approx(min(most), abs=1e-9)


def test_bow_is_manski() -> None:
    case = draw_case("X -> Y; X <-> Y", "Y | do(X)", np.random.default_rng(1))
    joint, found = case.model.log().align(("X", "Y")), case.solve()
    assert np.allclose(found.lower, joint[:, 1], atol=1e-9)
    assert np.allclose(found.upper, joint[:, 1] + 1 - joint.sum(axis=1), atol=1e-9)


@pytest.mark.parametrize(
    ("graph", "query"),
    [
        ("W -> X; W -> Y; X -> Y", "Y | do(X)"),
        ("X -> M -> Y; X <-> Y", "Y | do(X)"),
        ("W1 -> W2 -> X -> Y; W1 <-> X; W1 <-> Y", "Y | do(X)"),
        ("X1 -> M -> X2 -> Y; X1 <-> X2; M <-> Y; X1 -> Y", "Y | do(X1, X2)"),
        ("X -> Y; W -> Y; W -> X; X -> [S]", "Y | do(X), W"),
    ],
)
def test_identified_effects_are_numbers(graph: str, query: str) -> None:
    case = draw_case(graph, query, np.random.default_rng(2), levels=(2, 3), binary="Y")
    found = case.solve()
    assert np.allclose(found.lower, case.truth, atol=1e-9)
    assert np.allclose(found.upper, case.truth, atol=1e-9)


@pytest.mark.parametrize("n", [5, 6])
def test_instruments_of_many_levels(n: int) -> None:
    """Types of X are too many to list: Y's or X's best answers are found by argument."""
    graph, rng = parse(INSTRUMENT), np.random.default_rng(n)
    hidden = CausalGraph.of(directed=[*graph.directed, ("U", "X"), ("U", "Y")])
    model = SCM(
        hidden,
        {
            "U": ([], rng.dirichlet(np.ones(3))),
            "Z": ([], rng.dirichlet(np.ones(n))),
            "X": (["U", "Z"], rng.dirichlet(np.ones(n), size=(3, n))),
            "Y": (["U", "X"], rng.dirichlet(np.ones(2), size=(3, n))),
        },
    )
    case = Case(hidden, parse_query("Y | do(X)"), model)
    found = find_program(graph, case.query)
    assert found is not None
    ends = found.solve(make_run(graph, case.query, [model.distribution(["X", "Y", "Z"])]))
    assert_inside(ends, case.truth)
    given = model.distribution(["X", "Y", "Z"]).condition_on("Z").align(("Z", "X", "Y"))
    natural = given[:, :, 1].max(axis=0), (1 - given[:, :, 0]).min(axis=0)
    closed = ~ends.open
    assert closed.any()
    assert (ends.lower >= natural[0] - 1e-7)[closed].all()
    assert (ends.upper <= natural[1] + 1e-7)[closed].all()


def test_a_missing_edge_limits_the_population() -> None:
    """Given that C and a randomised X are independent among everyone, selection by Y narrows."""
    graph, query = parse("C -> Y; X -> Y; Y -> [S]"), parse_query("Y | do(X)")
    case = Case(graph, query, draw_model(graph, np.random.default_rng(4), levels=(2,)))
    found = case.solve(case.know_rate())
    assert_inside(found, case.truth)
    alone = draw_case("X -> Y; Y -> [S]", "Y | do(X)", np.random.default_rng(0))
    looser = replace(alone, model=case.model)
    program = find_program(looser.graph, query, (), case.know_rate())
    assert program is not None
    wide = program.solve(make_run(looser.graph, query, [case.model.log(["X", "Y"])]))
    assert ((found.upper - found.lower) < (wide.upper - wide.lower) - 0.05).all()


def test_endpoints_are_reached_by_models() -> None:
    """Sharp from the other side: both extreme distributions of W are models with this log."""
    case = draw_case("X -> Y; W -> Y; W -> [S]", "Y | do(X)", np.random.default_rng(5))
    found = case.solve(case.know_rate())
    given = case.model.log().condition_on(("X", "W")).align(("X", "W", "Y"))[..., 1]
    rate, share = case.model.selection_rate(), case.model.log("W").align(("W",))
    for theta in (rate * share[1], 1 - rate * share[0]):  # two models with this log
        effect = given[:, 0] * (1 - theta) + given[:, 1] * theta
        ends = np.stack([found.lower, found.upper])
        assert np.isclose(effect, ends, atol=1e-7).any(axis=0).all()


def test_more_boxes_and_facts_never_widen(monkeypatch: pytest.MonkeyPatch) -> None:
    for graph in (CHAINED, "W -> A; W -> B; A -> Y; B -> Y; Y -> [S]"):
        query = "Y | do(X), U" if "M" in graph else "Y | do(A)"
        case = draw_case(graph, query, np.random.default_rng(3))
        before = np.full(case.truth.shape, np.inf)
        for facts, boxes in ((NOTHING_KNOWN, 1), (NOTHING_KNOWN, 9), (case.know_rate(), 9)):
            monkeypatch.setattr(rule, "MAX_BOXES", boxes)
            monkeypatch.setattr(rule, "FIRST_BOXES", boxes)
            found = case.solve(facts)
            assert_inside(found, case.truth)
            width = found.upper - found.lower
            assert (width <= before + NEAR).all()  # where it is final
            before = width


def test_names_do_not_matter() -> None:
    """Graphs are compiled in causal order, ties by name: renamed variables change the ties."""
    case = draw_case(
        "A -> Y; B -> Y; A <-> C; C -> Y; C -> [S]", "Y | do(A)", np.random.default_rng(6)
    )
    new = dict(zip("ABC", "QHD", strict=True))
    swapped = parse("Q -> Y; H -> Y; Q <-> D; D -> Y; D -> [S]")
    log = case.model.log()
    renamed = NamedArray(tuple(new.get(a, a) for a in log.axes), log.values)
    program = find_program(swapped, parse_query("Y | do(Q)"))
    assert program is not None
    other, found = program.solve(make_run(swapped, program.query, [renamed])), case.solve()
    assert np.allclose(other.lower, found.lower, atol=1e-6)
    assert np.allclose(other.upper, found.upper, atol=1e-6)


def test_a_log_that_no_model_shows_is_refuted_row_by_row() -> None:
    """Pearl's instrumental inequality: Z cannot move Y where X stays."""
    values = np.zeros((2, 2, 2))
    values[0, 0, 1] = values[1, 0, 0] = 0.5
    graph, query = parse(INSTRUMENT), parse_query("Y | do(X)")
    program = find_program(graph, query)
    assert program is not None
    found = program.solve(make_run(graph, query, [NamedArray(("Z", "X", "Y"), values)]))
    assert found.empty.all()
    assert (found.lower == 0).all()
    assert (found.upper == 1).all()


def test_cell_intervals_widen_and_hold_the_exact_endpoints() -> None:
    for graph, query in ((INSTRUMENT, "Y | do(X)"), (CHAINED, "Y | do(X), U")):
        case = draw_case(graph, query, np.random.default_rng(8))
        program = find_program(case.graph, case.query)
        assert program is not None
        law = case.model.log()
        counts = NamedArray(law.axes, np.rint(law.values * 50_000))
        run = make_run(case.graph, case.query, [counts], exact=False)
        numbers = CellIntervals.__new__(CellIntervals)
        CellIntervals.__bases__[0].__init__(numbers, run.numbers.evidence)  # type: ignore[misc]
        numbers.extremes = dict.fromkeys(program.terms, frozenset())
        numbers._error = dict.fromkeys(program.terms, 0.05 / len(program.terms))
        wide, exact = program.solve(replace(run, numbers=numbers)), case.solve()
        assert_inside(wide, case.truth)
        assert (wide.lower <= exact.lower + 1e-3).all()
        assert (wide.upper >= exact.upper - 1e-3).all()
        assert (wide.upper - wide.lower < 1).any()


def test_known_points_are_skipped_and_numeric_outcomes_with_effects_declined() -> None:
    case = draw_case("X -> Y; X <-> Y; Y -> [S]", "Y | do(X)", np.random.default_rng(9))
    program = find_program(case.graph, case.query, (), case.know_rate())
    assert program is not None
    run, point = case.run(), np.full(2, 0.5)
    lower, upper = program.bound(run, (point, point))
    assert (lower == 0).all()
    assert (upper == 1).all()
    evidence = run.numbers.evidence
    numeric = replace(evidence, log=replace(evidence.log, binary=False))
    lower, upper = program.bound(replace(run, numbers=type(run.numbers)(numeric)))
    assert (lower == 0).all()
    assert (upper == 1).all()


def test_turning_keeps_arms_and_needs_siblings_of_siblings() -> None:
    kept = parse("Z <-> X -> Y; Z <-> Y")
    assert turn_hidden_causes(kept, frozenset("X")) == kept  # X and Y share nothing
    instrument = turn_hidden_causes(parse("Z <-> X -> Y; X <-> Y"), frozenset("X"))
    assert instrument == parse(INSTRUMENT)
    graph = parse("Z <-> X -> Y; W <-> [S]; W -> Y")
    assert turn_hidden_causes(graph, frozenset("X")) == parse("Z -> X -> Y; W -> [S]; W -> Y")
    query = parse_query("Y | do(X, Z)")
    assert find_relevant(graph, query) == {"X"}


def test_large_graphs_are_projected_to_what_fits() -> None:
    graph = parse("; ".join(f"A{i} -> X; A{i} -> Y" for i in range(12)) + "; X -> Y; Y -> [S]")
    query = parse_query("Y | do(X)")
    kept = choose_variables(graph, query, ())
    assert kept is not None
    assert {"X", "Y"} < kept
    assert len(kept) == 7
    assert choose_variables(graph, query, (), dict.fromkeys(graph.observed, 20)) is None
    program = find_program(graph, query)
    assert program is not None
    assert program.needs == kept
    assert program.fit({v: 8 if v == "X" else 2 for v in graph.observed}) != program


def test_the_reason_names_independences() -> None:
    program = find_program(parse("A -> Y; B -> Y; Y -> [S]"), parse_query("Y | do(A)"))
    assert program is not None
    assert program.name == "linear program over A, B, Y"
    assert any(step.between == (("B",), ("A",)) for step in program.reason.steps)
    assert not program.is_linear
    assert program.n_unknown == 1


def test_responses_to_causes_that_nobody_has_are_not_one_number() -> None:
    """V4=1 never goes with V1=0: there each cell of the kernel is 0/0, and has its own value."""
    *_, asked = questions(993, 34, zeros=0.3)
    program = find_program(asked.model.graph, asked.query)
    assert program is not None
    found = program.solve(make_exact_run(asked.model, asked.query))
    assert (found.lower <= asked.truth() + 1e-9).all()
