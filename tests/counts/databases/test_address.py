"""URLs of databases: what they lead to, and passwords that nobody sees."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from boundit.counts.databases.address import ConnectionUrl
from boundit.counts.errors import NoDatabase
from boundit.counts.read import read_log
from boundit.terms.errors import MissingExtra
from tests.postgres import PASSWORD


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "mysql://me:secret@host/db",
            "it begins with none of sqlite://, postgresql://, duckdb",
        ),
        ("log.db", "no database at 'log.db': it begins with none of"),
        ("sqlite:///nowhere.db", "there is no file 'nowhere.db'"),
        ("duckdb:////nowhere/a.db", "there is no file '/nowhere/a.db'"),
        ("postgresql://me:secr@t/ed@host/db", "in its password write %40 for @"),
        ("postgresql://me:se/cret@host/db", "in its password write %40 for @ and %2F for /"),
        ("postgresql://me:secret@127.0.0.1:1/db", "Connection refused"),
        ("postgresql://me:secret@127.0.0.1:port/db", "no database at"),
        ("postgresql://127.0.0.1:1/db?password=secret", "no database at"),
        ("postgresql://me:secret@127.0.0.1:1/db?nonsense=secret", "no database at"),
    ],
)
def test_an_address_that_will_not_do_is_refused_without_its_password(
    url: str, said: str
) -> None:
    with pytest.raises(NoDatabase) as caught:
        read_log("log", connection=url)
    assert said in str(caught.value)
    assert "secr" not in str(caught.value).replace("nonsense=secret", "")
    assert "\n" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.option == "connection"


def test_a_wrong_password_is_not_repeated(postgres_url: str) -> None:
    wrong = postgres_url.replace(PASSWORD, "wrong%40word")
    with pytest.raises(NoDatabase, match="password authentication failed") as caught:
        read_log("log", connection=wrong)
    assert "wrong" not in str(caught.value)
    assert "***@127.0.0.1" in str(caught.value)
    assert PASSWORD not in repr(ConnectionUrl(postgres_url))
    log = read_log("select 1 as x", connection=postgres_url)
    assert PASSWORD not in f"{log!r} {log.source!r}"


@pytest.mark.parametrize("name", ["a.db", "größe & co.db", "a%b?.db"])
def test_files_are_opened_for_reading_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect(name)) as connection:
        connection.execute("CREATE TABLE log AS SELECT 1 AS X")
        connection.commit()
    spelled = name.replace("%", "%25").replace("?", "%3F")
    for url in (f"sqlite:///{spelled}", f"sqlite:///{tmp_path}/{spelled}"):
        assert ConnectionUrl(url).file == Path(url.removeprefix("sqlite:///")).parent / name
        assert read_log("log", connection=url).count(["X"]).rows == 1
        with (
            ConnectionUrl(url).open() as opened,
            pytest.raises(sqlite3.OperationalError, match="readonly"),
        ):
            opened.raw.execute("DELETE FROM log")


def test_a_duckdb_file_is_read_and_let_go(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE log AS SELECT 1 AS X")
    log = read_log("log", connection=f"duckdb:///{path}")
    assert log.count(["X"]).rows == 1
    del log
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("INSERT INTO log VALUES (2)")


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("X,Y\n1,2\n" * 99)
    for scheme in ("sqlite", "duckdb"):
        with pytest.raises(Exception, match="cannot read") as caught:
            read_log("log", connection=f"{scheme}:///{tmp_path / 'a.db'}")
        assert "\n" not in str(caught.value)


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(MissingExtra, match=r"needs psycopg; .* 'boundit\[postgres\]'"):
        read_log("log", connection="postgresql://127.0.0.1:1/db")
