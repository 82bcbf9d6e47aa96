import json
from pathlib import Path

import pytest

from boundit.cli.main import main
from boundit.terms.bound_table import BoundTable

GRAPH = "Z -> X -> Y; Z -> Y; Z -> [S]"
QUERY = "Y | do(X), Z"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "log.csv").write_text("Z,X,Y\n0,0,0\n0,1,1\n1,0,1\n1,1,1\n0,1,0\n1,0,0\n")
    (tmp_path / "empty.csv").write_text("Z,X,Y\n")
    (tmp_path / "odd.csv").write_text("Q\n1\n")
    (tmp_path / "days.csv").write_text("Z,X,Y\n2024-01-01,a,0\n2024-01-02,b,1\n")
    (tmp_path / "levels.csv").write_text("Z,X,Y\n0,0,0\n0,1,2\n1,0,1\n1,1,1\n")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "S.csv").write_text("Z,X,Y,S\n0,0,0,1\n0,1,1,0\n")
    monkeypatch.chdir(tmp_path)
    return "log.csv"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, said.err


def test_a_table_is_printed_with_the_rule_of_each_row(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(capsys, "bound", GRAPH, QUERY, log)

    assert (code, err) == (0, "")
    head, *body = out.splitlines()
    assert head.split() == ["X", "Z", "lower", "upper", "n", "by"]
    assert len(body) == 4
    assert "exact recovery" in body[0]


def test_json_has_the_rows_and_dates_as_text(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    record = json.loads(answer(capsys, "bound", GRAPH, QUERY, log, "--json")[1])

    assert record["profile"] == "sound"
    assert list(record["rows"][0])[:4] == ["X", "Z", "lower", "upper"]
    days = json.loads(answer(capsys, "bound", GRAPH, QUERY, "days.csv", "--json")[1])
    assert days["rows"][0]["Z"] == "2024-01-01"


def test_every_interval_is_explained_on_request(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, "bound", GRAPH, QUERY, log, "--explain")

    assert code == 0
    assert out.count("Why it holds:") == 4


def test_the_table_is_saved(capsys: pytest.CaptureFixture[str], log: str) -> None:
    code, _, _ = answer(capsys, "bound", GRAPH, QUERY, log, "--out", "b.json")

    assert code == 0
    assert BoundTable.load("b.json").arms == ((0,), (1,))


def test_caveats_go_to_stderr(capsys: pytest.CaptureFixture[str], log: str) -> None:
    code, out, err = answer(capsys, "bound", GRAPH, QUERY, log, "--profile", "paper")

    assert code == 0
    assert "caveat" not in out
    assert err.startswith("caveat: profile 'paper' follows the printed method")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([GRAPH, QUERY, "none.csv"], "no log at 'none.csv'"),
        ([GRAPH, QUERY, "*.nope"], "no Parquet or CSV file matches"),
        ([GRAPH, QUERY, "empty.csv"], "it has no rows"),
        ([GRAPH, QUERY, "cut.parquet"], "not a whole Parquet file"),
        ([GRAPH, QUERY, "odd.csv"], "no column"),
        ([GRAPH, QUERY, "levels.csv"], "declare what it can be with reward_range"),
        ([GRAPH, QUERY, "S.csv"], "filter the log to S = 1"),
        ([GRAPH, QUERY], "Missing argument 'LOG...'"),
        ([GRAPH, "Y | ", "log.csv"], "expected a variable or do(...)"),
        ([GRAPH, "Y | do(Q)", "log.csv"], "no node 'Q'"),
        ([GRAPH, "Y | do(Z), X", "log.csv"], "is an effect of the treatments"),
        ([GRAPH, "Y | Z", "log.csv"], "has no treatment"),
        (["none.txt", QUERY, "log.csv"], "cannot read 'none.txt'"),
        (["X -> X", QUERY, "log.csv"], "X has an edge to itself"),
        ([GRAPH, QUERY, "log.csv", "--reward-range", "1", "0"], "low < high"),
        ([GRAPH, QUERY, "log.csv", "--reward-range", "0", "0.5"], "outside reward_range"),
        ([GRAPH, QUERY, "log.csv", "--max-condition", "-1"], "'--max-condition'"),
        ([GRAPH, QUERY, "log.csv", "--time-limit", "-1"], "'--time-limit'"),
        ([GRAPH, QUERY, "log.csv", "--time-limit", "nan"], "time_limit must be seconds"),
        ([GRAPH, QUERY, "log.csv", "--profile", "best"], "'best' is not one of"),
        ([GRAPH, QUERY, "log.csv", "--weight", "w"], "no column 'w'"),
        ([GRAPH, QUERY, "log.csv", "--external", "none.csv"], "no log at 'none.csv'"),
        ([GRAPH, QUERY, "log.csv", "--external", "odd.csv"], "none of which is in the graph"),
        ([GRAPH, QUERY, "log.csv", "--out", "none/b.json"], "cannot write 'none/b.json'"),
        ([GRAPH, QUERY, "log.csv", "--out", "."], "cannot write '.'"),
        (["n -> Y", "Y | do(n)", "log.csv"], "a variable cannot be called 'n'"),
    ],
)
@pytest.mark.usefixtures("log")
def test_a_question_that_makes_no_sense_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, out, err = answer(capsys, "bound", *arguments)

    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
