"""Attacks on the door: other names for this machine, other sites' pages, no or wrong tokens."""

import pytest

from boundit.studio.http.gate import SAFE, StartToken
from tests.studio.served import ServedStudio

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
