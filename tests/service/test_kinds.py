from threading import Event

import pytest

from boundit.service import kinds
from boundit.service.errors import StoreUnavailable
from boundit.service.kinds import KindCompiler
from boundit.service.store.store import Store
from tests.service.kit import make_config, run_engine


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is asked to be compiled, which would take long."""
    found = list[list[str]]()
    monkeypatch.setattr(kinds, "warm_up", lambda *, kinds: found.append(kinds))
    return found


def test_only_kinds_in_use_are_compiled_and_each_once(
    store: Store, compiled: list[list[str]]
) -> None:
    with run_engine(store, make_config("a", "UCB"), make_config("b", "TS")):
        compiler = KindCompiler(store)
        compiler.compile(compiler.find_new())
        assert compiler.find_new() == []

    assert compiled == [["TS", "UCB"]]


def test_kinds_of_policies_that_come_later_are_compiled_too(
    store: Store, compiled: list[list[str]]
) -> None:
    compiler = KindCompiler(store, every=0.01)
    compiler.start()
    with run_engine(store, make_config("a", "UCB")):
        for _ in range(3000):
            if ["UCB"] in compiled:
                break
            Event().wait(0.01)
        compiler.stop()
        compiler._thread.join(60)

    assert ["UCB"] in compiled


def test_a_store_that_fails_is_asked_again(
    store: Store, compiled: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, asked = KindCompiler(store, every=0.001), list[int]()

    def fail() -> list[str]:
        asked.append(1)
        if len(asked) < 3:
            raise StoreUnavailable("gone")
        compiler.stop()
        return ["UCB"]

    monkeypatch.setattr(compiler, "find_new", fail)
    compiler.start()
    compiler._thread.join(60)
    store.close()

    assert compiled == [["UCB"]]
