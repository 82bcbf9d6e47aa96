"""The files of a log, and the options by which they and external tables are read."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from boundit.cli.logs import LogFiles, log_argument, node_option, read_levels
from boundit.core.errors import BounditError
from boundit.graph.text import parse


@click.command()
@log_argument
@node_option("--domain", metavar="NODE=LEVEL,...", read=read_levels, help="Levels.")
@click.pass_context
def told(context: click.Context, log: LogFiles, domain: dict[str, list[object]]) -> None:
    assert context.command.name == "told"
    click.echo(f"{log} {domain}")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(told, arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.csv").write_text("age,n\n17,5\n44,2\n")
    (tmp_path / "census.csv").write_text("age,n\n17,50\n70,20\n")
    (tmp_path / "rows.csv").write_text("Age,Town\n< 18,A\n>= 40,B\n")
    (tmp_path / "shares.csv").write_text("Town,share\nA,3\nB,1\n")
    return tmp_path


def test_options_are_those_of_read_log(folder: Path) -> None:
    rows = LogFiles((str(folder / "log.csv"),), "n", {"Age": "age"}, {"Age": [18, 40]})
    opened = rows.open()
    table = opened.log.count(["Age"])

    assert table.levels["Age"] == ("< 18", ">= 40")
    assert table.n.tolist() == [5, 2]
    assert opened.files == [str(folder / "log.csv")]


def test_that_a_policy_learned_is_said_of_the_log_alone(folder: Path) -> None:
    rows = LogFiles((str(folder / "log.csv"),), "n", adaptive=True)
    opened = rows.open([str(folder / "census.csv")])

    assert opened.log.adaptive
    assert opened.log.count(["age"]).adaptive
    assert not opened.external[0].adaptive


def test_a_renamed_column_is_of_a_node_or_of_the_clusters() -> None:
    graph, rival = parse("Age -> Ad -> Click; Age -> [Kept]"), parse("Town -> Ad -> Click")
    rows = LogFiles(("log.csv",), columns={"Age": "age", "user": "id", "Town": "t"})
    wrong = LogFiles(("log.csv",), columns={"Agee": "Age"})
    other = LogFiles(("log.csv",), columns={"Warehouse": "Kept"})

    rows.require_nodes(graph, rival, cluster="user")
    other.require_nodes(graph)
    for files, given in ((rows, (graph,)), (rows, (graph, rival)), (wrong, (graph, rival))):
        with pytest.raises(click.UsageError, match="the graph has no node"):
            files.require_nodes(*given)


def test_external_tables_are_read_alike_where_they_have_the_columns(folder: Path) -> None:
    rows = LogFiles((str(folder / "log.csv"),), "n", {"Age": "age"}, {"Age": [18, 40]})
    tables = [str(folder / name) for name in ("census.csv", "rows.csv", "shares.csv")]
    opened = rows.open(tables, "share")
    census, others, shares = opened.external

    assert opened.files == [str(folder / "log.csv"), *tables]
    assert census.count(["Age"]).n.tolist() == [50, 20]
    assert census.count(["Age"]).levels["Age"] == ("< 18", ">= 40")
    assert (others.weight, others.count(["Age"]).n.tolist()) == (None, [1, 1])
    assert shares.count(["Town"]).n.tolist() == [3, 1]


def test_the_weight_of_external_tables_goes_before_that_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("X,n,m\n0,1,7\n1,2,9\n")
    rows = LogFiles((str(path),), "n")

    assert rows.open([str(path)]).external[0].weight == "n"
    assert rows.open([str(path)], "m").external[0].weight == "m"


def test_an_exact_law_makes_weighted_external_tables_exact(tmp_path: Path) -> None:
    (tmp_path / "law.csv").write_text("X,p\n0,0.25\n1,0.75\n")
    (tmp_path / "rows.csv").write_text("X\n0\n1\n")
    rows = LogFiles((str(tmp_path / "law.csv"),), "p", exact=True)

    files = [str(tmp_path / name) for name in ("law.csv", "rows.csv")]
    law, plain = rows.open(files).external
    assert (law.exact, plain.exact) == (True, False)


def test_a_weight_that_no_external_table_has_is_refused(folder: Path) -> None:
    rows = LogFiles((str(folder / "log.csv"),))

    with pytest.raises(click.UsageError, match="no --external table has a column 'm'"):
        rows.open([str(folder / "rows.csv")], "m")
    with pytest.raises(click.UsageError, match="no --external table is given"):
        rows.open([], "m")


def test_nulls_follow_their_rule(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("X,Y\n0,1\n,1\n")
    files = (str(tmp_path / "log.csv"),)

    assert LogFiles(files).open().log.count(["X"]).rows == 1
    assert LogFiles(files, missing="level").open().log.count(["X"]).levels["X"] == (0, None)
    with pytest.raises(BounditError, match="'X' is null"):
        LogFiles(files, missing="error").open().log.count(["X"])


def test_options_are_read_from_the_command_line() -> None:
    answer = run(
        *("a.csv", "b.csv", "--weight", "n", "--exact", "--columns", "Age=age of user"),
        *("--bins", "Age=18, 40.5", "--missing", "level", "--domain", "A=1,x,true,null,NaN"),
        "--adaptive",
    )

    rows = LogFiles(
        ("a.csv", "b.csv"),
        "n",
        {"Age": "age of user"},
        {"Age": [18.0, 40.5]},
        "level",
        exact=True,
        adaptive=True,
    )
    assert answer.output == f"{rows} { ({'A': [1, 'x', True, 'null', 'NaN']}) }\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--columns", "Age"], "'--columns': 'Age' is not of the form NODE=COLUMN"),
        (["--bins", "Age="], "'--bins': 'Age=' is not of the form NODE=EDGE,..."),
        (["--bins", "Age=old"], "'--bins': the edge 'old' is no number; of a date, log its"),
        (["--domain", "=1"], "'--domain': '=1' is not of the form NODE=LEVEL,..."),
        (["--columns", "A=a", "--columns", "A=b"], "'--columns': 'A' is given twice"),
        (["--missing", "keep"], "'keep' is not one of 'drop', 'level', 'error'"),
    ],
)
def test_what_is_no_option_is_refused_by_its_flag(arguments: list[str], said: str) -> None:
    answer = run("log.csv", *arguments)

    assert answer.exit_code == 2
    assert said in answer.output


def test_the_log_is_required() -> None:
    assert "Missing argument 'LOG...'" in run().output


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "mysql", "SQLite"])
def test_the_address_of_a_database_says_what_works_instead(scheme: str) -> None:
    address = f"{scheme}://me:secret@host/shop"
    with pytest.raises(BounditError) as caught:
        LogFiles((address,)).open()

    assert str(caught.value) == (
        f"cannot read '{scheme}://me:***@host/shop': it is a database; pass an Ibis table in "
        "Python, or write the counts of a GROUP BY to a CSV file and name their column as the "
        "weight"
    )
