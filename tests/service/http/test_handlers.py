"""Handlers ask the engine and write what it answers."""

from pathlib import Path

import pytest

from boundit.counts.log import read_log
from boundit.service.store.sqlite import SqliteStore
from tests.service.http.served import run_server
from tests.service.kit import make_config, run_engine


def test_health_and_readiness_need_no_key(tmp_path: Path) -> None:
    with run_engine(SqliteStore(tmp_path)) as engine, run_server(engine) as served:
        assert served.get("/healthz").json["status"] == "up"
        assert served.get("/readyz", Host="probe.example").json["status"] == "ready"


def test_tallies_and_bounds_are_read(tmp_path: Path) -> None:
    plain = make_config("plain", kind="UCB", bounds=None, arms=["A"], reward_range=(0, 1))
    with (
        run_engine(SqliteStore(tmp_path), make_config(kind="UCB"), plain) as engine,
        run_server(engine) as served,
    ):
        served.post("/v1/policies/ads/decide", {"context": {"Age": 1}})
        tallies = served.get("/v1/policies/ads/daily-counts").json["daily_counts"]
        none = served.get("/v1/policies/plain/bounds")

    assert [row["decisions"] for row in tallies] == [1]
    assert none.json is None


@pytest.mark.parametrize(
    ("form", "kind"),
    [("csv", "text/csv"), ("parquet", "application/vnd.apache.parquet")],
)
def test_an_export_is_a_log_that_says_a_policy_wrote_it(
    tmp_path: Path, form: str, kind: str
) -> None:
    with (
        run_engine(SqliteStore(tmp_path), make_config(kind="UCB")) as engine,
        run_server(engine) as served,
    ):
        for i in range(5):
            served.post("/v1/policies/ads/decide", {"id": str(i), "context": {"Age": i % 3}})
            served.post("/v1/policies/ads/reward", {"id": str(i), "reward": i % 2})
        got = served.get(f"/v1/policies/ads/export?format={form}")
        refused = served.get("/v1/policies/ads/export?format=xls")
        nobody = served.get("/v1/policies/nobody/export")
    (tmp_path / f"log.{form}").write_bytes(got.text)
    log = read_log(tmp_path / f"log.{form}")

    assert (got.status, got.headers["content-type"].partition(";")[0]) == (200, kind)
    assert int(got.headers["content-length"]) == len(got.text)
    assert log.count(["Click"]).rows == 5
    assert log.adaptive
    assert (refused.status, nobody.status) == (422, 404)
