"""Attacks on the door, and whatever else is sent: the answer is one clear line."""

import gzip
import json
import socket
from pathlib import Path

import pytest

from boundit.report.palette import write_palette
from boundit.studio.app import SAFE, StartToken
from boundit.studio.bundle import PAGE, join_modules
from boundit.studio.calls import CALLS
from boundit.studio.server import StudioServer
from tests.patience import PATIENCE
from tests.studio.projects import refused
from tests.studio.served import ServedStudio

POSTS = [call.path for call in CALLS if call.takes is not None]


@pytest.mark.parametrize("path", POSTS)
def test_changes_are_posts_of_json_alone(studio: ServedStudio, path: str) -> None:
    assert studio.get(path).status == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = studio.ask("POST", path, b"{}", {**studio.own, "Content-Type": kind})
        assert (answer.status, answer.error["code"]) == (415, "wrong_media_type")


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"null", b"[]", b'{"ghost": 1}', b"[" * 100_000, b"\xff", b'{"a":' * 50_000],
    ids=["empty", "cut", "null", "list", "field", "deep", "bytes", "deep objects"],
)
def test_what_is_no_such_body_is_refused_in_one_line(
    studio: ServedStudio, path: str, body: bytes
) -> None:
    answer = studio.post(path, body)

    assert (answer.status, answer.error["code"]) == (400, "malformed")
    assert "\n" not in answer.error["message"]


def test_a_body_that_is_too_large_is_refused(studio: ServedStudio) -> None:
    body = json.dumps({"text": "x" * (9 * 1024 * 1024)}).encode()

    assert studio.post("/api/graph/read", body).status == 413


def test_a_body_that_says_it_is_larger_is_refused_before_it_comes(studio: ServedStudio) -> None:
    head = (
        f"POST /api/graph/read HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n"
        f"Cookie: {studio.cookie}\r\nOrigin: {studio.origin}\r\n"
        "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode())
        with connection.makefile("rb") as answer:
            assert b" 413 " in answer.readline()


def test_a_field_within_is_named_with_its_place(studio: ServedStudio) -> None:
    body = {"project": {"graph": {"nodes": [{"name": "X"}, {"name": 3}]}}}
    answer = studio.post("/api/draft", body)

    assert answer.status == 400
    assert answer.error["where"] == "graph.nodes[1].name"


@pytest.mark.parametrize("path", ["/api", "/api/nix", "/nix", "/api/start/x", "//api/start"])
def test_what_is_not_there_is_said_to_be_so(studio: ServedStudio, path: str) -> None:
    assert studio.get(path).status == 404


def test_other_methods_are_refused(studio: ServedStudio) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert studio.ask(method, "/api/start", None, studio.own).status == 405


BODY = {"name": "empty"}


def test_the_link_sets_a_cookie_and_leaves_the_address_bar(studio: ServedStudio) -> None:
    path = studio.server.link.removeprefix(studio.origin)
    answer = studio.ask("GET", path)

    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"boundit-studio-{studio.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert studio.server.token.secret not in answer.headers["location"]


@pytest.mark.parametrize(
    "path",
    ["/", "/?token=", "/?token=wrong", "/?token=a&token=b", "/page/index.html", "/?token=%ff"],
)
def test_without_the_cookie_a_person_reads_one_sentence(
    studio: ServedStudio, path: str
) -> None:
    answer = studio.ask("GET", path)

    assert answer.status == 403
    assert answer.text == b"Open the link that boundit studio printed when it started.\n"


@pytest.mark.parametrize("cookie", [None, "boundit-studio-1=x", "{name}=", "{name}=wrong"])
def test_without_the_cookie_no_call_is_answered(
    studio: ServedStudio, cookie: str | None
) -> None:
    headers = {**studio.own, "Cookie": (cookie or "").format(name=studio.server.token.cookie)}
    for method, path in (("GET", "/api/start"), ("POST", "/api/examples/open")):
        answer = studio.ask(method, path, BODY if method == "POST" else None, headers)
        assert (answer.status, answer.error["code"]) == (403, "no_token")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}.evil.example",
        "[::1]:{port}",
        "",
        "user@127.0.0.1:{port}",
    ],
)
def test_another_host_is_refused_even_with_the_cookie(studio: ServedStudio, host: str) -> None:
    """A page whose name was bound to 127.0.0.1 anew sends its own name."""
    headers = {**studio.own, "Host": host.format(port=studio.port)}

    for method, path in (("GET", "/"), ("GET", "/api/start"), ("POST", "/api/examples/open")):
        answer = studio.ask(method, path, BODY if method == "POST" else None, headers)
        assert answer.status in {400, 421}
    path = studio.server.link.removeprefix(studio.origin)
    assert studio.ask("GET", path, None, headers).status in {400, 421}


def test_localhost_is_this_machine_too(studio: ServedStudio) -> None:
    host = f"localhost:{studio.port}"
    headers = {**studio.own, "Host": host, "Origin": f"http://{host}"}

    assert studio.ask("POST", "/api/examples/open", BODY, headers).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_or_port_may_not_ask(
    studio: ServedStudio, headers: dict[str, str]
) -> None:
    sent = {name: value.format(port=studio.port) for name, value in headers.items()}
    answer = studio.ask("POST", "/api/examples/open", BODY, {**studio.own, **sent})

    assert (answer.status, answer.error["code"]) == (403, "wrong_origin")


def test_a_change_without_origin_must_come_from_our_page(studio: ServedStudio) -> None:
    plain = {name: value for name, value in studio.own.items() if name != "Origin"}
    path = "/api/examples/open"

    assert studio.ask("POST", path, BODY, plain).status == 403
    own = {**plain, "Sec-Fetch-Site": "same-origin"}
    assert studio.ask("POST", path, BODY, own).status == 200


def test_every_answer_has_safe_headers(studio: ServedStudio) -> None:
    answers = [
        studio.get("/"),
        studio.get("/api/start"),
        studio.get("/nowhere"),
        studio.ask("GET", "/"),
        studio.post("/api/graph/read", {"text": "X -> -> Y"}),
    ]
    for answer in answers:
        for name in SAFE.keys() - {"Cache-Control"}:
            assert answer.headers[name.lower()] == SAFE[name]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
    assert studio.get("/api/start").headers["cache-control"] == "no-store"


def test_each_run_has_a_secret_of_its_own() -> None:
    one, other = StartToken.draw(1), StartToken.draw(1)

    assert one.secret != other.secret
    assert len(one.secret) >= 43
    assert one.fits(one.secret)
    assert not one.fits(other.secret)
    assert not one.fits(None)
    assert not one.fits("é")


def test_every_file_of_the_page_is_served_as_what_it_is(studio: ServedStudio) -> None:
    index = studio.get("/")
    assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for name in ("page.js", "page.css", "icon.svg"):
        answer = studio.get(f"/page/{name}")
        assert (answer.status, answer.headers["content-encoding"]) == (200, "gzip")


def test_colours_are_those_of_the_reports(studio: ServedStudio) -> None:
    answer = studio.get("/page/page.css")

    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert gzip.decompress(answer.text).decode().startswith(write_palette())


def test_the_page_is_three_small_files(studio: ServedStudio) -> None:
    """So that it is painted at once on a slow line."""
    sizes = [len(studio.get(path).text) for path in ("/", "/page/page.css", "/page/page.js")]

    assert sizes[0] + sizes[1] < 16_000
    assert sum(sizes) < 90_000


def test_one_script_holds_every_module() -> None:
    script = join_modules("main.js")

    assert "import " not in script
    for path in PAGE.glob("*.js"):
        assert path.name == "types.js" or f"module_{path.stem}_js" in script


@pytest.mark.parametrize(
    "path",
    [
        "/page/../http/gate.py",
        "/page/..%2f..%2ferrors.py",
        "/page/%2e%2e%2ferrors.py",
        "/page/%2e%2e/errors.py",
        "/page//etc/passwd",
        "/page/index.html%00.js",
        "/page/",
        "/page/nix.js",
        "/page/.hidden.js",
        "/page/" + "a" * 5_000 + ".js",
        "/../../../etc/passwd",
    ],
)
def test_nothing_else_is_served(studio: ServedStudio, path: str) -> None:
    answer = studio.get(path)

    assert answer.status == 404
    assert b"root:" not in answer.text
    assert b"import" not in answer.text


def test_only_this_machine_is_listened_to(studio: ServedStudio) -> None:
    (served,) = studio.server.server.servers
    assert [found.getsockname()[0] for found in served.sockets] == ["127.0.0.1"]


def test_a_port_that_is_taken_is_refused_in_one_line(
    tmp_path: Path, studio: ServedStudio
) -> None:
    with refused("port_taken", f"port {studio.port}") as caught:
        StudioServer(tmp_path, studio.port)
    assert "--port" in str(caught.value)


def test_what_is_no_http_is_refused(studio: ServedStudio) -> None:
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        with connection.makefile("rb") as answer:
            assert b"400" in answer.readline()
