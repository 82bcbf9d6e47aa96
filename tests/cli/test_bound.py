import json
import random
from pathlib import Path

import pytest

from boundit.bounds import derive
from boundit.results.bound_table import BoundTable
from tests.cli.answer import answer
from tests.cli.pharmacy import bound_pharmacy, write_pharmacy

GRAPH = "Z -> X -> Y; Z -> Y; Z -> [S]"
QUERY = "Y | do(X), Z"
LAW = ("--weight", "p", "--exact")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "log.csv").write_text("Z,X,Y\n0,0,0\n0,1,1\n1,0,1\n1,1,1\n0,1,0\n1,0,0\n")
    (tmp_path / "empty.csv").write_text("Z,X,Y\n")
    (tmp_path / "odd.csv").write_text("Q\n1\n")
    (tmp_path / "days.csv").write_text("Z,X,Y\n2024-01-01,a,0\n2024-01-02,b,1\n")
    (tmp_path / "levels.csv").write_text("Z,X,Y\n0,0,0\n0,1,2\n1,0,1\n1,1,1\n")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "S.csv").write_text("Z,X,Y,S\n0,0,0,1\n0,1,1,0\n")
    (tmp_path / "ragged.csv").write_text("Z,X,Y\n0,0,0\n0,1\n1,0,1\n")
    (tmp_path / "na.csv").write_text("Z,X,Y\n0,0,0\n0,1,NA\n1,0,1\n")
    (tmp_path / "gap.csv").write_text("Z,X,Y\n0,0,0\n,1,1\n1,0,1\n")
    (tmp_path / "law.csv").write_text("Z,X,Y,p\n0,0,0,.25\n0,1,1,.25\n1,0,1,.25\n1,1,0,.25\n")
    (tmp_path / "Z.csv").write_text("Z\n" + "0\n" * 30 + "1\n" * 10)
    (tmp_path / "Zn.csv").write_text("Z,n\n0,30\n1,10\n")
    monkeypatch.chdir(tmp_path)
    return "log.csv"


def test_a_table_is_printed_with_its_conclusions(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(capsys, "bound", GRAPH, QUERY, log)

    assert (code, err) == (0, "")
    title, _, head, *body = out.splitlines()
    assert title == "Bounds on E[Y | do(X), Z]"
    assert head.split() == ["X", "Z", "lower", "upper", "unadjusted", "rows"]
    assert len(body) == 4 + 4
    assert body[-1].startswith("95% confidence that all 4 intervals contain the true means")


def test_json_has_the_rows_and_dates_as_text(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    record = json.loads(answer(capsys, "bound", GRAPH, QUERY, log, "--json")[1])

    assert record["profile"] == "sound"
    assert record["inference"] == "exact"
    assert record["summary"]
    assert {"lower", "upper"} == record["rows"][0]["sampling"].keys()
    assert list(record["rows"][0])[:4] == ["X", "Z", "lower", "upper"]
    days = json.loads(answer(capsys, "bound", GRAPH, QUERY, "days.csv", "--json")[1])
    assert days["rows"][0]["Z"] == "2024-01-01"


def test_every_interval_is_explained_on_request(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, _ = answer(capsys, "bound", GRAPH, QUERY, log, "--explain")

    assert code == 0
    assert out.count(" lies in [") == out.count("\n  derivation ") == 4


def test_the_table_is_saved(capsys: pytest.CaptureFixture[str], log: str) -> None:
    code, _, _ = answer(capsys, "bound", GRAPH, QUERY, log, "--out", "b.json")

    assert code == 0
    assert BoundTable.load("b.json").arms == ((0,), (1,))


def test_a_limit_on_confounding_is_said_by_the_table(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    asked = "X -> Y; X <-> Y", "Y | do(X)", log
    code, out, _ = answer(
        capsys, "bound", *asked, "--confounding-limit", "X <-> Y=1.5", "--json"
    )

    assert code == 0
    assert json.loads(out)["confounding_limit"] == {"X <-> Y": 1.5}
    code, _, err = answer(capsys, "bound", *asked, "--confounding-limit", "Z <-> Y=2")
    assert code == 2
    assert "--confounding-limit limits Y <-> Z, an edge that the graph lacks" in err


def test_external_tables_may_be_counts(capsys: pytest.CaptureFixture[str], log: str) -> None:
    """A census comes as counts; without its weights it would speak of two people."""
    asked = ("bound", GRAPH, "Y | do(X)", log, "--confidence", "none", "--json", "--external")
    rows = answer(capsys, *asked, "Z.csv")[1]
    plain = answer(capsys, *asked, "Zn.csv")[1]

    assert plain != rows


def test_the_weight_of_the_log_is_that_of_external_tables_too(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    Path("n.csv").write_text(
        "n," + Path(log).read_text().replace("\n", "\n1,").removesuffix("1,")
    )
    asked = (
        "bound",
        GRAPH,
        "Y | do(X)",
        "n.csv",
        "--weight",
        "n",
        "--confidence",
        "none",
        "--external",
    )

    assert answer(capsys, *asked, "Zn.csv")[1] == answer(capsys, *asked, "Z.csv")[1]


@pytest.mark.usefixtures("log")
def test_an_exact_law_needs_no_word_about_confidence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = answer(capsys, "bound", GRAPH, QUERY, "law.csv", *LAW, "--json")

    assert code == 0
    assert json.loads(out)["confidence"] is None


def test_what_is_written_is_told_and_json_stays_alone_on_stdout(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    code, out, err = answer(
        capsys, "bound", GRAPH, QUERY, log, "--json", "--out", "b.json", "--report", "b.html"
    )

    assert (code, err) == (0, "wrote b.json\nwrote b.html\n")
    assert json.loads(out)["profile"] == "sound"


def test_the_graph_is_not_written_over_and_nothing_is_bounded_first(
    capsys: pytest.CaptureFixture[str], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def derive_bounds(*_: object, **__: object) -> None:
        raise AssertionError

    code, text, _ = answer(capsys, "graph", GRAPH, "--to", "json")
    Path("graph.json").write_text(text)
    monkeypatch.setattr(derive, "derive_bounds", derive_bounds)
    code, _, err = answer(capsys, "bound", "graph.json", QUERY, log, "--out", "graph.json")

    assert (code, err.count("\n")) == (2, 1)
    assert "--out would write over 'graph.json', which this command reads" in err
    assert Path("graph.json").read_text() == text


@pytest.mark.usefixtures("log")
def test_caveats_name_flags_and_the_saved_table_speaks_python(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [f"{18 + i % 73},{i % 2},{i * i % 3 % 2}" for i in range(500)]
    Path("ages.csv").write_text("\n".join(["Age,X,Y", *rows]))
    graph = "Age -> X -> Y; Age -> Y"
    _, _, err = answer(capsys, "bound", graph, "Y | do(X), Age", "ages.csv", "--out", "b.json")

    assert "note: Age has 73 levels" in err
    assert "cut it with --bins Age=...\n" in err
    assert "cut it with bins={'Age': [...]}" in BoundTable.load("b.json").caveats[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([GRAPH, QUERY, "none.csv"], "cannot read 'none.csv'"),
        ([GRAPH, QUERY, "*.nope"], "no Parquet, CSV, JSON lines or Arrow file matches"),
        ([GRAPH, QUERY, "empty.csv"], "it has no rows"),
        ([GRAPH, QUERY, "cut.parquet"], "not a whole Parquet file"),
        ([GRAPH, QUERY, "odd.csv"], "no column"),
        (
            [GRAPH, QUERY, "levels.csv"],
            "Declare its possible range with --outcome-range LOW HIGH.",
        ),
        ([GRAPH, QUERY, "S.csv"], "Filter the log to S = 1"),
        ([GRAPH, QUERY], "Missing argument 'LOG...'"),
        ([GRAPH, "Y | ", "log.csv"], "expected a variable or do(...)"),
        ([GRAPH, "Y | do(Q)", "log.csv"], "no node 'Q'"),
        ([GRAPH, "Y | do(Z), X", "log.csv"], "is an effect of the treatments"),
        ([GRAPH, "Y | Z", "log.csv"], "has no treatment"),
        (["none.txt", QUERY, "log.csv"], "cannot read 'none.txt'"),
        (["X -> X", QUERY, "log.csv"], "X has an edge to itself"),
        (
            [GRAPH, QUERY, "log.csv", "--outcome-range", "1", "0"],
            "--outcome-range must be (low, high) with low < high",
        ),
        (
            [GRAPH, QUERY, "log.csv", "--outcome-range", "0", "0.5"],
            "outside --outcome-range 0 0.5. Widen",
        ),
        ([GRAPH, QUERY, "log.csv", "--time-limit", "-1"], "--time-limit must be"),
        (
            [GRAPH, QUERY, "log.csv", "--time-limit", "nan"],
            "'--time-limit': 'nan' is not a number",
        ),
        ([GRAPH, QUERY, "log.csv", "--weight", "w"], "no column 'w'"),
        ([GRAPH, QUERY, "log.csv", "--external", "none.csv"], "--external: no table at"),
        ([GRAPH, QUERY, "log.csv", "--external", "odd.csv"], "none of which is in the graph"),
        ([GRAPH, QUERY, "log.csv", "--out", "none/b.json"], "cannot write 'none/b.json'"),
        (
            [GRAPH, QUERY, "log.csv", "--out", "."],
            "'.' must be a file whose name ends in .json",
        ),
        (["n -> Y", "Y | do(n)", "log.csv"], "a variable cannot be called 'n'"),
        ([GRAPH, QUERY, "log.csv", "--out", "log.csv"], "whose name ends in .json"),
        ([GRAPH, QUERY, "log.csv", "--report", "out.pdf"], "whose name ends in .html"),
        ([GRAPH, QUERY, "ragged.csv"], "line 3 has 2 values, the header has 3 (Z, X, Y)"),
        (
            [GRAPH, QUERY, "na.csv"],
            "holds text such as 'NA' in row 2, which cannot be added up. Write numbers",
        ),
        (
            ["Z -> Xx -> Y", "Y | do(Xx)", "log.csv"],
            "Did you mean 'X'? Map it with --columns Xx=X, or write 'hidden Xx'",
        ),
        (
            ["Q -> X -> Y; Q -> Y", "Y | do(X)", "log.csv"],
            "write 'hidden Q' in the graph if Q is unmeasured",
        ),
        (
            ["X -> Y", "Y | do(X)", "log.csv", "--selection-limit", "2"],
            "--selection-limit say nothing",
        ),
        ([GRAPH, QUERY, "law.csv", "--exact"], "--exact needs --weight, the column"),
        ([GRAPH, QUERY, "law.csv", "--weight", "p"], "of an exact distribution add --exact"),
        (
            [GRAPH, QUERY, "law.csv", *LAW, "--confidence", "0.9"],
            "an exact law has no sampling error; pass --confidence none",
        ),
        (
            [GRAPH, QUERY, "gap.csv", "--missing", "error"],
            "such rows with --missing drop or --mis",
        ),
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


@pytest.mark.usefixtures("log")
def test_a_selection_node_without_brackets_is_asked_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("ones.csv").write_text("Z,X,Y,Kept\n0,0,0,1\n0,1,1,1\n1,0,1,1\n1,1,0,1\n")
    bare = "Z -> X -> Y; Z -> Y; Y -> "

    _, _, err = answer(capsys, "bound", bare + "Kept", QUERY, "ones.csv")
    assert err.startswith("note: Kept is always 1 in this log: if it indicates which rows")
    _, _, err = answer(capsys, "bound", bare + "S", QUERY, "ones.csv")
    assert err.startswith(
        "note: S is an ordinary node here: if it indicates which rows were logged"
    )
    assert "always" not in answer(capsys, "bound", bare + "[Kept]", QUERY, "ones.csv")[2]


def test_a_slip_in_an_external_table_is_asked_about(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    Path("slip.csv").write_text("Z\n0\n1\n11\n")
    _, _, err = answer(capsys, "bound", GRAPH, "Y | do(X)", log, "--external", "slip.csv")

    assert (
        "note: Z is never 11 in the log, only in 'slip.csv': if that is right, declare it "
        "with --domain\n"
    ) in err


@pytest.mark.usefixtures("log")
def test_an_external_table_of_other_things_is_named_by_its_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, _, err = answer(capsys, "bound", GRAPH, QUERY, "log.csv", "--external", "odd.csv")

    assert err.startswith("error: 'odd.csv', given as --external, has Q, none of which is in")


@pytest.fixture(scope="module")
def pharmacy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pharmacy(tmp_path_factory.mktemp("example"))


def test_the_page_holds_the_table_and_the_command(pharmacy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"

    assert bound_pharmacy(pharmacy, "--report", str(out)) == 0
    page = out.read_text(encoding="utf-8")
    assert "worst case over" in page
    assert "younger" in page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--selection-rate", "much"), "'--selection-rate': 'much' is not a number"),
        (("--selection-rate", "0"), "--selection-rate is 0, yet rows were logged"),
        (("--selection-limit", "0.2"), "--selection-limit must be a limit of at least 1"),
        (("--memory-limit", "much"), "--memory-limit must be a number of bytes"),
        (("--confidence", "1.5"), "--confidence must be"),
        (
            ("--confidence", "none", "--inference", "approximate"),
            "pass a chance as --confidence",
        ),
        (("--models", "linear"), "by --models are approximate; pass --inference approximate"),
        (("--models", "magic"), "'magic' is not one of"),
    ],
)
def test_facts_that_make_no_sense_are_refused_in_one_line(
    pharmacy: Path, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bound_pharmacy(pharmacy, *options) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["bound", "sensitivity --limit selection", "check", "choose", "stress", "suggest"],
)
def test_a_column_renamed_to_no_node_is_told_by_the_name_of_the_node(
    command: str, pharmacy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *of = command.split()
    query = [] if name == "check" else ["Refill | do(Reminder), Age"]
    files = str(pharmacy / "graph.txt"), *query, str(pharmacy / "log.csv")

    assert answer(capsys, name, *files, *of, "--columns", "Ilness=Illness") == (
        2,
        "",
        "error: --columns NODE=COLUMN: The graph has no node 'Ilness'. Did you mean "
        "'Illness'?\n",
    )


def test_the_column_of_clusters_may_be_renamed(
    log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = Path(log).read_text(encoding="utf-8").split()
    lines = [f"{row},{i or 'id'}" for i, row in enumerate(rows)]
    Path("users.csv").write_text("\n".join(lines), encoding="utf-8")
    renamed = ("--columns", "user=id", "--cluster", "user")
    code, out, err = answer(capsys, "bound", GRAPH, QUERY, "users.csv", *renamed)

    assert code == 0, err
    assert "independent clusters by user" in out


def test_the_selection_rate_narrows(pharmacy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound_pharmacy(pharmacy)
    wide = capsys.readouterr().out
    bound_pharmacy(pharmacy, "--selection-rate", "0.6,0.7")
    narrow = capsys.readouterr().out

    def width(text: str) -> float:
        cells = [line.split() for line in text.splitlines()[3:9]]
        return sum(float(cell[3]) - float(cell[2]) for cell in cells)

    assert width(narrow) < 0.9 * width(wide)


def test_where_nothing_is_known_it_is_said_why_and_what_would_help(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("X,Y\n" + "0,0\n0,1\n1,1\n1,0\n" * 50)
    _, out, err = answer(capsys, "effect", "X -> Y; X <-> Y; Y -> [S]", "Y | do(X)", "log.csv")
    title, _, every, why, cause, proved, help_, *steps = out.splitlines()

    assert title == "Effect of X on mean Y, compared with X=0: no information"
    assert every.startswith("Every effect from -1 to +1 is consistent with the data")
    assert why.startswith("Why: Y affects which rows were logged (Y -> [S])")
    assert cause.strip() == "X and Y have an unmeasured common cause (X <-> Y)."
    assert proved.strip() == "More rows of this kind would not help (proved)."
    assert help_.startswith("What would help (mean width of the bounds, now 1.00;")
    assert "a randomized trial" in steps[-1]
    assert "critical" not in err


def test_effects_are_explained_and_drawn(capsys: pytest.CaptureFixture[str], log: str) -> None:
    asked = ("effect", GRAPH, QUERY, log)
    _, out, err = answer(capsys, *asked, "--explain", "--plot", "effect.svg")

    assert out.startswith("Effect of X=1 compared with X=0 on mean Y, Z=0 lies in [")
    assert "E[Y | do(X=1), Z=0] lies in" in out
    assert "wrote effect.svg" in err
    assert Path("effect.svg").read_text().startswith("<?xml")


def test_a_page_has_the_choice_unless_contexts_are_too_many(
    capsys: pytest.CaptureFixture[str], log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("bound", GRAPH, QUERY, log, "--report", "out.html")
    answer(capsys, *asked)
    assert "<h2>Choice</h2>" in Path("out.html").read_text(encoding="utf-8")

    monkeypatch.setattr("boundit.cli.bound.MOST_CHOSEN", 1)
    answer(capsys, *asked)
    assert "<h2>Choice</h2>" not in Path("out.html").read_text(encoding="utf-8")


def test_models_serve_numbers_and_stand_in_json_and_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dice = random.Random(0)
    lines = ["Age,X,Y"]
    for _ in range(600):
        age = dice.uniform(20, 60)
        x = dice.random() < (age - 10) / 60
        y = dice.random() < (age - 10) / 80 + 0.2 * x
        lines.append(f"{age},{x:d},{y:d}")
    Path("ages.csv").write_text("\n".join(lines))
    graph = "Age -> X -> Y; Age -> Y"
    asked = ("bound", graph, "Y | do(X)", "ages.csv", "--inference", "approximate")
    refused, _, why = answer(capsys, *asked)
    options = ("--models", "linear", "--report", "page.html", "--json")
    code, out, _ = answer(capsys, *asked, *options)
    record, page = json.loads(out), Path("page.html").read_text(encoding="utf-8")

    assert (refused, code) == (2, 0)
    assert "--bins" in why
    assert record["models"].startswith("reward by LogisticRegression, arm by")
    assert {row["lower_rule"] for row in record["rows"]} == {"adjustment by models"}
    assert record["models"] in page
    assert "adjustment by models" in page


def test_effects_are_compared_with_a_baseline(
    pharmacy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = str(pharmacy / "graph.txt"), "Refill | do(Reminder), Age", str(pharmacy / "log.csv")
    code, out, err = answer(capsys, "effect", *files, "--baseline", "letter")

    assert code == 0
    rows = [line.split() for line in out.splitlines() if line.startswith(("call", "text"))]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("call", "older", "increase"),
        ("call", "younger", "increase"),
        ("text", "older", "inconclusive"),
        ("text", "younger", "increase"),
    ]
    assert "Compared with letter, call increases mean Refill by 0.1" in out
    assert "--domain" in out + err
    record = json.loads(answer(capsys, "effect", *files, "--baseline", "letter", "--json")[1])
    assert (record["baseline"], len(record["rows"])) == ({"Reminder": "letter"}, 4)
    code, out, err = answer(capsys, "effect", *files, "--baseline", "leter")
    assert (code, out) == (2, "")
    assert err == "error: Reminder has no value 'leter'. It has call, letter, text.\n"


def test_of_more_than_thirty_rows_the_first_are_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"c{i:02},{x},{(i + x) % 2}" for i in range(20) for x in (0, 1) for _ in range(5)]
    Path("log.csv").write_text("\n".join(["C,X,Y", *rows]))
    asked = ("bound", "C -> X -> Y; C -> Y", "Y | do(X), C", "log.csv")
    cut, whole = answer(capsys, *asked)[1], answer(capsys, *asked, "--all-rows")[1]

    assert "10 more rows" in cut
    assert "--all-rows" in cut
    assert "more rows" not in whole
    assert len(whole.splitlines()) == len(cut.splitlines()) + 9


def test_weights_may_be_in_external_data_alone(
    capsys: pytest.CaptureFixture[str], log: str
) -> None:
    Path("census.csv").write_text("Z,n\n0,700\n1,300\n")
    asked = ("bound", GRAPH, "Y | do(X)", log, "--confidence", "none")
    given = (*asked, "--external", "census.csv")
    counted, lines = answer(capsys, *given, "--weight", "n"), answer(capsys, *given)
    assert (counted[0], lines[0]) == (0, 0)
    assert counted[1] != lines[1]
    assert "no column 'n'" in answer(capsys, *asked, "--weight", "n")[2]


@pytest.mark.usefixtures("log")
def test_yes_and_no_name_truth_values(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["X,Y", *["yes,1", "no,0", "yes,0", "no,1", "yes,1"] * 20]
    Path("mail.csv").write_text("\n".join(rows) + "\n")
    code, out, _ = answer(
        capsys, "effect", "X -> Y", "Y | do(X)", "mail.csv", "--baseline", "no"
    )
    assert code == 0
    assert "compared with X=False" in out
