"""GRAPH QUERY LOG... and the library's flags of a command become what the library takes."""

import io
import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from boundit.bounds.options import DATA, OPTIONS, list_flags
from boundit.cli.options import command, flags
from boundit.cli.outputs import print_json
from boundit.cli.question import (
    Question,
    list_files,
    load_graph,
    load_graphs,
    open_log,
    require_nodes,
    takes_question,
)
from boundit.core.errors import BounditError, EmptyGraph, MalformedText, UnreadableFile
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable
from tests.cli.answer import answer

GRAPH, QUERY = "Town -> Ad -> Click; Town -> Click; Click -> [S]", "Click | do(Ad), Town"


@command()
@takes_question(several=True)
@flags("level", "json")
def told(question: Question, level: float, *, as_json: bool) -> None:
    log = question.log
    assert log is not None
    external = question.options.get("external", [])
    print_json(
        {
            "level": level,
            "as_json": as_json,
            "graph": str(question.graph),
            "query": question.query,
            "files": list_files([log, *external]),
            "weights": [each.weight for each in (log, *external)],
            "exact": [each.exact for each in (log, *external)],
            "adaptive": [each.adaptive for each in (log, *external)],
            "options": {k: v for k, v in question.options.items() if k != "external"},
        }
    )


def run(*arguments: str) -> Result:
    return CliRunner().invoke(told, arguments)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "log.csv").write_text("Town,Ad,Click,n\nA,0,1,5\nB,1,0,2\nA,1,1,3\n")
    (tmp_path / "census.csv").write_text("Town,n\nA,50\nB,20\n")
    (tmp_path / "rows.csv").write_text("Town\nA\nB\n")
    (tmp_path / "g.txt").write_text(GRAPH)
    (tmp_path / "h.txt").write_text("Town -> Ad -> Click; Ad <-> Click")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_option_is_handed_on_as_the_library_takes_it() -> None:
    options = {
        "selection_rate": (0.3, 0.6),
        "selection_limit": 2.5,
        "confounding_limit": {"Ad <-> Click": 1.5},
        "domain": {"Town": ["A", 1, True, "null"]},
        "outcome_range": (-1.0, 2.5),
        "confidence": 0.9,
        "inference": "approximate",
        "models": "linear",
        "cluster": "user",
        "goal": "min",
        "time_limit": 2.0,
        "memory_limit": "2GB",
    }
    assert options.keys() | DATA.keys() | {"external"} == {
        name for name, of in OPTIONS.items() if of.flag
    }
    found = json.loads(run(GRAPH, QUERY, "log.csv", *list_flags(options)).output)

    assert found["options"] == json.loads(json.dumps(options))
    assert (found["query"], found["files"], found["level"]) == (QUERY, ["log.csv"], 0.05)


def test_no_options_are_handed_on_by_default() -> None:
    found = json.loads(run(GRAPH, QUERY, "log.csv").output)

    assert found["options"] == {}
    none = json.loads(run(GRAPH, QUERY, "log.csv", "--confidence", "none").output)
    assert none["options"] == {"confidence": None}


def test_flags_for_data_hold_for_every_file_that_has_the_columns() -> None:
    external = ("--external", "census.csv", "--external", "rows.csv")
    found = json.loads(run(GRAPH, QUERY, "log.csv", "--weight", "n", *external).output)

    assert found["files"] == ["log.csv", "census.csv", "rows.csv"]
    assert found["weights"] == ["n", "n", None]
    exact = json.loads(
        run(GRAPH, QUERY, "log.csv", "--weight", "n", "--exact", *external).output
    )
    assert exact["exact"] == [True, True, False]
    assert exact["options"] == {"confidence": None}
    adaptive = json.loads(run(GRAPH, QUERY, "log.csv", "--adaptive", *external).output)
    assert adaptive["adaptive"] == [True, False, False]


def test_columns_bins_and_missing_values_follow_their_flags(folder: Path) -> None:
    (folder / "ages.csv").write_text("age,n\n17,5\n44,2\n,1\n")
    log = open_log(
        ["ages.csv"],
        {
            "columns": {"Age": "age"},
            "bins": {"Age": [18, 40]},
            "weight": "n",
            "missing": "drop",
        },
    )
    table = log.count(["Age"])

    assert table.levels["Age"] == ("< 18", ">= 40")
    assert table.n.tolist() == [5, 2]
    assert open_log(["ages.csv"], {"missing": "level"}).count(["age"]).levels["age"][-1] is None


def test_several_graphs_are_files_with_commas() -> None:
    assert list(load_graphs("g.txt,h.txt")) == ["g.txt", "h.txt"]
    assert len(load_graphs("g.txt")) == len(load_graphs(GRAPH)) == 1
    assert "h.txt" in json.loads(run("g.txt,h.txt", QUERY, "log.csv").output)["graph"]
    with pytest.raises(UnreadableFile, match=r"g\.txt,none\.txt"):
        load_graphs("g.txt,none.txt")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--columns", "Age"], "'--columns': 'Age' is not of the form NODE=COLUMN"),
        (["--bins", "Age="], "'--bins': 'Age=' is not of the form NODE=EDGE,..."),
        (["--bins", "Age=old"], "'--bins': 'old' is not a number"),
        (["--domain", "=1"], "'--domain': '=1' is not of the form NODE=VALUE,..."),
        (["--columns", "A=a", "--columns", "A=b"], "'--columns': 'A' is given twice"),
        (["--missing", "keep"], "'keep' is not one of 'drop', 'level', 'error'"),
        (["--confounding-limit", "X=much"], "'much' is not a number"),
        (["--selection-rate", "0.3,much"], "'--selection-rate': 'much' is not a number"),
        (["--outcome-range", "1"], "Option '--outcome-range' requires 2 arguments"),
        (["--time-limit", "nan"], "'--time-limit': 'nan' is not a number"),
        (["--level", "nan"], "'--level': 'nan' is not a number"),
        (["--columns", "Twon=Town"], "The graph has no node 'Twon'. Did you mean 'Town'?"),
        (["--external", "none.csv"], "--external: no table at 'none.csv'"),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused_by_its_name(
    arguments: list[str], said: str
) -> None:
    found = run(GRAPH, QUERY, "log.csv", *arguments)

    assert found.exit_code == 2
    assert said in found.output


def test_a_column_of_the_cluster_may_be_renamed() -> None:
    graph, other = parse("Age -> Ad -> Click; Age -> [Kept]"), parse("Town -> Ad -> Click")
    columns = {"Age": "age", "user": "id", "Town": "t"}

    require_nodes(columns, [graph, other], cluster="user")
    require_nodes({"Warehouse": "Kept"}, [graph])
    for given in ([graph], [graph, other]):
        with pytest.raises(click.UsageError, match="The graph has no node"):
            require_nodes(columns, given)


def test_a_graph_comes_from_text_or_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("digraph { X -> Y }"))
    assert load_graph("-") == load_graph("X -> Y") == parse("X -> Y")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"X\xff"), encoding="utf-8"))
    with pytest.raises(UnreadableFile, match="byte 1 is not UTF-8 text"):
        load_graph("-")


def test_text_that_is_not_a_graph_is_not_taken_for_a_file() -> None:
    for text in ("A => B", "A B", "graph { A -- B }"):
        with pytest.raises(MalformedText):
            load_graph(text)
    with pytest.raises(EmptyGraph):
        load_graph("")
    with pytest.raises(UnreadableFile, match="there is no such file"):
        load_graph("graph.dot")
    with pytest.raises(click.UsageError, match=r"census\.csv: line "):
        load_graph("census.csv")
    long = "; ".join(f"A{i} -> B{i}" for i in range(999))
    assert load_graph(long) == parse(long)


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "mysql", "SQLite"])
def test_the_address_of_a_database_says_what_works_instead(scheme: str) -> None:
    with pytest.raises(BounditError) as caught:
        open_log([f"{scheme}://me:secret@host/shop"], {})

    assert str(caught.value) == (
        f"cannot read '{scheme}://me:***@host/shop': it is a database; pass an Ibis table in "
        "Python, or write the counts of a GROUP BY to a CSV file and name their column as the "
        "weight"
    )


TABLE = BoundTable.from_rows(
    [
        {"X": x, "Z": z, "U": "young", "lower": 0.1, "upper": 0.3}
        for x in ("a", "b")
        for z in (0, 1)
    ],
    outcome="Y",
    treatments=["X", "Z"],
    context=["U"],
    outcome_range=(0, 1),
)


def test_saved_bounds_take_no_flags_about_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "bound", "g.txt", QUERY, "log.csv", "--out", "b.json")[0] == 0
    assert answer(capsys, "effect", "b.json", "--goal", "min")[0] == 0
    for flag in (("--weight", "n"), ("--confidence", "0.9"), ("--time-limit", "3")):
        code, out, err = answer(capsys, "effect", "b.json", *flag)
        assert (code, out) == (2, "")
        assert err == (
            f"error: {flag[0]} is about a log, and 'b.json' is saved bounds. Give GRAPH QUERY "
            "LOG instead.\n"
        )
    code, _, err = answer(capsys, "effect", "g.txt", QUERY)
    assert (code, err) == (2, "error: Give GRAPH QUERY LOG, or saved BOUNDS.json alone.\n")
