"""``boundit suggest``: steps in words, as JSON and as a page."""

import json
from pathlib import Path

import pytest

from tests.cli.answer import answer
from tests.decisions.test_suggest import SMALL

ASKED = ("suggest", str(SMALL.graph), "Y | do(X)")


@pytest.fixture
def log(tmp_path: Path) -> str:
    table = SMALL.log(2_000, seed=1).count(["X", "Z", "Y"])
    lines = [
        ",".join(map(str, (*codes, int(n))))
        for codes, n in zip(table.codes.tolist(), table.n, strict=True)
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["X,Z,Y,n", *lines]))
    return str(path)


def test_steps_are_ranked_with_the_flags_that_take_them(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(capsys, *ASKED, log, "--weight", "n")

    assert (code, err) == (0, "")
    assert out.startswith("What would narrow the bounds on E[Y | do(X)]\n\nThe mean width ")
    assert "Z for an unselected sample" in out
    assert "--external sample.csv" in out
    assert "the effect is then identified" in out


def test_the_page_has_the_sentences_of_the_record(
    capsys: pytest.CaptureFixture[str], log: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    flags = ("--weight", "n", "--confidence", "none", "--json", "--report", str(page))
    _, out, err = answer(capsys, *ASKED, log, *flags)
    record = json.loads(out)

    assert record["confidence"] is None
    assert record["width"] == pytest.approx(record["limit"])
    assert record["summary"].split(". ")[0] in page.read_text(encoding="utf-8")
    assert err == f"wrote {page}\n"
