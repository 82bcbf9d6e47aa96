"""Every command that reads a log reads it from a database too, with the same answer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pytest

import boundit as bd
from tests.cli.test_bound import answer
from tests.postgres import PASSWORD

GRAPH, QUERY = "C -> X -> Y; C -> Y", "Y | do(X), C"
COMMANDS = {
    "bound": ("bound", GRAPH, QUERY, "LOG", "--json"),
    "check": ("check", GRAPH, "LOG", "--json"),
    "decide": ("decide", GRAPH, QUERY, "LOG", "--json"),
    "stress": ("stress", GRAPH, QUERY, "LOG", "--json"),
    "suggest": ("suggest", GRAPH, QUERY, "LOG", "--json"),
    "breakdown": (
        *("breakdown", f"{GRAPH}; X <-> Y", QUERY, "LOG", "--json"),
        *("--of", "X <-> Y", "--arm", "1", "--in", "1"),
    ),
    "compare": ("compare", "bounds.json", "1", "log", "--graph", GRAPH, "--log", "LOG"),
    "simulate": (
        *("simulate", "--graph", GRAPH, "--query", QUERY, "--worlds", "1", "--runs", "2"),
        *("--rounds", "20", "--policies", "UCB", "--log", "LOG"),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log as a file, in SQLite and in DuckDB, and its bounds."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    c = rng.integers(2, size=600)
    x = (rng.random(600) < 0.3 + 0.4 * c).astype(int)
    y = (rng.random(600) < 0.2 + 0.5 * x + 0.1 * c).astype(int)
    rows = [tuple(map(int, row)) for row in zip(c, x, y, strict=True)]
    Path("log.csv").write_text("\n".join(["C,X,Y", *(",".join(map(str, r)) for r in rows)]))
    for connection in (sqlite3.connect("log.sqlite"), duckdb.connect("log.duckdb")):
        with closing(connection):
            connection.execute('CREATE TABLE log ("C" int, "X" int, "Y" int)')
            connection.executemany("INSERT INTO log VALUES (?, ?, ?)", rows)
            connection.commit()
    bd.derive_bounds(bd.parse_graph(GRAPH), QUERY, "log.csv").save("bounds.json")
    return tmp_path


@pytest.fixture
def postgres(folder: Path, postgres_url: str) -> str:
    with psycopg.connect(postgres_url) as connection:
        connection.execute('CREATE TABLE log ("C" int, "X" int, "Y" int)')
        lines = (folder / "log.csv").read_text().partition("\n")[2]
        with connection.cursor().copy("COPY log FROM STDIN (FORMAT csv)") as copy:
            copy.write(lines)
    return postgres_url


def ask(capsys: pytest.CaptureFixture[str], name: str, *place: str) -> tuple[int, str]:
    """Ask a command of a log that is at some place."""
    flag = "--log" if "--log" in COMMANDS[name] else None
    given = [part for part in COMMANDS[name] if part not in {"LOG", flag}]
    flags = [flag] if flag and len(place) == 1 else []
    at = given.index("--json") if flag is None else len(given)
    code, out, err = answer(capsys, *given[:at], *flags, *place, *given[at:])
    assert "error" not in err
    return code, out


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_a_query_answers_as_the_file_does(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = ask(capsys, name, "log.csv")
    found = ask(
        capsys, name, "--sql", "select * from log", "--connection", "sqlite:///log.sqlite"
    )

    assert expected[1]
    assert found[0] == expected[0]
    assert found[1].replace("the query to SQLite", "'log.csv'") == expected[1]


@pytest.mark.parametrize("scheme", ["postgresql", "duckdb"])
def test_other_databases_answer_alike(
    scheme: str, capsys: pytest.CaptureFixture[str], postgres: str
) -> None:
    url = postgres if scheme == "postgresql" else "duckdb:///log.duckdb"

    assert ask(capsys, "bound", "--sql", "log", "--connection", url) == ask(
        capsys, "bound", "log.csv"
    )


def test_a_password_is_in_no_report_and_no_error(
    capsys: pytest.CaptureFixture[str], postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["bound", GRAPH, QUERY, "--sql", "log", "--connection", postgres]
    asked += ["--report", "out.html"]
    monkeypatch.setattr("sys.argv", ["boundit", *asked])
    code, out, err = answer(capsys, *asked)
    page = Path("out.html").read_text()

    assert code == 0
    assert "boundit:***@127.0.0.1" in page
    assert PASSWORD not in page + out + err
    for wrong in (["--sql", "nope"], ["--weight", "nope"], ["--columns", "X=nope"]):
        code, out, err = answer(capsys, *asked[:-2], *wrong)
        assert code == 2
        assert "nope" in err
        assert PASSWORD not in out + err
    for misplaced in ([GRAPH, QUERY, postgres], [postgres, QUERY, "log.csv"]):
        code, out, err = answer(capsys, "bound", *misplaced)
        assert code == 2
        assert PASSWORD not in out + err


@pytest.mark.usefixtures("folder")
def test_no_output_goes_over_the_database(capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.sqlite").rename("log.json")
    flags = ("--sql", "log", "--connection", "sqlite:///log.json", "--out", "log.json")
    code, _, err = answer(capsys, "bound", GRAPH, QUERY, *flags)

    assert code == 2
    assert "--out would write over 'log.json', which this command reads" in err
