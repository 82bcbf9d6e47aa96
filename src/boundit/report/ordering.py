"""The order of nodes within each row of a drawn graph, and where they stand across it."""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from boundit.graph.causal_graph import CausalGraph, Edge


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


_SWEEPS, _STARTS = 6, 6
_MOST_SLOTS = 600
"""How many places may be swept in all; a large drawing has fewer beginnings."""


class RowSlot(NamedTuple):
    """A place in a row: of a node, or of the lane that an edge keeps."""

    row: int
    name: str
    lane: int | None = None


class RowLink(NamedTuple):
    """An edge from the upper to the lower of its ends, with its places on the way."""

    edge: Edge
    bidirected: bool
    slots: tuple[RowSlot, ...]


Row: TypeAlias = tuple[RowSlot, ...]
Places: TypeAlias = Mapping[RowSlot, int]
Neighbors: TypeAlias = Mapping[RowSlot, tuple[RowSlot, ...]]


@dataclass(frozen=True)
class RowOrder:
    """The rows in order, the edges between rows, and the bidirected edges within a row."""

    rows: tuple[Row, ...]
    links: tuple[RowLink, ...]
    arcs: tuple[Edge, ...]


def order_rows(graph: CausalGraph, rows: Sequence[Sequence[str]]) -> RowOrder:
    """Order the nodes within the rows of a drawing so that few edges cross.

    Every edge that passes a row gets a lane there, a place of its own. Gives the ordered rows
    with all edges.

    >>> from boundit.graph.text import parse
    >>> graph = parse("A -> D; B -> C")
    >>> found = order_rows(graph, [("A", "B"), ("C", "D")])
    >>> [[slot.name for slot in row] for row in found.rows]
    [['A', 'B'], ['D', 'C']]
    """
    at = {name: i for i, row in enumerate(rows) for name in row}
    links, arcs = list[RowLink](), list[Edge]()
    for directed, edges in ((True, graph.directed), (False, graph.bidirected)):
        for a, b in sorted(edges):
            if at[a] == at[b]:
                arcs.append((a, b))
                continue
            top, bottom = (a, b) if at[a] < at[b] else (b, a)
            lanes = (RowSlot(i, "", len(links)) for i in range(at[top] + 1, at[bottom]))
            ends = RowSlot(at[top], top), RowSlot(at[bottom], bottom)
            links.append(RowLink((a, b), not directed, (ends[0], *lanes, ends[1])))
    start = [[RowSlot(i, name) for name in row] for i, row in enumerate(rows)]
    for link in links:
        for slot in link.slots[1:-1]:
            start[slot.row].append(slot)
    tangle = _CrossingSearch(tuple(links), tuple(arcs))
    return RowOrder(
        tangle.reduce_crossings(tuple(map(tuple, start))), tangle.links, tangle.arcs
    )


@dataclass(frozen=True)
class _CrossingSearch:
    """The edges of a drawing, and the search for an order of its rows in which few cross."""

    links: tuple[RowLink, ...]
    arcs: tuple[Edge, ...]

    def reduce_crossings(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Reorder rows by sweeps from several first orders; give that with fewest crossings."""
        size = sum(map(len, rows))
        found = list[tuple[Row, ...]]()
        for k in range(max(1, min(_STARTS, _MOST_SLOTS // size))):
            order = tuple(row[k % len(row) :] + row[: k % len(row)] for row in rows)
            for sweep in range(_SWEEPS):
                order = self._sweep(order, down=sweep % 2 == 0)
                found.append(order)
        return min(found, key=self._measure_cost)

    @cached_property
    def _neighbors(self) -> tuple[Neighbors, Neighbors]:
        """For every place in a row, the places that edges join it to above, and those below."""
        return _find_neighbors(self.links)

    def _sweep(self, rows: tuple[Row, ...], *, down: bool) -> tuple[Row, ...]:
        """Go through the rows, down or up, and sort each by where its edges come from.

        Then swaps neighbors where that helps; gives the new order of all rows.
        """
        above, below = self._neighbors
        order = list(rows)
        places = {slot: k for row in rows for k, slot in enumerate(row)}
        for i in range(len(rows))[:: 1 if down else -1]:
            order[i] = _sort_by_mean_place(order[i], places, above if down else below)
            places.update((slot, k) for k, slot in enumerate(order[i]))
        return _swap_neighbors(tuple(order), above, below)

    def _measure_cost(self, rows: tuple[Row, ...]) -> tuple[int, int]:
        """Count how many edges cross in an order of the rows, then how far arcs in a row reach."""
        places = {slot: i for row in rows for i, slot in enumerate(row)}
        near = {slot.name: i for slot, i in places.items()}
        pieces = [piece for link in self.links for piece in pairwise(link.slots)]
        crossed = sum(
            _count_crossings([piece for piece in pieces if piece[0].row == i], places)
            for i in range(len(rows))
        )
        return crossed, sum(abs(near[a] - near[b]) for a, b in self.arcs)


def _find_neighbors(links: Sequence[RowLink]) -> tuple[Neighbors, Neighbors]:
    """Find for every place in a row the places that edges join it to above, and those below."""
    above, below = dict[RowSlot, tuple[RowSlot, ...]](), dict[RowSlot, tuple[RowSlot, ...]]()
    for link in links:
        for upper, lower in pairwise(link.slots):
            above[lower] = (*above.get(lower, ()), upper)
            below[upper] = (*below.get(upper, ()), lower)
    return above, below


def _sort_by_mean_place(row: Row, places: Places, towards: Neighbors) -> Row:
    """Sort a row by the mean position of what its edges join it to in the next row.

    A node without such edges stays.
    """

    def place(slot: RowSlot) -> float:
        near = towards.get(slot, ())
        return sum(places[n] for n in near) / len(near) if near else -1.0

    moving = iter(sorted((s for s in row if towards.get(s)), key=place))
    return tuple(next(moving) if towards.get(slot) else slot for slot in row)


def _swap_neighbors(
    rows: tuple[Row, ...], above: Neighbors, below: Neighbors
) -> tuple[Row, ...]:
    """Swap nodes side by side in a row, as long as fewer edges cross thereby.

    Gives the new order of all rows.
    """
    order = [list(row) for row in rows]
    places = {slot: i for row in rows for i, slot in enumerate(row)}
    gained = True
    while gained:
        gained = False
        for row in order:
            for i in range(len(row) - 1):
                left, right = row[i], row[i + 1]
                if _measure_gain(left, right, places, above, below) > 0:
                    row[i], row[i + 1] = right, left
                    places[left], places[right] = i + 1, i
                    gained = True
    return tuple(map(tuple, order))


def _measure_gain(
    left: RowSlot, right: RowSlot, places: Places, above: Neighbors, below: Neighbors
) -> int:
    """Count how many fewer edges cross once two nodes side by side change places."""
    return sum(
        (places[a] > places[b]) - (places[a] < places[b])
        for near in (above, below)
        for a in near.get(left, ())
        for b in near.get(right, ())
    )


def _count_crossings(edges: Sequence[tuple[RowSlot, RowSlot]], places: Places) -> int:
    """Count the edges between two rows that cross: pairs whose ends are in opposite order."""
    seen, crossed = list[int](), 0
    for _, lower in sorted((places[a], places[b]) for a, b in edges):
        crossed += len(seen) - bisect_right(seen, lower)
        insort(seen, lower)
    return crossed


_ROUNDS = 30
_STRAIGHT = 4.0
"""How much more than another a piece of a lane wants to be straight."""


def place_slots(
    drawing: RowOrder, widths: Mapping[RowSlot, float], gaps: Mapping[RowSlot, float]
) -> dict[RowSlot, float]:
    """Find the x of every node and lane of a drawing, so that edges run straight and short.

    A slot is the place of a node, or of an edge that passes the row; ``gaps`` is what it keeps
    free on each side.
    """
    pulls = _find_pulls(drawing)
    distances = {
        row: tuple(_measure_distance(a, b, widths, gaps) for a, b in pairwise(row))
        for row in drawing.rows
    }
    x = {
        s: at
        for row in drawing.rows
        for s, at in zip(row, _pack_row(distances[row]), strict=True)
    }
    for sweep in range(_ROUNDS):
        for row in drawing.rows[:: 1 if sweep % 2 == 0 else -1]:
            wishes = [_find_wish(slot, x, pulls) for slot in row]
            x.update(zip(row, spread_apart(wishes, distances[row]), strict=True))
    left = min(x[slot] - widths[slot] / 2 for slot in x)
    return {slot: at - left for slot, at in x.items()}


def _find_pulls(drawing: RowOrder) -> dict[RowSlot, list[tuple[RowSlot, float]]]:
    """List for each place in a drawing what its edges draw it towards, and how strongly.

    Edges that pass rows pull more, to run straight.
    """
    pulls: dict[RowSlot, list[tuple[RowSlot, float]]] = {
        s: [] for row in drawing.rows for s in row
    }
    for link in drawing.links:
        for a, b in pairwise(link.slots):
            lanes = (a.lane is not None) + (b.lane is not None)
            strength = _STRAIGHT**lanes
            pulls[a].append((b, strength))
            pulls[b].append((a, strength))
    return pulls


def _measure_distance(
    a: RowSlot, b: RowSlot, widths: Mapping[RowSlot, float], gaps: Mapping[RowSlot, float]
) -> float:
    """Compute how far apart the middles of two places side by side in a row must be."""
    return (widths[a] + widths[b]) / 2 + max(gaps[a], gaps[b])


def _pack_row(distances: Sequence[float]) -> list[float]:
    """Place a row's nodes side by side around x = 0, ``distances`` apart; give their x."""
    at = [0.0]
    for apart in distances:
        at.append(at[-1] + apart)
    return [x - at[-1] / 2 for x in at]


def _find_wish(
    slot: RowSlot,
    x: Mapping[RowSlot, float],
    pulls: Mapping[RowSlot, list[tuple[RowSlot, float]]],
) -> tuple[float, float]:
    """Find the mean x of what a node's edges lead to, and with what weight they pull it there.

    A node without edges stays where it is.
    """
    near = pulls[slot]
    weight = sum(strength for _, strength in near)
    if not near:
        return x[slot], 0.1
    return sum(x[other] * strength for other, strength in near) / weight, weight


def spread_apart(
    wishes: Sequence[tuple[float, float]], distances: Sequence[float]
) -> list[float]:
    """Place things near to where each should stand, in order and far enough apart.

    ``wishes`` are pairs of a position and its weight, ``distances`` the least distances; gives the
    positions of the least weighted sum of squares, by pooling neighbors whose wishes clash.

    >>> spread_apart([(0, 1), (0, 1), (9, 1)], [2, 2])
    [-1.0, 1.0, 9.0]
    """
    shifts = [0.0]
    for apart in distances:
        shifts.append(shifts[-1] + apart)
    pools = list[tuple[float, float, int]]()
    for (wish, weight), shift in zip(wishes, shifts, strict=True):
        mean, total, size = wish - shift, weight, 1
        while pools and pools[-1][0] >= mean:
            other, more, n = pools.pop()
            mean = (mean * total + other * more) / (total + more)
            total, size = total + more, size + n
        pools.append((mean, total, size))
    levels = [mean for mean, _, size in pools for _ in range(size)]
    return [level + shift for level, shift in zip(levels, shifts, strict=True)]
