"""Drafts of graphs as text, both ways and whole: hidden nodes stay, and so do positions.

A ``CausalGraph`` has its hidden nodes folded away. Whoever draws a graph wants to see them.
"""

from collections.abc import Callable
from typing import get_args

from boundit.graph.draft import GraphDraft
from boundit.graph.formats.dagitty import draft_dagitty, write_dagitty
from boundit.graph.formats.detect import GraphFormat, ReadFormat, detect_format
from boundit.graph.formats.dot import draft_dot, write_dot
from boundit.graph.formats.gml import draft_gml
from boundit.graph.groups import sort_groups
from boundit.graph.notation import list_statements
from boundit.graph.record import draft_json, write_json
from boundit.graph.text import draft_text
from boundit.terms.errors import UnknownFormat
from boundit.terms.names import sort_names, write_name

_DRAFTERS: dict[ReadFormat, Callable[[str], GraphDraft]] = {
    "text": draft_text,
    "gml": draft_gml,
    "dot": draft_dot,
    "dagitty": draft_dagitty,
    "json": draft_json,
}


def draft_graph(text: str) -> tuple[ReadFormat, GraphDraft]:
    """Read a graph as it is drawn: its format, and a draft whose edges join variables.

    The draft need not be a causal graph; ``GraphDraft.make_graph`` judges that.

    >>> format, draft = draft_graph("dag { X -> Y  U -> X  U [latent] }")
    >>> format, sorted(draft.nodes), draft.hidden
    ('dagitty', ['U', 'X', 'Y'], {'U'})
    """
    found = detect_format(text) or "text"
    return found, _DRAFTERS[found](text).expand()


def write_draft(draft: GraphDraft, to: GraphFormat) -> str:
    """Write a draft in a format, hidden nodes and all."""
    if to not in _WRITERS:
        raise UnknownFormat(to, get_args(GraphFormat))
    return _WRITERS[to](draft)


def write_text(draft: GraphDraft) -> str:
    """Write a draft as our own text on one line. ``write_draft`` finds it in ``_WRITERS``.

    >>> drawn = GraphDraft({"U", "X"}, {("U", "X")}, hidden={"U"})
    >>> write_text(drawn)
    'U -> X; hidden U'
    """
    return "; ".join(list_lines(draft))


def list_lines(draft: GraphDraft) -> list[str]:
    """List the statements of a draft's text, hidden nodes last."""
    said = list_statements(
        frozenset(draft.nodes),
        draft.directed,
        draft.bidirected,
        draft.selections,
        sort_groups(draft.groups.values()),
    )
    # A member of a group may occur nowhere else, and brackets stand around nodes alone.
    inside = frozenset[str]().union(*(group.members for group in draft.groups.values()))
    said += [f"[{write_name(name)}]" for name in sort_names(draft.selections & inside)]
    if draft.hidden:
        said.append(f"hidden {', '.join(map(write_name, sort_names(draft.hidden)))}")
    return said


_WRITERS: dict[GraphFormat, Callable[[GraphDraft], str]] = {
    "text": write_text,
    "dot": write_dot,
    "dagitty": write_dagitty,
    "json": write_json,
}
