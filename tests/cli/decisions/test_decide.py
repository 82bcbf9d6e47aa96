"""``boundit decide``: from a saved table, or straight from a log."""

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


def test_a_saved_table_is_decided_in_words(
    capsys: pytest.CaptureFixture[str], bounds: str
) -> None:
    code, out, err = answer(capsys, "decide", bounds)

    assert (code, err) == (0, "")
    assert out.startswith("arm           regret  single arm  its regret\nA 0.2, B 0.8  0.16")
    assert "draw A with chance 0.2 and B with chance 0.8; on average over the draw" in out


def test_one_arm_by_another_rule_and_as_json(
    capsys: pytest.CaptureFixture[str], bounds: str
) -> None:
    asked = ("decide", bounds, "--rule", "optimism", "--optimism", "0.5", "--json")
    record = json.loads(answer(capsys, *asked)[1])

    assert (record["rule"], record["optimism"]) == ("optimism", 0.5)
    ((context, found),) = record["choices"]
    assert (context, found["lottery"]) == ([], [[["B"], 1.0]])
    assert answer(capsys, "decide", bounds, "--single")[1].splitlines()[1].startswith("B ")


def test_a_log_is_bounded_first_with_the_options_of_bound(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(capsys, "decide", GRAPH, QUERY, log, "--confidence", "0.9")

    assert (code, err) == (0, "")
    assert out.splitlines()[0].split()[:2] == ["Z", "arm"]
    assert "confidence 0.9 for all contexts at once" in out
    _, out, _ = answer(
        capsys, "decide", GRAPH, QUERY, "law.csv", "--weight", "p", "--exact", "--single"
    )
    assert "chance is not allowed for" in out


@pytest.mark.usefixtures("bounds")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bounds.json", "--exact"), "--exact is about a log, and 'bounds.json' is saved"),
        (("bounds.json", "--rule", "optimism"), "--rule optimism needs a number"),
        (("bounds.json", "--optimism", ".5"), "--optimism has a meaning with --rule optimism"),
        ((GRAPH, QUERY), "Give GRAPH QUERY LOG"),
        (("none.json",), "cannot read 'none.json'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = answer(capsys, "decide", *arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_json_has_the_caveats_that_text_is_followed_by(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    limit = ("--confounding-limit", "X <-> Y=1.5")
    asked = ("decide", "X -> Y; X <-> Y", "Y | do(X)", log, *limit)
    _, _, err = answer(capsys, *asked)
    record = json.loads(answer(capsys, *asked, "--json")[1])

    assert any("a factor of at most 1.5" in note for note in record["caveats"])
    assert err == "".join(f"{note}\n" for note in record["caveats"])


def test_a_page_has_the_answer(capsys: pytest.CaptureFixture[str], bounds: str) -> None:
    assert answer(capsys, "decide", bounds, "--report", "out.html")[0] == 0
    assert "draw A with chance 0.2" in Path("out.html").read_text("utf-8")


def test_with_rival_graphs_the_promise_holds_if_any_is_right(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    rival = "Z -> X -> Y; Z -> Y; X <-> Y; Z -> [S]"
    Path("one.txt").write_text(GRAPH, encoding="utf-8")
    Path("two.txt").write_text(rival, encoding="utf-8")
    alone = json.loads(answer(capsys, "decide", GRAPH, QUERY, log, "--json")[1])
    found = json.loads(answer(capsys, "decide", "one.txt,two.txt", QUERY, log, "--json")[1])

    regrets = [[one["regret"] for _, one in each["choices"]] for each in (alone, found)]
    assert all(less <= more for less, more in zip(*regrets, strict=True))

    united = derive_bounds([parse(GRAPH), parse(rival)], QUERY, log)
    assert regrets[1] == [each.regret for each in united.choose().values()]


def test_columns_may_be_those_of_a_node_that_a_rival_alone_has(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    rows = Path(log).read_text(encoding="utf-8").split()
    lines = [f"{row},{i % 2 if i else 'w'}" for i, row in enumerate(rows)]
    Path("wide.csv").write_text("\n".join(lines), encoding="utf-8")
    Path("one.txt").write_text(GRAPH, encoding="utf-8")
    Path("two.txt").write_text(f"{GRAPH}; W -> Y", encoding="utf-8")
    asked = (QUERY, "wide.csv", "--columns", "W=w")
    code, _, err = answer(capsys, "decide", "one.txt,two.txt", *asked)

    assert code == 0, err
    assert "no node 'W'" in answer(capsys, "decide", "one.txt", *asked)[2]
