import io

import pytest

from boundit.cli.options import load
from boundit.graph.text import parse
from boundit.terms.errors import EmptyGraph, MalformedText, UnreadableFile


def test_a_graph_comes_from_text_or_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("digraph { X -> Y }"))

    assert load("-") == load("X -> Y") == parse("X -> Y")


def test_bytes_that_are_no_text_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"X\xff"), encoding="utf-8"))

    with pytest.raises(UnreadableFile, match="byte 1 is not UTF-8 text"):
        load("-")


def test_text_that_is_no_graph_is_not_taken_for_a_file() -> None:
    for text in ("A => B", "A B", "graph { A -- B }"):
        with pytest.raises(MalformedText):
            load(text)
    with pytest.raises(EmptyGraph):
        load("")
    with pytest.raises(UnreadableFile, match="there is no such file"):
        load("graph.dot")
