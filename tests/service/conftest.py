"""Stores for the tests of the service: the same tests on SQLite and on PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boundit.service.store.base import Store
from boundit.service.store.postgres import PostgresStore
from boundit.service.store.sqlite import SqliteStore
from tests.service.kit import SetClock


@pytest.fixture
def clock() -> SetClock:
    """A clock that stands still until a test moves it."""
    return SetClock()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def open_store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock
) -> Iterator[Callable[[], Store]]:
    """Opens the same store as often as it is called, as another process would."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    stores = list[Store]()

    def make() -> Store:
        made = PostgresStore(url, clock=clock) if url else SqliteStore(tmp_path, clock=clock)
        stores.append(made)
        return made

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """A new store."""
    return open_store()
