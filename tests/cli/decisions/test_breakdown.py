"""``boundit breakdown``: claims by flags, an answer in words or JSON, and the exit code."""

import html
import json
from pathlib import Path

import pytest

from boundit.cli.main import main

BOW = "X -> Y; X <-> Y"


@pytest.fixture
def log(tmp_path: Path) -> str:
    rows = [(0, 0, 420), (0, 1, 180), (1, 0, 160), (1, 1, 240)]
    file = tmp_path / "log.csv"
    file.write_text("X,Y,n\n" + "".join(f"{x},{y},{n}\n" for x, y, n in rows))
    return str(file)


def answer(capsys: pytest.CaptureFixture[str], log: str, *options: str) -> tuple[int, str, str]:
    asked = ["breakdown", BOW, "Y | do(X)", log, "--weight", "n", "--of", "X <-> Y"]
    with pytest.raises(SystemExit) as left:
        main([*asked, *options])
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


def test_a_claim_that_falls_exits_1_and_says_where(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, log, "--arm", "1")

    assert code == 1
    assert out.startswith("1 has the highest mean: proved up to a limit of 1.")
    code, out, _ = answer(capsys, log, "--arm", "1", "--than", "0", "--by", "0.1", "--json")
    assert json.loads(out)["claim"] == "the mean of 1 is at least 0.1 higher than that of 0"


def test_a_claim_that_stands_exits_0(capsys: pytest.CaptureFixture[str], log: str) -> None:
    code, out, _ = answer(
        capsys, log, "--arm", "1", "--at-least", "0.1", "--confidence", "none"
    )

    assert code == 0
    assert out == "the mean of 1 is at least 0.1: proved whatever is hidden by X <-> Y\n"
    assert answer(capsys, log, "--arm", "1", "--regret", "1")[0] == 0


def test_without_an_arm_it_is_about_the_choice(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, log, "--most", "1.5", "--confidence", "none")

    assert code == 0
    assert out.startswith("today's choice stays the one of least regret at every limit")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arm", "1", "--than", "0", "--regret", "1"], "--than and --regret are different"),
        (["--arm", "1", "--by", "0.1"], "--by goes with --than"),
        (["--than", "1"], "--than is about an arm; name one with --arm"),
        (["--in", "1"], "--in is about an arm"),
        (["--arm", "7"], "there is no arm 7; there are 0, 1"),
        (["--arm", "1", "--most", "1"], "is not in the range x>1"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], log: str, options: list[str], said: str
) -> None:
    code, out, err = answer(capsys, log, *options)

    assert (code, out) == (2, "")
    assert said in err


def test_a_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    _, out, err = answer(
        capsys, log, "--arm", "1", "--confidence", "none", "--json", "--report", str(page)
    )
    first = html.escape(json.loads(out)["says"].splitlines()[0], quote=False)

    assert f'<p class="verdict">{first}.</p>' in page.read_text("utf-8")
    assert err == f"wrote {page}\n"
