import json

import pytest

from boundit.cli.main import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(["reproduce", "--points", "1000", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code, capsys.readouterr().out


def test_it_shows_the_example_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = answer(capsys)

    assert code == 0
    assert "worked example, D: does not hold" in out
    assert out.count("misses the truth") == 4
    assert "the printed ones 4" in out


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = answer(capsys, "--json")

    assert len(json.loads(out)["rows"]) == 16
