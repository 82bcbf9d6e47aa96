"""Graphs as Graphviz DOT, both ways.

A bidirected edge is ``A -> B [dir=both]``, or one with both ``arrowhead`` and ``arrowtail``,
or with ``bidirected=true``. A hidden node has ``latent=true`` (or ``observed=no``), the
selection node ``selected=true``, and a member of a group names it as in ``related="Z"`` or
``independent="Z"``. Subgraphs, chains and default attributes are read; anything
that only concerns looks is passed over.
"""

import re
from dataclasses import dataclass, field

from boundit.graph.attributes import is_flag_set, is_hidden, is_selected, name_groups
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BACKWARD, BIDIRECTED, FORWARD, GraphDraft
from boundit.graph.tokens import END, Token, Tokens, unquote
from boundit.terms.names import quote, sort_names

_PATTERN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|^\#[^\n]*|(?<=\n)\#[^\n]*)
    | (?P<edge>->|--)
    | (?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.])|[\w.]+)
    | (?P<quoted>"(?:[^"\\]|\\[\s\S])*")
    | (?P<html><[^<>]*>)
    | (?P<mark>[\[\]{};,=:+])
    """,
    re.VERBOSE,
)
_HINT = "edges are written ->, other names in double quotes"
_DEEPEST = 40


@dataclass
class _Scope:
    """Default attributes, as they stand inside one pair of braces."""

    node: dict[str, str] = field(default_factory=dict)
    edge: dict[str, str] = field(default_factory=dict)

    def nest(self) -> "_Scope":
        """Copy the default attributes of nodes and edges for the inside of a subgraph."""
        return _Scope(dict(self.node), dict(self.edge))


def parse_dot(text: str) -> CausalGraph:
    """Read a graph from text in DOT, the language of Graphviz.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> print(parse_dot("digraph { X -> Y; X -> Y [dir=both]; Y -> S; S [selected=true] }"))
    X -> Y; Y -> [S]; X <-> Y
    """
    return draft_dot(text).make_graph()


def draft_dot(text: str) -> GraphDraft:
    """Read DOT text into a draft, with hidden nodes and positions.

    ``draft_graph`` finds it in ``_DRAFTERS``.
    """
    return _DotReader(text).read()


def write_dot(draft: GraphDraft) -> str:
    """Write a graph as DOT: bidirected edges dashed, the selection node a box.

    ``write_draft`` finds it in ``_WRITERS``.
    """
    marks: dict[str, list[str]] = {node: [] for node in draft.nodes}
    for name in draft.hidden:
        marks[name].append("latent=true, style=dashed")
    for name in draft.selections:
        marks[name].append("selected=true, shape=box")
    for name, (word, group) in name_groups(draft.groups.values()).items():
        marks[name].append(f"{word}={quote(group)}")
    for name, (x, y) in draft.positions.items():
        # Graphviz counts upwards.
        marks[name].append(f'pos="{x:.10g},{-y:.10g}!"')
    lines = ["digraph {"]
    for node in sort_names(draft.nodes):
        mark = f" [{', '.join(marks[node])}]" if marks[node] else ""
        lines.append(f"  {quote(node)}{mark};")
    lines += [f"  {quote(a)} -> {quote(b)};" for a, b in sorted(draft.directed)]
    lines += [
        f"  {quote(a)} -> {quote(b)} [dir=both, style=dashed];"
        for a, b in sorted(draft.bidirected)
    ]
    return "\n".join([*lines, "}", ""])


class _DotReader:
    """The grammar of DOT, one method a rule."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text.removeprefix("\ufeff"), _PATTERN, hint=_HINT)
        self._draft = GraphDraft()
        self._attributes: dict[str, dict[str, str]] = {}

    def read(self) -> GraphDraft:
        """Read the whole DOT text into a draft: its edges, hidden nodes and selection node."""
        self._take_keyword("strict")
        if not (self._take_keyword("digraph") or self._take_keyword("graph")):
            self._tokens.now.refuse(f"expected 'digraph', found {self._tokens.now.quotation}")
        if not self._tokens.is_at("{"):
            self._read_name("a graph name or '{'")
        self._read_braces(_Scope(), depth=0)
        if self._tokens.now.kind != END:
            self._tokens.now.refuse(
                f"expected one graph, found {self._tokens.now.quotation} after it"
            )
        for node, attributes in self._attributes.items():
            if is_hidden(attributes):
                self._draft.hidden.add(node)
            if is_selected(attributes):
                self._draft.selections.add(node)
            self._draft.place(node, attributes.get("pos"))
        # Graphviz counts upwards, drawings on a screen downwards.
        for node, (x, y) in self._draft.positions.items():
            self._draft.positions[node] = x, -y
        self._draft.gather_groups(self._attributes)
        return self._draft

    def _read_braces(self, scope: _Scope, *, depth: int) -> list[str]:
        """Read the statements in ``{ ... }`` and return the nodes named inside."""
        if depth > _DEEPEST:
            self._tokens.now.refuse(f"subgraphs are nested more than {_DEEPEST} deep")
        self._tokens.expect_mark("{")
        inside: list[str] = []
        while not self._tokens.take_mark("}"):
            if not self._tokens.take_mark(";"):
                inside += self._read_statement(scope, depth)
        return inside

    def _read_statement(self, scope: _Scope, depth: int) -> list[str]:
        """Read one DOT statement: default attributes, an assignment, a node or a row of edges.

        Returns the nodes it names.
        """
        for word in ("node", "edge", "graph"):
            if self._take_keyword(word):
                given = self._read_attributes()
                {"node": scope.node, "edge": scope.edge, "graph": {}}[word].update(given)
                return []
        if self._skip_assignment():
            return []
        ends, edges = [self._read_end(scope, depth)], list[Token]()
        while edge := self._tokens.take_if("edge"):
            edges.append(edge)
            ends.append(self._read_end(scope, depth))
        attributes = self._read_attributes()
        for left, edge, right in zip(ends, edges, ends[1:], strict=False):
            kind = _read_arrow(edge, scope.edge | attributes)
            for a in left:
                for b in right:
                    self._draft.connect(a, kind, b)
        if not edges:
            for node in ends[0]:
                self._attributes[node].update(attributes)
        return [node for end in ends for node in end]

    def _skip_assignment(self) -> bool:
        """Pass over a DOT assignment such as ``rankdir=LR``, and tell whether there was one.

        It only says how the graph is drawn.
        """
        if self._tokens.ahead.text != "=" or self._tokens.ahead.kind != "mark":
            return False
        self._read_name("an attribute")
        self._tokens.take_mark("=")
        self._read_name("a value")
        return True

    def _read_end(self, scope: _Scope, depth: int) -> list[str]:
        """Read one end of an edge: a node, or a subgraph that stands for all its nodes."""
        if self._take_keyword("subgraph"):
            if not self._tokens.is_at("{"):
                self._read_name("a subgraph name or '{'")
            return self._read_braces(scope.nest(), depth=depth + 1)
        if self._tokens.is_at("{"):
            return self._read_braces(scope.nest(), depth=depth + 1)
        name = self._read_name("a node")
        while self._tokens.take_mark(":"):
            self._read_name("a port")
        self._draft.nodes.add(name)
        self._attributes.setdefault(name, dict(scope.node))
        return [name]

    def _read_attributes(self) -> dict[str, str]:
        """Read all ``[...]`` that follow into one mapping, its keys in lower case."""
        found: dict[str, str] = {}
        while self._tokens.take_mark("["):
            while not self._tokens.take_mark("]"):
                key = self._read_name("an attribute or ']'")
                found[key.casefold()] = (
                    self._read_name("a value") if self._tokens.take_mark("=") else "true"
                )
                _ = self._tokens.take_mark(",") or self._tokens.take_mark(";")
        return found

    def _read_name(self, what: str) -> str:
        """Read a name in DOT, plain, quoted (also in parts) or HTML, or raise a syntax error.

        ``what`` says in the error what the name would have been of.
        """
        token = self._tokens.now
        if token.kind not in {"name", "quoted", "html"}:
            token.refuse(f"expected {what}, found {token.quotation}")
        self._tokens.take()
        name = unquote(token.text) if token.kind == "quoted" else token.text
        while token.kind == "quoted" and self._tokens.take_mark("+"):
            name += unquote(self._tokens.expect("quoted", "a quoted text after '+'").text)
        return name

    def _take_keyword(self, word: str) -> bool:
        """Take the next token if it is this keyword of DOT, in upper or lower case."""
        here = self._tokens.now
        if here.kind == "name" and here.text.casefold() == word:
            self._tokens.take()
            return True
        return False


def _read_arrow(edge: Token, attributes: dict[str, str]) -> str:
    """Read which arrowheads a DOT edge has: ``->``, ``<-`` or ``<->``."""
    if _is_two_headed(attributes):
        return BIDIRECTED
    direction = attributes.get("dir", "forward" if edge.text == "->" else "none").casefold()
    head = direction in {"forward", "both"} and attributes.get("arrowhead") != "none"
    tail = direction in {"back", "both"} and attributes.get("arrowtail") != "none"
    if not (head or tail):
        edge.refuse(
            "this edge has no arrowhead; a cause is 'A -> B', "
            "a hidden common cause 'A -> B [dir=both]'"
        )
    return BIDIRECTED if head and tail else FORWARD if head else BACKWARD


def _is_two_headed(attributes: dict[str, str]) -> bool:
    """Tell whether ``bidirected``, or both arrow attributes, give a DOT edge two heads.

    ``dir`` is left to ``_read_arrow``.
    """
    if is_flag_set(attributes.get("bidirected")):
        return True
    ends = (attributes.get("arrowhead"), attributes.get("arrowtail"))
    return "dir" not in attributes and all(map(is_flag_set, ends))
