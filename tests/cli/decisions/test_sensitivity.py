"""``boundit sensitivity``: conclusions by flags, an answer in words or JSON, the exit code."""

import html
import json
from pathlib import Path

import pytest

from tests.cli.answer import answer

BOW = "X -> Y; X <-> Y"


@pytest.fixture
def log(tmp_path: Path) -> str:
    rows = [(0, 0, 420), (0, 1, 180), (1, 0, 160), (1, 1, 240)]
    file = tmp_path / "log.csv"
    file.write_text("X,Y,n\n" + "".join(f"{x},{y},{n}\n" for x, y, n in rows))
    return str(file)


def ask(capsys: pytest.CaptureFixture[str], log: str, *options: str) -> tuple[int, str, str]:
    asked = ("sensitivity", BOW, "Y | do(X)", log, "--weight", "n", "--limit", "X <-> Y")
    return answer(capsys, *asked, *options)


def test_a_conclusion_that_fails_exits_1_and_says_where(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = ask(capsys, log, "--arm", "1")

    assert code == 1
    assert out.startswith("X=1 is the best arm: proved up to a limit of 1.")
    _, out, _ = ask(capsys, log, "--arm", "1", "--baseline", "0", "--at-least", "0.1", "--json")
    said = "X=1 is better than X=0 by at least 0.1"
    assert json.loads(out)["breakdown"]["conclusion"] == said


def test_a_conclusion_that_stands_exits_0_and_so_does_a_curve(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    plain = ("--confidence", "none")
    code, out, _ = ask(capsys, log, "--arm", "1", "--at-least", "0.1", *plain)
    assert code == 0
    assert out.startswith("The mean of X=1 is at least 0.1: proved without any limit")
    plot = tmp_path / "curve.svg"
    code, out, _ = ask(capsys, log, *plain, "--plot", str(plot))
    assert code == 0
    assert "From a limit of 1 to one of 10 on X <-> Y" in out
    assert plot.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--baseline", "1"], "is about an arm"),
        (["--arm", "7"], "7"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], log: str, options: list[str], said: str
) -> None:
    code, out, err = ask(capsys, log, *options)

    assert (code, out) == (2, "")
    assert said in err


def test_a_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    _, out, err = ask(
        capsys, log, "--arm", "1", "--confidence", "none", "--json", "--report", str(page)
    )
    first = html.escape(json.loads(out)["summary"].split(". ")[0], quote=False)

    assert f'<p class="verdict">{first}' in page.read_text("utf-8")
    assert err == f"wrote {page}\n"
