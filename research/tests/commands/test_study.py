import json
from pathlib import Path

import click
import pytest

from boundit.cli.main import main
from boundit_research.commands.study import STUDIED, read_lengths, study
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


def test_the_study_of_rivals_keeps_its_runs_and_writes_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, page = tmp_path / "rivals.json", tmp_path / "rivals.html"
    flags = ("rivals", "--world", "random", "--worlds", "1", "--log-points", "600")
    small = ("--runs", "2", "--rounds", "30", "--policies", "GLUE*,MIN-UCB@0.5")
    code, text, err = answer(capsys, *flags, *small, "--out", str(out), "--report", str(page))

    assert code == 0, err
    assert "random, 600 points; 2 runs" in text
    assert set(json.loads(out.read_text())["regrets"][0]["finals"]) == {
        *("LinUCB", "Fused", "Fused-unseen", "GLUE*", "MIN-UCB@0.5")
    }
    assert "Where we lose" in page.read_text()
    text_page = tmp_path / "rivals.md"
    kept = ("--out", str(out), "--report", str(text_page))
    code, again, _ = answer(capsys, *flags, *small, *kept)
    assert again == text
    assert "| policy | mean | median |" in text_page.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("suite", "--world", "paper"), "the study suite has no use for --world; leave it out"),
        (("suite", "--plot", "a.png"), "the study suite has no use for --plot"),
        (("ceilings", "--plot", "a.png"), "the study ceilings has no use for --plot"),
        (("monitor", "--out", "a.npz"), "'a.npz' must be a file whose name ends in .json"),
        (("monitor", "--observed", "0.5"), "the study monitor has no use for --observed"),
        (("logs", "--worlds", "2"), "the study logs has no use for --worlds"),
        (("logs", "--report", "a.html"), "the study logs has no use for --report"),
        (("logs", "--world", "random:3"), "paper, flipped, random, wrong"),
        (("rivals", "--policies", "GLUES"), "did you mean 'GLUE'"),
        (("rivals", "--plot", "a.svg"), "the study rivals has no use for --plot"),
    ],
)
def test_what_a_study_has_no_use_for_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


@pytest.mark.parametrize("name", ["GLUE@x", "GLUE@0", "GLUE@-1", "GLUE@", "GLUE@inf"])
@pytest.mark.parametrize("asked", ["logs", "rivals"])
def test_the_constant_of_a_rival_is_a_number_above_0(
    capsys: pytest.CaptureFixture[str], name: str, asked: str
) -> None:
    code, _, err = answer(capsys, asked, "--policies", f"LinUCB,{name}")

    assert (code, err) == (
        2,
        f"error: --policies {name}: the constant behind @ must be a number above 0, as in "
        "GLUE@0.5\n",
    )


@pytest.mark.parametrize("asked", ["logs", "rivals"])
def test_policies_that_a_study_proposes_are_there(
    capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    code, _, err = answer(capsys, asked, "--policies", "")
    proposed = STUDIED[asked].split(",")
    small = ("--world", "paper", "--log-points", "600", "--runs", "1", "--rounds", "5")

    assert (code, f"--policies is empty. Write for example {STUDIED[asked]}" in err) == (
        2,
        True,
    )
    code, out, err = answer(capsys, asked, *small, "--policies", ",".join(proposed), "--json")
    assert code == 0, err
    assert {row["policy"] for row in json.loads(out)["rows"]} >= set(proposed) - {"LinUCB"}


def test_help_names_the_rivals() -> None:
    text = " ".join(str(study.help).split())

    assert [name for name in RIVALS if name.removesuffix("*") not in text] == []


def test_the_study_of_logs_takes_worlds_policies_and_lengths(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "logs.json"
    flags = ("logs", "--world", "flipped", "--log-points", "900", "--out", str(out))
    code, text, _ = answer(capsys, *flags, *SMALL, "--policies", "LinUCB-PCB")

    assert code == 0
    assert "flipped, 900 points; 2 runs\nLinUCB " in text
    assert json.loads(out.read_text())["settings"] == {"rounds": 40, "seed": 0, "observed": 1}
    assert answer(capsys, *flags, *SMALL, "--policies", "LinUCB-PCB")[1] == text
    several = ("logs", "--world", "paper,flipped", "--log-points", "900,800")
    code, text, _ = answer(capsys, *several, *SMALL, "--policies", "LinUCB")
    heads = [line for line in text.splitlines() if "points;" in line]
    assert heads == [
        f"{world}, {n} points; 2 runs" for world in ("paper", "flipped") for n in (900, 800)
    ]
    code, _, err = answer(capsys, *flags, *SMALL, "--observed", "0.5")
    assert (code, "name another file" in err) == (2, True)


def test_several_lengths_are_read_once_each() -> None:
    assert read_lengths("500") == (500,)
    assert read_lengths("2000, 500,2000") == (2000, 500)
    for given in ("", ",", "499", "500,x", "10000001"):
        with pytest.raises(click.BadParameter):
            read_lengths(given)
