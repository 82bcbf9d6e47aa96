import json
from pathlib import Path

import pytest

from boundit.cli.main import main

CONFOUNDED = "U -> X -> Y; U -> Y; hidden U; Y -> [S]"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code, capsys.readouterr().out


def test_show_tells_what_a_graph_assumes(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "graph", "show", CONFOUNDED) == (
        0,
        "graph         X -> Y; Y -> [S]; X <-> Y\n"
        "observed      X, Y\n"
        "c-components  {X, Y}  {S}\n"
        "selection     S, steered by X, Y\n",
    )
    assert (
        "none: the log is taken for the population"
        in answer(capsys, "graph", "show", "X -> Y")[1]
    )


def test_show_asks_about_a_selection_node_without_brackets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["graph", "show", "Ad -> Click -> S"])

    assert "note: S is an ordinary node here: if it says which rows were kept, write [S]" in (
        capsys.readouterr().err
    )


def test_show_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = answer(capsys, "graph", "show", CONFOUNDED, "--json")

    assert code == 0
    assert json.loads(out)["components"] == [["X", "Y"], ["S"]]


@pytest.mark.parametrize("to", ["text", "dot", "dagitty", "json"])
def test_convert_writes_what_show_reads(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, to: str
) -> None:
    _, written = answer(capsys, "graph", "convert", CONFOUNDED, "--to", to)
    path = tmp_path / "graph"
    path.write_text(written)

    assert answer(capsys, "graph", "convert", str(path)) == (0, "X -> Y; Y -> [S]; X <-> Y\n")


def test_separate_says_yes_by_0_and_no_by_1_with_the_walk(
    capsys: pytest.CaptureFixture[str],
) -> None:
    berkson = "Talent -> Fame <- Looks"
    apart = ("graph", "separate", berkson, "Talent", "Looks")

    assert answer(capsys, *apart) == (0, "separated\n")
    assert answer(capsys, *apart, "--given", "Fame") == (1, "open: Talent -> Fame <- Looks\n")
    code, out = answer(capsys, *apart, "--given", "Fame", "--json")
    assert code == 1
    assert json.loads(out) == {
        "separated": False,
        "open_walk": ["Talent", "->", "Fame", "<-", "Looks"],
    }


def test_implications_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    chain = "X -> M -> Y; M -> [S]"

    assert answer(capsys, "graph", "implications", chain) == (0, "X _||_ Y | M, S = 1\n")
    assert json.loads(answer(capsys, "graph", "implications", chain, "--json")[1]) == [
        {"one": "X", "other": "Y", "given": ["M"], "selected": True}
    ]
    assert answer(capsys, "graph", "implications", "X -> Y") == (
        0,
        "nothing: every pair stays connected\n",
    )


def test_groups_are_shown_and_kept_and_gml_files_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y"
    code, shown = answer(capsys, "graph", "show", text)
    assert code == 0
    assert f"graph         {text}\n" in shown
    assert "{Age, Income, Sex}  {X}  {Y}" in shown

    (tmp_path / "g.dot").write_text(answer(capsys, "graph", "convert", text, "--to", "dot")[1])
    assert answer(capsys, "graph", "convert", str(tmp_path / "g.dot")) == (0, f"{text}\n")

    nodes = 'node [ id 0 label "X" ] node [ id 1 label "Y" ]'
    (tmp_path / "g.gml").write_text(f"graph [ directed 1 {nodes} edge [source 0 target 1] ]")
    assert answer(capsys, "graph", "convert", str(tmp_path / "g.gml")) == (0, "X -> Y\n")
