"""What would narrow bounds: widths are those that derived bounds would have."""

import json
from itertools import combinations

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.options import spell_flag
from boundit.bounds.request import read_request
from boundit.core.long_work import say_nothing
from boundit.core.message import Option
from boundit.decisions.suggest import (
    Situation,
    find_identifying_sets,
    find_trial_width,
    measure_width,
    suggest,
    suggest_edges,
    suggest_rate,
    suggest_request,
    suggest_rows,
    suggest_tables,
    suggest_trial,
)
from boundit.decisions.suggest_report import Step, SuggestReport
from boundit.report.sections import Table
from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment, random_environment
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM

SMALL = Environment(
    SCM(
        bd.parse_graph("Z -> X -> Y; Z -> Y; Z -> [S]"),
        {
            "Z": ([], 0.4),
            "X": (["Z"], [0.3, 0.6]),
            "Y": (["X", "Z"], [[0.2, 0.6], [0.5, 0.7]]),
            "S": (["Z"], [0.3, 0.8]),
        },
    ),
    bd.parse_query("Y | do(X)"),
)
WORLD = flipped_environment()
LOG = WORLD.log(6_000, seed=1)


def look(mine: Environment, log: object = None, **options: object) -> Situation:
    """What suggestions start from."""
    log = mine.log(6_000, seed=1) if log is None else log
    return Situation(read_request(mine.graph, mine.query, log, **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def report() -> SuggestReport:
    return suggest(SMALL.graph, SMALL.query, SMALL.log(6_000, seed=1))


def test_steps_are_ranked_with_all_kinds(report: SuggestReport) -> None:
    widths = [step.width for step in report.steps]

    assert widths == sorted(widths)
    assert all(width < report.width for width in widths)
    assert {step.kind for step in report.steps} >= {"rate", "table", "edge", "trial"}
    assert all(s.lower <= s.width <= s.upper for s in report.steps)
    (table,) = (s for s in report.steps if s.kind == "table" and s.variables == ("Z",))
    assert "P(Z)" in table.formula
    json.dumps(report.record())


def test_quick_steps_are_known_before_tables() -> None:
    request = read_request(SMALL.graph, SMALL.query, SMALL.log(3_000, seed=1))
    first, last = suggest_request(request)

    assert "table" not in {step.kind for step in first.steps}
    assert "table" in {step.kind for step in last.steps}


def test_what_helps_most_is_one_step_of_each_sort(report: SuggestReport) -> None:
    picked = report.pick()
    lines = report.write_help(spell_flag)

    assert len(picked) == 3
    assert sum(step.kind in {"rate", "edge"} for step in picked) == 1
    assert sum(step.kind in {"table", "rows"} for step in picked) == 1
    assert lines[0] == (
        f"What would help (mean width of the bounds, now {report.width:.2f}; "
        f'"boundit suggest" lists {len(report.steps)} options):'
    )
    assert any("--external sample.csv" in line for line in lines)
    assert any("a randomized trial, 1,000 per arm" in line for line in lines)


def test_text_and_page_have_steps_options_and_notes() -> None:
    table = Step(
        "table", "Z for an unselected sample", 0.2, 0.1, 0.3, "collect it", "3 environments",
        Option("external", ["sample.csv"]), "Σ_{Z} P(Y | X, Z, S=1) P(Z)", ("Z",),
    )  # fmt: skip
    rate = Step("rate", "the rate", 0.3, 0.3, 0.3, "", "", Option("selection_rate", 0.5))
    made = SuggestReport("E[Y]", 0.4, 0.25, (table, rate), ("U",), ("a note",), 0.95)

    assert made.summary == (
        "The mean width of the bounds is 0.400; 0.250 would remain with infinite data. They "
        "would be narrowest, 0.200, with Z for an unselected sample."
    )
    text = made.format(spell_flag)
    assert "  0.20  Z for an unselected sample  --external sample.csv" in text
    assert "(0.10 to 0.30; the effect is then identified)" in text
    assert "--selection-rate 0.5" in text
    assert "selection_rate=0.5" in str(made)
    assert text.endswith("no gain: U\nnote: a note")
    shown = made.page(spell_flag).sections[0]
    assert isinstance(shown, Table)
    assert shown.rows[0][:3] == ("0.200", table.what, "--external sample.csv")
    assert "P(Z)" in str(shown.rows[0][3])
    assert str(SuggestReport("E[Y]", 0.4, 0.4, ())).endswith(
        "Nothing that was tried would narrow the bounds."
    )


def test_widths_are_those_of_derived_bounds() -> None:
    now = look(WORLD, LOG)
    table = bd.read_log({"Z": [0] * 300 + [1] * 100})
    plain = bd.derive_bounds(WORLD.graph, WORLD.query, LOG)
    known = bd.derive_bounds(WORLD.graph, WORLD.query, LOG, external=[table])

    assert now.width == pytest.approx(measure_width(plain))
    assert now.measure(external=(table,)) == pytest.approx(measure_width(known))


def test_the_selection_rate_is_tried_at_the_middle_and_the_ends() -> None:
    now = look(WORLD, LOG)
    (found,) = suggest_rate(now)
    half, whole = (
        measure_width(bd.derive_bounds(WORLD.graph, WORLD.query, LOG, selection_rate=rate))
        for rate in (0.5, 1.0)
    )

    assert found.width == pytest.approx(half)
    assert found.lower == pytest.approx(whole)
    assert found.upper == now.width
    assert found.option == Option("selection_rate", 0.5)
    assert suggest_rate(look(WORLD, LOG, selection_rate=0.4)) == []


def test_a_rate_that_the_log_refutes_is_not_tried() -> None:
    """Nearly all of Z = 1 is logged, so that most of the population cannot be missing."""
    found = suggest_rate(look(WORLD, LOG, external=[{"Z": [0] * 10 + [1] * 9_990}]))

    assert all(step.lower <= step.width <= step.upper for step in found)


@pytest.mark.parametrize("world", [WORLD, random_environment(2, arms=3, contexts=1)])
def test_four_times_the_rows_is_as_a_log_four_times_as_long(world: Environment) -> None:
    (found,) = suggest_rows(look(world, world.log(8_000, seed=1)))
    longer = bd.derive_bounds(world.graph, world.query, world.log(32_000, seed=7))

    assert found.width == pytest.approx(measure_width(longer), rel=0.08)


def test_of_an_exact_distribution_more_rows_are_no_step() -> None:
    assert suggest_rows(look(WORLD, WORLD.exact_log(), confidence=None)) == []


def test_of_clusters_sampling_error_halves() -> None:
    rows = {"X": [0, 1] * 60, "Y": [0, 1, 1, 1] * 30, "user": list(range(60)) * 2}
    rows = {name: sorted(column) if name == "user" else column for name, column in rows.items()}
    request = read_request("X -> Y", "Y | do(X)", rows, cluster="user", inference="approximate")
    now = Situation(request)
    (found,) = suggest_rows(now)

    assert found.width == pytest.approx(now.width / 2, rel=0.02)


def test_edges_are_left_out_one_by_one() -> None:
    found, refuted = suggest_edges(look(WORLD, LOG), say_nothing)
    by = {step.what: step for step in found}
    smaller = bd.parse_graph(str(WORLD.graph).replace("Z -> [S]; ", "[S]; "))
    free = by["the knowledge that Z -> [S] is absent"]

    assert free.width == pytest.approx(
        measure_width(bd.derive_bounds(smaller, WORLD.query, LOG))
    )
    assert free.formula
    assert "Z -> Y" in refuted  # which the log shows
    assert not any("X1 -> Y" in what or "X2 -> Y" in what for what in by)


def test_a_limit_on_an_edge_goes_with_the_edge() -> None:
    rows = {"X": [0, 0, 1, 1] * 99, "Y": [0, 1, 1, 1] * 99}
    request = read_request(
        "X -> Y; X <-> Y", "Y | do(X)", rows, confounding_limit={"X <-> Y": 2.0}
    )
    (found,), _ = suggest_edges(Situation(request), say_nothing)

    assert found.what == "the knowledge that X <-> Y is absent"
    assert found.width == pytest.approx(
        measure_width(bd.derive_bounds("X -> Y", "Y | do(X)", rows))
    )


@pytest.mark.parametrize("seed", range(4))
def test_sets_that_identify_are_the_smallest_ones(seed: int) -> None:
    """Each is verified by ``identify``, none of its parts suffices, and none is missed."""
    rng = np.random.default_rng(seed)
    graph = draw_graph(4, rng, selection=True)
    order = [name for name in graph.order if name != "S"]
    query = bd.parse_query(f"{order[-1]} | do({order[0]})")
    mine = Environment(draw_model(graph, rng, levels=(2,)), query)
    now = look(mine, mine.log(500, seed=1))
    found = find_identifying_sets(now)
    if bd.identify(graph, query):
        assert found == {}
        return
    names = sorted(now.request.graph.observed - {order[-1]})
    every = [frozenset(c) for n in (1, 2, 3) for c in combinations(names, n)]
    enough = {s for s in every if bd.identify(graph, query, external=[s])}
    if smallest := {s for s in enough if not any(t < s for t in enough)}:
        assert set(found) == smallest
    for each in found:
        assert bd.identify(graph, query, external=[each])


def test_without_selection_no_table_is_tried() -> None:
    graph = bd.parse_graph("X -> Y; X <-> Y")
    mine = Environment(
        draw_model(graph, np.random.default_rng(0), levels=(2,)), bd.parse_query("Y | do(X)")
    )

    assert suggest_tables(look(mine), 0, say_nothing) == []


def test_a_table_of_what_selects_identifies_the_effect() -> None:
    now = look(SMALL)
    by = {step.variables: step for step in suggest_tables(now, 0, say_nothing)}

    assert by["Z",].formula
    assert by["Z",].width < now.width
    assert not by["X",].formula


def test_the_width_of_a_trial_is_chernoffs() -> None:
    """The mean of as many draws is in the interval at least as often as stated."""
    rng, size, error = np.random.default_rng(0), 200, 0.1
    for mean in (0.02, 0.5, 0.9):
        means = rng.binomial(size, mean, 4_000) / size
        width = find_trial_width(mean, size, error=error)
        assert np.mean(np.abs(means - mean) > width) <= error
        assert width > 4 * np.std(means) * 0.8
    assert find_trial_width(0.5, 4 * size, error=error) == pytest.approx(
        find_trial_width(0.5, size, error=error) / 2, rel=0.05
    )
    (wide,), (narrow,) = (suggest_trial(look(SMALL), size) for size in (100, 10_000))
    assert narrow.width < wide.width


def test_the_time_limit_ends_it_with_a_note() -> None:
    report = suggest(SMALL.graph, SMALL.query, SMALL.log(2_000, seed=1), time_limit=0)

    assert any("time limit" in note for note in report.notes)
