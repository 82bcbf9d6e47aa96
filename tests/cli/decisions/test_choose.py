"""``boundit choose``: from a saved table, or straight from a log."""

import json
from pathlib import Path

import pytest

from boundit.bounds.derive import derive_bounds
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable
from tests.cli.answer import answer
from tests.cli.test_bound import GRAPH, QUERY
from tests.cli.test_bound import log as log


@pytest.fixture
def bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    table = BoundTable.from_rows(
        [{"Ad": "A", "lower": 0.1, "upper": 0.5}, {"Ad": "B", "lower": 0.3, "upper": 0.9}],
        outcome="Click",
        treatments=["Ad"],
        outcome_range=(0, 1),
    )
    table.save("bounds.json")
    return "bounds.json"


def test_a_saved_table_is_chosen_from(capsys: pytest.CaptureFixture[str], bounds: str) -> None:
    code, out, err = answer(capsys, "choose", bounds)

    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["B", "0.2"]
    assert "B; maximum regret 0.2, if A is best." in out
    _, drawn, _ = answer(capsys, "choose", bounds, "--randomize")
    assert "Draw with probabilities A 0.2 and B 0.8; maximum regret 0.16" in drawn


def test_rules_and_costs_as_json(capsys: pytest.CaptureFixture[str], bounds: str) -> None:
    asked = ("choose", bounds, "--rule", "maximin", "--cost", "B=0.25", "--json")
    record = json.loads(answer(capsys, *asked)[1])

    ((context, found),) = record["choices"]
    assert (context, found["probabilities"], record["rule"]) == ([], [[["A"], 1.0]], "maximin")


@pytest.mark.parametrize("name", ["policy.csv", "policy.json"])
def test_what_is_saved_is_a_policy_to_compare(
    name: str, capsys: pytest.CaptureFixture[str], bounds: str
) -> None:
    code, _, err = answer(capsys, "choose", bounds, "--randomize", "--out", name)
    assert (code, err) == (0, f"wrote {name}\n")
    _, out, _ = answer(capsys, "compare", bounds, "--policy", name, "--baseline", "A", "--json")
    assert json.loads(out)["interval"] == pytest.approx([-0.16, 0.64])


def test_a_log_is_bounded_first_with_the_options_of_bound(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(capsys, "choose", GRAPH, QUERY, log, "--confidence", "0.9")

    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:2] == ["Z", "arm"]
    assert "90% confidence that all regrets are valid" in out


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bounds.json", "--selection-rate", ".5"), "--selection-rate is about a log, and"),
        (("bounds.json", "--cost", "B"), "--cost 'B' has no number"),
        (("bounds.json", "--cost", "Z=1"), "Ad has no value 'Z'"),
        ((GRAPH, QUERY), "Give GRAPH QUERY LOG, or saved BOUNDS.json alone"),
        (("none.json",), "cannot read 'none.json'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = answer(capsys, "choose", *arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_caveats_follow_in_json_and_text(capsys: pytest.CaptureFixture[str], log: str) -> None:
    limit = ("--confounding-limit", "X <-> Y=1.5")
    asked = ("choose", "X -> Y; X <-> Y", "Y | do(X)", log, *limit)
    _, _, err = answer(capsys, *asked)
    record = json.loads(answer(capsys, *asked, "--json")[1])

    assert any("a factor of at most 1.5" in note for note in record["caveats"])
    assert err == "".join(f"{note}\n" for note in record["caveats"])


def test_a_page_has_the_answer(capsys: pytest.CaptureFixture[str], bounds: str) -> None:
    assert answer(capsys, "choose", bounds, "--report", "out.html")[0] == 0
    assert "maximum regret 0.2, if A is best" in Path("out.html").read_text("utf-8")


def test_with_several_graphs_the_regret_is_valid_if_any_is_right(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    other = "Z -> X -> Y; Z -> Y; X <-> Y; Z -> [S]"
    Path("one.txt").write_text(GRAPH, encoding="utf-8")
    Path("other.txt").write_text(other, encoding="utf-8")
    _, out, _ = answer(capsys, "choose", "one.txt,other.txt", QUERY, log, "--json")
    regrets = [one["max_regret"] for _, one in json.loads(out)["choices"]]

    united = derive_bounds([parse(GRAPH), parse(other)], QUERY, log)
    assert regrets == [each.max_regret for each in united.choose().values()]
    alone = derive_bounds(parse(GRAPH), QUERY, log).choose()
    assert all(
        less.max_regret <= more for less, more in zip(alone.values(), regrets, strict=True)
    )


def test_columns_may_be_those_of_a_node_that_one_of_several_graphs_has(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    rows = Path(log).read_text(encoding="utf-8").split()
    lines = [f"{row},{i % 2 if i else 'w'}" for i, row in enumerate(rows)]
    Path("wide.csv").write_text("\n".join(lines), encoding="utf-8")
    Path("one.txt").write_text(GRAPH, encoding="utf-8")
    Path("other.txt").write_text(f"{GRAPH}; W -> Y", encoding="utf-8")
    asked = (QUERY, "wide.csv", "--columns", "W=w")

    assert answer(capsys, "choose", "one.txt,other.txt", *asked)[0] == 0
    assert "no node 'W'" in answer(capsys, "choose", "one.txt", *asked)[2]
