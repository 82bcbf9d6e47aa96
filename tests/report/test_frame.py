import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import boundit as bd
from boundit.core.errors import MissingExtra
from boundit.core.frames import FrameKind
from boundit.decisions.sensitivity import Sensitivity
from boundit.report.frame import CannotFrame, UnknownFrame, make_frame

ROWS = [{"Ad": "A", "n": 1, "lower": 0, "p": None}, {"Ad": "B", "n": 2, "lower": 0.5, "p": 0.1}]
TABLE = bd.BoundTable.from_rows(
    [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.2, "upper": 0.6}],
    outcome="Click",
    treatments=["Ad"],
    outcome_range=(0, 1),
)


@pytest.mark.parametrize(
    ("to", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)]
)
def test_a_frame_is_of_the_library_that_was_asked_for(to: FrameKind, kind: type) -> None:
    found = make_frame(ROWS, to)

    assert isinstance(found, kind)
    assert found.shape == (2, 4)  # type: ignore[attr-defined]
    assert isinstance(TABLE.frame(to), kind)
    assert list(TABLE.frame(to)["lower"].to_numpy()) == [0.1, 0.2]


def test_the_default_is_pandas_with_numbers_as_they_are() -> None:
    found = make_frame(ROWS)

    pd.testing.assert_frame_equal(found, pd.DataFrame(ROWS))
    assert found["p"].isna().tolist() == [True, False]
    pd.testing.assert_frame_equal(TABLE.frame(), pd.DataFrame(TABLE.rows()))


def test_without_rows_the_columns_are_there() -> None:
    assert list(make_frame([], "pandas", columns=["X", "lower"]).columns) == ["X", "lower"]
    assert make_frame([], "polars", columns=["X"]).shape == (0, 1)


def test_what_cannot_be_framed_is_one_line() -> None:
    with pytest.raises(
        UnknownFrame, match=r"'dask' is not a kind of data frame\. Write one of pandas"
    ):
        TABLE.frame("dask")  # type: ignore[arg-type]
    with pytest.raises(
        CannotFrame, match=r"polars cannot hold the column 'X' \(.*\). Use rows"
    ):
        make_frame([{"X": 1}, {"X": "a"}], "polars")


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"needs polars\. .* 'boundit\[polars\]'"):
        TABLE.frame("polars")


def test_results_that_have_rows_have_frames() -> None:
    world = bd.simulation.flipped_environment()
    graph, query, log = world.graph, world.query, world.log(1000, seed=1)
    bounds = bd.derive_bounds(graph, query, log)
    regret = bd.simulate(world, {"UCB": bd.UCB(), "TS": bd.TS()}, rounds=9, runs=2)
    curve = Sensitivity("selection", (2.0, 3.0), (bounds, bounds))

    assert bounds.choose().frame("polars").height == len(bounds.contexts)
    assert bd.check(graph, log).frame("polars").height == len(bd.check(graph, log).findings)
    assert bd.compare(bounds, bounds.choose(), bounds.arms[0]).frame("arrow").num_rows == 2
    assert curve.frame("polars")["limit"].unique().to_list() == [2.0, 3.0]
    assert regret.frame("polars", final=True)["policy"].to_list() == ["UCB", "TS"]
    assert len(regret.frame()) == 2 * len(regret.at)
    stress = bd.stress(
        "X -> Y; X -> [S]", "Y | do(X)", {"X": [0, 1] * 50, "Y": [0, 1, 1, 0] * 25}
    )
    assert stress.frame("polars")["edge"].to_list() == [str(each.edge) for each in stress.edges]
