import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import boundit as bd
from boundit.cli.decisions import compare
from boundit.decisions.compare import CannotCompare

GRAPH = "C -> X -> Y; C -> Y"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(0)
    n = 3_000
    c = rng.integers(2, size=n)
    chance = np.where(c == 1, 0.75, 0.25)
    x = (rng.random(n) < chance).astype(int)
    y = (rng.random(n) < 0.2 + 0.4 * x + 0.1 * c).astype(int)
    p = np.where(x == 1, chance, 1 - chance)
    rows = zip(c, x, y, p, strict=True)
    lines = ["C,X,Y,p", *(f"{a},{b},{d},{e}" for a, b, d, e in rows)]
    (path / "log.csv").write_text("\n".join(lines))
    table = bd.derive_bounds(bd.parse_graph(GRAPH), "Y | do(X), C", str(path / "log.csv"))
    table.save(path / "bounds.json")
    return path


def ask(folder: Path, policy: str, baseline: str, *options: str) -> Result:
    asked = [str(folder / "bounds.json"), "--policy", policy, "--baseline", baseline]
    return CliRunner().invoke(compare, [*asked, *options])


def ask_log(folder: Path, policy: str, baseline: str, *options: str) -> Result:
    asked = [GRAPH, "Y | do(X), C", str(folder / "log.csv"), "--policy", policy]
    return CliRunner().invoke(compare, [*asked, "--baseline", baseline, *options])


def test_a_better_policy_exits_0_and_any_other_1(folder: Path) -> None:
    found = ask(folder, "1", "0")
    assert found.exit_code == 0
    assert found.output.startswith("Better: the mean of X=1 is 0.")
    assert ask(folder, "0", "1").exit_code == 1
    assert ask(folder, "1", "1").exit_code == 1
    assert ask(folder, "0", "1", "--goal", "min").exit_code == 0
    assert ask(folder, "1", "0", "--cost", "1=0.9").exit_code == 1


def test_json_has_the_verdict_and_the_rows(folder: Path) -> None:
    found = json.loads(ask(folder, "1", "0", "--json", "--shares", "any").output)
    assert found["verdict"] == "better"
    assert [row["C"] for row in found["rows"]] == [0, 1]


def test_policies_and_shares_come_from_files(folder: Path) -> None:
    (folder / "new.csv").write_text("C,X,probability\n0,0,0.25\n0,1,0.75\n1,1,1\n")
    (folder / "old.json").write_text(json.dumps({"0": 0, "1": {"0": 0.5, "1": 0.5}}))
    (folder / "shares.csv").write_text("C,share\n0,3\n1,1\n")
    files = [str(folder / name) for name in ("new.csv", "old.json", "shares.csv")]
    found = ask(folder, *files[:2], "--shares", files[2])
    assert found.exit_code == 0
    assert "Contexts have the given shares (2 contexts)." in found.output
    (folder / "units.csv").write_text("C\n" + "0\n1\n" * 200)
    sampled = ask(folder, "1", "0", "--shares", str(folder / "units.csv"))
    assert "estimated from 400 rows" in sampled.output


def test_the_logging_policy_and_propensities_need_the_log(folder: Path) -> None:
    found = ask_log(folder, "1", "log", "--shares", "log", "--propensity", "p")
    assert found.exit_code == 0
    assert "than that of the logging policy" in found.output
    assert "94% confidence" in found.output
    assert isinstance(ask(folder, "1", "log").exception, CannotCompare)
    robust = ("--propensity", "p", "--estimator", "dr", "--min-propensity", "0.25")
    assert ask_log(folder, "1", "0", *robust).exit_code == 0


def test_the_state_of_a_policy_is_a_policy(folder: Path) -> None:
    table = bd.BoundTable.load(folder / "bounds.json")
    (folder / "state.json").write_text(json.dumps(bd.UCB(prior=table).state()))
    found = ask(folder, str(folder / "state.json"), "0")
    assert found.output.startswith("Better: the mean of UCB")


def test_bins_of_the_bounds_cut_a_log_of_units(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    age, x = rng.integers(18, 80, 600), rng.integers(2, size=600)
    y = (rng.random(600) < 0.2 + 0.5 * x).astype(int)
    log = tmp_path / "log.csv"
    rows = zip(age, x, y, strict=True)
    log.write_text("\n".join(["Age,X,Y", *(f"{a},{b},{c}" for a, b, c in rows)]))
    read = bd.read_log(str(log), bins={"Age": [40]})
    graph = bd.parse_graph("Age -> Y; X -> Y")
    bd.derive_bounds(graph, "Y | do(X), Age", read).save(tmp_path / "bounds.json")
    assert "600 rows" in ask(tmp_path, "1", "0", "--shares", str(log)).output


def test_a_page_has_the_answer_and_writes_over_nothing_that_is_read(
    folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    found = ask(folder, "1", "0", "--report", str(page))
    assert found.exit_code == 0
    first = found.stdout.splitlines()[0]
    assert f'<p class="verdict">{first}</p>' in page.read_text("utf-8")

    again = ask(folder, "1", str(page), "--report", str(page))
    assert again.exit_code == 2
    assert "would write over" in again.stderr
