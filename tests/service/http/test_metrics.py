"""Metrics count what was asked, and tell how far policies have come."""

from pathlib import Path

from boundit.service.http.metrics import make_metrics
from boundit.service.store.sqlite import SqliteStore
from tests.service.http.served import run_server
from tests.service.kit import decide, make_config, reward, run_engine, write_metrics


def test_requests_are_counted_by_operation_and_status(tmp_path: Path) -> None:
    with (
        run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine,
        run_server(engine) as served,
    ):
        served.post("/v1/policies/ads/decide", {"context": {"Age": 1}})
        served.post("/v1/policies/none/decide", {"context": {"Age": 1}})
        text = served.get("/metrics").text.decode()

    assert 'boundit_requests_total{operation="decide",status="200"} 1.0' in text
    assert 'boundit_requests_total{operation="decide",status="404"} 1.0' in text
    assert 'boundit_request_seconds_count{operation="decide"} 2.0' in text


def test_policies_are_told_as_they_are(tmp_path: Path) -> None:
    with run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine:
        make_metrics(engine)
        decide(engine, "a")
        reward(engine, "a", 1.0)
        text = write_metrics(engine)

    assert 'boundit_policy_learned_decisions{policy="ads"} 1.0' in text
    assert 'boundit_policy_refuted{policy="ads"} 0.0' in text
    assert "boundit_waiting_rows 0.0" in text
