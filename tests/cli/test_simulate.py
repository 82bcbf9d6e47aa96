import json
from pathlib import Path

import click
import numpy as np
import pytest

from boundit.cli.main import main
from boundit.cli.simulate import STUDIED, simulate
from boundit.report.figures import canvas
from boundit.simulation import simulate as room
from boundit.simulation.regret import Regret
from boundit.simulation.worlds import flipped_world
from boundit.studies.online import catalogue
from boundit.studies.rivals.catalogue import RIVALS
from tests.cli.interrupted import interrupted

SMALL = ("--rounds", "40", "--runs", "2")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["simulate", *arguments])
    assert isinstance(left.value.code, int)
    shown = capsys.readouterr()
    return left.value.code, shown.out, shown.err


def test_each_policy_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = answer(capsys, *SMALL)

    assert (code, err) == (0, "")
    assert out.startswith("the paper's world: 2 runs of 40 rounds, seed 0;")
    lines = out.splitlines()[2:]
    names = ["LinUCB", "Fused", "LinUCB-PCB", "UCB", "UCB-PCB"]
    assert [line.split()[0] for line in lines] == names


def test_rounds_may_show_more_than_rewards(capsys: pytest.CaptureFixture[str]) -> None:
    flags = (*SMALL, "--policies", "LinUCB-PCB,Fused", "--log-points", "2000")
    told, half, none = (
        answer(capsys, *flags, *more)[1].splitlines()[2:]
        for more in (("--observed", "1"), ("--observed", "0.5"), ())
    )

    assert told[0] == half[0] == none[0]
    assert len({told[1], half[1], none[1]}) > 1


def test_bounds_may_come_from_a_drawn_log(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = answer(
        capsys, *SMALL, "--log-points", "2000", "--json", "--policies", "UCB,UCB-PCB"
    )
    record = json.loads(out)

    assert [line["policy"] for line in record["policies"]] == ["UCB", "UCB-PCB"]
    assert (record["runs"], record["rounds"], record["world"]) == (2, 40, "the paper's world")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("flipped", "the flipped world of strength 1"),
        ("flipped:0.8", "the flipped world of strength 0.8"),
        ("random:3", "random world 3, 4 arms, 4 contexts"),
    ],
)
def test_worlds_go_by_name(capsys: pytest.CaptureFixture[str], place: str, name: str) -> None:
    _, out, _ = answer(
        capsys, *SMALL, "--world", place, "--policies", "LinUCB, LinUCB_CP-counts"
    )

    assert out.startswith(f"{name}: 2 runs")
    assert "LinUCB_CP-counts" in out


def test_a_world_may_come_from_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "shop.json"
    tables = {"X": [[], 0.5], "Y": [["X"], [0.2, 0.6]]}
    path.write_text(json.dumps({"query": "Y | do(X)", "tables": tables}))

    code, out, _ = answer(capsys, *SMALL, "--world", str(path), "--policies", "UCB")

    assert (code, out.split(":")[0]) == (0, "shop")


def test_results_are_saved_and_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, png, svg = (tmp_path / name for name in ("regret.npz", "regret.png", "regret.svg"))
    _, text, err = answer(capsys, *SMALL, "--out", str(out), "--plot", str(png))
    answer(capsys, *SMALL, "--plot", str(svg))

    assert err == f"wrote {out}\nwrote {png}\n"
    assert str(Regret.load(out)) + "\n" == text
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text(encoding="utf-8")


def test_a_study_has_its_own_size_and_record(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "suite.json"
    small = ("--study", "suite", "--runs", "2", "--rounds", "20")
    code, out, err = answer(capsys, *small, "--out", str(kept))
    _, shown, _ = answer(capsys, *small, "--json")

    assert (code, err) == (0, f"wrote {kept}\n")
    assert out.startswith("2 runs of 20 rounds, seed 0; differences with intervals")
    record = json.loads(kept.read_text(encoding="utf-8"))
    assert record["study"] == "suite"
    assert record["rows"] == json.loads(shown)["rows"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--policies", "LinUBC"), "there is no policy 'LinUBC'; did you mean 'LinUCB'?"),
        (("--world", "nowhere.json"), "nowhere.json"),
        (("--world", "random:x"), "'x' is no number; write flipped:0.9 or random:7"),
        (("--study", "suite", "--world", "paper"), "--study does not go with --world"),
        (("--study", "suite", "--plot", "a.png"), "the study suite has no curves to plot"),
        (("--study", "ceilings", "--plot", "a.png"), "the study ceilings has no curves"),
        (("--policies", ","), "--policies names nobody; write LinUCB,"),
        (
            ("--world", "paperr"),
            "there is no world 'paperr' and no such file; did you mean 'pap",
        ),
        (("--world", "random"), "did you mean 'random:7'?"),
        (("--world", "Flipped"), "did you mean 'flipped'?"),
        (("--world", "moon"), "there are paper, flipped, flipped:STRENGTH and random:SEED"),
        (("--out", "runs.json"), "--out runs.json: runs are saved as .npz; name the file so"),
        (("--study", "watch", "--out", "a.npz"), "what a study finds is saved as .json"),
        (("--plot", "a.pdf"), "'a.pdf' must be a file whose name ends in .png or .svg"),
        (("--out", "none/a.npz"), "there is no folder 'none'"),
    ],
)
def test_nonsense_gets_one_line_before_anything_is_played(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    def play(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(room, "simulate", play)
    monkeypatch.setattr(catalogue, "run_study", play)
    code, out, err = answer(capsys, "--runs", "2", "--rounds", "10", *arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_help_names_the_policies_and_gives_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = answer(capsys, "--help")

    assert code == 0
    assert "boundit simulate --world flipped --policies" in out
    for name in ("KL-UCB", "LinTS-shared", "OAM", "LinUCB_Biased-N", "theorem6"):
        assert name in out


def test_what_a_watch_says_stays_out_of_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = answer(capsys, "--study", "watch", "--runs", "2", "--rounds", "700")

    assert "wrong, watched, forced plays" in out
    assert err == ""


def test_json_is_json_also_where_there_is_no_interval(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One run has no spread, and JSON has no NaN."""
    _, out, _ = answer(capsys, "--runs", "1", "--rounds", "20", "--json")

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert json.loads(out, parse_constant=refuse)["policies"][0]["mean_lower"] is None


def test_an_interrupted_simulation_keeps_its_runs_and_exits_130() -> None:
    long = ("simulate", "--runs", "200000", "--policies", "LinUCB,UCB", "--rounds", "200")
    code, out, err = interrupted(*long)

    assert code == 130
    assert "interrupted after " in err
    assert " of 200,000 runs" in err
    assert out.splitlines()[1].startswith("policy")


def test_an_interrupted_study_exits_130() -> None:
    code, out, err = interrupted("simulate", "--study", "theorem6", "--runs", "2000000")

    assert code == 130
    assert " of 2,000,000 runs" in err
    assert out


def test_one_run_is_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = answer(capsys, "--runs", "1", "--rounds", "1", "--policies", "UCB")

    assert out.startswith("the paper's world: 1 run of 1 round, seed 0;")


def test_rewards_may_come_late_in_batches_or_never(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--delay", "7.5", "--law", "geometric", "--window", "20", "--missing", "0.1")
    more = ("--default", "0", "--batch", "5")
    code, out, err = answer(capsys, *SMALL, *flags, *more, "--policies", "UCB", "--json")

    assert (code, err) == (0, "")
    assert json.loads(out)["feedback"] == {
        "delay": 7.5,
        "law": "geometric",
        "window": 20,
        "missing": 0.1,
        "default": 0.0,
        "batch": 5,
    }
    assert "feedback: delay 3, law fixed" in answer(capsys, *SMALL, "--delay", "3")[1]
    assert "feedback" not in answer(capsys, *SMALL, "--delay", "0")[1]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--delay", "1.5"), "delay must be a number of rounds"),
        (("--default", "0"), "window must be a number of rounds, where there is a default"),
        (("--study", "watch", "--batch", "3"), "--study does not go with --batch"),
    ],
)
def test_rewards_that_cannot_come_so_are_refused(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], says: str
) -> None:
    code, _, err = answer(capsys, *flags)

    assert code == 2
    assert says in err


def test_the_study_of_rivals_keeps_its_runs_and_writes_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, page = tmp_path / "rivals.json", tmp_path / "rivals.html"
    flags = ("--study", "rivals", "--world", "random", "--worlds", "1", "--log-points", "600")
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
    for wrong, line in (
        (("--study", "logs", "--worlds", "2"), "--worlds goes with --log or --study rivals"),
        (("--worlds", "2"), "--worlds goes with --log or --study rivals"),
        (("--study", "logs", "--report", "a.html"), "--report goes with --study rivals alone"),
        (("--study", "rivals", "--policies", "GLUES"), "did you mean 'GLUE'"),
        (("--study", "rivals", "--plot", "a.svg"), "the study rivals has no curves"),
    ):
        code, _, err = answer(capsys, *wrong)
        assert code != 0
        assert line in err


@pytest.mark.parametrize("name", ["GLUE@x", "GLUE@0", "GLUE@-1", "GLUE@", "GLUE@inf"])
@pytest.mark.parametrize("study", ["logs", "rivals"])
def test_the_constant_of_a_rival_is_a_number_above_0(
    capsys: pytest.CaptureFixture[str], name: str, study: str
) -> None:
    code, _, err = answer(capsys, "--study", study, "--policies", f"LinUCB,{name}")

    assert (code, err) == (
        2,
        f"error: --policies {name}: the constant behind @ must be a number above 0, as in "
        "GLUE@0.5\n",
    )


@pytest.mark.parametrize("study", ["logs", "rivals"])
def test_policies_that_a_study_proposes_are_there(
    capsys: pytest.CaptureFixture[str], study: str
) -> None:
    code, _, err = answer(capsys, "--study", study, "--policies", "")
    proposed = STUDIED[study].split(",")
    small = ("--world", "paper", "--log-points", "600", "--runs", "1", "--rounds", "5")

    assert (code, f"names nobody; write {STUDIED[study]} or such" in err) == (2, True)
    code, out, err = answer(
        capsys, "--study", study, *small, "--policies", ",".join(proposed), "--json"
    )
    assert code == 0, err
    assert {row["policy"] for row in json.loads(out)["rows"]} >= set(proposed) - {"LinUCB"}


def test_help_names_the_rivals_and_the_worlds_of_studies() -> None:
    text = " ".join(str(simulate.help).split())
    options = {option.name: option for option in simulate.params}

    assert [name for name in RIVALS if name.removesuffix("*") not in text] == []
    for name, said in (("place", "random or wrong"), ("workers", "Does not go with --study")):
        option = options[name]
        assert isinstance(option, click.Option)
        assert said in str(option.help)


def test_a_study_without_curves_says_so_before_matplotlib_is_missed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canvas, "find_spec", lambda _: None)

    for flags in (
        ("--study", "rivals", "--plot", "r.png"),
        ("--plot", "r.png", "--study", "logs"),
    ):
        code, _, err = answer(capsys, *flags)
        assert (code, "has no curves to plot; leave out --plot" in err) == (2, True)
    code, _, err = answer(capsys, "--study", "watch", "--plot", "r.png")
    assert (code, "pip install 'boundit[plot]'" in err) == (2, True)


def test_the_study_of_logs_takes_worlds_policies_and_lengths(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "logs.json"
    flags = ("--study", "logs", "--world", "flipped", "--log-points", "900", "--out", str(out))
    code, text, _ = answer(capsys, *flags, *SMALL, "--policies", "LinUCB-PCB")

    assert code == 0
    assert "flipped, 900 points; 2 runs\nLinUCB " in text
    assert json.loads(out.read_text())["settings"] == {"rounds": 40, "seed": 0, "observed": 1}
    assert answer(capsys, *flags, *SMALL, "--policies", "LinUCB-PCB")[1] == text
    code, _, err = answer(capsys, "--study", "logs", "--world", "random:3")
    assert (code, "paper, flipped, random, wrong" in err) == (2, True)
    several = ("--study", "logs", "--world", "paper,flipped", "--log-points", "900,800")
    code, text, _ = answer(capsys, *several, *SMALL, "--policies", "LinUCB")
    heads = [line for line in text.splitlines() if "points;" in line]
    assert heads == [
        f"{world}, {n} points; 2 runs" for world in ("paper", "flipped") for n in (900, 800)
    ]
    code, _, err = answer(capsys, "--log-points", "900,800")
    assert (code, "several lengths go with --study" in err) == (2, True)
    code, _, err = answer(capsys, *flags, *SMALL, "--observed", "0.5")
    assert (code, "name another file" in err) == (2, True)
    code, _, err = answer(capsys, "--study", "watch", "--observed", "0.5")
    assert (code, "--study does not go with --observed" in err) == (2, True)
    code, _, err = answer(capsys, "--study", "logs", "--workers", "2")
    assert (code, "--study does not go with --workers" in err) == (2, True)


def write_log(folder: Path) -> list[str]:
    """Write a log of the flipped world, and give the flags that name it."""
    world = flipped_world()
    rows = world.model.sample_log(2_000, np.random.default_rng(0))
    lines = [
        ",".join(rows),
        *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True)),
    ]
    (folder / "log.csv").write_text("\n".join(lines))
    (folder / "graph.txt").write_text(str(world.graph))
    return ["--log", str(folder / "log.csv"), "--graph", str(folder / "graph.txt")]


def test_policies_play_in_worlds_that_fit_a_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    flags = [*write_log(tmp_path), "--query", "Y | do(X1, X2), U", "--worlds", "2"]
    policies = ("--policies", "UCB,UCB-PCB", *SMALL)
    code, out, _ = answer(capsys, *flags, *policies, "--out", str(tmp_path / "runs.npz"))

    assert code == 0
    assert out.startswith("2 worlds that fit the log")
    assert "mean regret in the worst world:" in out
    assert Regret.load(tmp_path / "runs.npz").runs == 4
    record = json.loads(answer(capsys, *flags, *policies, "--json")[1])
    assert (record["runs"], len(record["fitted"]["worlds"])) == (4, 2)


def test_flags_of_a_log_go_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = write_log(tmp_path)
    query = ("--query", "Y | do(X1, X2), U")
    for given, said in (
        (flags, "--log needs --graph and --query"),
        ((*flags, *query, "--world", "paper"), "--world does not go with --log"),
        ((*flags, *query, "--study", "watch"), "--study does not go with --log"),
        (query, "--query goes with --log alone"),
    ):
        code, _, err = answer(capsys, *given)
        assert code == 2
        assert said in err
