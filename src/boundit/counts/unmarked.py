"""An unmarked selection node: ``Click -> S`` where ``Click -> [S]`` was meant.

Without the brackets a graph says that every row was kept, and its bounds claim far too much. A
node that causes nothing and is not asked about may be such a one. Its column decides: where
it is 1 in every row, the log agrees. Without a column, its name has to do.
"""

from collections.abc import Collection

from boundit.core.names import Names, Nodes, read_nodes, sort_names, write_name
from boundit.graph.causal_graph import CausalGraph

_CALLED = {"s", "included", "kept", "logged", "observed", "recorded", "sampled"}
_CALLED |= {"selected", "selection"}


def find_possible_selection(graph: CausalGraph, asked: Names = ()) -> Nodes:
    """Find the nodes that may be a selection node without brackets.

    They cause nothing and are not asked about; a graph with a selection node has none.

    >>> from boundit.graph.text import parse
    >>> unmarked = parse("Ad -> Click -> S; Click -> Mail")
    >>> sorted(find_possible_selection(unmarked, asked=["Ad", "Click"]))
    ['Mail', 'S']
    >>> marked = parse("Ad -> Click -> [S]; Click -> Mail")
    >>> sorted(find_possible_selection(marked, asked=["Ad", "Click"]))
    []
    """
    if graph.selection is not None:
        return frozenset()
    others = graph.observed - read_nodes(asked)
    return frozenset(name for name in others if not graph.links[name].children)


def ask_if_always_one(name: str) -> str:
    """Write the question whether a node whose column is 1 in every row is the selection node."""
    return _ask_if_selection(name, "is always 1 in this log")


def ask_by_name(names: Collection[str], columns: Collection[str]) -> tuple[str, ...]:
    """Write questions about nodes without a column that are called like a selection node.

    >>> ask_by_name({"Selected", "Mail"}, columns={"Ad", "Click"})[0][:33]
    'Selected is an ordinary node here'
    """
    called = [name for name in sort_names(names) if name.casefold() in _CALLED]
    return tuple(
        _ask_if_selection(name, "is an ordinary node here")
        for name in called
        if name not in columns
    )


def _ask_if_selection(name: str, what: str) -> str:
    """Write the question whether a node is the selection node, and how to mark it."""
    return (
        f"{name} {what}: if it says which rows were kept, write [{write_name(name)}] in the "
        "graph; as drawn, the log is taken for everyone"
    )
