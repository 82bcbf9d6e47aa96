"""The order of nodes within the rows of a drawing, so that few edges cross.

An edge that spans several rows keeps a lane free in each row between, so it never passes under
a node. Rows are sorted by the mean place of their neighbours, down and up by turns, then
neighbours change places while that helps (Sugiyama, Tagawa and Toda 1981).
"""

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from boundit.graph.causal_graph import CausalGraph, Edge

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
Neighbours: TypeAlias = Mapping[RowSlot, tuple[RowSlot, ...]]


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
    def _neighbours(self) -> tuple[Neighbours, Neighbours]:
        """For every place in a row, the places that edges join it to above, and those below."""
        return _find_neighbours(self.links)

    def _sweep(self, rows: tuple[Row, ...], *, down: bool) -> tuple[Row, ...]:
        """Go through the rows, down or up, and sort each by where its edges come from.

        Then swaps neighbours where that helps; gives the new order of all rows.
        """
        above, below = self._neighbours
        order = list(rows)
        places = {slot: k for row in rows for k, slot in enumerate(row)}
        for i in range(len(rows))[:: 1 if down else -1]:
            order[i] = _sort_by_mean_place(order[i], places, above if down else below)
            places.update((slot, k) for k, slot in enumerate(order[i]))
        return _swap_neighbours(tuple(order), above, below)

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


def _find_neighbours(links: Sequence[RowLink]) -> tuple[Neighbours, Neighbours]:
    """Find for every place in a row the places that edges join it to above, and those below."""
    above, below = dict[RowSlot, tuple[RowSlot, ...]](), dict[RowSlot, tuple[RowSlot, ...]]()
    for link in links:
        for upper, lower in pairwise(link.slots):
            above[lower] = (*above.get(lower, ()), upper)
            below[upper] = (*below.get(upper, ()), lower)
    return above, below


def _sort_by_mean_place(row: Row, places: Places, towards: Neighbours) -> Row:
    """Sort a row by the mean position of what its edges join it to in the next row.

    A node without such edges stays.
    """

    def place(slot: RowSlot) -> float:
        near = towards.get(slot, ())
        return sum(places[n] for n in near) / len(near) if near else -1.0

    moving = iter(sorted((s for s in row if towards.get(s)), key=place))
    return tuple(next(moving) if towards.get(slot) else slot for slot in row)


def _swap_neighbours(
    rows: tuple[Row, ...], above: Neighbours, below: Neighbours
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
    left: RowSlot, right: RowSlot, places: Places, above: Neighbours, below: Neighbours
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
