"""Where the nodes and lanes of ordered rows stand, so that edges run straight and short."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from boundit.report.graph.ordering import RowOrder, RowSlot

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
    room = {
        row: tuple(_measure_distance(a, b, widths, gaps) for a, b in pairwise(row))
        for row in drawing.rows
    }
    x = {s: at for row in drawing.rows for s, at in zip(row, _pack_row(room[row]), strict=True)}
    for sweep in range(_ROUNDS):
        for row in drawing.rows[:: 1 if sweep % 2 == 0 else -1]:
            wishes = [_find_wish(slot, x, pulls) for slot in row]
            x.update(zip(row, spread_apart(wishes, room[row]), strict=True))
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


def _pack_row(room: Sequence[float]) -> list[float]:
    """Place a row's nodes side by side around x = 0, each ``room`` from the last; give their x."""
    at = [0.0]
    for apart in room:
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


def spread_apart(wishes: Sequence[tuple[float, float]], room: Sequence[float]) -> list[float]:
    """Place things near to where each should stand, in order and far enough apart.

    ``wishes`` are pairs of a position and its weight, ``room`` the least distances; gives the
    positions of the least weighted sum of squares, by pooling neighbours whose wishes clash.

    >>> spread_apart([(0, 1), (0, 1), (9, 1)], [2, 2])
    [-1.0, 1.0, 9.0]
    """
    shifts = [0.0]
    for apart in room:
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
