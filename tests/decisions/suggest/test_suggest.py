"""What would narrow the bounds of a log, as users ask it."""

import numpy as np
import pytest

import boundit as bd
from boundit.counts.sources import Cells, ColumnSource, GroupBy
from boundit.simulation.environments import flipped_environment
from boundit.simulation.errors import InvalidSimulation
from tests.decisions.suggest.problems import SMALL

WORLD = flipped_environment()
LOG = WORLD.log(6_000, seed=1)
REPORT = bd.suggest(WORLD.graph, WORLD.query, LOG, worlds=2)


def test_suggestions_come_narrowest_first_and_all_narrow() -> None:
    widths = [each.width for each in REPORT.suggestions]

    assert widths == sorted(widths)
    assert widths[-1] < REPORT.width
    kinds = {each.kind for each in REPORT.suggestions}
    assert kinds == {"rows", "trial", "selection rate", "external table", "edge"}


def test_what_is_called_recoverable_is() -> None:
    """Each claim about an external table is verified by ``identify`` with that table."""
    exact = [e for e in REPORT.suggestions if e.kind == "external table" and e.exact]

    assert exact
    for each in exact:
        assert bd.identify(WORLD.graph, WORLD.query, external=[set(each.variables)])


def test_edges_that_the_log_shows_are_named_in_a_note() -> None:
    assert any("Z -> Y" in note for note in REPORT.notes)


def test_the_rows_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = 0
    group, log = ColumnSource.group, SMALL.log(3_000, seed=1)

    def count(self: ColumnSource, plan: GroupBy) -> Cells:
        nonlocal passes
        passes += self is log.source
        return group(self, plan)

    monkeypatch.setattr(ColumnSource, "group", count)
    bd.suggest(SMALL.graph, SMALL.query, log, worlds=1)
    assert passes == 1


def test_a_time_limit_is_kept_and_said() -> None:
    report = bd.suggest(WORLD.graph, WORLD.query, LOG, time_limit=0.0)

    assert any("time limit" in note for note in report.notes)
    assert {each.kind for each in report.suggestions} <= {"trial"}


def test_an_exact_law_has_suggestions_too() -> None:
    report = bd.suggest(SMALL.graph, SMALL.query, SMALL.exact_log(), confidence=None, worlds=1)
    by = {each.variables: each for each in report.suggestions if each.kind == "external table"}

    assert by["Z",].width == pytest.approx(0, abs=1e-3)
    assert report.width == pytest.approx(report.endless)


def test_numeric_outcomes_have_every_kind_of_suggestion() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.integers(2, size=(2, 2_000))
    rows = {
        "X": x.tolist(),
        "Z": z.tolist(),
        "Y": (x + z * rng.integers(3, size=2_000)).tolist(),
    }
    graph = bd.parse_graph("Z -> X -> Y; Z -> Y; Z -> [S]")
    report = bd.suggest(graph, "Y | do(X)", rows, outcome_range=(0, 3))

    assert {"rows", "trial", "external table"} <= {each.kind for each in report.suggestions}


def test_external_tables_that_are_there_stay() -> None:
    table = bd.read_log({"Z": [0] * 3_000 + [1] * 1_000})
    log = SMALL.log(3_000, seed=1)
    plain, report = (
        bd.suggest(SMALL.graph, SMALL.query, log, external=tables, worlds=1)
        for tables in ([], [table])
    )

    assert report.width < plain.width


@pytest.mark.parametrize("option", ["worlds", "trial"])
def test_counts_below_one_are_refused(option: str) -> None:
    with pytest.raises(InvalidSimulation, match=option):
        bd.suggest(WORLD.graph, WORLD.query, LOG, **{option: 0})  # type: ignore[arg-type]


def test_an_effect_that_is_recoverable_already_has_its_formula() -> None:
    log = SMALL.log(2_000, seed=1)
    report = bd.suggest(SMALL.graph, "Y | do(X), Z", log, worlds=1)

    assert report.formula == str(bd.identify(SMALL.graph, "Y | do(X), Z"))
    assert report.formula in str(report)
    assert not any(each.exact for each in report.suggestions)


def test_rows_without_a_value_are_left_out_and_named() -> None:
    table = SMALL.log(1_000, seed=1).count(["X", "Z", "Y"])
    columns: dict[str, list[object]] = {
        name: list(np.repeat(table.codes[:, i], table.n.astype(int)))
        for i, name in enumerate(table.variables)
    }
    columns["Z"][:5] = [None] * 5
    report = bd.suggest(SMALL.graph, SMALL.query, columns, worlds=1)

    assert "rows without a value were left out, whatever is asked: Z (5)" in report.notes
