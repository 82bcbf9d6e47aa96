"""The contract over HTTP: idempotent, strict, one clear line for what is refused."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from boundit.service.engine import Engine
from boundit.service.http.access import Limits
from boundit.service.store.sqlite import SqliteStore
from tests.patience import PATIENCE
from tests.service.http.served import Served, run_server
from tests.service.kit import SetClock, make_config, make_table, run_engine, save


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with (
        run_engine(SqliteStore(tmp_path), make_config(explore=0.1)) as engine,
        run_server(engine, Limits(batch=50, body=200_000)) as found,
    ):
        yield found


def test_a_decision_comes_back_under_its_id_even_after_learning(served: Served) -> None:
    first = served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
    told = served.post("/v1/policies/ads/reward", {"id": "a", "reward": 1})
    again = served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})

    assert (first.status, told.status, again.status) == (200, 200, 200)
    assert told.json["status"] == "learned"
    assert {**again.json, "duplicate": False} == first.json
    assert again.json["duplicate"]
    chances = [one["propensity"] for one in first.json["propensities"]]
    assert abs(sum(chances) - 1) < 1e-6
    assert min(chances) >= 0.1 / 3


def test_another_payload_under_an_id_is_a_conflict(served: Served) -> None:
    served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
    other = served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 2}})

    assert (other.status, other.error["code"], other.error["row"]) == (409, "id_taken", None)


def test_rewards_repeat_differ_and_miss(served: Served) -> None:
    served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
    path = "/v1/policies/ads/reward"

    assert served.post(path, {"id": "a", "reward": 1}).json["status"] == "learned"
    assert served.post(path, {"id": "a", "reward": 1.0}).json["status"] == "duplicate"
    assert served.post(path, {"id": "a", "reward": 0}).status == 409
    assert served.post(path, {"id": "b", "reward": 0}).status == 404
    assert served.post("/v1/policies/none/reward", {"id": "a", "reward": 0}).status == 404


def test_a_batch_is_done_whole_or_not_at_all_and_names_the_row(served: Served) -> None:
    rows = [{"id": f"v{i}", "context": {"Age": i % 3}} for i in range(5)]
    bad = [*rows, {"id": "bad", "context": {"Age": 99}}]
    refused = served.post("/v1/policies/ads/decide/batch", {"decisions": bad})
    missing = served.get("/v1/policies/ads/decisions/v0")
    done = served.post("/v1/policies/ads/decide/batch", {"decisions": rows})
    told = [{"id": f"v{i}", "reward": 1} for i in range(5)]

    assert (refused.status, refused.error["row"], missing.status) == (422, 5, 404)
    assert [one["id"] for one in done.json["decisions"]] == [f"v{i}" for i in range(5)]
    answer = served.post("/v1/policies/ads/reward/batch", {"rewards": told})
    assert {one["status"] for one in answer.json["rewards"]} == {"learned"}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed"),
        (b"{", 400, "malformed"),
        (b'{"context": NaN}', 400, "malformed"),
        (b'{"contxt": {"Age": 1}}', 400, "unknown_field"),
        (b'{"context": {"Age": [1]}}', 400, "wrong_type"),
        (b'{"id": 7}', 400, "wrong_type"),
        (b"[" * 5_000, 400, None),
        (b"[" * 100_000, 413, "body_too_large"),
        (b'{"context": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}", None, None),
        (b'{"id": "' + b"x" * 300_000 + b'"}', 413, "body_too_large"),
        (b'{"id": "\xff"}', 400, None),
        (b'{"context": {"Age": 1e999}}', None, None),
        (b'{"context": {"Age": 17}}', 422, None),
        (b'{"context": {"Age": 1}, "arms": []}', None, None),
        (b'{"context": {"Age": 1}, "id": ""}', None, None),
    ],
)
def test_bad_bodies_get_one_line_and_change_nothing(
    served: Served, body: bytes, status: int | None, code: str | None
) -> None:
    before = served.get("/v1/policies/ads").json["position"]
    answer = served.post("/v1/policies/ads/decide", body)

    assert 400 <= answer.status < 500
    assert answer.status == (status or answer.status)
    assert answer.error["code"] == (code or answer.error["code"])
    assert "\n" not in answer.error["message"]
    assert "Traceback" not in answer.text.decode()
    assert served.get("/v1/policies/ads").json["position"] == before


def test_what_is_not_there_or_not_json_is_refused(served: Served) -> None:
    decide = "/v1/policies/ads/decide"
    plain = served.ask("POST", decide, b"{}", {"Content-Type": "text/plain"})
    wrong = served.get(decide)
    empty = served.post("/v1/policies/ads/decide/batch", {"decisions": []})
    large = served.post("/v1/policies/ads/decide/batch", {"decisions": [{}] * 51})

    assert plain.status == 415
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert (empty.status, large.status) == (400, 413)
    assert served.get("/nothing").error["code"] == "not_found"
    assert served.get("/v1/policies/ads/events?limit=x").status == 400
    assert served.ask("PUT", "/v1/policies").headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("path", ["/v1/policies/", "/healthz/", "/policies/ads/"])
def test_a_path_with_one_slash_too_many_is_not_there(served: Served, path: str) -> None:
    answer = served.get(path, Host="evil.example")

    assert (answer.status, answer.error["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "field"), [("limt=5", "?"), ("after=1&after=0", "?after"), ("=", "?")]
)
def test_a_query_that_nobody_documented_is_refused(
    served: Served, query: str, field: str
) -> None:
    answer = served.get(f"/v1/policies/ads/events?{query}")

    assert (answer.status, answer.error["field"]) == (400, field)
    assert served.get("/healthz?probe=1").status == 200


def test_the_host_of_another_site_is_refused(served: Served) -> None:
    rebound = served.get("/v1/policies", Host="evil.example")
    foreign = served.ask("GET", "/v1/policies", None, {"Sec-Fetch-Site": "cross-site"})

    assert (rebound.status, foreign.status) == (403, 403)
    assert served.get("/v1/policies", Host=f"localhost:{served.port}").status == 200


def test_a_policy_is_created_refreshed_and_shown(served: Served) -> None:
    config = {"name": "new", "kind": "UCB", "bounds": save(make_table()), "seed": 1}
    made = served.post("/v1/policies", config)
    again = served.post("/v1/policies", config)
    other = served.post("/v1/policies", {**config, "seed": 2})
    fresh = served.ask("PUT", "/v1/policies/new/bounds", {"bounds": save(make_table(top=0.8))})
    broken = served.ask("PUT", "/v1/policies/new/bounds", {"bounds": {"format": "no"}})

    assert (made.status, again.status, other.status, broken.status) == (201, 201, 409, 422)
    assert fresh.json["bounds_version"] == 2
    assert [one["name"] for one in served.get("/v1/policies").json["policies"]] == [
        "ads",
        "new",
    ]
    assert served.get("/v1/policies/new/bounds").json["format"] == "boundit bounds"


def test_the_table_of_chances_has_a_tag_that_changes_with_learning(served: Served) -> None:
    first = served.get("/v1/policies/ads/propensities")
    same = served.ask(
        "GET", "/v1/policies/ads/propensities", None, {"If-None-Match": first.headers["etag"]}
    )
    served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
    served.post("/v1/policies/ads/reward", {"id": "a", "reward": 1})
    later = served.ask(
        "GET", "/v1/policies/ads/propensities", None, {"If-None-Match": first.headers["etag"]}
    )

    every = served.ask("GET", "/v1/policies/ads/propensities", None, {"If-None-Match": "*"})

    assert (same.status, same.text, later.status) == (304, b"", 200)
    assert every.status == 304
    assert len(first.json["rows"]) == 3


def test_events_come_in_order_a_page_at_a_time(served: Served) -> None:
    rows = [{"context": {"Age": i % 3}} for i in range(20)]
    served.post("/v1/policies/ads/decide/batch", {"decisions": rows})
    first = served.get("/v1/policies/ads/events?limit=8").json
    rest = served.get(f"/v1/policies/ads/events?limit=100&after={first['next']}").json

    assert [e["position"] for e in [*first["events"], *rest["events"]]] == list(range(1, 22))
    assert (first["next"], rest["next"]) == (8, None)


def test_ids_may_hold_anything_that_a_path_can(served: Served) -> None:
    odd = "order/7?x=1&ü #2"
    served.post("/v1/policies/ads/decide", {"id": odd, "context": {"Age": 0}})
    found = served.get("/v1/policies/ads/decisions/order%2F7%3Fx%3D1%26%C3%BC%20%232")

    assert (found.status, found.json["decision"]["id"]) == (200, odd)


def test_many_callers_at_once_get_what_one_caller_would(served: Served) -> None:
    answers = dict[str, int]()

    def call(worker: int) -> None:
        for i in range(10):
            body = {"id": f"{worker}-{i}", "context": {"Age": i % 3}}
            first = served.post("/v1/policies/ads/decide", body)
            again = served.post("/v1/policies/ads/decide", body)
            assert first.json["arm"] == again.json["arm"]
            answers[f"{worker}-{i}"] = first.json["position"]

    threads = [threading.Thread(target=call, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers.values()) == list(range(2, 82))


def test_a_connection_that_is_cut_in_a_body_changes_nothing(served: Served) -> None:
    before = served.get("/v1/policies/ads").json["position"]
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(
            b"POST /v1/policies/ads/decide HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n" + b'{"id": "cut"'
        )

    assert served.get("/v1/policies/ads").json["position"] == before


def test_an_engine_that_stopped_says_when_to_try_again(tmp_path: Path) -> None:
    engine = Engine(SqliteStore(tmp_path))
    engine.start()
    with run_server(engine) as served:
        engine.stop()
        answer = served.post("/v1/policies/ads/decide", {})

    assert answer.status == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert json.loads(answer.text)["error"]["code"] == "stopped"


@pytest.mark.parametrize(
    ("path", "body", "status", "row"),
    [
        ("decide", {"id": "x" * 10_000}, 422, None),
        ("decide", {"id": "a\x00b", "context": {"Age": 1}}, 422, None),
        ("decide", {"context": {"Age": 10**4000}}, 422, None),
        ("decide", {"context": {"Age": 1}, "arms": []}, 422, None),
        ("decide", {"context": {"Age": 1}, "played": "Z"}, 422, None),
        ("decide", {"context": {"Age": 1}, "played": "A", "propensity": 2}, 422, None),
        ("decide", {"context": {"Age": 1}, "propensity": 0.5}, 422, None),
        ("reward", {"id": "a", "reward": 2}, 422, None),
        ("reward", {"id": "a", "reward": 10**400}, 400, None),
        ("reward", {"id": "a", "reward": True}, 400, None),
        ("reward", {"id": "a", "played": "Z"}, 422, None),
        ("reward", {"id": "a"}, 422, None),
        ("reward", {"id": "a", "reward": 1, "reward_id": "\n"}, 422, None),
        ("decide/batch", [("n", 1), ("n", 2)], 409, 1),
        ("decide/batch", [("n", 1), ("a", 2)], 409, 1),
        ("reward/batch", [("a", 1.0), ("a", 0.0)], 409, 1),
        ("reward/batch", [("a", 1.0), ("nobody", 0.0)], 404, 1),
    ],
)
def test_what_cannot_be_meant_is_refused_whole(
    served: Served, path: str, body: Any, status: int, row: int | None
) -> None:
    served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
    before = served.get("/v1/policies/ads").json["position"]
    if path == "decide/batch":
        body = {"decisions": [{"id": name, "context": {"Age": age}} for name, age in body]}
    if path == "reward/batch":
        body = {"rewards": [{"id": name, "reward": number} for name, number in body]}
    answer = served.post(f"/v1/policies/ads/{path}", body)

    assert (answer.status, answer.error["row"]) == (status, row)
    assert len(answer.text) < 1500
    assert served.get("/v1/policies/ads").json["position"] == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("OPTIONS", "/v1/policies", 405),
        ("PUT", "/v1/policies/ads", 405),
        ("GET", "/v1/policies/%2e%2e", 404),
        ("GET", "/v1/policies/..%2f..%2fetc%2fpasswd", 404),
        ("GET", "/v1/policies/ads/decisions/%ff%00", 404),
        ("GET", "/policies/%3Cscript%3E", 404),
        ("GET", f"/v1/policies/ads/events?after={'0' * 5000}", 400),
        ("GET", f"/v1/policies/ads/events?after={'9' * 5000}", 400),
        ("GET", "/v1/policies/ads/events?after=%C2%B2", 400),
    ],
)
def test_tricks_with_paths_and_methods_get_one_line(
    served: Served, method: str, path: str, status: int
) -> None:
    answer = served.ask(method, path)

    assert answer.status == status
    assert set(answer.error) == {"code", "message", "field", "row"}


def test_chunks_and_requests_in_a_row_are_answered_in_order(served: Served) -> None:
    def write(name: str, *more: str) -> bytes:
        body = json.dumps({"id": name, "context": {"Age": 1}})
        lines = ["POST /v1/policies/ads/decide HTTP/1.1", "Host: localhost", *more]
        lines += ["Content-Type: application/json", "Transfer-Encoding: chunked", ""]
        chunks = [f"{len(part):x}\r\n{part}" for part in (body[:7], body[7:])]
        return "\r\n".join([*lines, *chunks, "0", "", ""]).encode()

    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(write("one") + write("two") + write("three", "Connection: close"))
        with connection.makefile("rb") as stream:
            text = stream.read()

    assert text.count(b"HTTP/1.1 200 OK") == 3
    places = [text.index(f'{{"id":"{name}"'.encode()) for name in ("one", "two", "three")]
    assert places == sorted(places)


def test_two_lengths_of_one_body_are_refused(served: Served) -> None:
    """What a proxy and a server would read differently is read by neither."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(
            b"POST /v1/policies/ads/decide HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 3\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        with connection.makefile("rb") as stream:
            assert stream.readline().startswith(b"HTTP/1.1 400")


def test_a_clock_that_is_set_back_delays_and_loses_nothing(tmp_path: Path) -> None:
    clock = SetClock()
    config = make_config(window=60, default_reward=0)
    store = SqliteStore(tmp_path, clock=clock)
    with run_engine(store, config) as engine, run_server(engine) as served:
        first = served.post("/v1/policies/ads/decide", {"id": "a", "context": {"Age": 1}})
        clock.move(-86_400)
        second = served.post("/v1/policies/ads/decide", {"id": "b", "context": {"Age": 1}})
        told = served.post("/v1/policies/ads/reward", {"id": "a", "reward": 1})
        clock.move(86_400 + 61)
        shown = served.get("/v1/policies/ads").json

    assert (first.json["decided_at"] > second.json["decided_at"], told.json["status"]) == (
        True,
        "pending",
    )
    assert (shown["learned_decisions"], shown["open_decisions"]) == (2, 0)
