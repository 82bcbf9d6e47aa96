import pytest

from boundit.report.stylesheet import write_palette
from boundit.studio.http.pages import PAGE
from tests.studio.served import ServedStudio


def test_every_file_of_the_page_is_served_as_what_it_is(studio: ServedStudio) -> None:
    index = studio.get("/")
    assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for path in PAGE.iterdir():
        answer = studio.get(f"/page/{path.name}")
        assert answer.status == 200
        assert answer.text == path.read_bytes()


def test_colours_are_those_of_the_reports(studio: ServedStudio) -> None:
    answer = studio.get("/page/palette.css")

    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.text.decode() == write_palette()


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
