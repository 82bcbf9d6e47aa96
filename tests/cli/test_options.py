import io
import json
import sys
from pathlib import Path

import click
import pytest

from boundit.cli.options import load_graph
from boundit.cli.outputs import notify, print_json
from boundit.core.errors import EmptyGraph, MalformedText, UnreadableFile
from boundit.graph.text import parse


def test_a_graph_comes_from_text_or_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("digraph { X -> Y }"))

    assert load_graph("-") == load_graph("X -> Y") == parse("X -> Y")


def test_bytes_that_are_no_text_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"X\xff"), encoding="utf-8"))

    with pytest.raises(UnreadableFile, match="byte 1 is not UTF-8 text"):
        load_graph("-")


def test_text_that_is_no_graph_is_not_taken_for_a_file() -> None:
    for text in ("A => B", "A B", "graph { A -- B }"):
        with pytest.raises(MalformedText):
            load_graph(text)
    with pytest.raises(EmptyGraph):
        load_graph("")
    with pytest.raises(UnreadableFile, match="there is no such file"):
        load_graph("graph.dot")


def test_what_is_wrong_in_a_file_is_told_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("Age,Click\n1,0\n")

    with pytest.raises(click.UsageError, match=r"log\.csv: line 1, column 4: expected an edge"):
        load_graph(str(file))


def test_a_long_graph_is_not_taken_for_a_file() -> None:
    """Paths have a limit, and graphs do not."""
    text = "; ".join(f"A{i} -> B{i}" for i in range(999))

    assert load_graph(text) == parse(text)


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": [1.5, float("nan")], "b": (float("inf"), "é")})

    said = capsys.readouterr().out
    assert (json.loads(said), said.count("\n")) == ({"a": [1.5, None], "b": [None, "é"]}, 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "without", "coloured"),
    [(Terminal, "", True), (Terminal, "1", False), (io.StringIO, "", False)],
)
def test_colour_is_for_terminals_and_not_for_all(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], without: str, coloured: bool
) -> None:
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("NO_COLOR", without)
    notify("error", "this will not do")

    assert ("\x1b[" in shown.getvalue()) == coloured
    assert shown.getvalue().endswith(" this will not do\n")
