"""The database that tests get is a real one, empty and theirs."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.postgres import PASSWORD, PostgresServer, find_programs, run_server


def test_a_database_is_fresh_and_can_be_written(postgres_url: str) -> None:
    listed = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute(listed).fetchone() == (0,)
        connection.execute("CREATE TABLE log (x int)")
        assert connection.execute(listed).fetchone() == (1,)


def test_every_database_is_new_and_goes_even_while_someone_is_connected(
    postgres_server: PostgresServer,
) -> None:
    with postgres_server.make_database() as one, postgres_server.make_database() as other:
        assert one != other
        connection = psycopg.connect(one)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(one)


def test_the_server_asks_for_its_password(postgres_url: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres_url.replace(PASSWORD, "wrong"))


def test_a_server_stops_and_leaves_nothing_behind() -> None:
    with run_server() as server:
        url = server.write_url("postgres")
        with psycopg.connect(url) as connection:
            answer = connection.execute("SHOW data_directory").fetchone()
    assert answer is not None
    assert not Path(answer[0]).exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_a_server_stops_even_if_the_tests_are_killed() -> None:
    code = """
from tests.postgres import run_server
with run_server() as server:
    print(server.write_url("postgres"), flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as tests:
        assert tests.stdout is not None
        url = tests.stdout.readline().strip()
        psycopg.connect(url).close()
        tests.kill()
    with pytest.raises(psycopg.OperationalError):
        connect_while_it_runs(url)


def connect_while_it_runs(url: str) -> None:
    while True:
        psycopg.connect(url).close()


def test_a_machine_without_postgresql_skips_unless_it_is_ci(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.postgres.find_programs", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no PostgreSQL"), run_server():
        pass
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no PostgreSQL"), run_server():
        pass


def test_programs_are_found_off_the_path() -> None:
    found = find_programs()
    assert found is None or (found / "pg_ctl").exists()
