import json
import socket
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from boundit import __version__
from boundit.studio.calls import CALLS, StudioLimits, write_event
from boundit.studio.errors import Refusal
from boundit.studio.worker import JobMessage
from tests.patience import PATIENCE
from tests.studio.served import ServedStudio, run_studio

GRAPH = {
    "nodes": [{"name": "X"}, {"name": "Y"}],
    "edges": [{"tail": "X", "head": "Y"}, {"tail": "X", "head": "Y", "kind": "<->"}],
}


def test_the_page_begins_with_version_folder_examples_and_draft(studio: ServedStudio) -> None:
    project = {"name": "kept", "graph": GRAPH}
    assert studio.post("/api/draft", {"project": project}).json == {}
    begun = studio.get("/api/start").json

    assert (begun["version"], begun["folder"]) == (__version__, str(studio.folder))
    assert [example["name"] for example in begun["examples"]] == ["pharmacy", "paper", "empty"]
    assert begun["draft"]["name"] == "kept"
    assert begun["draft"]["graph"]["edges"][1]["kind"] == "<->"
    assert begun["limits"]["upload"] > 0


def test_a_draft_is_kept_in_the_middle_of_work(studio: ServedStudio) -> None:
    half = {"nodes": [{"name": "X"}, {"name": "X"}], "text": "X -> -> "}

    assert studio.post("/api/draft", {"project": {"graph": half}}).status == 200
    assert studio.get("/api/start").json["draft"]["graph"]["text"] == "X -> -> "


def test_a_damaged_draft_is_no_draft(studio: ServedStudio) -> None:
    studio.server.studio.folder.save_draft('{"format": "boundit project", "version": 9}')

    assert studio.get("/api/start").json["draft"] is None


def test_a_project_goes_into_a_file_and_back(studio: ServedStudio) -> None:
    opened = studio.post("/api/examples/open", {"name": "pharmacy"}).json["project"]
    written = studio.post("/api/project/write", {"project": opened}).json
    read = studio.post("/api/project/read", {"text": written["text"]}).json

    assert read["project"] == opened
    assert written["name"] == "pharmacy.boundit.json"
    assert studio.server.token.secret not in written["text"]
    assert str(studio.port) not in written["text"]
    assert str(studio.folder) not in written["text"]


def test_a_graph_is_read_written_laid_out_and_told(studio: ServedStudio) -> None:
    read = studio.post("/api/graph/read", {"text": "dag { X -> Y X <-> Y }"}).json
    assert (read["format"], read["text"]) == ("dagitty", "X -> Y\nX <-> Y\n")
    drawn = read["graph"]
    for form in ("boundit", "dagitty", "dot", "json"):
        said = studio.post("/api/graph/write", {"graph": drawn, "format": form}).json["text"]
        assert studio.post("/api/graph/read", {"text": said}).json["graph"] == drawn
    for aspect, way in ((0.3, "y"), (4, "x")):
        asked = {"graph": drawn, "aspect": aspect}
        placed = studio.post("/api/graph/layout", asked).json["positions"]
        assert placed["X"][way] < placed["Y"][way]
    typed = studio.post("/api/query/read", {"text": "Y | do(X), Z"}).json["query"]
    assert typed == {"outcome": "Y", "treatments": ["X"], "context": ["Z"]}
    query = {"outcome": "Y", "treatments": ["X"]}
    claims = studio.post("/api/graph/claims", {"graph": drawn, "query": query}).json
    assert claims["edges"][0]["claim"] == "X may change Y directly."
    assert claims["problems"] == []
    svg = studio.post("/api/graph/write", {"graph": drawn, "format": "svg", "query": query})
    assert svg.json["text"].startswith("<svg")


def test_a_fault_of_the_text_has_its_line(studio: ServedStudio) -> None:
    answer = studio.post("/api/graph/read", {"text": "X -> Y\nX ->"})

    assert answer.status == 400
    assert (answer.error["where"], answer.error["line"]) == ("text", 2)


def test_files_of_the_folder_are_listed(studio: ServedStudio) -> None:
    (studio.folder / "listed.csv").write_text("X\n1\n")

    files = studio.get("/api/files").json["files"]
    assert {"name": "listed.csv", "bytes": 4, "kind": "CSV"} in files


def test_no_two_calls_share_a_path() -> None:
    paths = [call.path for call in CALLS]

    assert len(paths) == len(set(paths))


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
    assert run_job(studio, "look", project)[-1][1]["n_rows"] > 0
    assert studio.post(f"/api/jobs/{id_}/cancel", {}).status == 200


def test_a_look_at_a_file_that_is_none_is_refused(studio: ServedStudio) -> None:
    (studio.folder / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    name, error = run_job(studio, "look", {"data": {"file": "broken.parquet"}})[-1]

    assert (name, error["where"]) == ("error", "data.file")
    assert "not a whole Parquet file" in error["message"]


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


BYTES = {"Content-Type": "application/octet-stream"}


def upload(studio: ServedStudio, name: str, content: bytes, **headers: str) -> object:
    path = f"/api/files/upload?name={name}"
    answer = studio.ask("POST", path, content, {**studio.own, **BYTES, **headers})
    return (
        answer.json["name"] if answer.status == 200 else (answer.status, answer.error["code"])
    )


def test_a_file_is_written_under_a_free_name(studio: ServedStudio) -> None:
    assert upload(studio, "up.csv", b"X\n1\n") == "up.csv"
    assert upload(studio, "up.csv", b"X\n2\n") == "up-2.csv"
    assert (studio.folder / "up.csv").read_bytes() == b"X\n1\n"
    assert (studio.folder / "up-2.csv").read_bytes() == b"X\n2\n"


@pytest.mark.parametrize(
    ("name", "lands"),
    [
        ("../../escape.csv", "escape.csv"),
        ("%2e%2e%2fescape2.csv", "escape2.csv"),
        ("/etc/escape3.csv", "escape3.csv"),
        ("..%5c..%5cescape4.csv", "escape4.csv"),
    ],
)
def test_a_name_never_leads_out(studio: ServedStudio, name: str, lands: str) -> None:
    assert upload(studio, name, b"X\n1\n") == lands
    assert (studio.folder / lands).is_file()


@pytest.mark.parametrize("name", ["", "x.exe", "..", ".csv", "a%00.csv", "x" * 4_000 + ".csv"])
def test_a_name_that_is_no_log_is_refused(studio: ServedStudio, name: str) -> None:
    assert upload(studio, name, b"X\n1\n") == (400, "upload_refused")


def test_only_bytes_are_taken(studio: ServedStudio) -> None:
    for kind in ("application/json", "text/plain", "multipart/form-data; boundary=x"):
        answer = upload(studio, "kind.csv", b"X\n", **{"Content-Type": kind})
        assert answer == (415, "wrong_media_type")
    assert upload(studio, "empty.csv", b"") == (400, "upload_refused")
    assert not (studio.folder / "empty.csv").exists()


def test_a_file_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    with run_studio(tmp_path, StudioLimits(upload=1_000)) as studio:
        assert upload(studio, "large.csv", b"x" * 1_001) == (413, "too_much")
        # In parts, without a length that would tell.
        head = (
            f"POST /api/files/upload?name=parts.csv HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{studio.port}\r\nCookie: {studio.cookie}\r\n"
            f"Origin: {studio.origin}\r\nContent-Type: application/octet-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        part = b"1f4\r\n" + b"x" * 500 + b"\r\n"
        with socket.create_connection(
            ("127.0.0.1", studio.port), timeout=PATIENCE
        ) as connection:
            connection.sendall(head.encode() + part * 3 + b"0\r\n\r\n")
            with connection.makefile("rb") as answer:
                assert b" 413 " in answer.readline()
        # Cut off in the middle.
        with socket.create_connection(
            ("127.0.0.1", studio.port), timeout=PATIENCE
        ) as connection:
            connection.sendall(head.encode() + part)
        assert studio.get("/api/files").status == 200
    assert [path.name for path in tmp_path.iterdir()] == [".boundit-studio"]
