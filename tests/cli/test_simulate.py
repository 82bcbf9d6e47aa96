import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from boundit.cli.main import main
from boundit.simulation import simulate as room
from boundit.simulation.environments import flipped_environment
from boundit.simulation.regret import Regret
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--policies", "LinUBC"), "there is no policy 'LinUBC'; did you mean 'LinUCB'?"),
        (("--world", "nowhere.json"), "nowhere.json"),
        (("--world", "random:x"), "'x' is no number; write flipped:0.9 or random:7"),
        (("--policies", ","), "--policies names nobody; write LinUCB,"),
        (
            ("--world", "paperr"),
            "there is no world 'paperr' and no such file; did you mean 'pap",
        ),
        (("--world", "random"), "did you mean 'random:7'?"),
        (("--world", "Flipped"), "did you mean 'flipped'?"),
        (("--world", "moon"), "there are paper, flipped, flipped:STRENGTH and random:SEED"),
        (("--out", "runs.json"), "'runs.json' must be a file whose name ends in .npz"),
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
    code, out, err = answer(capsys, "--runs", "2", "--rounds", "10", *arguments)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_help_names_the_policies_and_gives_examples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = answer(capsys, "--help")

    assert code == 0
    assert "boundit simulate --world flipped --policies" in out
    for name in ("KL-UCB", "LinTS", "OAM", "LinUCB_Biased-N"):
        assert name in out


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


def test_one_run_is_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = answer(capsys, "--runs", "1", "--rounds", "1", "--policies", "UCB")

    assert out.startswith("the paper's world: 1 run of 1 round, seed 0;")


def test_rewards_may_come_late_in_batches_or_never(capsys: pytest.CaptureFixture[str]) -> None:
    flags = (
        "--delay",
        "7.5",
        "--law",
        "geometric",
        "--window",
        "20",
        "--missing-rewards",
        "0.1",
    )
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
    ],
)
def test_rewards_that_cannot_come_so_are_refused(
    capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], says: str
) -> None:
    code, _, err = answer(capsys, *flags)

    assert code == 2
    assert says in err


def write_log(folder: Path) -> list[str]:
    """Write a log of the flipped world, and give the flags that name it."""
    world = flipped_environment()
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
        (query, "--query goes with --log alone"),
    ):
        code, _, err = answer(capsys, *given)
        assert code == 2
        assert said in err


def test_a_log_is_played_once_the_advice_of_each_refusal_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    ages, arms = rng.normal(40, 9, 400), rng.integers(2, size=400)
    earned = rng.choice([0, 0.5, 2], size=400)

    def write(rewards: Iterable[float]) -> None:
        rows = zip(ages, arms, rewards, strict=True)
        (tmp_path / "log.csv").write_text(
            "\n".join(["Age,Arm,Y", *(f"{a},{x},{y:g}" for a, x, y in rows)])
        )

    write(earned)
    log = ["--log", str(tmp_path / "log.csv"), "--graph", "Age -> X -> Y; Age -> Y; X <-> Y"]
    flags = [*log, "--query", "Y | do(X), Age", "--worlds", "1", "--runs", "1", "--rounds", "9"]
    steps: list[tuple[list[str], str]] = [
        ([], "--columns X="),
        (["--columns", "X=Arm"], "--bins Age="),
        (["--bins", "Age=40"], "write it as 0/1 in the log"),
    ]
    for more, advised in steps:
        flags += more
        code, _, err = answer(capsys, *flags)
        assert code != 0
        assert advised in err
        assert "--outcome-range" not in err
    write(earned > 0.2)
    code, out, err = answer(capsys, *flags, "--tolerance", "0.5", "--memory-limit", "1GB")
    assert (code, err) == (0, "")
    assert out.startswith("1 world")
