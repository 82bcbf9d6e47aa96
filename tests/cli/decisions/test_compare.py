import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import boundit as bd
from boundit.cli.decisions.compare import compare
from boundit.decisions.compare.question import CannotCompare

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


def ask(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(compare, [str(folder / "bounds.json"), *arguments])


def test_a_surely_better_arm_exits_0(folder: Path) -> None:
    answer = ask(folder, "1", "0")
    assert answer.exit_code == 0
    assert answer.output.startswith("Surely higher: the mean of always X=1 is at least 0.")


def test_what_is_not_surely_better_exits_1(folder: Path) -> None:
    assert ask(folder, "0", "1").exit_code == 1
    assert ask(folder, "1", "1").exit_code == 1


def test_json_has_the_verdict_and_the_rows(folder: Path) -> None:
    answer = ask(folder, "1", "0", "--json", "--contexts", "any")
    found = json.loads(answer.output)
    assert found["verdict"] == "surely better"
    assert [row["C"] for row in found["rows"]] == [0, 1]


def test_policies_and_shares_come_from_files(folder: Path) -> None:
    (folder / "new.csv").write_text("C,X,chance\n0,0,0.25\n0,1,0.75\n1,1,1\n")
    (folder / "old.json").write_text(json.dumps({"0": 0, "1": {"0": 0.5, "1": 0.5}}))
    (folder / "shares.csv").write_text("C,share\n0,3\n1,1\n")
    answer = ask(
        folder,
        str(folder / "new.csv"),
        str(folder / "old.json"),
        "--contexts",
        str(folder / "shares.csv"),
    )
    assert answer.exit_code == 0
    assert "Contexts weigh as given, 2 of them." in answer.output
    assert "C=0" in answer.output


def test_the_log_is_a_policy_and_tells_shares_and_propensities(folder: Path) -> None:
    log = str(folder / "log.csv")
    answer = ask(folder, "1", "log", "--log", log, "--graph", GRAPH, "--propensity", "p")
    assert answer.exit_code == 0
    assert "than that of what the log did" in answer.output
    assert "confidence 0.94" in answer.output
    plain = ask(folder, "1", "0", "--log", log, "--graph", GRAPH, "--confidence", "none")
    assert "as if they were everyone" in plain.output


def test_a_log_of_visitors_tells_shares(folder: Path) -> None:
    (folder / "visitors.csv").write_text("C\n" + "0\n1\n" * 200)
    answer = ask(folder, "1", "0", "--contexts", str(folder / "visitors.csv"))
    assert "400 visitors" in answer.output


def test_the_state_of_a_policy_is_a_policy(folder: Path) -> None:
    table = bd.BoundTable.load(folder / "bounds.json")
    (folder / "state.json").write_text(json.dumps(bd.UCB(prior=table).state()))
    answer = ask(folder, str(folder / "state.json"), "0")
    assert answer.output.startswith("Surely higher: the mean of UCB")


def test_what_the_log_did_needs_the_log(folder: Path) -> None:
    answer = ask(folder, "1", "log")
    assert isinstance(answer.exception, CannotCompare)


def test_bins_of_the_bounds_cut_the_log(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    age, x = rng.integers(18, 80, 600), rng.integers(2, size=600)
    y = (rng.random(600) < 0.2 + 0.5 * x).astype(int)
    log = tmp_path / "log.csv"
    rows = zip(age, x, y, strict=True)
    log.write_text("\n".join(["Age,X,Y", *(f"{a},{b},{c}" for a, b, c in rows)]))
    read = bd.read_log(str(log), bins={"Age": [40]})
    graph = "Age -> Y; X -> Y"
    table = bd.derive_bounds(bd.parse_graph(graph), "Y | do(X), Age", read)
    table.save(tmp_path / "bounds.json")
    answer = ask(tmp_path, "1", "log", "--log", str(log), "--graph", graph)
    assert answer.exit_code == 0
    visitors = ask(tmp_path, "1", "0", "--contexts", str(log))
    assert "600 visitors" in visitors.output


def test_a_page_has_the_answer_and_writes_over_nothing_that_is_read(
    folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    answer = ask(folder, "1", "0", "--report", str(page))
    assert answer.exit_code == 0
    first = answer.stdout.splitlines()[0]
    assert f'<p class="verdict">{first}</p>' in page.read_text("utf-8")

    again = ask(folder, "1", str(page), "--report", str(page))
    assert again.exit_code == 2
    assert "would write over" in again.stderr
