import socket
from pathlib import Path

import pytest

from boundit.studio.http.calls import StudioLimits
from tests.patience import PATIENCE
from tests.studio.served import ServedStudio, run_studio

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
    assert [path.name for path in tmp_path.iterdir()] == []
