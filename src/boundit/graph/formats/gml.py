"""Graphs from GML, the Graph Modelling Language that networkx and dowhy write.

.. code-block:: text

    graph [ directed 1
      node [ id 0 label "X" ]  node [ id 1 label "Y" ]  node [ id 2 label "U" observed "no" ]
      edge [ source 0 target 1 ]  edge [ source 2 target 0 ]  edge [ source 2 target 1 ]
    ]

A node is called by its label, or its id where it has none. Attributes mean what they mean in
DOT: ``latent 1`` or ``observed "no"``, ``selected 1``, ``related "Z"``, and on an edge
``bidirected 1``. Whatever else is there is passed over.
"""

import re
from html import unescape

from boundit.graph.attributes import is_flag_set, is_hidden, is_selected
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft
from boundit.graph.tokens import END, Token, Tokens

_PATTERN = re.compile(
    r"""
      (?P<skip>\s+|^\#[^\n]*|(?<=\n)\#[^\n]*)
    | (?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<name>[A-Za-z_]\w*)
    | (?P<quoted>"[^"]*")
    | (?P<mark>[\[\]])
    """,
    re.VERBOSE,
)
_HINT = "GML is made of keys, each with a number, a quoted text or [ ... ]"
_DEEPEST = 40

Attributes = dict[str, str]


def parse_gml(text: str) -> CausalGraph:
    """Read a graph from GML text, as networkx and dowhy write it.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> nodes = 'node [ id 0 label "X" ] node [ id 1 ]'
    >>> print(parse_gml(f"graph [ directed 1 {nodes} edge [ source 0 target 1 ] ]"))
    X -> 1
    """
    return draft_gml(text).make_graph()


def draft_gml(text: str) -> GraphDraft:
    """Read GML text into a draft, hidden nodes and all.

    ``draft_graph`` finds it in ``_DRAFTERS``.
    """
    return _GmlReader(text).read()


class _GmlReader:
    """The grammar of GML, one method a rule."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text.removeprefix("\ufeff"), _PATTERN, hint=_HINT)
        self._draft = GraphDraft()
        self._names: dict[str, str] = {}
        self._marks: dict[str, Attributes] = {}
        self._edges: list[tuple[Token, Attributes]] = []
        self._directed = False

    def read(self) -> GraphDraft:
        """Read the whole GML text into a draft: its edges, hidden nodes and selection node."""
        found = False
        while self._tokens.now.kind != END:
            key = self._tokens.expect("name", "a key such as 'graph'")
            if key.text == "graph" and self._tokens.is_at("["):
                if found:
                    key.refuse("expected one graph, found another after it")
                found = True
                self._read_graph()
            else:
                self._skip_value(0)
        if not found:
            self._tokens.now.refuse("expected 'graph [', found none")
        for start, attributes in self._edges:
            self._connect(start, attributes)
        self._draft.gather_groups(self._marks)
        return self._draft

    def _read_graph(self) -> None:
        """Read what stands between the brackets of ``graph``: its nodes and edges.

        An edge may stand before its nodes.
        """
        self._tokens.expect_mark("[")
        while not self._tokens.take_mark("]"):
            key = self._tokens.expect("name", "a key or ']'")
            if key.text == "directed" and not self._tokens.is_at("["):
                self._directed = is_flag_set(self._read_scalar())
            elif key.text == "node":
                self._add_node(key, self._read_attributes())
            elif key.text == "edge":
                self._edges.append((key, self._read_attributes()))
            else:
                self._skip_value(0)

    def _add_node(self, start: Token, attributes: Attributes) -> None:
        """Add a node to the draft, with what its attributes say."""
        number = attributes.get("id", attributes.get("label"))
        if number is None:
            start.refuse("this node has neither 'id' nor 'label'")
        name = attributes.get("label", number)
        if number in self._names or name in self._marks:
            start.refuse(f"a node before has the id {number!r} or the label {name!r} too")
        self._names[number], self._marks[name] = name, attributes
        self._draft.nodes.add(name)
        if is_hidden(attributes):
            self._draft.hidden.add(name)
        if is_selected(attributes):
            self._draft.selections.add(name)

    def _connect(self, start: Token, attributes: Attributes) -> None:
        """Add an edge to the draft, once all nodes are known."""
        ends = list[str]()
        for word in ("source", "target"):
            number = attributes.get(word)
            if number not in self._names:
                start.refuse(f"the {word} of this edge is {number!r}, which is no node's id")
            ends.append(self._names[number])
        both = is_flag_set(attributes.get("bidirected"))
        if not both and not self._directed:
            start.refuse(
                f"the edge between {ends[0]!r} and {ends[1]!r} has no direction; write "
                "'directed 1' before the nodes, or 'bidirected 1' in the edge"
            )
        self._draft.connect(ends[0], BIDIRECTED if both else FORWARD, ends[1])

    def _read_attributes(self) -> Attributes:
        """Read ``[...]`` of a node or an edge; lists within, as of positions, are passed over."""
        found: Attributes = {}
        self._tokens.expect_mark("[")
        while not self._tokens.take_mark("]"):
            key = self._tokens.expect("name", "a key or ']'")
            if self._tokens.is_at("["):
                self._skip_value(0)
            else:
                found[key.text] = self._read_scalar()
        return found

    def _read_scalar(self) -> str:
        """Read a number or a quoted text, with ``&quot;`` and its like resolved."""
        if self._tokens.now.kind == "number":
            return self._tokens.take().text
        return unescape(self._tokens.expect("quoted", "a number or a quoted text").text[1:-1])

    def _skip_value(self, depth: int) -> None:
        """Pass over the value of a key that says nothing of causes, lists within lists too."""
        if not self._tokens.is_at("["):
            self._read_scalar()
            return
        if depth > _DEEPEST:
            self._tokens.now.refuse(f"lists are nested more than {_DEEPEST} deep")
        self._tokens.expect_mark("[")
        while not self._tokens.take_mark("]"):
            self._tokens.expect("name", "a key or ']'")
            self._skip_value(depth + 1)
