"""Every operation of the document, asked with every role and with every kind of bad key."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from boundit.service.http.app import DECLARED
from boundit.service.http.openapi import OPERATIONS, Operation
from boundit.service.keys import ROLES, add_key, revoke_key
from boundit.service.store.base import Store
from tests.patience import PATIENCE
from tests.service.http.served import Answer, Served, run_server
from tests.service.kit import make_config, make_table, run_engine, save

NEEDED = {
    "decide": {"decide", "decideBatch"},
    "reward": {"recordReward", "recordRewardBatch"},
    "read": {
        "getDecision", "getEffects", "getPropensities", "listPolicies", "getPolicy",
        "getBounds", "listEvents",
        "listDailyCounts", "exportLog", "getHome", "getPolicyPage", "getMetrics",
    },
    "admin": {
        "createPolicy", "replaceBounds", "prune", "updatePolicy", "deletePolicy", "eraseDecision",
    },
    "nobody": {"getHealth", "getReadiness", "getStyle", "getDocument"},
}  # fmt: skip
"""Which role opens what; ``admin`` opens everything."""
BODIES: dict[str, Any] = {
    "decide": {"context": {"Age": 1}},
    "decideBatch": {"decisions": [{"context": {"Age": 1}}]},
    "recordReward": {"id": "known", "observed": {"W": 1}},
    "recordRewardBatch": {"rewards": [{"id": "known", "observed": {"W": 1}}]},
    "createPolicy": {"name": "new", "kind": "UCB", "arms": ["A"]},
    "updatePolicy": {"explore": 0.1},
    "replaceBounds": {"bounds": save(make_table())},
    "prune": {"before": "2001-01-01T00:00:00Z"},
}
assert DECLARED
LAST = ["eraseDecision", "deletePolicy"]
ALL = sorted(OPERATIONS, key=lambda one: LAST.index(one.name) if one.name in LAST else -1)


@pytest.fixture
def served(open_store: Callable[[], Store]) -> Iterator[Served]:
    with (
        run_engine(open_store(), make_config(kind="UCB")) as engine,
        run_server(engine) as found,
    ):
        found.post("/v1/policies/ads/decide", {"id": "known", "context": {"Age": 1}})
        yield found


def _ask(served: Served, operation: Operation, header: str | None) -> Answer:
    path = operation.path.replace("{policy}", "ads").replace("{id}", "known")
    headers = {} if header is None else {"Authorization": header}
    return served.ask(operation.method, path, BODIES.get(operation.name), headers)


def _find_role(operation: Operation) -> str:
    return next(role for role, names in NEEDED.items() if operation.name in names)


def test_the_table_has_every_operation_of_the_document(served: Served) -> None:
    document = served.get("/openapi.json").json["paths"]
    written = [one["operationId"] for methods in document.values() for one in methods.values()]

    assert sorted(written) == sorted(name for names in NEEDED.values() for name in names)
    assert sorted(written) == sorted(operation.name for operation in ALL)


def test_every_role_opens_what_it_should_and_nothing_else(served: Served) -> None:
    keys = {role: add_key(served.engine.store, role, [role]) for role in ROLES}
    _wait_for_keys(served)
    for operation in ALL:
        needed = _find_role(operation)
        for role, key in keys.items():
            answer = _ask(served, operation, f"Bearer {key.secret}")
            told = f"{operation.name} with {role}: {answer.status} {answer.text[:200]!r}"
            if needed in {"nobody", role} or role == "admin":
                assert answer.status in operation.statuses, told
            else:
                assert answer.status == 403, told
                assert answer.error["code"] == "forbidden", told


def test_no_bad_key_opens_anything_that_asks_for_one(served: Served) -> None:
    store = served.engine.store
    good, gone = add_key(store, "good", ["admin"]), add_key(store, "gone", ["admin"])
    revoke_key(store, gone.key.id)
    _wait_for_keys(served)
    before = served.engine.list_events("ads")
    bad = [
        None, "", "Bearer", "Bearer  ", f"Bearer {good.secret}x", f"Bearer {good.secret[:-1]}",
        f"Bearer {gone.secret}", f"Bearer {good.key.id}", good.secret, f"Token {good.secret}",
        "Basic !", "Bearer \xff",
    ]  # fmt: skip
    for operation in ALL:
        for header in bad:
            answer = _ask(served, operation, header)
            told = f"{operation.name} with {header!r}: {answer.status} {answer.text[:200]!r}"
            if operation.open:
                assert answer.status == 200, told
            else:
                assert answer.status == 401, told
                assert answer.error["code"] == "not_authorized", told
                assert "WWW-Authenticate".lower() in answer.headers, told

    assert served.engine.list_events("ads") == before


def test_a_key_is_replaced_without_a_pause(served: Served) -> None:
    """The caller moves over while both are good; the old one then opens nothing."""
    store = served.engine.store
    old = add_key(store, "shop", ["decide"])
    _wait_for_keys(served)
    statuses = [_decide(served, old.secret)]
    new = add_key(store, "shop", ["decide"])
    for _ in _try_patiently():
        if _decide(served, new.secret) == 200:
            break
        statuses.append(_decide(served, old.secret))
    statuses += [_decide(served, old.secret), _decide(served, new.secret)]
    revoke_key(store, old.key.id)
    for _ in _try_patiently():
        if _decide(served, old.secret) == 401:
            break
        statuses.append(_decide(served, new.secret))

    assert set(statuses) == {200}
    assert _decide(served, old.secret) == 401
    assert _decide(served, new.secret) == 200


def _decide(served: Served, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"context": {"Age": 1}}
    return served.ask("POST", "/v1/policies/ads/decide", body, headers).status


def _try_patiently() -> Iterator[None]:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield


def _wait_for_keys(served: Served) -> None:
    """Servers see a new key within two seconds."""
    for _ in _try_patiently():
        if served.get("/v1/policies").status == 401:
            return
    raise AssertionError("the keys were never seen")
