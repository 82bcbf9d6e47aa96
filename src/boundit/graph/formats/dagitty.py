"""Graphs as dagitty text, both ways: ``dag { X -> Y; X <-> Y; C [latent]; S [selected] }``."""

import re

from boundit.graph.attributes import INDEPENDENT, RELATED, name_groups
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.graph.tokens import END, Token, Tokens
from boundit.terms.names import quote, sort_names, write_name

_PATTERN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
    | (?P<edge><->|->|<-)
    | (?P<other>--|@->|<-@|@-@|@--|--@)
    | (?P<name>[\w.]+)
    | (?P<quoted>"(?:[^"\\]|\\[\s\S])*")
    | (?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)
    | (?P<mark>[\[\]{};,=])
    """,
    re.VERBOSE,
)
_HINT = "edges are written ->, <- and <->, other names in double quotes"
# dagitty's own words, with its abbreviations.
_HIDDEN = frozenset({"latent", "l", "unobserved", "u"})
_SELECTED = frozenset({"selected", "s"})
_EXPOSURE = frozenset({"exposure", "e"})
_OUTCOME = frozenset({"outcome", "o"})


def parse_dagitty(text: str) -> CausalGraph:
    """Read a graph from dagitty text; positions, exposures and outcomes are passed over.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> text = 'dag { C [latent, pos="0,1"] X <- C -> Y  X -> Y -> S  S [selected] }'
    >>> print(parse_dagitty(text))
    X -> Y; Y -> [S]; X <-> Y
    """
    return draft_dagitty(text).make_graph()


def draft_dagitty(text: str) -> GraphDraft:
    """Read dagitty text into a draft, with hidden nodes, positions and what is asked."""
    return _DagittyReader(text).read()


def write_dagitty(draft: GraphDraft) -> str:
    """Write a graph as text that the program dagitty reads.

    ``write_draft`` finds it in ``_WRITERS`` for the format "dagitty".
    """
    marks: dict[str, list[str]] = {node: [] for node in draft.nodes}
    for word, names in (
        ("latent", draft.hidden),
        ("selected", draft.selections),
        ("exposure", draft.exposures),
        ("outcome", draft.outcomes),
    ):
        for name in names:
            marks[name].append(word)
    for name, (word, group) in name_groups(draft.groups.values()).items():
        marks[name].append(f"{word}={quote(group)}")
    for name, (x, y) in draft.positions.items():
        marks[name].append(f'pos="{x:.10g},{y:.10g}"')
    lines = list[str]()
    for node in sort_names(draft.nodes):
        mark = f" [{', '.join(marks[node])}]" if marks[node] else ""
        lines.append(f"  {write_name(node)}{mark}")
    lines += [f"  {write_name(a)} -> {write_name(b)}" for a, b in sorted(draft.directed)]
    lines += [f"  {write_name(a)} <-> {write_name(b)}" for a, b in sorted(draft.bidirected)]
    return "\n".join(["dag {", *lines, "}", ""])


class _DagittyReader:
    """The grammar of dagitty's graph text, one method a rule."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text.removeprefix("\ufeff"), _PATTERN, hint=_HINT)
        self._draft = GraphDraft()
        self._groups: dict[str, dict[str, object]] = {}

    def read(self) -> GraphDraft:
        """Read the whole dagitty text into a draft: its edges, hidden nodes and selection node."""
        kind = self._tokens.expect("name", "'dag'")
        if kind.text.casefold() != "dag":
            kind.refuse(
                f"expected 'dag', found {kind.quotation}; only a dag has a causal reading"
            )
        if not self._tokens.is_at("{"):
            self._tokens.expect_name("a graph name or '{'")
        self._tokens.expect_mark("{")
        while not self._tokens.take_mark("}"):
            if not self._tokens.take_mark(";"):
                self._read_statement()
        if self._tokens.now.kind != END:
            self._tokens.now.refuse(
                f"expected one graph, found {self._tokens.now.quotation} after it"
            )
        self._draft.gather_groups(self._groups)
        return self._draft

    def _read_statement(self) -> None:
        """Read one statement into the draft: a node, a row of edges, or a remark on drawing."""
        left = self._read_end()
        if self._tokens.take_mark("="):  # such as bb="0,0,1,1": where it was drawn
            self._skip_value()
            return
        self._draft.nodes.update(left)
        chained = False
        while edge := self._take_edge():
            right = self._read_end()
            for a in left:
                for b in right:
                    self._draft.connect(a, edge.text, b)
            left, chained = right, True
        self._read_attributes([] if chained else left)

    def _take_edge(self) -> Token | None:
        """Take the next token if it is an edge, else return None; undirected edges are refused."""
        if self._tokens.now.kind == "other":
            self._tokens.now.refuse(
                f"{self._tokens.now.text!r} has no causal reading; edges are ->, <- and <->"
            )
        return self._tokens.take_if("edge")

    def _read_end(self) -> list[str]:
        """Read one end of an edge: the name of a node, or several in braces."""
        if not self._tokens.take_mark("{"):
            return [self._tokens.expect_name("a node")]
        inside: list[str] = []
        while not self._tokens.take_mark("}"):
            if not (self._tokens.take_mark(";") or self._tokens.take_mark(",")):
                inside.append(self._tokens.expect_name("a node or '}'"))
        return inside

    def _read_attributes(self, nodes: list[str]) -> None:
        """Read ``[...]`` after nodes, and note in the draft which are hidden or selected."""
        if not self._tokens.take_mark("["):
            return
        while not self._tokens.take_mark("]"):
            word = self._tokens.now
            key = self._tokens.expect_name("an attribute or ']'").casefold()
            value = self._skip_value() if self._tokens.take_mark("=") else ""
            if key in {RELATED, INDEPENDENT}:
                for node in nodes:
                    self._groups.setdefault(node, {})[key] = value
            if key in _HIDDEN | _SELECTED and not nodes:
                word.refuse(f"{key!r} on an edge says nothing; write it after the node alone")
            if key in _HIDDEN:
                self._draft.hidden.update(nodes)
            if key in _SELECTED:
                self._draft.selections.update(nodes)
            self._note_drawing(nodes, key, value)
            self._tokens.take_mark(",")

    def _note_drawing(self, nodes: list[str], key: str, value: str) -> None:
        """Note what only a drawing heeds: where nodes stand, and what is asked of them."""
        if key in _EXPOSURE:
            self._draft.exposures.update(nodes)
        if key in _OUTCOME:
            self._draft.outcomes.update(nodes)
        for node in nodes:
            if key == "pos":
                self._draft.place(node, value)

    def _skip_value(self) -> str:
        """Pass over the value of an attribute, such as a position, and return it."""
        number = self._tokens.take_if("number")
        return number.text if number else self._tokens.expect_name("a value")
