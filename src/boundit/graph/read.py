"""Graphs from text of any known format and from files, and back to text."""

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.graph.formats.dagitty import parse_dagitty
from boundit.graph.formats.detect import GraphFormat, ReadFormat, detect_format
from boundit.graph.formats.dot import parse_dot
from boundit.graph.formats.drafts import write_draft
from boundit.graph.formats.gml import parse_gml
from boundit.graph.nx import find_networkx, from_networkx
from boundit.graph.record import parse_json
from boundit.graph.text import parse
from boundit.terms.errors import BounditError, NotAGraph, NotText, UnreadableFile

if TYPE_CHECKING:
    import networkx as nx

GraphLike: TypeAlias = Union[CausalGraph, str, "nx.Graph"]
"""What is taken wherever a graph is: a graph, its text in any format, or one of networkx.

Graphs of pgmpy are of networkx, and those of dowhy hold one.
"""

_READERS: dict[ReadFormat, Callable[[str], CausalGraph]] = {
    "text": parse,
    "gml": parse_gml,
    "dot": parse_dot,
    "dagitty": parse_dagitty,
    "json": parse_json,
}
_SUFFIXES: dict[str, ReadFormat] = {
    ".gml": "gml",
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".json": "json",
}
_FILE_NAME = re.compile(r"\s*[^\s;{}<>]+\.(?:txt|dot|gv|dagitty|json|gml)\s*", re.IGNORECASE)


def parse_graph(text: str) -> CausalGraph:
    """Read a graph from text: our own, DOT, dagitty, GML or JSON, told apart by how they open.

    >>> print(parse_graph("U -> X -> Y; U -> Y; hidden U; Y -> [S]"))
    X -> Y; Y -> [S]; X <-> Y
    >>> parse_graph("dag { X -> Y }") == parse_graph('{"directed": [["X", "Y"]]}')
    True
    """
    if not isinstance(text, str):
        raise NotText(
            "graph", text, "for a file use read_graph, for networkx CausalGraph.from_networkx"
        )
    return _READERS[detect_format(text) or "text"](text)


def read_graph(path: str | PathLike[str]) -> CausalGraph:
    """Read a graph file, by its content; its suffix speaks only where the content does not."""
    text, named = _read_contents(path), _SUFFIXES.get(Path(path).suffix.casefold())
    if detect_format(text) or not named:
        return parse_graph(text)
    try:
        return parse(text)
    except BounditError:
        # Neither our text nor, by its opening, another format: judge it by its suffix.
        return _READERS[named](text)


def require_graph(graph: object) -> CausalGraph:
    """Return a ``CausalGraph`` as it is, and read text or a networkx graph into one.

    So are graphs of pgmpy, and graphs and models of dowhy.

    Raises for anything else, and for the name of a file, which is the text of a lone node.

    >>> print(require_graph("X -> Y; X <-> Y"))
    X -> Y; X <-> Y
    """
    if isinstance(graph, CausalGraph):
        return graph
    if isinstance(graph, str) and not _FILE_NAME.fullmatch(graph):
        return parse_graph(graph)
    if (found := find_networkx(graph)) is not None:
        return from_networkx(found)
    raise NotAGraph(graph)


def format_graph(graph: GraphLike, to: GraphFormat = "text") -> str:
    """Write a graph as ``"text"``, ``"dot"``, ``"dagitty"`` or ``"json"``.

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
    return write_draft(GraphDraft.from_graph(require_graph(graph)), to)


def _read_contents(path: str | PathLike[str]) -> str:
    """Read a graph file as text, or say in one line why not."""
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
