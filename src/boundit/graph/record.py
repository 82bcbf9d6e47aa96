"""Graphs as JSON, both ways.

.. code-block:: json

    {"nodes": ["X", "Y", "S"], "directed": [["X", "Y"], ["Y", "S"]],
     "bidirected": [["X", "Y"]], "selection": "S", "hidden": []}

Every key may be left out. A line of a benchmark collection carries a question beside the graph
(``query``, ``external``, ``adjustment``); the variables it names are nodes of the graph too.
"""

import json
from collections.abc import Iterator, Mapping

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft
from boundit.terms.errors import InvalidName, MalformedRecord, MalformedText, UnknownKey
from boundit.terms.names import is_name, sort_names

_GRAPH_KEYS = ("nodes", "directed", "bidirected", "selection", "hidden")
_QUESTION_KEYS = ("query", "external", "adjustment")
_OTHER_KEYS = ("name", "answer", "by", "expression", "numeric_gap")


def parse_json(text: str) -> CausalGraph:
    """Read a graph from JSON text.

    ``parse_graph`` and ``read_graph`` find it in ``_READERS``.

    >>> print(parse_json('{"directed": [["X", "Y"], ["Y", "S"]], "selection": "S"}'))
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


def write_json(graph: CausalGraph) -> str:
    """Write a graph as one line of JSON. ``format_graph`` finds it in ``_WRITERS``."""
    return json.dumps(to_record(graph), ensure_ascii=False)


def from_record(record: object) -> CausalGraph:
    """Build a graph from the lists and names that JSON text holds. Called by ``parse_json``."""
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
    return draft.make_graph()


def to_record(graph: CausalGraph) -> dict[str, object]:
    """Write a graph as a dict with the keys of our JSON form, in a stable order.

    Called by ``write_json``, and by ``show_graph`` on the command line for ``--json``.
    """
    return {
        "nodes": sort_names(graph.nodes),
        "directed": [list(edge) for edge in sorted(graph.directed)],
        "bidirected": [list(edge) for edge in sorted(graph.bidirected)],
        "selection": graph.selection,
        "hidden": [],
    }


def _read_names(record: Mapping[object, object], key: str) -> list[str]:
    """Read the list of names under a key of a JSON graph, or refuse it.

    Called by ``from_record``.
    """
    found = record.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise MalformedRecord(key, "a list of names", found)
    return [_read_name(item) for item in found]


def _read_pairs(record: Mapping[object, object], key: str) -> Iterator[tuple[str, str]]:
    """Read the list of edges under a key of a JSON graph, or refuse it.

    Called by ``from_record``.
    """
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
    """Read one name of a JSON graph, or raise InvalidName.

    Called by ``_read_names``, ``_read_pairs`` and ``_list_names``.
    """
    if is_name(item):
        return item
    raise InvalidName(item)


def _list_names(question: object) -> Iterator[str]:
    """List every name in the ``question`` of a JSON graph, however its lists are nested.

    A line of a benchmark collection holds a question beside the graph. Called by
    ``from_record``, for nodes that only the question names.
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
