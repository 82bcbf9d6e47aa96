"""Graphs from text of any known format and from files, and back to text."""

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard, Union, get_args

from boundit.core.errors import (
    BounditError,
    GraphError,
    MalformedText,
    OptionError,
    UnreadableFile,
    shorten,
)
from boundit.core.names import sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats import (
    draft_dagitty,
    draft_dot,
    draft_json,
    write_dagitty,
    write_dot,
    write_json,
)
from boundit.graph.text import (
    BIDIRECTED,
    FORWARD,
    GraphDraft,
    draft_text,
    is_flag_set,
    list_lines,
)

if TYPE_CHECKING:
    import networkx as nx

_DEEPEST = 3
"""A model of dowhy holds its graph, which holds one of networkx."""
_GML_POWER = re.compile(r'("[^"]*")|(?<=\s)([-+]?\d+)(?=[eE][-+]?\d)')
"""A number such as ``2e3``, which networkx reads with a point alone, or a text to pass over."""
_GML_PLACE = re.compile(r" at \((\d+), (\d+)\)$")


def from_networkx(source: "nx.Graph") -> CausalGraph:
    """Read a graph of networkx, or one that a graph of pgmpy or dowhy holds.

    Parameters
    ----------
    source
        The graph. An edge with a true attribute ``bidirected`` is bidirected, whichever way it
        points; in an undirected graph every edge must be. The ``latents`` of a graph of pgmpy
        are hidden, and so are nodes of dowhy that are not ``observed``. Whole numbers as nodes
        become their digits.

    Returns
    -------
    CausalGraph
        The graph, without its hidden nodes.
    """
    found = find_networkx(source)
    if found is None:
        raise GraphError(f"expected a networkx graph, found {type(source).__name__}")
    named = {node: _read_name(node) for node in found.nodes}
    if len(set(named.values())) < len(named):
        raise GraphError("two nodes have the same name once written down; rename one")
    return _draft_networkx(found, named).make_graph()


def _draft_networkx(source: "nx.Graph", named: dict[object, str]) -> GraphDraft:
    """Read a networkx graph into a draft, its nodes named as they shall be."""
    draft = GraphDraft()
    draft.mark_nodes({named[node]: marks for node, marks in source.nodes(data=True)})
    draft.hidden.update(named[node] for node in getattr(source, "latents", ()) if node in named)
    for one, other, marks in source.edges(data=True):
        a, b = named[one], named[other]
        # The ADMG of pgmpy marks both halves of a bidirected edge by their type.
        both = is_flag_set(marks.get("bidirected")) or marks.get("type") == "bidirected"
        if not both and not source.is_directed():
            raise GraphError(
                f"edge {a!r} - {b!r} has no direction; "
                "use a DiGraph, or mark the edge bidirected=True"
            )
        draft.connect(a, BIDIRECTED if both else FORWARD, b)
    return draft


def draft_gml(text: str) -> GraphDraft:
    """Read GML text into a draft that keeps the hidden nodes; nodes are named by their labels.

    >>> nodes = 'node [ id 0 label "X" ] node [ id 1 ]'
    >>> text = f"graph [ directed 1 {nodes} edge [ source 0 target 1 ] ]"
    >>> print(draft_gml(text).make_graph())
    X -> 1
    """
    import networkx as nx  # noqa: PLC0415, takes 0.15 s

    head, mark, tail = text.removeprefix("\ufeff").rpartition("]")
    # An arrow and a bidirected edge may join the same nodes.
    text = _GML_POWER.sub(lambda m: m[1] or f"{m[2]}.", f"{head} multigraph 1 {mark}{tail}")
    try:
        drawn = nx.parse_gml(text, label="id")
    except RecursionError:
        raise MalformedText("too deep a nesting", line=1, column=1) from None
    except (nx.NetworkXError, ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        place = _GML_PLACE.search(reason)
        reason = f"{shorten(reason[: place.start()] if place else reason)}; this is not GML"
        line, column = map(int, place.groups()) if place else (1, 1)
        raise MalformedText(reason, line=line, column=column) from None
    named = {node: str(marks.get("label", node)) for node, marks in drawn.nodes(data=True)}
    if len(set(named.values())) < len(named):
        raise GraphError("two nodes have the same label; rename one")
    return _draft_networkx(drawn, named)


def find_networkx(source: object) -> "nx.Graph | None":
    """Find the networkx graph that something is or holds; None if there is none.

    A graph of pgmpy is one. A graph or model of dowhy holds one, and its causal models of
    mechanisms do too.
    """
    for _ in range(_DEEPEST):
        if is_networkx(source):
            return source
        source = getattr(source, "_graph", None) or getattr(source, "graph", None)
    return None


def is_networkx(source: object) -> TypeGuard["nx.Graph"]:
    """Return whether something has what we read of a networkx graph, without importing it."""
    return all(hasattr(source, part) for part in ("nodes", "edges", "is_directed"))


def to_networkx(graph: CausalGraph) -> "nx.MultiDiGraph":
    """Write a graph for networkx, which ``from_networkx`` reads back.

    Parameters
    ----------
    graph
        The causal graph.

    Returns
    -------
    networkx.MultiDiGraph
        The graph; a bidirected edge is one edge with ``bidirected=True``.
    """
    import networkx as nx  # noqa: PLC0415, takes 0.15 s

    written, grouped = nx.MultiDiGraph(), GraphDraft.from_graph(graph).name_groups()
    for node in sort_names(graph.nodes):
        group = dict([grouped[node]]) if node in grouped else {}
        written.add_node(node, latent=False, selected=node == graph.selection, **group)
    written.add_edges_from(sorted(graph.directed), bidirected=False)
    written.add_edges_from(sorted(graph.bidirected), bidirected=True)
    return written


def _read_name(node: object) -> str:
    """Read a node of a networkx graph as a name: text, or the digits of a whole number."""
    if isinstance(node, str) or (isinstance(node, int) and not isinstance(node, bool)):
        return str(node)
    raise GraphError(
        f"node {node!r} is a {type(node).__name__}; name nodes with text or integers"
    )


GraphFormat: TypeAlias = Literal["text", "dot", "dagitty", "json"]
ReadFormat: TypeAlias = Literal[GraphFormat, "gml"]
GraphLike: TypeAlias = Union[CausalGraph, str, "nx.Graph"]
"""What is taken wherever a graph is: a graph, its text in any format, or one of networkx.

Graphs of pgmpy are of networkx, and those of dowhy hold one.
"""

_READERS: dict[ReadFormat, Callable[[str], GraphDraft]] = {
    "text": draft_text,
    "gml": draft_gml,
    "dot": draft_dot,
    "dagitty": draft_dagitty,
    "json": draft_json,
}
_WRITERS: dict[GraphFormat, Callable[[GraphDraft], str]] = {
    "text": lambda draft: "; ".join(list_lines(draft)),
    "dot": write_dot,
    "dagitty": write_dagitty,
    "json": write_json,
}
# What a text opens with, after blanks and comments. A node of ours may be called "dag", but is
# never followed by a brace.
_BLANKS = r"(?:\s|\ufeff|//[^\n]*\n|\#[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*"
_SCALARS = r'(?:\w+\s+(?:"[^"]*"|[-+\w.]+)\s+)*'
_TITLE = r'\s*(?:"[^"]*"|[\w.]*)\s*\{'
_OPENINGS: tuple[tuple[ReadFormat, re.Pattern[str]], ...] = (
    ("gml", re.compile(_BLANKS + _SCALARS + r"graph\s*\[\s*\w+[\s\[]", re.IGNORECASE)),
    ("json", re.compile(r"[\s\ufeff]*\{")),
    ("dot", re.compile(_BLANKS + r"(?:strict\s+)?(?:di)?graph\b" + _TITLE, re.IGNORECASE)),
    ("dagitty", re.compile(_BLANKS + r"(?:dag|pdag|mag|pag)\b" + _TITLE, re.IGNORECASE)),
)
_SUFFIXES: dict[str, ReadFormat] = {
    ".gml": "gml",
    ".dot": "dot",
    ".gv": "dot",
    ".dagitty": "dagitty",
    ".json": "json",
}
_FILE_NAME = re.compile(r"\s*[^\s;{}<>]+\.(?:txt|dot|gv|dagitty|json|gml)\s*", re.IGNORECASE)


def parse_graph(text: str) -> CausalGraph:
    """Read a graph from text.

    Parameters
    ----------
    text
        boundit's own syntax, DOT, dagitty, GML or JSON, recognised by how the text opens.

    Returns
    -------
    CausalGraph
        The graph, without its hidden nodes.

    Examples
    --------
    >>> print(parse_graph("U -> X -> Y; U -> Y; hidden U; Y -> [S]"))
    X -> Y; Y -> [S]; X <-> Y
    >>> parse_graph("dag { X -> Y }") == parse_graph('{"directed": [["X", "Y"]]}')
    True
    """
    if not isinstance(text, str):
        raise GraphError(
            f"a graph is read from text, found {type(text).__name__}; for a file use read_graph, "
            "for networkx CausalGraph.from_networkx"
        )
    return _READERS[detect_format(text) or "text"](text).make_graph()


def read_graph(path: str | PathLike[str]) -> CausalGraph:
    """Read a graph from a file.

    Parameters
    ----------
    path
        The file. Its content gives the format; its suffix counts only where the content is
        neither boundit's own syntax nor opens like another format.

    Returns
    -------
    CausalGraph
        The graph, without its hidden nodes.
    """
    text, named = _read_contents(path), _SUFFIXES.get(Path(path).suffix.casefold())
    if detect_format(text) or not named:
        return parse_graph(text)
    try:
        return draft_text(text).make_graph()
    except BounditError:
        return _READERS[named](text).make_graph()


def draft_graph(text: str) -> tuple[ReadFormat, GraphDraft]:
    """Read a graph as it is drawn: its format, and a draft whose edges join variables.

    The draft need not be a causal graph; ``GraphDraft.make_graph`` checks that.

    >>> format, draft = draft_graph("dag { X -> Y  U -> X  U [latent] }")
    >>> format, sorted(draft.nodes), draft.hidden
    ('dagitty', ['U', 'X', 'Y'], {'U'})
    """
    found = detect_format(text) or "text"
    return found, _READERS[found](text).expand()


def write_draft(draft: GraphDraft, to: GraphFormat) -> str:
    """Write a draft in a format, with its hidden nodes."""
    if to not in _WRITERS:
        known = ", ".join(get_args(GraphFormat))
        raise OptionError(f"no graph format {to!r}; there are {known}")
    return _WRITERS[to](draft)


def detect_format(text: str) -> ReadFormat | None:
    """Recognise a text's graph format by how it opens; None when it opens like none.

    >>> detect_format("dag { X -> Y }"), detect_format("X -> Y")
    ('dagitty', None)
    """
    return next((name for name, opening in _OPENINGS if opening.match(text)), None)


def require_graph(graph: object) -> CausalGraph:
    """Return a ``CausalGraph`` as it is; read text or a graph of networkx, pgmpy or dowhy.

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
    how = (
        f"found {type(graph).__name__}; give a CausalGraph, its text such as 'X -> Y', or a "
        "networkx graph"
    )
    if isinstance(graph, str | PathLike):
        how = f"{shorten(str(graph), 60)!r} looks like a file; open it with read_graph"
    raise GraphError(f"a graph is needed; {how}")


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
