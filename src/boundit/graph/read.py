"""Graphs from text of any known format and from files, and back to text."""

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.dagitty import parse_dagitty, write_dagitty
from boundit.graph.dot import parse_dot, write_dot
from boundit.graph.record import parse_json, write_json
from boundit.graph.text import parse
from boundit.terms.errors import (
    BounditError,
    NotAGraph,
    NotText,
    UnknownFormat,
    UnreadableFile,
)

GraphFormat: TypeAlias = Literal["text", "dot", "dagitty", "json"]

_READERS: dict[GraphFormat, Callable[[str], CausalGraph]] = {
    "text": parse,
    "dot": parse_dot,
    "dagitty": parse_dagitty,
    "json": parse_json,
}
_WRITERS: dict[GraphFormat, Callable[[CausalGraph], str]] = {
    "text": str,
    "dot": write_dot,
    "dagitty": write_dagitty,
    "json": write_json,
}
_SUFFIXES: dict[str, GraphFormat] = {
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".json": "json",
}
# What a text opens with, after blanks and comments. A node of ours may be called "dag", but is
# never followed by a brace.
_BLANKS = r"(?:\s|\ufeff|//[^\n]*\n|\#[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*"
_TITLE = r'\s*(?:"[^"]*"|[\w.]*)\s*\{'
_OPENINGS: tuple[tuple[GraphFormat, re.Pattern[str]], ...] = (
    ("json", re.compile(r"[\s\ufeff]*\{")),
    ("dot", re.compile(_BLANKS + r"(?:strict\s+)?(?:di)?graph\b" + _TITLE, re.IGNORECASE)),
    ("dagitty", re.compile(_BLANKS + r"(?:dag|pdag|mag|pag)\b" + _TITLE, re.IGNORECASE)),
)


def parse_graph(text: str) -> CausalGraph:
    """Read a graph from text: our own, or DOT, dagitty or JSON, told apart by how they open.

    Users call it; also called by ``read_graph``, and by ``load_graph`` for the command line.

    >>> print(parse_graph("U -> X -> Y; U -> Y; hidden U; Y -> [S]"))
    X -> Y; Y -> [S]; X <-> Y
    >>> parse_graph("dag { X -> Y }") == parse_graph('{"directed": [["X", "Y"]]}')
    True
    """
    if not isinstance(text, str):
        raise NotText("graph", text, "for a file use read_graph, for networkx from_networkx")
    return _READERS[_detect_format(text) or "text"](text)


def read_graph(path: str | PathLike[str]) -> CausalGraph:
    """Read a graph file, by its content; its suffix speaks only where the content does not.

    Users call it; also called by ``load_graph`` for the command line.
    """
    text, named = _read_contents(path), _SUFFIXES.get(Path(path).suffix.casefold())
    if _detect_format(text) or not named:
        return parse_graph(text)
    try:
        return parse(text)
    except BounditError:
        # Neither our text nor, by its opening, another format: judge it by its suffix.
        return _READERS[named](text)


def require_graph(graph: object) -> CausalGraph:
    """Return a ``CausalGraph`` as it is; raise for anything else, saying how to make one of it.

    Called by ``recover``, ``check`` and, before bounds, ``read_bandit_query``.
    """
    if isinstance(graph, CausalGraph):
        return graph
    raise NotAGraph(graph)


def format_graph(graph: CausalGraph, to: GraphFormat = "text") -> str:
    """Write a graph as ``"text"``, ``"dot"``, ``"dagitty"`` or ``"json"``.

    Users call it; also called by ``convert`` of the command line.

    >>> print(format_graph(parse_graph("X -> [S]; X <-> Y"), "dagitty"))
    dag {
      S [selected]
      X
      Y
      X -> S
      X <-> Y
    }
    <BLANKLINE>
    """
    if to not in _WRITERS:
        raise UnknownFormat(to, get_args(GraphFormat))
    return _WRITERS[to](graph)


def _detect_format(text: str) -> GraphFormat | None:
    """Tell a text's graph format by how it opens; None when it opens like none.

    Called by ``parse_graph`` and ``read_graph``.
    """
    return next((name for name, opening in _OPENINGS if opening.match(text)), None)


def _read_contents(path: str | PathLike[str]) -> str:
    """Read a graph file as text, or say in one line why not. Called by ``read_graph``."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnreadableFile(path, "there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFile(path, "it is a directory; name one file") from None
    except UnicodeDecodeError as error:
        raise UnreadableFile(path, f"byte {error.start} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(path, getattr(error, "strerror", None) or str(error)) from None
