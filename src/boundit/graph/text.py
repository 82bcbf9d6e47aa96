"""Our own graph text, read.

.. code-block:: text

    U1 -> X1 -> I1 -> Y      # statements end at a line break or a semicolon
    U1 -> Y; I1 <- C1 -> Y
    hidden C1                # unobserved: folded into I1 <-> Y
    I1 -> [S]                # brackets mark the selection node
    Weather                  # a node without edges
    "time of day" -> Y       # any name, in double quotes
    Z = {Age, Sex, Income}   # a group: its members may be related in any way
    Z -> X1                  # each of them may cause X1
    V = independent {A, B}   # a claim: no edges among these
"""

import re

from boundit.graph.attributes import INDEPENDENT
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import GraphDraft
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
    """Read a graph from our own text, such as ``X -> Y; X <-> Y; Y -> [S]``.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> print(parse("X -> Y <- C -> X; hidden C; Y -> [S]"))
    X -> Y; Y -> [S]; X <-> Y
    >>> print(parse("X -> Y; Z -> X; Z -> Y; Z = {Sex, Age, Income}"))
    Z = {Age, Income, Sex}; X -> Y; Z -> X; Z -> Y
    """
    return draft_text(text).make_graph()


def draft_text(text: str) -> GraphDraft:
    """Read our own text into a draft, hidden nodes and all.

    ``draft_graph`` finds it in ``_DRAFTERS``.
    """
    tokens, draft = Tokens(text.removeprefix("\ufeff"), _PATTERN, hint=_HINT), GraphDraft()
    while tokens.now.kind != END:
        if not tokens.take_if("stop"):
            _read_statement(tokens, draft)
    return draft


def _read_statement(tokens: Tokens, draft: GraphDraft) -> None:
    """Read one statement of our text into the draft: a node, a row of edges, what is hidden."""
    first = tokens.now
    if tokens.ahead.kind == "mark" and tokens.ahead.text == "=":
        _read_group(tokens, draft)
        return
    if tokens.is_at("{"):
        first.refuse("a set needs a name first, as in 'Z = {Age, Sex}'; then 'Z -> X'")
    if first.kind == "name" and first.text == "hidden":
        tokens.take()
        if tokens.now.kind != "edge":
            _read_hidden(tokens, draft)
            return
        left = "hidden"
    else:
        left = _read_node(tokens, draft)
    draft.nodes.add(left)
    while edge := tokens.take_if("edge"):
        right = _read_node(tokens, draft)
        draft.connect(left, edge.text, right)
        left = right
    _expect_stop(tokens, "an edge (->, <- or <->)")


def _read_group(tokens: Tokens, draft: GraphDraft) -> None:
    """Read a group, ``Z = {A, B}`` or ``Z = independent {A, B}``, into the draft.

    Its members may stand on several lines.
    """
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
    _expect_stop(tokens, "the end of the group")


def _skip_breaks(tokens: Tokens) -> Tokens:
    """Pass over line breaks, and return the tokens."""
    while tokens.now.text == "\n":
        tokens.take()
    return tokens


def _read_hidden(tokens: Tokens, draft: GraphDraft) -> None:
    """Read the names after ``hidden`` and note them in the draft."""
    draft.hidden.add(tokens.expect_name("a name to hide"))
    while tokens.take_mark(","):
        draft.hidden.add(tokens.expect_name("a name to hide"))
    _expect_stop(tokens, "a comma")


def _read_node(tokens: Tokens, draft: GraphDraft) -> str:
    """Read a node, ``X``, ``"X"`` or, marking the selection node, ``[X]``; return its name."""
    marked = tokens.take_mark("[")
    name = tokens.expect_name("a node")
    if marked:
        draft.selections.add(name)
        tokens.expect_mark("]", " after the selection node")
    return name


def _expect_stop(tokens: Tokens, otherwise: str) -> None:
    """Raise a syntax error if anything but the end of a statement follows.

    ``otherwise`` says in the error what could follow.
    """
    if tokens.now.kind not in {"stop", END}:
        tokens.now.refuse(
            f"expected {otherwise}, ';' or a new line, found {tokens.now.quotation}"
        )
