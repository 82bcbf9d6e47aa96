"""Graphs in Graphviz DOT, as dagitty text and as JSON, both ways.

DOT: a bidirected edge is ``A -> B [dir=both]``, or one with both ``arrowhead`` and
``arrowtail``, or with ``bidirected=true``. A hidden node has ``latent=true`` (or
``observed=no``), the selection node ``selected=true``, and a member of a group names it as in
``related="Z"`` or ``independent="Z"``. Subgraphs, chains and default attributes are read;
anything that only concerns looks is passed over.

dagitty: ``dag { X -> Y; X <-> Y; C [latent]; S [selected] }``.

JSON, of which every key may be left out:

.. code-block:: json

    {"nodes": ["X", "Y", "S"], "directed": [["X", "Y"], ["Y", "S"]],
     "bidirected": [["X", "Y"]], "selection": "S", "hidden": [],
     "groups": [{"name": "Z", "members": ["Age", "Sex"], "independent": false}]}

A line of a benchmark collection has a question beside the graph (``query``, ``external``,
``adjustment``); the variables it names are nodes of the graph too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import final

from boundit.core.errors import (
    GraphError,
    InvalidName,
    MalformedText,
    shorten,
)
from boundit.core.names import is_name, quote, sort_names, write_name
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import InvalidGroup, sort_groups
from boundit.graph.text import (
    BACKWARD,
    BIDIRECTED,
    FORWARD,
    INDEPENDENT,
    RELATED,
    GraphDraft,
    Token,
    Tokens,
    is_flag_set,
    refuse_selections,
    unquote,
)

_HINT = "edges are written ->, other names in double quotes"
_DOT = re.compile(
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
_DAGITTY_HINT = "edges are written ->, <- and <->, other names in double quotes"
_DAGITTY = re.compile(
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
# dagitty's own words, with its abbreviations.
_HIDDEN = frozenset({"latent", "l", "unobserved", "u"})
_SELECTED = frozenset({"selected", "s"})
_EXPOSURE = frozenset({"exposure", "e"})
_OUTCOME = frozenset({"outcome", "o"})
_DEEPEST = 40
_GRAPH_KEYS = ("nodes", "directed", "bidirected", "selection", "hidden", "groups")
_GROUP_KEYS = frozenset({"name", "members", "independent"})
_QUESTION_KEYS = ("query", "external", "adjustment")
_OTHER_KEYS = ("name", "answer", "by", "expression", "numeric_gap")

_Attributes = dict[str, str]


def draft_dot(text: str) -> GraphDraft:
    """Read DOT text into a draft, with hidden nodes and positions.

    >>> print(draft_dot("digraph { X -> Y; X -> Y [dir=both] }").make_graph())
    X -> Y; X <-> Y
    """
    return _DotReader(text, _DOT, hint=_HINT).read()


def write_dot(draft: GraphDraft) -> str:
    """Write a draft as DOT: bidirected edges dashed, the selection node a box."""
    words = {
        "latent=true, style=dashed": draft.hidden,
        "selected=true, shape=box": draft.selections,
    }
    # Graphviz counts upwards.
    places = {name: f"{x:.10g},{-y:.10g}!" for name, (x, y) in draft.positions.items()}
    marks = _write_marks(draft, words, places)
    return "\n".join(
        [
            "digraph {",
            *(f"  {quote(node)}{marks[node]};" for node in sort_names(draft.nodes)),
            *(f"  {quote(a)} -> {quote(b)};" for a, b in sorted(draft.directed)),
            *(
                f"  {quote(a)} -> {quote(b)} [dir=both, style=dashed];"
                for a, b in sorted(draft.bidirected)
            ),
            "}",
            "",
        ]
    )


def draft_dagitty(text: str) -> GraphDraft:
    """Read dagitty text into a draft, with hidden nodes, positions and what is asked.

    >>> text = 'dag { C [latent, pos="0,1"] X <- C -> Y  X -> Y -> S  S [selected] }'
    >>> print(draft_dagitty(text).make_graph())
    X -> Y; Y -> [S]; X <-> Y
    """
    return _DagittyReader(text, _DAGITTY, hint=_DAGITTY_HINT).read()


def write_dagitty(draft: GraphDraft) -> str:
    """Write a draft as text that the program dagitty reads."""
    words = {
        "latent": draft.hidden,
        "selected": draft.selections,
        "exposure": draft.exposures,
        "outcome": draft.outcomes,
    }
    places = {name: f"{x:.10g},{y:.10g}" for name, (x, y) in draft.positions.items()}
    marks = _write_marks(draft, words, places)
    lines = [f"  {write_name(node)}{marks[node]}" for node in sort_names(draft.nodes)]
    lines += [f"  {write_name(a)} -> {write_name(b)}" for a, b in sorted(draft.directed)]
    lines += [f"  {write_name(a)} <-> {write_name(b)}" for a, b in sorted(draft.bidirected)]
    return "\n".join(["dag {", *lines, "}", ""])


def _write_marks(
    draft: GraphDraft, words: Mapping[str, Iterable[str]], places: Mapping[str, str]
) -> dict[str, str]:
    """Write the attributes of each node in brackets: words, its group, its place."""
    marks: dict[str, list[str]] = {node: [] for node in draft.nodes}
    for word, names in words.items():
        for name in names:
            marks[name].append(word)
    for name, (word, group) in draft.name_groups().items():
        marks[name].append(f"{word}={quote(group)}")
    for name, place in places.items():
        marks[name].append(f'pos="{place}"')
    return {node: f" [{', '.join(found)}]" if found else "" for node, found in marks.items()}


@final
class _DotReader(Tokens):
    """The grammar of DOT, one method a rule; default attributes are those of nodes and edges."""

    def read(self) -> GraphDraft:
        """Read the whole text into a draft: its edges, hidden nodes and selection node."""
        self._draft = GraphDraft()
        self._attributes: dict[str, _Attributes] = {}
        self._take_keyword("strict")
        if not (self._take_keyword("digraph") or self._take_keyword("graph")):
            self.now.refuse(f"expected 'digraph', found {self.now.quotation}")
        if not self.is_at("{"):
            self._read_name("a graph name or '{'")
        self._read_braces({}, {}, depth=0)
        self.expect_end("one graph")
        self._draft.mark_nodes(self._attributes)
        for node, attributes in self._attributes.items():
            self._draft.place(node, attributes.get("pos"))
        # Graphviz counts upwards, drawings on a screen downwards.
        places = self._draft.positions.items()
        self._draft.positions = {node: (x, -y) for node, (x, y) in places}
        return self._draft

    def _read_braces(self, node: _Attributes, edge: _Attributes, *, depth: int) -> list[str]:
        """Read the statements between braces, and return the nodes they name."""
        if depth > _DEEPEST:
            self.now.refuse(f"subgraphs are nested more than {_DEEPEST} deep")
        self.expect_mark("{")
        inside: list[str] = []
        while not self.take_mark("}"):
            if not self.take_mark(";"):
                inside += self._read_statement(node, edge, depth)
        return inside

    def _read_statement(self, node: _Attributes, edge: _Attributes, depth: int) -> list[str]:
        """Read default attributes, an assignment, a node or a row of edges; return its nodes."""
        for word, defaults in (("node", node), ("edge", edge), ("graph", {})):
            if self._take_keyword(word):
                defaults.update(self._read_attributes())
                return []
        if self.ahead.text == "=" and self.ahead.kind == "mark":  # says how it is drawn
            self._read_name("an attribute")
            self.take_mark("=")
            self._read_name("a value")
            return []
        ends, arrows = [self._read_end(node, edge, depth)], list[Token]()
        while arrow := self.take_if("edge"):
            arrows.append(arrow)
            ends.append(self._read_end(node, edge, depth))
        attributes = self._read_attributes()
        for left, arrow, right in zip(ends, arrows, ends[1:], strict=False):
            kind = _read_arrow(arrow, edge | attributes)
            for a in left:
                for b in right:
                    self._draft.connect(a, kind, b)
        if not arrows:
            for name in ends[0]:
                self._attributes[name].update(attributes)
        return [name for end in ends for name in end]

    def _read_end(self, node: _Attributes, edge: _Attributes, depth: int) -> list[str]:
        """Read one end of an edge: a node, or a subgraph that stands for all its nodes."""
        nested = self._take_keyword("subgraph")
        if nested and not self.is_at("{"):
            self._read_name("a subgraph name or '{'")
        if nested or self.is_at("{"):
            return self._read_braces(dict(node), dict(edge), depth=depth + 1)
        name = self._read_name("a node")
        while self.take_mark(":"):
            self._read_name("a port")
        self._draft.nodes.add(name)
        self._attributes.setdefault(name, dict(node))
        return [name]

    def _read_attributes(self) -> _Attributes:
        """Read all ``[...]`` that follow into one mapping, its keys in lower case."""
        found: _Attributes = {}
        while self.take_mark("["):
            while not self.take_mark("]"):
                key = self._read_name("an attribute or ']'").casefold()
                found[key] = self._read_name("a value") if self.take_mark("=") else "true"
                _ = self.take_mark(",") or self.take_mark(";")
        return found

    def _read_name(self, what: str) -> str:
        """Read a name, plain, quoted (also in parts) or HTML, or refuse what is not ``what``."""
        token = self.now
        if token.kind not in {"name", "quoted", "html"}:
            token.refuse(f"expected {what}, found {token.quotation}")
        name = unquote(self.take().text) if token.kind == "quoted" else self.take().text
        while token.kind == "quoted" and self.take_mark("+"):
            if self.now.kind != "quoted":
                self.now.refuse(f"expected a quoted text after '+', found {self.now.quotation}")
            name += unquote(self.take().text)
        return name

    def _take_keyword(self, word: str) -> bool:
        """Take the next token if it is this keyword of DOT, in upper or lower case."""
        here = self.now.kind == "name" and self.now.text.casefold() == word
        if here:
            self.take()
        return here


def _read_arrow(edge: Token, attributes: _Attributes) -> str:
    """Read which arrowheads a DOT edge has: ``->``, ``<-`` or ``<->``."""
    ends = attributes.get("arrowhead"), attributes.get("arrowtail")
    if is_flag_set(attributes.get("bidirected")) or (
        "dir" not in attributes and all(map(is_flag_set, ends))
    ):
        return BIDIRECTED
    direction = attributes.get("dir", "forward" if edge.text == "->" else "none").casefold()
    head = direction in {"forward", "both"} and ends[0] != "none"
    tail = direction in {"back", "both"} and ends[1] != "none"
    if not (head or tail):
        edge.refuse(
            "this edge has no arrowhead; a cause is 'A -> B', "
            "a hidden common cause 'A -> B [dir=both]'"
        )
    return BIDIRECTED if head and tail else FORWARD if head else BACKWARD


@final
class _DagittyReader(Tokens):
    """The grammar of dagitty's graph text, one method a rule."""

    def read(self) -> GraphDraft:
        """Read the whole text into a draft: its edges, hidden nodes and selection node."""
        self._draft = GraphDraft()
        self._groups: dict[str, _Attributes] = {}
        kind = self.now
        if kind.kind != "name" or kind.text.casefold() != "dag":
            only = "; only a dag has a causal reading" if kind.kind == "name" else ""
            kind.refuse(f"expected 'dag', found {kind.quotation}{only}")
        self.take()
        if not self.is_at("{"):
            self.expect_name("a graph name or '{'")
        self.expect_mark("{")
        while not self.take_mark("}"):
            if not self.take_mark(";"):
                self._read_statement()
        self.expect_end("one graph")
        self._draft.mark_nodes(self._groups)
        return self._draft

    def _read_statement(self) -> None:
        """Read one statement into the draft: a node, a row of edges, or a remark on drawing."""
        left = self._read_end()
        if self.take_mark("="):  # such as bb="0,0,1,1": where it was drawn
            self._read_value()
            return
        self._draft.nodes.update(left)
        nodes = left
        while edge := self._take_edge():
            right = self._read_end()
            for a in left:
                for b in right:
                    self._draft.connect(a, edge.text, b)
            left, nodes = right, []
        if self.take_mark("["):
            self._read_attributes(nodes)

    def _take_edge(self) -> Token | None:
        """Take the next token if it is an edge; undirected edges are refused."""
        if self.now.kind == "other":
            self.now.refuse(
                f"{self.now.text!r} has no causal reading; edges are ->, <- and <->"
            )
        return self.take_if("edge")

    def _read_end(self) -> list[str]:
        """Read one end of an edge: the name of a node, or several in braces."""
        if not self.take_mark("{"):
            return [self.expect_name("a node")]
        inside: list[str] = []
        while not self.take_mark("}"):
            if not (self.take_mark(";") or self.take_mark(",")):
                inside.append(self.expect_name("a node or '}'"))
        return inside

    def _read_attributes(self, nodes: list[str]) -> None:
        """Read ``[...]`` after nodes into the draft; after an edge, ``nodes`` is empty."""
        while not self.take_mark("]"):
            word = self.now
            key = self.expect_name("an attribute or ']'").casefold()
            value = self._read_value() if self.take_mark("=") else ""
            if key in _HIDDEN | _SELECTED and not nodes:
                word.refuse(f"{key!r} on an edge says nothing; write it after the node alone")
            for words, marked in (
                (_HIDDEN, self._draft.hidden),
                (_SELECTED, self._draft.selections),
                (_EXPOSURE, self._draft.exposures),
                (_OUTCOME, self._draft.outcomes),
            ):
                if key in words:
                    marked.update(nodes)
            for node in nodes:
                if key in {RELATED, INDEPENDENT}:
                    self._groups.setdefault(node, {})[key] = value
                if key == "pos":
                    self._draft.place(node, value)
            self.take_mark(",")

    def _read_value(self) -> str:
        """Read the value of an attribute, such as a position."""
        number = self.take_if("number")
        return number.text if number else self.expect_name("a value")


def draft_json(text: str) -> GraphDraft:
    """Read JSON text into a draft that keeps the hidden nodes.

    >>> print(draft_json('{"directed": [["X", "Y"], ["Y", "S"]], "selection": "S"}').make_graph())
    X -> Y; Y -> [S]
    """
    try:
        record = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise MalformedText(error.msg, line=error.lineno, column=error.colno) from None
    except (ValueError, RecursionError):
        reason = "too deep a nesting or too long a number for a graph"
        raise MalformedText(reason, line=1, column=1) from None
    return from_record(record)


def write_json(draft: GraphDraft) -> str:
    """Write a draft as one line of JSON."""
    return json.dumps(_write_record(draft), ensure_ascii=False)


def from_record(record: object) -> GraphDraft:
    """Read the lists and names that JSON text holds into a draft."""
    if not isinstance(record, Mapping):
        raise _refuse("", f"an object with keys {', '.join(_GRAPH_KEYS)}", record)
    for key in record:
        if key not in (*_GRAPH_KEYS, *_QUESTION_KEYS, *_OTHER_KEYS):
            near = get_close_matches(str(key), _GRAPH_KEYS, n=1)
            known = ", ".join(_GRAPH_KEYS)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {known}"
            raise GraphError(f"a graph has no key {shorten(str(key), 40)!r}; {hint}")
    draft = GraphDraft(nodes=set(_read_names(record, "nodes")))
    for key, edge in (("directed", FORWARD), ("bidirected", BIDIRECTED)):
        for item in _read_list(record, key, "a list of pairs of names"):
            if not (isinstance(item, list) and len(item) == 2):
                raise _refuse(key, 'pairs such as ["X", "Y"]', item)
            draft.connect(_read_name(item[0]), edge, _read_name(item[1]))
    for key in _QUESTION_KEYS:
        draft.nodes.update(_list_names(record.get(key)))
    if (selection := record.get("selection")) is not None:
        if not is_name(selection):
            raise _refuse("selection", "one name", selection)
        draft.nodes.add(selection)
        draft.selections.add(selection)
    draft.hidden.update(_read_names(record, "hidden"))
    _read_groups(record, draft)
    return draft


def to_record(graph: CausalGraph) -> dict[str, object]:
    """Write a graph as a dict with the keys of the JSON form, in a stable order."""
    return _write_record(GraphDraft.from_graph(graph))


def _write_record(draft: GraphDraft) -> dict[str, object]:
    """Write a draft as a dict with the keys of the JSON form."""
    if len(draft.selections) > 1:
        raise refuse_selections(draft.selections)
    groups = [
        {"name": g.name, "members": sort_names(g.members), "independent": g.independent}
        for g in sort_groups(draft.groups.values())
    ]
    return {
        "nodes": sort_names(draft.nodes),
        "directed": [list(edge) for edge in sorted(draft.directed)],
        "bidirected": [list(edge) for edge in sorted(draft.bidirected)],
        "selection": next(iter(draft.selections), None),
        "hidden": sort_names(draft.hidden),
    } | ({"groups": groups} if groups else {})


def _refuse(key: str, expected: str, found: object) -> GraphError:
    """Say what a part of a JSON graph must be."""
    where = f"key {key!r} of the graph" if key else "the graph"
    shown = shorten(json.dumps(found, default=repr), 40)
    return GraphError(f"{where} must be {expected}, found {shown}")


def _read_groups(record: Mapping[object, object], draft: GraphDraft) -> None:
    """Read the list of groups of a JSON graph into the draft."""
    form = 'a list of objects such as {"name": "Z", "members": ["Age", "Sex"]}'
    for item in _read_list(record, "groups", form):
        if not isinstance(item, Mapping) or not item.keys() <= _GROUP_KEYS:
            raise _refuse("groups", form, item)
        independent = item.get("independent", False)
        if not isinstance(independent, bool):
            raise _refuse("groups", "true or false for 'independent'", independent)
        name = _read_name(item.get("name"))
        if name in draft.nodes:
            raise InvalidGroup(name, "a node has the same name; call the group otherwise")
        draft.add_group(name, _read_names(item, "members"), independent=independent)
    draft.nodes.update(*(group.members for group in draft.groups.values()))


def _read_list(record: Mapping[object, object], key: str, form: str) -> list[object]:
    """Read the list under a key of a JSON graph, empty where there is none."""
    found = record.get(key)
    if found is not None and not isinstance(found, list):
        raise _refuse(key, form, found)
    return found or []


def _read_names(record: Mapping[object, object], key: str) -> list[str]:
    """Read the list of names under a key of a JSON graph."""
    return [_read_name(item) for item in _read_list(record, key, "a list of names")]


def _read_name(item: object) -> str:
    """Read one name of a JSON graph, or raise InvalidName."""
    if is_name(item):
        return item
    raise InvalidName(item)


def _list_names(question: object) -> Iterator[str]:
    """List every name in the question of a JSON graph, however its lists are nested."""
    waiting = [question]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield _read_name(item)
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
