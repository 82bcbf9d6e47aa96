import time
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from boundit.service.errors import StoreUnavailable
from boundit.service.store.base import Transaction
from boundit.service.store.postgres import PostgresStore
from tests.service.kit import decide, make_config, reward, run_engine


def _kill_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'boundit' AND datname = current_database()"
        )


def _add_and_kill(transaction: Transaction, url: str) -> None:
    transaction.add_policy("b", "TS", "{}", None)
    _kill_connections(url)


def _add_and_fail(transaction: Transaction) -> None:
    transaction.add_policy("b", "TS", "{}", None)
    with suppress(psycopg.Error):
        transaction.connection.execute("SELECT 1 / 0").fetchone()


def test_a_lost_connection_is_an_error_and_then_made_anew(postgres_url: str) -> None:
    with run_engine(PostgresStore(postgres_url), make_config()) as engine:
        decide(engine, "a")
        _kill_connections(postgres_url)
        with pytest.raises(StoreUnavailable) as caught:
            decide(engine, "b")
        assert "127.0.0.1" not in str(caught.value)
        assert not decide(engine, "b").duplicate
        assert decide(engine, "a").duplicate
        assert len(engine.list_events("ads")) == 3
        _kill_connections(postgres_url)
        assert len(engine.list_events("ads")) == 3  # readers are looked at before they are lent


def test_a_connection_lost_within_a_transaction_leaves_nothing(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        with pytest.raises(StoreUnavailable), store.write() as transaction:
            _add_and_kill(transaction, postgres_url)
        assert reward(engine, "a", 1.0).status == "learned"
        assert [one.name for one in engine.list_policies()] == ["ads"]
        assert engine.replay("ads", decisions=True).differences == []


def test_a_transaction_that_the_database_undoes_is_no_commit(postgres_url: str) -> None:
    """PostgreSQL answers COMMIT with ROLLBACK, and no error, once a statement has failed."""
    store = PostgresStore(postgres_url)
    with pytest.raises(StoreUnavailable, match=r"undid|failed"), store.write() as transaction:
        _add_and_fail(transaction)
    with store.read() as transaction:
        assert transaction.list_heads() == []
    store.close()


def test_moments_are_those_of_the_database(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    with store.read() as transaction:
        assert abs(transaction.now / 1e6 - time.time()) < 60
    store.close()


def test_a_replica_that_stands_still_does_not_block_others(postgres_url: str) -> None:
    one, other = PostgresStore(postgres_url), PostgresStore(postgres_url)
    with run_engine(one, make_config()) as engine:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("SET search_path = boundit")
            connection.execute("BEGIN")
            connection.execute("SELECT * FROM policies FOR UPDATE")
            with pytest.raises(StoreUnavailable):
                decide(engine, "a")
            connection.execute("ROLLBACK")
        assert not decide(engine, "a").duplicate
        found = other._writer
        assert found is not None
        row = found.execute("SHOW idle_in_transaction_session_timeout").fetchone()
        assert row == ("10s",)
        with other.read() as transaction:  # which locks nothing, and may take its time
            row = transaction._run("SHOW idle_in_transaction_session_timeout").fetchone()
        assert row == ("10min",)
    other.close()


def test_a_database_that_cannot_be_reached_is_said_without_its_address() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        PostgresStore("postgresql://nobody:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_a_group_sends_few_statements(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four that are answered together, then all that it writes, and the commit."""
    store, sent = PostgresStore(postgres_url), list[str]()
    with run_engine(store, make_config()) as engine:
        decide(engine, "a")
        connection = store._writer
        assert connection is not None
        execute = connection.execute

        def note(query: Any, *values: Any) -> Any:
            sent.append(query if isinstance(query, str) else query.decode())
            return execute(query, *values)

        monkeypatch.setattr(connection, "execute", note)
        assert not decide(engine, "b").duplicate
        assert reward(engine, "b", 1.0).status == "learned"
        words = [query.split()[0] for query in sent]
        begun = ["BEGIN", "SELECT", "SELECT", "SELECT"]
        decided = [*begun, "INSERT", "INSERT", "INSERT", "UPDATE", "COMMIT"]
        assert words == [*decided, *begun, "INSERT", "UPDATE", "INSERT", "UPDATE", "COMMIT"]
        assert decide(engine, "b").duplicate
        assert engine.replay("ads", decisions=True).differences == []
