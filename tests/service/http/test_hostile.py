"""Whatever callers send, on either store: one line of JSON, nothing changed, never a 5xx."""

import json
from collections.abc import Callable, Iterator

import pytest

from boundit.service.http.access import Limits
from boundit.service.store.base import Store
from tests.service.http.served import Answer, Served, run_server
from tests.service.kit import count, make_config, make_table, run_engine, save

BOUNDS = json.dumps(save(make_table())).encode()
DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000
DECIDE = "/v1/policies/ads/decide"
REWARD = "/v1/policies/ads/reward"
HOSTILE = [
    (DECIDE, b'{"context": {"Age": NaN}}'),
    (DECIDE, b'{"context": {"Age": Infinity}}'),
    (DECIDE, b'{"context": {"Age": -1e999}}'),
    (DECIDE, b'{"context": {"Age": ' + b"9" * 5000 + b"}}"),
    (DECIDE, b'{"context": {"Age": 18446744073709551616}}'),
    (DECIDE, b'{"context": {"Age": "\\ud800"}}'),
    (DECIDE, b'{"context": {"Age": "\\u0000"}}'),
    (DECIDE, b'{"context": {"Age": 1, "\\u0000": 1}}'),
    (DECIDE, b'{"context": {"Age": true}}'),
    (DECIDE, b'{"context": {"Age": 1}, "id": "a\\u0000b"}'),
    (DECIDE, b'{"context": {"Age": 1}, "id": "\\udfff"}'),
    (DECIDE, b'{"context": {"Age": 1}, "id": "a\\nb"}'),
    (DECIDE, b'{"context": {"Age": 1}, "id": "' + b"x" * 201 + b'"}'),
    (DECIDE, b'{"context": {"Age": 1}, "id": "a", "id": "b"}'),
    (DECIDE, b'{"context": {"Age": 1, "Age": 2}}'),
    (DECIDE, b'{"context": {"Age": 1}, "\\u0069d": "a", "id": "\\u003a"}'),
    (DECIDE, b'{"context": ' + DEEP + b"}"),
    (DECIDE, b'{"context": {"Age": 1}, "played": "\\u0000"}'),
    (DECIDE, b'{"context": {"Age": 1}, "played": "A", "propensity": 1e-999}'),
    (DECIDE, b'{"context": {"Age": 1}, "played": "A", "propensity": 2}'),
    (DECIDE, b'{"context": {"Age": 1}, "arms": ["A", "\\u0000"], "played": "\\u0000x"}'),
    (DECIDE, b'{"context": {"Age": 1}, "more": 1}'),
    (DECIDE, b'{"context": {"Age": 1}} {}'),
    (DECIDE, b'\xef\xbb\xbf{"context": {"Age": 1}}'),
    (DECIDE, '{"context": {"Age": 1}}'.encode("utf-16")),
    (f"{DECIDE}/batch", b'{"decisions": [{"id": "a"}], "decisions": []}'),
    (f"{DECIDE}/batch", b'{"decisions": [{"context": 1, "context": 1}]}'),
    (f"{DECIDE}/batch", b'{"decisions": {}}'),
    (REWARD, b'{"id": "known", "reward": NaN}'),
    (REWARD, b'{"id": "known", "reward": 1e400}'),
    (REWARD, b'{"id": "known", "reward": 1e308}'),
    (REWARD, b'{"id": "known", "reward": true}'),
    (REWARD, b'{"id": "known", "reward": "1"}'),
    (REWARD, b'{"id": "known", "reward": 1, "reward": 1}'),
    (REWARD, b'{"id": "known", "reward": 1, "reward_id": "\\u0000"}'),
    (REWARD, b'{"id": "known", "reward": 1, "reward_id": "' + b"x" * 201 + b'"}'),
    (REWARD, b'{"id": "known", "observed": {"W": [1]}}'),
    (REWARD, b'{"id": "known", "observed": {"": 1}}'),
    (REWARD, b'{"id": "known", "observed": {"a\\u0000b": 1}}'),
    (REWARD, b'{"id": "known", "observed": {"' + b"x" * 201 + b'": 1}}'),
    (REWARD, b'{"id": "known", "observed": {"W": "\\ud800"}}'),
    (REWARD, b'{"id": "known", "observed": {"W": 1, "W": 2}}'),
    (REWARD, b'{"id": "known", "observed": {"W": ' + b"9" * 5000 + b"}}"),
    (REWARD, b'{"id": "known", "played": "\\u0000"}'),
    (REWARD, b'{"id": "\\u0000", "reward": 1}'),
    (REWARD, b'{"id": "none", "reward": 1}'),
    ("/v1/policies/a%00b/decide", b"{}"),
    ("/v1/policies/%ff/decide", b"{}"),
    (f"/v1/policies/{'x' * 101}/decide", b"{}"),
    ("/v1/policies", b'{"name": "a\\u0000b", "kind": "UCB", "arms": ["A"]}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A", "\\ud800"]}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "seed": 1e99}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "window": 1e300}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "retention": 1e300}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "explore": 1e300}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "options": {"a": ' + DEEP + b"}}"),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "bounds": {"a": ' + DEEP + b"}}"),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "bounds": {"rows": "\\u0000"}}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "context": [""]}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "context": ["\\u0000"]}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "context": {"\\n": [1]}}'),
    ("/v1/policies", b'{"name": "new", "name": "new", "kind": "UCB", "arms": ["A"]}'),
    ("/v1/policies", b'{"name": "new", "bounds": {"a": 1, "a": 2}}'),
    ("/v1/policies/ads/bounds", b'{"bounds": {"format": 1e999}}'),
    ("/v1/policies/ads/bounds", b'{"bounds": {}, "bounds": ' + BOUNDS + b"}"),
    ("/v1/policies", b'{"name": "new", "kind": "TS", "kind": "UCB", "arms": ["A"]}'),
    ("/v1/policies", b'{"name": "new", "kind": "UCB", "arms": ["A"], "arms": ["B"]}'),
    ("/v1/policies/ads/prune", b'{"before": "2024-01-01T00:00:00Z", "before": 0}'),
    ("/v1/policies/ads/bounds", b'{"bounds": ' + BOUNDS[:-1] + b', "outcome": "x"}}'),
    ("/v1/policies/ads/prune", b'{"before": "9999-12-31T23:59:59Z"}'),
    ("/v1/policies/ads/prune", b'{"before": "2024-02-30T00:00:00Z"}'),
    ("/v1/policies/ads/prune", b'{"before": 1e99}'),
]
PATHS = [
    "/v1/policies/ads/decisions/%00",
    "/v1/policies/ads/decisions/%ed%a0%80",
    f"/v1/policies/ads/decisions/{'x' * 3000}",
    "/v1/policies/%00",
    "/v1/policies/..%2f..%2fetc%2fpasswd",
    "/v1/policies/ads/events?after=99999999999999999999999999",
    "/v1/policies/ads/events?after=-1",
    "/v1/policies/ads/events?limit=%00",
    "/v1/policies/ads/export?format=%00",
    "/policies/%00",
]


@pytest.fixture
def served(open_store: Callable[[], Store]) -> Iterator[Served]:
    with (
        run_engine(open_store(), make_config(kind="UCB")) as engine,
        run_server(engine, Limits(body=100_000)) as found,
    ):
        found.post(DECIDE, {"id": "known", "context": {"Age": 1}})
        yield found


def _check(answer: Answer, path: str, body: bytes) -> None:
    told = f"{path} {body[:80]!r}: {answer.status} {answer.text[:300]!r}"
    assert 400 <= answer.status < 500, told
    assert set(answer.json) == {"error"}, told
    assert 0 < len(answer.error["message"]) <= 1000, told
    assert "\n" not in answer.error["message"], told
    assert "Traceback" not in answer.text.decode(), told


def test_hostile_requests_are_refused_in_a_line_and_change_nothing(served: Served) -> None:
    before = served.engine.list_events("ads")
    for path, body in HOSTILE:
        _check(
            served.ask("PUT" if path.endswith("/bounds") else "POST", path, body), path, body
        )
        assert served.engine.list_events("ads") == before, body
    for path in PATHS:
        _check(served.get(path), path, b"")

    assert [one.name for one in served.engine.list_policies()] == ["ads"]
    assert count(served.engine, "bugs") == 0


@pytest.mark.parametrize(
    "body",
    [
        {"id": "ä:\u2028\U0001f600 x", "context": {"Age": 1}},
        {"id": "'; DROP TABLE events; --", "context": {"Age": 1}},
        {"id": "%s ? :1 $1 {}", "context": {"Age": 1}},
        {"id": "\\u0000", "context": {"Age": 1}},
    ],
)
def test_odd_ids_are_kept_as_they_are(served: Served, body: dict[str, object]) -> None:
    first, again = served.post(DECIDE, body), served.post(DECIDE, body)
    told = served.post(REWARD, {"id": body["id"], "reward": 1})
    status = 422 if "\u2028" in str(body["id"]) else 200

    assert (first.status, again.status, told.status) == (status, status, status)
    if status == 200:
        assert first.json["id"] == body["id"]
        assert again.json["duplicate"]


def test_odd_observations_are_kept_and_exported(served: Served) -> None:
    observed = {
        "nul": "x\u0000y",
        "large": 10**30,
        "age": -(2**63) - 1,
        "AGE": "1",
        'q"uo,te': 'q"uo,te\n',
        "decision_ID": 1.5,
        "boundit_adaptive": 0,
        "\U0001f600": None,
        "mixed": True,
    }
    for i, seen in enumerate([observed, {"mixed": 2}, {"mixed": "x"}]):
        served.post(DECIDE, {"id": f"{i}", "context": {"Age": 1}})
        told = served.post(REWARD, {"id": f"{i}", "reward": 1, "observed": seen})
        assert told.status == 200, told.text
    for form in ("csv", "jsonl", "parquet", "dsjson", "obp"):
        answer = served.get(f"/v1/policies/ads/export?format={form}")
        assert answer.status == 200, (form, answer.text[:300])
    lines = served.get("/v1/policies/ads/export?format=jsonl").text.splitlines()
    line = json.loads(lines[0])

    assert (line["nul"], line["large"], line["Age"]) == ("x\u0000y", 10**30, 1)
    assert (line["observed_AGE"], line["observed_age_"]) == ("1", -(2**63) - 1)
    assert (line["boundit_adaptive"], line["observed_boundit_adaptive"]) == (1, 0)
    assert served.engine.replay("ads", decisions=True).differences == []
