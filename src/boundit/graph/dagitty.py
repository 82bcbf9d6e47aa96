"""Graphs as dagitty text, both ways: ``dag { X -> Y; X <-> Y; C [latent]; S [selected] }``."""

import re

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
from boundit.graph.tokens import END, Token, Tokens
from boundit.terms.names import sort_names, write_name

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


def parse_dagitty(text: str) -> CausalGraph:
    """Read a graph from dagitty text; positions, exposures and outcomes are passed over.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> text = 'dag { C [latent, pos="0,1"] X <- C -> Y  X -> Y -> S  S [selected] }'
    >>> print(parse_dagitty(text))
    X -> Y; Y -> [S]; X <-> Y
    """
    return _DagittyReader(text).read().make_graph()


def write_dagitty(graph: CausalGraph) -> str:
    """Write a graph as text that the program dagitty reads.

    ``format_graph`` finds it in ``_WRITERS`` for the format "dagitty".
    """
    lines = [
        f"  {write_name(node)}{' [selected]' if node == graph.selection else ''}"
        for node in sort_names(graph.nodes)
    ]
    lines += [f"  {write_name(a)} -> {write_name(b)}" for a, b in sorted(graph.directed)]
    lines += [f"  {write_name(a)} <-> {write_name(b)}" for a, b in sorted(graph.bidirected)]
    return "\n".join(["dag {", *lines, "}", ""])


class _DagittyReader:
    """The grammar of dagitty's graph text, one method a rule."""

    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text.removeprefix("\ufeff"), _PATTERN, hint=_HINT)
        self._draft = GraphDraft()

    def read(self) -> GraphDraft:
        """Read the whole dagitty text into a draft: its edges, hidden nodes and selection node.

        Called by ``parse_dagitty``, which makes a graph of the draft.
        """
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
        return self._draft

    def _read_statement(self) -> None:
        """Read one statement into the draft: a node, a row of edges, or a remark on drawing.

        Called by ``_DagittyReader.read`` until the text ends.
        """
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
        """Take the next token if it is an edge, else return None; undirected edges are refused.

        Called by ``_DagittyReader._read_statement``.
        """
        if self._tokens.now.kind == "other":
            self._tokens.now.refuse(
                f"{self._tokens.now.text!r} has no causal reading; edges are ->, <- and <->"
            )
        return self._tokens.take_if("edge")

    def _read_end(self) -> list[str]:
        """Read one end of an edge: the name of a node, or several in braces.

        Called by ``_DagittyReader._read_statement``.
        """
        if not self._tokens.take_mark("{"):
            return [self._tokens.expect_name("a node")]
        inside: list[str] = []
        while not self._tokens.take_mark("}"):
            if not (self._tokens.take_mark(";") or self._tokens.take_mark(",")):
                inside.append(self._tokens.expect_name("a node or '}'"))
        return inside

    def _read_attributes(self, nodes: list[str]) -> None:
        """Read ``[...]`` after nodes, and note in the draft which are hidden or selected.

        Called by ``_DagittyReader._read_statement``.
        """
        if not self._tokens.take_mark("["):
            return
        while not self._tokens.take_mark("]"):
            word = self._tokens.now
            key = self._tokens.expect_name("an attribute or ']'").casefold()
            if self._tokens.take_mark("="):
                self._skip_value()
            if key in _HIDDEN | _SELECTED and not nodes:
                word.refuse(f"{key!r} on an edge says nothing; write it after the node alone")
            if key in _HIDDEN:
                self._draft.hidden.update(nodes)
            if key in _SELECTED:
                self._draft.selections.update(nodes)
            self._tokens.take_mark(",")

    def _skip_value(self) -> None:
        """Pass over the value of an attribute that says nothing of causes, such as a position.

        Called by ``_DagittyReader._read_statement`` and ``_DagittyReader._read_attributes``.
        """
        if not self._tokens.take_if("number"):
            self._tokens.expect_name("a value")
