"""Which row of the drawing each node of a causal graph stands in: causes above effects."""

from collections.abc import Mapping

from boundit.graph.causal_graph import CausalGraph


def assign_layers(
    graph: CausalGraph, widths: Mapping[str, float], *, most: float
) -> tuple[tuple[str, ...], ...]:
    """Assign the nodes of a graph to rows of its drawing, every node below its causes.

    Gives the rows from top to bottom, each at most ``most`` wide.

    >>> from boundit.graph.text import parse
    >>> graph = parse("U -> X -> M -> Y; V -> Y; M -> [S]")
    >>> assign_layers(graph, dict.fromkeys(graph.nodes, 10), most=100)
    (('U',), ('X',), ('V', 'M'), ('Y', 'S'))
    """
    ranks = _move_near_effects(graph, _rank_after_causes(graph))
    rows = list[tuple[str, ...]]()
    for rank in sorted(set(ranks.values())):
        row = [node for node in graph.order if ranks[node] == rank]
        rows += _split_row(row, widths, most)
    return tuple(rows)


def _rank_after_causes(graph: CausalGraph) -> dict[str, int]:
    """Number each node's row: the length of the longest path of causes down to it."""
    ranks = dict[str, int]()
    for node in graph.order:
        ranks[node] = 1 + max((ranks[p] for p in graph.links[node].parents), default=-1)
    return ranks


def _move_near_effects(graph: CausalGraph, ranks: dict[str, int]) -> dict[str, int]:
    """Move nodes with more effects than causes to the row just above their first effect.

    So their edges are short. Gives the changed row numbers.
    """
    for node in reversed(graph.order):
        parents, children, _ = graph.links[node]
        if len(children) > len(parents):
            ranks[node] = min(ranks[child] for child in children) - 1
    return ranks


def _split_row(
    row: list[str], widths: Mapping[str, float], most: float
) -> list[tuple[str, ...]]:
    """Break a row of nodes that is too wide into several rows of about one width."""
    whole = sum(widths[node] for node in row)
    share = whole / max(1, -(-whole // most))
    rows, used = [list[str]()], 0.0
    for node in row:
        if rows[-1] and used + widths[node] / 2 > share * len(rows):
            rows.append([])
        rows[-1].append(node)
        used += widths[node]
    return [tuple(part) for part in rows]
