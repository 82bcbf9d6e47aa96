import json
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
    assert out.startswith("the paper's environment: 2 runs of 40 rounds, seed 0;")
    lines = out.splitlines()[2:]
    names = ["LinUCB", "Fused", "LinUCB-PCB", "UCB", "UCB-PCB"]
    assert [line.split()[0] for line in lines] == names


def test_rounds_may_show_more_than_rewards(capsys: pytest.CaptureFixture[str]) -> None:
    flags = (*SMALL, "--policies", "LinUCB-PCB,Fused", "--log-size", "2000")
    told, half, none = (
        answer(capsys, *flags, *more)[1].splitlines()[2:]
        for more in (("--feedback", "observed=1"), ("--feedback", "observed=0.5"), ())
    )

    assert told[0] == half[0] == none[0]
    assert len({told[1], half[1], none[1]}) > 1


def test_bounds_may_come_from_a_drawn_log(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = answer(
        capsys, *SMALL, "--log-size", "2000", "--json", "--policies", "UCB,UCB-PCB"
    )
    record = json.loads(out)

    assert [line["policy"] for line in record["policies"]] == ["UCB", "UCB-PCB"]
    assert (record["runs"], record["rounds"]) == (2, 40)
    assert record["environment"] == "the paper's environment"


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("flipped", "the flipped environment of strength 1"),
        ("flipped:0.8", "the flipped environment of strength 0.8"),
        ("random:3", "random environment 3, 4 arms, 4 contexts"),
    ],
)
def test_environments_go_by_name(
    capsys: pytest.CaptureFixture[str], place: str, name: str
) -> None:
    _, out, _ = answer(
        capsys, *SMALL, "--environment", place, "--policies", "LinUCB, LinUCB_CP-counts"
    )

    assert out.startswith(f"{name}: 2 runs")
    assert "LinUCB_CP-counts" in out


def test_an_environment_may_come_from_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "shop.json"
    tables = {"X": [[], 0.5], "Y": [["X"], [0.2, 0.6]]}
    path.write_text(json.dumps({"query": "Y | do(X)", "tables": tables}))

    code, out, _ = answer(capsys, *SMALL, "--environment", str(path), "--policies", "UCB")

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
        (("--policies", "LinUBC"), "LinUBC is not a policy. Did you mean 'LinUCB'?"),
        (("--environment", "nowhere.json"), "nowhere.json"),
        (("--environment", "random:x"), "'x' is not a number. Write flipped:0.9 or random:7"),
        (("--policies", ","), "--policies is empty. Write for example LinUCB,"),
        (
            ("--environment", "paperr"),
            "'paperr' is not an environment. Did you mean 'paper'?",
        ),
        (("--environment", "random"), "Did you mean 'random:7'?"),
        (("--environment", "Flipped"), "Did you mean 'flipped'?"),
        (
            ("--environment", "moon"),
            "There are paper, flipped, flipped:STRENGTH, random:SEED and JSON",
        ),
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
    assert "boundit simulate --environment flipped --policies" in out
    for name in ("LinUCB-shared", "LinTS", "OAM", "LinUCB_Biased-N"):
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

    assert out.startswith("the paper's environment: 1 run of 1 round, seed 0;")


def test_rewards_may_be_delayed_or_missing(capsys: pytest.CaptureFixture[str]) -> None:
    late = "delay=7.5,distribution=geometric,window=20,missing=0.1,default_reward=0,batch=5"
    flags = ("--feedback", late, "--policies", "UCB", "--json")
    code, out, err = answer(capsys, *SMALL, *flags)

    assert (code, err) == (0, "")
    assert json.loads(out)["feedback"] == {
        "delay": 7.5,
        "distribution": "geometric",
        "window": 20,
        "missing": 0.1,
        "default_reward": 0.0,
        "batch": 5,
    }
    plain = ("--policies", "UCB", "--feedback")
    assert (
        "feedback: delay 3, distribution fixed" in answer(capsys, *SMALL, *plain, "delay=3")[1]
    )
    assert "feedback" not in answer(capsys, *SMALL, *plain, "delay=0")[1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("delay=1.5", "1.5 is not valid. Use a number of rounds"),
        ("default_reward=0", "Use a number of rounds with default_reward"),
        ("dealy=3", "unknown key 'dealy'. Did you mean 'delay'?"),
        ("late=3", "Keys: delay, distribution, window"),
        ("window=soon", "window='soon' is not a number"),
        ("observed=2", "Use a share of the rounds"),
    ],
)
def test_impossible_feedback_is_refused(
    capsys: pytest.CaptureFixture[str], given: str, says: str
) -> None:
    code, _, err = answer(capsys, "--feedback", given, *SMALL, "--policies", "UCB")

    assert (code, err.count("\n")) == (2, 1)
    assert says in err


def write_log(folder: Path) -> list[str]:
    """Write a log of the flipped environment; return GRAPH, QUERY and LOG."""
    environment = flipped_environment()
    rows = environment.model.sample_log(2_000, np.random.default_rng(0))
    lines = [
        ",".join(rows),
        *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True)),
    ]
    (folder / "log.csv").write_text("\n".join(lines))
    (folder / "graph.txt").write_text(str(environment.graph))
    return [str(folder / "graph.txt"), "Y | do(X1, X2), U", str(folder / "log.csv")]


def test_policies_play_in_environments_that_fit_a_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked, policies = write_log(tmp_path), ("--policies", "UCB,UCB-PCB", *SMALL)
    code, out, _ = answer(capsys, *asked, *policies, "--out", str(tmp_path / "runs.npz"))

    assert code == 0
    assert out.startswith("5 environments that fit the log")
    assert "mean regret in the worst environment:" in out
    assert Regret.load(tmp_path / "runs.npz").runs == 10
    record = json.loads(answer(capsys, *asked, *policies, "--json")[1])
    assert (record["runs"], len(record["environments"])) == (10, 5)


def test_options_of_a_log_go_with_a_log(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = write_log(tmp_path)
    for given, said in (
        (asked[:2], "Give GRAPH QUERY LOG"),
        ((*asked, "--environment", "paper"), "--environment cannot be combined with a log"),
        ((*asked, "--log-size", "500"), "--log-size cannot be combined with a log"),
        (("--weight", "n"), "--weight needs GRAPH QUERY LOG"),
    ):
        code, _, err = answer(capsys, *given)
        assert code == 2
        assert said in err


def test_a_numeric_log_is_played_once_the_advice_of_each_refusal_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    ages, arms = rng.normal(40, 9, 400), rng.integers(2, size=400)
    rows = zip(ages, arms, rng.choice([0, 0.5, 2], size=400), strict=True)
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["Age,Arm,Y", *(f"{a},{x},{y:g}" for a, x, y in rows)]))
    flags = ["Age -> X -> Y; Age -> Y; X <-> Y", "Y | do(X), Age", str(log)]
    flags += ["--policies", "UCB-PCB", "--runs", "1", "--rounds", "9"]
    steps: list[tuple[list[str], str]] = [
        ([], "--columns X="),
        (["--columns", "X=Arm"], "--bins Age="),
        (["--bins", "Age=40"], "--outcome-range"),
    ]
    for more, advised in steps:
        flags += more
        code, _, err = answer(capsys, *flags)
        assert code != 0
        assert advised in err
    code, out, err = answer(
        capsys, *flags, "--outcome-range", "0", "2", "--memory-limit", "1GB"
    )
    assert (code, err) == (0, "")
    assert out.startswith("5 environments that fit the log")


def test_a_time_limit_prints_the_runs_that_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--runs", "100000", "--policies", "UCB", "--time-limit", "0")
    code, out, err = answer(capsys, *flags)

    assert code == 0
    assert " of 100,000 runs" in err
    assert "UCB" in out
