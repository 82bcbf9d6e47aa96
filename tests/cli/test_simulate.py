import json

import pytest

from boundit.cli.main import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(["simulate", "--rounds", "40", "--runs", "2", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code, capsys.readouterr().out


def test_each_policy_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = answer(capsys)

    assert code == 0
    assert out.startswith("2 runs of 40 rounds, seed 0\nLinUCB ")
    assert "UCB-PCB" in out


def test_bounds_may_come_from_a_drawn_log(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = answer(capsys, "--log-points", "2000", "--json")

    assert [line["policy"] for line in json.loads(out)["policies"]] == [
        "LinUCB",
        "LinUCB-PCB",
        "UCB",
        "UCB-PCB",
    ]
