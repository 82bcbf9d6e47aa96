from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from boundit.service import kinds
from boundit.service.commands import CreatePolicy
from boundit.service.errors import StoreUnavailable
from boundit.service.kinds import KindCompiler, compile_kind
from boundit.service.store.base import Store
from tests.service.http.served import run_server
from tests.service.kit import decide, make_config, run_engine


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is asked to be compiled, which would take long."""
    found = list[list[str]]()
    monkeypatch.setattr(kinds, "_begun", {})
    monkeypatch.setattr(kinds, "warm_up", lambda *, kinds: found.append(kinds))
    return found


def test_only_kinds_in_use_are_compiled_and_each_once(
    store: Store, compiled: list[list[str]]
) -> None:
    with run_engine(store) as engine:
        for config in (make_config("a", "UCB"), make_config("b", "TS")):
            engine.submit(CreatePolicy(config)).result(60)
        compiler = KindCompiler(store)
        for kind in [*compiler.find_new(), "TS"]:
            compile_kind(kind).result(60)
        assert compiler.find_new() == []

    assert compiled == [["TS"], ["UCB"]]


def test_kinds_of_policies_that_come_later_are_compiled_too(
    store: Store, compiled: list[list[str]]
) -> None:
    compiler = KindCompiler(store, every=0.01)
    compiler.start()
    with run_engine(store) as engine:
        engine.submit(CreatePolicy(make_config("a", "UCB"))).result(60)
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

    monkeypatch.setattr(kinds, "_begun", {})
    monkeypatch.setattr(kinds, "warm_up", write_meanwhile)
    with run_engine(open_store(), make_config()) as engine:
        decide(engine, "a")
    monkeypatch.setattr(kinds, "_begun", {})
    with run_engine(open_store()) as engine:
        assert decide(engine, "a").duplicate

    assert compiled == [["TS"], ["TS"]]


def test_a_kind_that_fails_to_compile_is_tried_again_where_it_is_called(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*, kinds: list[str]) -> None:
        raise RuntimeError(kinds)

    monkeypatch.setattr(kinds, "_begun", {})
    monkeypatch.setattr(kinds, "warm_up", fail)
    with run_engine(store, make_config()) as engine:
        assert decide(engine, "a").id == "a"


def test_while_one_kind_is_compiled_its_policies_alone_are_refused(
    open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a replica that another creates a policy for, and after a restart."""
    begun, go_on = Event(), Event()

    def compile_slowly(*, kinds: list[str]) -> None:
        if kinds == ["UCB"]:
            begun.set()
            assert go_on.wait(60)

    with run_engine(open_store(), make_config(), make_config("new", "UCB")):
        pass
    monkeypatch.setattr(kinds, "_begun", {})
    monkeypatch.setattr(kinds, "warm_up", compile_slowly)
    with run_engine(open_store(), patient=False) as engine, run_server(engine) as served:
        compile_kind("TS").result(60)
        refused = served.post("/v1/policies/new/decide", {"context": {"Age": 0}})
        shown = served.get("/v1/policies/new")
        assert begun.wait(60)
        other = served.post("/v1/policies/ads/decide", {"context": {"Age": 0}})
        metrics = served.get("/metrics").text.decode()
        go_on.set()
        compile_kind("UCB").result(60)
        again = served.post("/v1/policies/new/decide", {"context": {"Age": 0}})

    for one in (refused, shown):
        assert (one.status, one.error["code"]) == (503, "compiling")
        assert int(one.headers["retry-after"]) > 0
    assert (other.status, again.status) == (200, 200)
    assert 'boundit_policy_position{policy="ads"}' in metrics


def test_a_created_policy_is_compiled_when_it_is_answered_and_others_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = Event(), Event()
    compiled = list[str]()

    def compile_slowly(*, kinds: list[str]) -> None:
        if kinds == ["UCB"]:
            begun.set()
            assert go_on.wait(60)
        compiled.extend(kinds)

    monkeypatch.setattr(kinds, "_begun", {})
    monkeypatch.setattr(kinds, "warm_up", compile_slowly)
    with run_engine(store, patient=False) as engine, run_server(engine) as served:
        config = {"arms": ["A", "B"], "reward_range": [0, 1]}
        body = {"name": "ads", "kind": "TS", **config}
        assert served.post("/v1/policies", body).status == 201
        with ThreadPoolExecutor(1) as pool:
            body = {"name": "new", "kind": "UCB", **config}
            creating = pool.submit(served.post, "/v1/policies", body)
            assert begun.wait(60)
            other = served.post("/v1/policies/ads/decide", {})
            waited = not creating.done()
            go_on.set()
            created = creating.result(60)
        first = served.post("/v1/policies/new/decide", {})

    assert (other.status, waited) == (200, True)
    assert (created.status, first.status) == (201, 200)
    assert compiled == ["TS", "UCB"]
