"""boundit's own graph syntax, read and written.

.. code-block:: text

    U1 -> X1 -> I1 -> Y      # statements end at a line break or a semicolon
    U1 -> Y; I1 <- C1 -> Y
    hidden C1                # unmeasured: projected to I1 <-> Y
    I1 -> [S]                # brackets mark the selection node
    Weather                  # a node without edges
    "time of day" -> Y       # any name, in double quotes
    Z = {Age, Sex, Income}   # a group: its members may be related in any way
    Z -> X1                  # each of them may cause X1
    V = independent {A, B}   # a claim: no edges among these
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import NamedTuple, NoReturn

from boundit.core.errors import EmptyGraph, GraphError, MalformedText, shorten
from boundit.core.names import sort_names, write_name
from boundit.graph.causal_graph import CausalGraph, Edge, project
from boundit.graph.groups import Groups, InvalidGroup, NodeGroup, sort_groups

END = "end"


class Token(NamedTuple):
    """A piece of text, what it is, and where it begins (both counted from one)."""

    kind: str
    text: str
    line: int
    column: int

    def refuse(self, reason: str) -> NoReturn:
        """Raise a syntax error that points at this token's line and column."""
        raise MalformedText(reason, line=self.line, column=self.column)

    @property
    def quotation(self) -> str:
        """The token as an error message quotes it, or "the end of the text"."""
        if self.kind == END:
            return "the end of the text"
        return "the end of the line" if self.text == "\n" else repr(shorten(self.text, 40))


class Tokens:
    """A stream of tokens: ``now`` is the one to look at, ``ahead`` the one after it.

    ``pattern`` has one named group a kind; a group named ``skip`` is passed over. What it does
    not match is refused at its line and column, with ``hint`` for what would work.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], *, hint: str) -> None:
        self._rest = _split_tokens(text.removeprefix("\ufeff"), pattern, hint)
        self.now = next(self._rest)
        self.ahead = next(self._rest, self.now)

    def take(self) -> Token:
        """Return the current token and step to the one after it."""
        token, self.now = self.now, self.ahead
        self.ahead = next(self._rest, self.ahead)
        return token

    def take_if(self, kind: str, *texts: str) -> Token | None:
        """Take the current token if it is of this kind (and one of these texts), else None."""
        here = self.now.kind == kind and (not texts or self.now.text in texts)
        return self.take() if here else None

    def is_at(self, mark: str) -> bool:
        """Return whether the current token is this mark, such as ``{``, without taking it."""
        return self.now.kind == "mark" and self.now.text == mark

    def take_mark(self, mark: str) -> bool:
        """Take the current token if it is this mark, such as ``{``; return whether it was."""
        return self.take_if("mark", mark) is not None

    def expect_mark(self, mark: str, where: str = "") -> None:
        """Take this mark, such as ``}``, or raise a syntax error that says where it belongs."""
        if not self.take_mark(mark):
            self.now.refuse(f"expected {mark!r}{where}, found {self.now.quotation}")

    def expect_name(self, what: str) -> str:
        """Take a name, plain or quoted, or raise a syntax error that says what it would name."""
        if self.now.kind not in {"name", "quoted"}:
            self.now.refuse(f"expected {what}, found {self.now.quotation}")
        token = self.take()
        return unquote(token.text) if token.kind == "quoted" else token.text

    def expect_end(self, what: str) -> None:
        """Raise a syntax error if anything follows; ``what`` was expected to be all."""
        if self.now.kind != END:
            self.now.refuse(f"expected {what}, found {self.now.quotation} after it")


def unquote(text: str) -> str:
    r"""Take the quotes off a quoted name and resolve ``\"`` and ``\\``; other backslashes stay."""
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def _split_tokens(text: str, pattern: re.Pattern[str], hint: str) -> Iterator[Token]:
    """Cut a text into tokens by a format's pattern, or refuse what it does not match."""
    line, line_start, at = 1, 0, 0
    while at < len(text):
        found = pattern.match(text, at)
        column = at - line_start + 1
        if found is None or found.end() == at:
            reason = f"cannot read {text[at]!r}; {hint}"
            if text[at] == '"':
                reason = "this quote is never closed"
            raise MalformedText(reason, line=line, column=column)
        kind = found.lastgroup or "skip"
        if kind != "skip":
            yield Token(kind, found[0], line, column)
        at = found.end()
        if breaks := found[0].count("\n"):
            line += breaks
            line_start = found.start() + found[0].rfind("\n") + 1
    yield Token(END, "", line, at - line_start + 1)


FORWARD, BACKWARD, BIDIRECTED = "->", "<-", "<->"
RELATED, INDEPENDENT = "related", "independent"
"""Attributes of a node that name its group, by how members may be related."""
_NO = frozenset({"", "0", "false", "no", "none", "off"})
_NUMBER = r"([-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][-+]?\d{1,2})?)"
_PLACE = re.compile(rf"\s*{_NUMBER}\s*,\s*{_NUMBER}\s*!?\s*")
"""Where a file draws a node; an exclamation mark is Graphviz's word for "stay there"."""


def refuse_selections(names: Iterable[str]) -> GraphError:
    """Say that a graph marks several selection nodes."""
    shown = shorten(", ".join(map(write_name, sort_names(names))))
    return GraphError(
        f"the graph marks several selection nodes, {shown}; a row is logged or not: give one node "
        "the parents of all of them"
    )


@dataclass
class GraphDraft:
    """What a file says of a graph. Every reader fills one; ``make_graph`` checks it."""

    nodes: set[str] = field(default_factory=set)
    directed: set[tuple[str, str]] = field(default_factory=set)
    bidirected: set[tuple[str, str]] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    selections: set[str] = field(default_factory=set)
    groups: dict[str, NodeGroup] = field(default_factory=dict)
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    exposures: set[str] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)

    @classmethod
    def from_graph(cls, graph: CausalGraph) -> "GraphDraft":
        """Make the draft that a graph would be read from, to be written in some format."""
        return cls(
            nodes=set(graph.nodes),
            directed=set(graph.directed),
            bidirected=set(graph.bidirected),
            selections={graph.selection} if graph.selection else set(),
            groups={group.name: group for group in graph.groups},
        )

    def connect(self, left: str, edge: str, right: str) -> None:
        """Add one edge to the draft as a file writes it: ``->``, ``<-`` or ``<->``."""
        self.nodes |= {left, right}
        match edge:
            case "->":
                self.directed.add((left, right))
            case "<-":
                self.directed.add((right, left))
            case _:
                self.bidirected.add((left, right))

    def add_group(self, name: str, members: Iterable[str], *, independent: bool) -> None:
        """Add a group to the draft; each member is named once."""
        listed = list(members)
        if name in self.groups:
            raise InvalidGroup(name, "it is defined twice; define it once")
        for member in listed:
            if listed.count(member) > 1:
                raise InvalidGroup(name, f"{member!r} is in it twice; name it once")
        self.groups[name] = NodeGroup(name, frozenset(listed), independent)

    def mark_nodes(self, attributes: Mapping[str, Mapping[str, object]]) -> None:
        """Add nodes with what their attributes say: hidden, selection node, member of a group.

        ``latent`` and ``unobserved`` hide a node, and so does ``observed=no``; ``selected``
        makes it the selection node; ``related`` and ``independent`` name its group.
        """
        members: dict[tuple[str, bool], list[str]] = {}
        for node, marks in attributes.items():
            self.nodes.add(node)
            if any(is_flag_set(marks.get(word)) for word in ("latent", "unobserved")) or (
                "observed" in marks and not is_flag_set(marks["observed"])
            ):
                self.hidden.add(node)
            if is_flag_set(marks.get("selected")):
                self.selections.add(node)
            for word in (RELATED, INDEPENDENT):
                if isinstance(name := marks.get(word), str) and name:
                    members.setdefault((name, word == INDEPENDENT), []).append(node)
        for (name, independent), named in members.items():
            if name in self.nodes:
                raise InvalidGroup(name, "a node has the same name; call the group otherwise")
            self.add_group(name, named, independent=independent)

    def name_groups(self) -> dict[str, tuple[str, str]]:
        """Find for each member of a group the attribute that names the group, and its name."""
        return {
            member: (INDEPENDENT if group.independent else RELATED, group.name)
            for group in self.groups.values()
            for member in group.members
        }

    def make_graph(self) -> CausalGraph:
        """Check the draft's names and edges, and make a causal graph without its hidden nodes."""
        if not self.nodes and not self.groups:
            raise EmptyGraph
        if len(self.selections) > 1:
            raise refuse_selections(self.selections)
        if both := self.selections & self.hidden:
            raise GraphError(
                f"{write_name(min(both))} is marked both hidden and selection; every logged row "
                "shows that it was selected"
            )
        self._check_groups()
        graph = CausalGraph.of(
            self.nodes - self.groups.keys(),
            directed=self._expand(self.directed),
            bidirected=self._expand(self.bidirected),
            selection=next(iter(self.selections), None),
            groups=self.groups.values(),
        )
        graph.require(self.hidden)
        return project(graph, self.hidden) if self.hidden else graph

    def place(self, node: str, text: object) -> None:
        """Note where a file draws a node, as in ``"1.5,-2"``; other text is passed over."""
        if found := _PLACE.fullmatch(text) if isinstance(text, str) else None:
            self.positions[node] = float(found[1]), float(found[2])

    def expand(self) -> "GraphDraft":
        """Make a draft whose edges join variables alone, with the members of groups named."""
        return replace(
            self,
            nodes=self.nodes - self.groups.keys(),
            directed=set(self._expand(self.directed)),
            bidirected=set(self._expand(self.bidirected)),
        )

    def _check_groups(self) -> None:
        """Refuse groups in groups, hidden members, and a group that is marked like a node."""
        for name, group in self.groups.items():
            if inner := group.members & self.groups.keys():
                raise InvalidGroup(
                    name, f"{min(inner)!r} is a group itself; name its members instead"
                )
            if unseen := (group.members | {name}) & self.hidden:
                raise InvalidGroup(
                    name,
                    f"{min(unseen)!r} is hidden; members may have hidden causes anyway, so "
                    "leave it out",
                )
            if name in self.selections:
                raise InvalidGroup(
                    name, "it is marked as the selection node, which is one node"
                )

    def _expand(self, edges: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Put the members of a group in place of its name, in every edge."""
        for a, b in edges:
            for name, other in ((a, b), (b, a)):
                if name in self.groups and other in {name, *self.groups[name].members}:
                    raise InvalidGroup(
                        name,
                        f"an edge joins it with {write_name(other)}, which is part of it; draw "
                        "edges between members one by one, or none",
                    )
            yield from product(
                *(self.groups[n].members if n in self.groups else (n,) for n in (a, b))
            )


def is_flag_set(value: object) -> bool:
    """Read a yes-or-no attribute of a graph file: true, yes, 1 or the bare word mean yes.

    >>> [is_flag_set(value) for value in ("yes", True, "False", 0, None)]
    [True, True, False, False, False]
    """
    return value is not None and str(value).strip().casefold() not in _NO


_PATTERN = re.compile(
    r"""
      (?P<skip>[^\S\n]+|\#[^\n]*)
    | (?P<edge><->|->|<-)
    | (?P<name>[\w.]+)
    | (?P<quoted>"(?:[^"\\\n]|\\[^\n])*")
    | (?P<stop>[;\n])
    | (?P<mark>[\[\],={}])
    """,
    re.VERBOSE,
)
_HINT = "edges are written ->, <- and <->, other names in double quotes"


def parse(text: str) -> CausalGraph:
    """Read a graph from boundit's own syntax, such as ``X -> Y; X <-> Y; Y -> [S]``.

    >>> print(parse("X -> Y <- C -> X; hidden C; Y -> [S]"))
    X -> Y; Y -> [S]; X <-> Y
    >>> print(parse("X -> Y; Z -> X; Z -> Y; Z = {Sex, Age, Income}"))
    Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y
    """
    return draft_text(text).make_graph()


def draft_text(text: str) -> GraphDraft:
    """Read boundit's own syntax into a draft that keeps the hidden nodes."""
    tokens, draft = Tokens(text, _PATTERN, hint=_HINT), GraphDraft()
    while tokens.now.kind != END:
        if not tokens.take_if("stop"):
            _read_statement(tokens, draft)
    return draft


def _read_statement(tokens: Tokens, draft: GraphDraft) -> None:
    """Read one statement: a group, a node, a row of edges, or what is hidden."""
    first, expected = tokens.now, "an edge (->, <- or <->)"
    if tokens.ahead.kind == "mark" and tokens.ahead.text == "=":
        _read_group(tokens, draft)
        expected = "the end of the group"
    elif tokens.is_at("{"):
        first.refuse("a set needs a name first, as in 'Z = {Age, Sex}'; then 'Z -> X'")
    elif first.text == "hidden" and first.kind == "name" and tokens.ahead.kind != "edge":
        tokens.take()
        draft.hidden.add(tokens.expect_name("a name to hide"))
        while tokens.take_mark(","):
            draft.hidden.add(tokens.expect_name("a name to hide"))
        expected = "a comma"
    else:
        left = _read_node(tokens, draft)
        draft.nodes.add(left)
        while edge := tokens.take_if("edge"):
            right = _read_node(tokens, draft)
            draft.connect(left, edge.text, right)
            left = right
    if tokens.now.kind not in {"stop", END}:
        tokens.now.refuse(
            f"expected {expected}, ';' or a new line, found {tokens.now.quotation}"
        )


def _read_group(tokens: Tokens, draft: GraphDraft) -> None:
    """Read a group, ``Z = {A, B}`` or ``Z = independent {A, B}``, perhaps on several lines."""
    start = tokens.now
    name = tokens.expect_name("the name of a group")
    tokens.expect_mark("=")
    independent = tokens.take_if("name", INDEPENDENT) is not None
    tokens.expect_mark("{", " before the members of a group")
    members = list[str]()
    while not _skip_breaks(tokens).take_mark("}"):
        if members:
            tokens.expect_mark(",", " or '}' after a member")
        members.append(_skip_breaks(tokens).expect_name("a member"))
    if not members:
        start.refuse(f"the group {start.quotation} has no members")
    draft.add_group(name, members, independent=independent)
    draft.nodes.update(members)


def _skip_breaks(tokens: Tokens) -> Tokens:
    """Pass over line breaks, and return the tokens."""
    while tokens.now.text == "\n":
        tokens.take()
    return tokens


def _read_node(tokens: Tokens, draft: GraphDraft) -> str:
    """Read a node, ``X``, ``"X"`` or, marking the selection node, ``[X]``."""
    marked = tokens.take_mark("[")
    name = tokens.expect_name("a node")
    if marked:
        draft.selections.add(name)
        tokens.expect_mark("]", " after the selection node")
    return name


def list_lines(draft: GraphDraft) -> list[str]:
    """List the statements of a draft: groups, directed and bidirected edges, lone nodes, marks.

    Edges that all members of a group have are one statement, and those that a group implies
    are left out.

    >>> drawn = GraphDraft({"U", "X"}, {("U", "X")}, hidden={"U"})
    >>> list_lines(drawn)
    ['U -> X', 'hidden U']
    """
    groups = sort_groups(draft.groups.values())

    def spell(name: str) -> str:
        return f"[{write_name(name)}]" if name in draft.selections else write_name(name)

    implied = {
        pair
        for group in groups
        if not group.independent
        for pair in permutations(group.members, 2)
    }
    both_ways = {*draft.bidirected, *((b, a) for a, b in draft.bidirected)} - implied
    arcs = {(min(pair), max(pair)) for pair in _shorten(both_ways, groups)}
    grouped = frozenset[str]().union(*(group.members for group in groups))
    alone = draft.nodes.difference(grouped, *draft.directed, *draft.bidirected)
    said = [
        *map(str, groups),
        *(f"{spell(a)} -> {spell(b)}" for a, b in _shorten(draft.directed, groups)),
        *(f"{spell(a)} <-> {spell(b)}" for a, b in _sort_edges(arcs)),
        *map(spell, sort_names(alone)),
        # A member of a group may occur nowhere else, and brackets stand around nodes alone.
        *map(spell, sort_names(draft.selections & grouped)),
    ]
    if draft.hidden:
        said.append(f"hidden {', '.join(map(write_name, sort_names(draft.hidden)))}")
    return said


def _shorten(edges: Collection[Edge], groups: Groups) -> list[Edge]:
    """Put the name of a group in place of its members, where all of them have an edge."""
    whole, left, found = set(edges), set(edges), list[Edge]()
    for ends, covered in _list_blocks(edges, groups) if groups else ():
        if covered & left and covered <= whole:
            found.append(ends)
            left -= covered
    return _sort_edges([*found, *left])


def _list_blocks(edges: Collection[Edge], groups: Groups) -> Iterator[tuple[Edge, set[Edge]]]:
    """List what could be one statement, between groups or a group and a node, with its edges."""
    for one, other in permutations(groups, 2):
        yield (one.name, other.name), set(product(one.members, other.members))
    for node in sort_names({name for edge in edges for name in edge}):
        for group in groups:
            if node not in group.members:
                yield (node, group.name), set(product([node], group.members))
                yield (group.name, node), set(product(group.members, [node]))


def _sort_edges(edges: Collection[Edge]) -> list[Edge]:
    """Sort edges by both ends, X2 before X10."""
    place = {name: i for i, name in enumerate(sort_names({n for edge in edges for n in edge}))}
    return sorted(edges, key=lambda edge: (place[edge[0]], place[edge[1]]))
