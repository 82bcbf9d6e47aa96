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
from collections.abc import Collection, Iterator
from itertools import permutations, product

from boundit.core.names import sort_names, write_name
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.graph.draft import INDEPENDENT, GraphDraft
from boundit.graph.groups import Groups, sort_groups
from boundit.graph.tokens import END, Tokens

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
