import numpy as np
import pytest

from boundit.checks import counting
from boundit.checks.check import check
from boundit.checks.report import CheckReport
from boundit.core.errors import DataError, OptionError
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.graph.read import parse_graph
from boundit.simulation.environments import paper_environment
from boundit_research.audits.check_power import draw_trials, measure_check_power

CHAIN = parse_graph("X -> Z -> Y")


def make_exact_log(law: NamedArray) -> Log:
    places = np.indices(law.values.shape).reshape(len(law.axes), law.values.size)
    cells = {axis: column.tolist() for axis, column in zip(law.axes, places, strict=True)}
    return read_log(cells | {"p": law.values.ravel().tolist()}, weight="p", exact=True)


def draw_chain_rows(n: int, seed: int, *, shortcut: float = 0.0) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    x = rng.random(n) < 0.5
    z = rng.random(n) < 0.3 + 0.4 * x
    y = rng.random(n) < 0.2 + 0.4 * z + shortcut * x
    return {
        "X": x.astype(int).tolist(),
        "Z": z.astype(int).tolist(),
        "Y": y.astype(int).tolist(),
    }


def test_exact_laws_agree_with_true_graphs_and_refute_those_that_lack_an_edge() -> None:
    """Without sampling error there are no false alarms and no misses, on 60 random worlds."""
    for trial, _ in draw_trials(60, seed=11):
        log = make_exact_log(trial.law)

        assert check(trial.true, log)
        assert not check(trial.wrong, log)


def test_the_papers_graph_agrees_with_its_log() -> None:
    world = paper_environment()
    report = check(world.graph, world.log(4000, seed=0))

    assert report
    assert len(report.findings) == 8


@pytest.mark.parametrize("n", [40, 1000])
def test_of_right_graphs_few_are_contradicted_and_of_wrong_ones_many(n: int) -> None:
    """Random models, one log each; the margin is 3.5 standard errors of 150 logs."""
    (point,) = measure_check_power(150, sizes=[n], seed=7)

    assert point.false_alarms <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 150)
    assert point.finds > (0.01 if n < 100 else 0.5)


def test_the_missing_edge_comes_first_and_is_shown() -> None:
    report = check(CHAIN, draw_chain_rows(4000, 1, shortcut=0.2))
    (finding,) = report.findings

    assert not report
    assert finding.status == "contradicted"
    assert finding.evidence is not None
    assert {finding.evidence.one, finding.evidence.other} <= {0, 1}
    assert abs(finding.evidence.share - finding.evidence.expected) > 0.05


def test_more_rows_detect_weaker_association() -> None:
    found = [
        check(CHAIN, draw_chain_rows(n, 3)).findings[0].detectable for n in (50, 500, 5000)
    ]

    assert None not in found
    assert found == sorted(found, reverse=True)  # type: ignore[type-var]


def test_silence_from_few_rows_is_said_to_mean_little() -> None:
    report = check(CHAIN, draw_chain_rows(20, 4))

    assert report
    assert "This says little" in str(report)


def test_passes_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = parse_graph("A -> B -> C -> D -> E; A -> [S]")
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 3, 300).tolist() for name in "ABCDE"}
    columns["B"][:40] = columns["E"][20:50] = [None] * 40
    columns = {name: values[:300] for name, values in columns.items()}
    once = check(graph, columns)
    monkeypatch.setattr(counting, "ONE_PASS", 0)
    monkeypatch.setattr(counting, "SMALL", 20)
    often = check(graph, columns)

    assert once.rows() == often.rows()
    assert sorted(once.caveats) == sorted(often.caveats)


def test_nulls_are_left_out_where_they_matter_and_named() -> None:
    rows = draw_chain_rows(300, 6)
    gone = {**rows, "Z": [None] * 50 + rows["Z"][50:]}
    report = check(CHAIN, gone)

    assert report.rows()[0]["n"] == 250
    assert report.caveats == (
        "Z is null in 50 of 300 rows, which are left out where Z is tested; "
        "being complete may itself be a selection",
    )


def test_bins_carry_their_caveat() -> None:
    rng = np.random.default_rng(0)
    log = read_log(
        {**draw_chain_rows(200, 1), "Z": rng.random(200).tolist()}, bins={"Z": [0.5]}
    )

    assert "Z was cut into bins" in check(CHAIN, log).caveats[0]


def test_a_continuous_column_is_refused_by_the_counts_room() -> None:
    rng = np.random.default_rng(0)

    with pytest.raises(DataError, match="'Z' looks continuous"):
        check(CHAIN, {**draw_chain_rows(200, 1), "Z": rng.random(200).tolist()})


def test_statements_about_missing_columns_are_untestable_with_the_reason() -> None:
    rows = draw_chain_rows(200, 1)
    report = check(CHAIN, {"X": rows["X"], "Y": rows["Y"]})

    assert report
    assert report.verdict() == "the log can test none of the graph's implications"
    assert report.findings[0].explain() == "The log has no column for Z."


def test_a_missing_separator_is_replaced_by_one_in_the_log() -> None:
    graph = parse_graph("X -> A -> B -> Y")
    rows = draw_chain_rows(300, 1)
    for kept, missing in ("AB", "BA"):
        report = check(graph, {"X": rows["X"], kept: rows["Z"], "Y": rows["Y"]})
        tested = [f for f in report.findings if f.status != "untestable"]

        assert any(f.statement.given == {kept} and f.statement.one == "X" for f in tested)
        assert all(missing not in str(f.statement) for f in tested)


def test_what_never_varies_cannot_be_tested() -> None:
    report = check(CHAIN, {"X": [0, 1] * 20, "Z": [0] * 40, "Y": [1] * 40})

    assert report.findings[0].status == "untestable"
    assert "do both take two values" in report.findings[0].explain()


def test_a_table_too_large_to_count_is_untestable_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("boundit.counts.sources.CELL_LIMIT", 2)
    report = check(CHAIN, draw_chain_rows(50, 1))

    assert report.findings[0].status == "untestable"
    assert report.findings[0].explain().startswith("the log has more than 2 distinct rows")


def test_a_graph_without_statements_cannot_be_contradicted() -> None:
    report = check(parse_graph("X -> Y; X <-> Y"), {"X": [0, 1], "Y": [0, 1]})

    assert report
    assert str(report) == (
        "the graph cannot be contradicted by this log: every pair stays connected"
    )


def test_weights_count_as_rows() -> None:
    cells = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1]}
    table = {**cells, "n": [40, 10, 10, 40]}
    many = {
        name: [v for v, n in zip(values, table["n"], strict=True) for _ in range(n)]
        for name, values in cells.items()
    }
    graph = parse_graph("X; Y")

    def numbers(report: CheckReport) -> list[dict[str, object]]:
        return report.rows()

    assert numbers(check(graph, read_log(table, weight="n"))) == numbers(check(graph, many))


def test_an_unselected_row_is_refused() -> None:
    rows = draw_chain_rows(50, 1)

    with pytest.raises(DataError):
        check(parse_graph("X -> Z -> Y; X -> [S]"), {**rows, "S": [0] + [1] * 49})


@pytest.mark.parametrize("level", [0, 1, 5, -0.1, float("nan"), "0.05", None, True])
def test_a_level_that_is_no_probability_is_refused(level: object) -> None:
    with pytest.raises(OptionError, match="is not a probability"):
        check(CHAIN, draw_chain_rows(50, 1), level=level)  # type: ignore[arg-type]


def test_rows_of_a_policy_that_learned_are_refused() -> None:
    log = read_log(draw_chain_rows(20, seed=0), adaptive=True)
    with pytest.raises(DataError, match=r"while a policy learned \(adaptive=True\)"):
        check(CHAIN, log)


def test_progress_is_reported() -> None:
    heard: list[tuple[str, int, int]] = []
    check(
        paper_environment().graph,
        paper_environment().log(500, seed=0),
        progress=lambda *x: heard.append(x),
    )

    assert heard == [("test implications", i, 8) for i in range(1, 9)]
