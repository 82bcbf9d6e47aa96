"""``boundit graph``, ``identify`` and ``check``: what a graph says without data or against it."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.answer import answer

CONFOUNDED = "U -> X -> Y; U -> Y; hidden U; Y -> [S]"
FRONT_DOOR = "X -> M -> Y; X <-> Y"
SELECTED = "Z -> X -> Y; Z -> Y; Z -> [S]"
RIGHT, WRONG = "X -> Z -> Y; X -> Y", "X -> Z -> Y"
Capsys = pytest.CaptureFixture[str]


def test_a_graph_is_shown_with_what_it_implies(capsys: Capsys) -> None:
    assert answer(capsys, "graph", CONFOUNDED) == (
        0,
        "nodes       X, Y\n"
        "edges       X -> Y; Y -> [S]; X <-> Y\n"
        "confounded  {X, Y}\n"
        "selection   S, affected by X, Y\n"
        "testable implications: none\n",
        "",
    )
    assert answer(capsys, "graph", "X -> M -> Y; M -> [S]")[1].endswith(
        "selection   S, affected by M, X\ntestable implications:\n  X _||_ Y | M, S = 1\n"
    )


def test_a_selection_node_without_brackets_is_asked_about(capsys: Capsys) -> None:
    code, out, err = answer(capsys, "graph", "Ad -> Click -> S")

    assert code == 0
    assert "none: every unit is in the log" in out
    assert err.startswith("note: S is an ordinary node here: if it indicates which rows")


def test_a_graph_as_json(capsys: Capsys) -> None:
    record = json.loads(answer(capsys, "graph", "X -> M -> Y; M -> [S]", "--json")[1])

    assert record["components"] == [["X"], ["M"], ["Y"], ["S"]]
    assert record["implications"] == [
        {"one": "X", "other": "Y", "given": ["M"], "selected": True}
    ]


@pytest.mark.parametrize("to", ["text", "dot", "dagitty", "json"])
def test_a_conversion_is_read_back(capsys: Capsys, tmp_path: Path, to: str) -> None:
    path = tmp_path / "graph"
    path.write_text(answer(capsys, "graph", CONFOUNDED, "--to", to)[1])

    assert answer(capsys, "graph", str(path), "--to", "text") == (
        0,
        "X -> Y; Y -> [S]; X <-> Y\n",
        "",
    )


def test_groups_are_kept_and_gml_files_are_read(capsys: Capsys, tmp_path: Path) -> None:
    text = "Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y"
    assert f"edges       {text}\n" in answer(capsys, "graph", text)[1]
    (tmp_path / "g.dot").write_text(answer(capsys, "graph", text, "--to", "dot")[1])
    assert answer(capsys, "graph", str(tmp_path / "g.dot"), "--to", "text")[1] == f"{text}\n"
    nodes = 'node [ id 0 label "X" ] node [ id 1 label "Y" ]'
    (tmp_path / "g.gml").write_text(f"graph [ directed 1 {nodes} edge [source 0 target 1] ]")
    assert answer(capsys, "graph", str(tmp_path / "g.gml"), "--to", "text")[1] == "X -> Y\n"


def test_an_open_path_is_shown_and_exits_1(capsys: Capsys) -> None:
    apart = ("graph", "Talent -> Fame <- Looks", "--between", "Talent,Looks")

    assert answer(capsys, *apart) == (0, "separated\n", "")
    assert answer(capsys, *apart, "--given", "Fame")[:2] == (
        1,
        "open: Talent -> Fame <- Looks\n",
    )
    code, out, _ = answer(capsys, *apart, "--given", "Fame", "--json")
    assert code == 1
    assert json.loads(out) == {
        "separated": False,
        "open_path": ["Talent", "->", "Fame", "<-", "Looks"],
    }
    code, _, err = answer(capsys, "graph", "X -> Y", "--between", "X")
    assert (code, err) == (2, "error: --between 'X' is not two nodes. Write --between A,B.\n")


def test_what_identifies_an_effect_is_printed_whole(capsys: Capsys) -> None:
    code, out, err = answer(capsys, "identify", "Z -> X -> M -> Y; Z -> Y; X -> Y", "Y | do(X)")

    assert (code, err) == (0, "")
    shown, _, derivation = out.partition("derivation:\n  ")
    assert shown == (
        "P(Y | do(X)) = Σ_{Z} P(Y | X, Z) P(Z)\nminimal adjustment sets:\n  {Z}\n"
        "causal paths:\n  X -> Y\n  X -> M -> Y\nbiasing paths:\n  X <- Z -> Y\n"
        "testable implications:\n  M _||_ Z | X\n"
    )
    assert derivation
    first = answer(capsys, "identify", FRONT_DOOR, "Y | do(X)")[1].splitlines()[0]
    assert first == "P(Y | do(X)) = Σ_{M} P(M | X) Σ_{X'} P(X') P(Y | M, X')"


def test_what_is_not_identified_exits_1(capsys: Capsys) -> None:
    code, out, _ = answer(capsys, "identify", SELECTED, "Y | do(X)")
    assert code == 1
    assert out.startswith("P(Y | do(X)): not identified")
    code, out, _ = answer(capsys, "identify", SELECTED, "Y | do(X)", "--external", "Z")
    assert code == 0
    assert out.splitlines()[0] == "P(Y | do(X)) = Σ_{Z} P(Y | X, Z, S=1) P(Z)"
    assert "biasing paths:\n  X <- Z -> Y\n" in out


def test_an_identification_as_json(capsys: Capsys) -> None:
    found = json.loads(answer(capsys, "identify", SELECTED, "Y | do(X), Z", "--json")[1])
    lost = json.loads(answer(capsys, "identify", SELECTED, "Y | do(X)", "--json")[1])

    assert found["identified"]
    assert found["formula"] == "P(Y | X, Z, S=1)"
    assert (found["causal_paths"], found["biasing_paths"]) == (["X -> Y"], [])
    assert not lost["identified"]
    assert lost["formula"] is lost["latex"] is lost["expression"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["identify", SELECTED, "Y | do("], "expected a treatment"),
        (["identify", SELECTED, "Y | do(Q)"], "no node 'Q'"),
        (["identify", SELECTED, "Y | do(X)", "--external", "Q"], "no node 'Q'"),
        (["identify", SELECTED, "Y | do(Y)"], "'Y'"),
        (["identify", "none.dot", "Y | do(X)"], "cannot read 'none.dot'"),
        (["graph", "X -> Y", "--between", "X,Q"], "no node 'Q'"),
        (["graph", "X -> Y", "--to", "png"], "'png' is not one of"),
        (["check", WRONG], "Missing argument 'LOG...'"),
        (["check", WRONG, "none.csv"], "cannot read 'none.csv'"),
        (["check", WRONG, "log.csv", "--adaptive"], "learned"),
        (["check", WRONG, "log.csv", "--memory-limit", "much"], "--memory-limit must be"),
        (
            ["check", WRONG, "log.csv", "--columns", "Q=X"],
            "--columns NODE=COLUMN: The graph has",
        ),
        (["check", WRONG, "log.csv", "--level", "2"], "'--level'"),
    ],
)
@pytest.mark.usefixtures("log")
def test_bad_input_is_one_line_and_code_2(
    capsys: Capsys, arguments: list[str], said: str
) -> None:
    code, out, err = answer(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 800)
    z = (rng.random(800) < 0.3 + 0.4 * x).astype(int)
    y = (rng.random(800) < 0.2 + 0.2 * z + 0.4 * x).astype(int)
    path = tmp_path / "log.csv"
    np.savetxt(path, np.stack([x, z, y], axis=1), "%d", ",", header="X,Z,Y", comments="")
    monkeypatch.chdir(tmp_path)
    return "log.csv"


def test_a_contradicted_graph_exits_1(capsys: Capsys, log: str) -> None:
    code, out, _ = answer(capsys, "check", WRONG, log)
    assert code == 1
    assert out.startswith("1 of 1 tested implication contradicted")
    assert "contradicted: X and Y are independent among rows with the same Z." in out
    assert answer(capsys, "check", RIGHT, log)[:2] == (
        0,
        "the graph cannot be contradicted by this log: every pair stays connected\n",
    )


def test_a_check_as_json(capsys: Capsys, log: str) -> None:
    code, out, _ = answer(capsys, "check", WRONG, log, "--json", "--level", "0.01")
    record = json.loads(out)

    assert code == 1
    assert (record["contradicted"], record["level"]) == (True, 0.01)
    assert record["findings"][0]["given"] == ["Z"]


def test_limits_of_a_check_are_named_as_flags(capsys: Capsys, log: str) -> None:
    code, out, _ = answer(capsys, "check", WRONG, log, "--time-limit", "0")
    assert code == 0
    assert "caveat: --time-limit 0 ended the search for implications" in out
    assert answer(capsys, "check", WRONG, log, "--memory-limit", "2GB")[0] == 1
