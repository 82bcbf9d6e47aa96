from collections.abc import Callable
from threading import Event

import pytest

from boundit.service import kinds
from boundit.service.errors import FailedCommand, StoreUnavailable
from boundit.service.kinds import KindCompiler, compile_kinds
from boundit.service.store.store import Store
from tests.service.kit import decide, make_config, run_engine


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is asked to be compiled, which would take long."""
    found = list[list[str]]()
    monkeypatch.setattr(kinds, "_compiled", set())
    monkeypatch.setattr(kinds, "warm_up", lambda *, kinds: found.append(kinds))
    return found


def test_only_kinds_in_use_are_compiled_and_each_once(
    store: Store, compiled: list[list[str]]
) -> None:
    with run_engine(store, make_config("a", "UCB"), make_config("b", "TS")):
        compiler = KindCompiler(store)
        compile_kinds(compiler.find_new())
        compile_kinds(["TS"])
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


def test_what_a_visitor_needs_is_compiled_while_others_can_write(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a transaction others would wait, and PostgreSQL would end it as idle."""
    other, compiled = open_store(), list[list[str]]()

    def write_meanwhile(*, kinds: list[str]) -> None:
        with other.write() as transaction:
            transaction.touch()
        compiled.append(kinds)

    monkeypatch.setattr(kinds, "_compiled", set())
    monkeypatch.setattr(kinds, "warm_up", write_meanwhile)
    with run_engine(open_store(), make_config()) as engine:
        decide(engine, "a")
    with run_engine(open_store()) as engine:
        assert decide(engine, "a").repeated
        monkeypatch.setattr(kinds, "_compiled", set())
        decide(engine, "b")

    assert compiled == [["TS"], ["TS"]]


def test_a_kind_that_fails_to_compile_fails_one_group_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*, kinds: list[str]) -> None:
        raise RuntimeError(kinds)

    monkeypatch.setattr(kinds, "_compiled", set())
    monkeypatch.setattr(kinds, "warm_up", fail)
    with run_engine(store, make_config()) as engine:
        with pytest.raises(FailedCommand):
            decide(engine, "a")
        assert decide(engine, "a").id == "a"
