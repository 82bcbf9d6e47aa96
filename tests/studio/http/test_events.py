import json
from typing import Any

from msgspec import Raw

from boundit.studio.http.events import write_event
from boundit.studio.jobs.worker import JobMessage
from boundit.studio.refusals import Refusal
from tests.studio.served import ServedStudio


def run_job(studio: ServedStudio, kind: str, project: object) -> list[tuple[str, Any]]:
    """Submit a job and read its events to the end."""
    body = {"kind": kind, "project": project, "line": "tests"}
    answer = studio.post("/api/jobs", body)
    assert answer.status == 200, answer.text
    stream = studio.get(f"/api/jobs/{answer.json['id']}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in stream.text.decode().strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_job_over_http_ends_in_one_result(studio: ServedStudio) -> None:
    project = studio.post("/api/examples/open", {"name": "paper"}).json["project"]
    events = run_job(studio, "bound", project)

    assert events[-1][0] == "result"
    assert len(events[-1][1]["rows"]) == 16
    assert all(name == "progress" for name, _ in events[:-1])
    assert all(set(data) == {"done", "total", "words"} for _, data in events[:-1])
    assert run_job(studio, "bound", project) == events[-1:]


def test_a_part_of_a_result_is_an_event_of_its_own() -> None:
    part = JobMessage("a", "part", result=Raw(b'{"items":[]}'))
    assert write_event(part) == b'event: part\ndata: {"items":[]}\n\n'


def test_a_refusal_is_an_event_with_its_place(studio: ServedStudio) -> None:
    project = studio.post("/api/examples/open", {"name": "paper"}).json["project"]
    project["data"]["file"] = "../../etc/passwd"

    ((_, error),) = [
        event for event in run_job(studio, "bound", project) if event[0] == "error"
    ]
    assert (error["where"], error["code"]) == ("data.file", "outside_folder")


def test_a_job_can_be_cancelled(studio: ServedStudio) -> None:
    project = studio.post("/api/examples/open", {"name": "paper"}).json["project"]
    project["simulate"] = {"rounds": 900_000, "runs": 900, "policies": ["Fused"]}
    id_ = studio.post("/api/jobs", {"kind": "simulate", "project": project}).json["id"]

    assert studio.post(f"/api/jobs/{id_}/cancel", {}).json == {}
    stream = studio.get(f"/api/jobs/{id_}/events").text.decode()
    assert stream.endswith("event: cancelled\ndata: {}\n\n")


def test_the_page_stays_awake_while_a_worker_works(studio: ServedStudio) -> None:
    project = studio.post("/api/examples/open", {"name": "paper"}).json["project"]
    project["simulate"] = {"rounds": 900_000, "runs": 899, "policies": ["Fused"]}
    id_ = studio.post("/api/jobs", {"kind": "simulate", "project": project}).json["id"]

    assert studio.get("/api/start").status == 200
    claims = {"graph": project["graph"], "query": project["query"]}
    assert studio.post("/api/graph/claims", claims).json["problems"] == []
    assert studio.post("/api/data/look", {"project": project}).json["n_rows"] > 0
    assert studio.post(f"/api/jobs/{id_}/cancel", {}).status == 200


def test_a_look_at_a_file_that_is_none_is_refused(studio: ServedStudio) -> None:
    (studio.folder / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    answer = studio.post("/api/data/look", {"project": {"data": {"file": "broken.parquet"}}})

    assert answer.status == 422
    assert answer.error["where"] == "data.file"
    assert "not a whole Parquet file" in answer.error["message"]


def test_unknown_jobs_and_kinds_are_refused(studio: ServedStudio) -> None:
    assert studio.get("/api/jobs/nix/events").status == 404
    assert studio.post("/api/jobs/nix/cancel", {}).status == 404
    assert studio.post("/api/jobs", {"kind": "nix", "project": {}}).status == 400


def test_every_message_is_one_event() -> None:
    error = Refusal("refused", "no\nlines", "graph")

    assert write_event(JobMessage("a", "stopped")) == b"event: cancelled\ndata: {}\n\n"
    assert write_event(JobMessage("a", "result", result=Raw(b"[1]"))) == (
        b"event: result\ndata: [1]\n\n"
    )
    written = write_event(JobMessage("a", "error", error=error))
    assert written.count(b"\n") == 3
