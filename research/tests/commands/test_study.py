import json
from pathlib import Path

import click
import pytest

from boundit.cli.main import main
from boundit_research.commands.study import PROPOSED, logs, read_lengths
from boundit_research.rivals.catalogue import RIVALS
from tests.cli.interrupted import interrupted

SMALL = ("--rounds", "40", "--runs", "2")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["study", *arguments])
    assert isinstance(left.value.code, int)
    shown = capsys.readouterr()
    return left.value.code, shown.out, shown.err


def test_a_study_has_its_own_size_and_record(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "suite.json"
    small = ("suite", "--runs", "2", "--rounds", "20")
    code, out, err = answer(capsys, *small, "--out", str(kept))
    _, shown, _ = answer(capsys, *small, "--json")

    assert (code, err) == (0, f"wrote {kept}\n")
    assert out.startswith("2 runs of 20 rounds, seed 0; differences with intervals")
    record = json.loads(kept.read_text(encoding="utf-8"))
    assert record["study"] == "suite"
    assert record["rows"] == json.loads(shown)["rows"]


def test_what_a_monitor_says_stays_out_of_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = answer(capsys, "monitor", "--runs", "2", "--rounds", "700")

    assert "wrong, monitored, explores" in out
    assert err == ""


def test_an_interrupted_study_exits_130() -> None:
    code, out, err = interrupted("study", "theorem6", "--runs", "2000000")

    assert code == 130
    assert " of 2,000,000 runs" in err
    assert out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("suite", "--plot", "a.png"),
            "the study suite has no curves for --plot; leave it out",
        ),
        (("monitor", "--out", "a.npz"), "'a.npz' must be a file whose name ends in .json"),
        (("logs", "--world", "random:3"), "paper, flipped, shop, confounded, random, wrong"),
        (("logs", "--policies", "GLUES"), "did you mean 'GLUE'"),
        (("logs", "--policies", ""), f"--policies is empty. Write for example {PROPOSED}"),
        *(
            (("logs", "--policies", f"GLUE@{constant}"), "did you mean 'GLUE'")
            for constant in ("x", "0", "-1", "inf")
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_help_names_the_policies_of_other_papers() -> None:
    text = " ".join(str(logs.help).split())

    assert [name for name in RIVALS if name.removesuffix("*") not in text] == []


def test_the_study_of_logs_takes_worlds_policies_and_lengths(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "logs.json"
    flags = ("logs", "--world", "paper,flipped", "--log-points", "900,800", "--out", str(out))
    code, text, _ = answer(capsys, *flags, *SMALL, "--policies", PROPOSED, "--batch", "5")

    assert code == 0
    heads = [line for line in text.splitlines() if " points" in line]
    assert heads == [
        f"{world}, {n} points" for world in ("paper", "flipped") for n in (900, 800)
    ]
    found = json.loads(out.read_text())
    assert found["settings"] == {
        "rounds": 40, "runs": 2, "seed": 0, "observed": 1.0, "batch": 5
    }  # fmt: skip
    assert {row["policy"] for row in found["rows"]} == set(PROPOSED.split(","))


def test_several_lengths_are_read_once_each() -> None:
    assert read_lengths("500") == (500,)
    assert read_lengths("2000, 500,2000") == (2000, 500)
    for given in ("", ",", "499", "500,x", "10000001"):
        with pytest.raises(click.BadParameter):
            read_lengths(given)
