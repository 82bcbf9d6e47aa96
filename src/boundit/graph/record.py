"""Graphs as JSON, both ways.

.. code-block:: json

    {"nodes": ["X", "Y", "S"], "directed": [["X", "Y"], ["Y", "S"]],
     "bidirected": [["X", "Y"]], "selection": "S", "hidden": [],
     "groups": [{"name": "Z", "members": ["Age", "Sex"], "independent": false}]}

Every key may be left out. A line of a benchmark collection carries a question beside the graph
(``query``, ``external``, ``adjustment``); the variables it names are nodes of the graph too.
"""

import json
from collections.abc import Iterator, Mapping

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft
from boundit.graph.groups import InvalidGroup, sort_groups
from boundit.terms.errors import (
    InvalidName,
    MalformedRecord,
    MalformedText,
    TwoSelectionNodes,
    UnknownKey,
)
from boundit.terms.names import is_name, sort_names

_GRAPH_KEYS = ("nodes", "directed", "bidirected", "selection", "hidden", "groups")
_GROUP_KEYS = frozenset({"name", "members", "independent"})
_QUESTION_KEYS = ("query", "external", "adjustment")
_OTHER_KEYS = ("name", "answer", "by", "expression", "numeric_gap")


def parse_json(text: str) -> CausalGraph:
    """Read a graph from JSON text.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> print(parse_json('{"directed": [["X", "Y"], ["Y", "S"]], "selection": "S"}'))
    X -> Y; Y -> [S]
    """
    return draft_json(text).make_graph()


def draft_json(text: str) -> GraphDraft:
    """Read JSON text into a draft, hidden nodes and all.

    ``draft_graph`` finds it in ``_DRAFTERS``.
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
    """Write a graph as one line of JSON. ``write_draft`` finds it in ``_WRITERS``."""
    return json.dumps(_write_record(draft), ensure_ascii=False)


def from_record(record: object) -> GraphDraft:
    """Read the lists and names that JSON text holds into a draft."""
    if not isinstance(record, Mapping):
        raise MalformedRecord("", f"an object with keys {', '.join(_GRAPH_KEYS)}", record)
    for key in record:
        if key not in (*_GRAPH_KEYS, *_QUESTION_KEYS, *_OTHER_KEYS):
            raise UnknownKey(str(key), _GRAPH_KEYS)
    draft = GraphDraft(nodes=set(_read_names(record, "nodes")))
    for key, edge in (("directed", FORWARD), ("bidirected", BIDIRECTED)):
        for a, b in _read_pairs(record, key):
            draft.connect(a, edge, b)
    for key in _QUESTION_KEYS:
        draft.nodes.update(_list_names(record.get(key)))
    selection = record.get("selection")
    if selection is not None:
        if not is_name(selection):
            raise MalformedRecord("selection", "one name", selection)
        draft.nodes.add(selection)
        draft.selections.add(selection)
    draft.hidden.update(_read_names(record, "hidden"))
    _read_groups(record, draft)
    return draft


def to_record(graph: CausalGraph) -> dict[str, object]:
    """Write a graph as a dict with the keys of our JSON form, in a stable order."""
    return _write_record(GraphDraft.from_graph(graph))


def _write_record(draft: GraphDraft) -> dict[str, object]:
    """Write a draft as a dict with the keys of our JSON form."""
    if len(draft.selections) > 1:
        raise TwoSelectionNodes(draft.selections)
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


def _read_groups(record: Mapping[object, object], draft: GraphDraft) -> None:
    """Read the list of groups of a JSON graph into the draft, or refuse it."""
    found = record.get("groups")
    if found is None:
        return
    form = 'a list of objects such as {"name": "Z", "members": ["Age", "Sex"]}'
    if not isinstance(found, list):
        raise MalformedRecord("groups", form, found)
    for item in found:
        if not isinstance(item, Mapping) or not item.keys() <= _GROUP_KEYS:
            raise MalformedRecord("groups", form, item)
        independent = item.get("independent", False)
        if not isinstance(independent, bool):
            raise MalformedRecord("groups", "true or false for 'independent'", independent)
        name = _read_name(item.get("name"))
        if name in draft.nodes:
            raise InvalidGroup(name, "a node has the same name; call the group otherwise")
        members = _read_names(item, "members")
        draft.add_group(name, members, independent=independent)
    draft.nodes.update(*(group.members for group in draft.groups.values()))


def _read_names(record: Mapping[object, object], key: str) -> list[str]:
    """Read the list of names under a key of a JSON graph, or refuse it."""
    found = record.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise MalformedRecord(key, "a list of names", found)
    return [_read_name(item) for item in found]


def _read_pairs(record: Mapping[object, object], key: str) -> Iterator[tuple[str, str]]:
    """Read the list of edges under a key of a JSON graph, or refuse it."""
    found = record.get(key)
    if found is None:
        return
    if not isinstance(found, list):
        raise MalformedRecord(key, "a list of pairs of names", found)
    for item in found:
        if not (isinstance(item, list) and len(item) == 2):
            raise MalformedRecord(key, 'pairs such as ["X", "Y"]', item)
        yield _read_name(item[0]), _read_name(item[1])


def _read_name(item: object) -> str:
    """Read one name of a JSON graph, or raise InvalidName."""
    if is_name(item):
        return item
    raise InvalidName(item)


def _list_names(question: object) -> Iterator[str]:
    """List every name in the ``question`` of a JSON graph, however its lists are nested.

    A line of a benchmark collection holds a question beside the graph.
    """
    waiting = [question]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield _read_name(item)
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
