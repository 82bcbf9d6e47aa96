import json
from pathlib import Path

import pytest

from boundit.cli.main import main

SMALL = ("--points", "1000", "--runs", "2", "--rounds", "60")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["reproduce", *SMALL, *arguments])
    assert isinstance(left.value.code, int)
    said = capsys.readouterr()
    return left.value.code, said.out, said.err


def test_it_shows_the_paper_and_leaves_the_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = answer(capsys, "--out", str(tmp_path / "paper"))

    assert code == 0
    assert "does not hold: worked example, D" in out
    assert out.count(" misses\n") == 4
    assert err == f"wrote {tmp_path / 'paper' / 'report.html'}\n"
    assert (tmp_path / "paper" / "report.html").stat().st_size > 100_000


def test_the_same_as_json_and_the_same_seed_gives_the_same_numbers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, once, _ = answer(capsys, "--json", "--out", str(tmp_path))
    _, again, _ = answer(capsys, "--json", "--out", str(tmp_path))
    found = json.loads(once)

    assert once == again
    assert len(found["rows"]) == 16
    assert {claim["judgement"] for claim in found["claims"]} <= {
        "holds",
        "holds under a condition",
        "does not hold",
    }
