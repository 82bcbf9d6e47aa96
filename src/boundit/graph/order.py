"""A causal order of nodes, or the cycle that forbids one."""

import heapq
from collections.abc import Mapping, Sequence

from boundit.terms.errors import HasCycle


def order_causally(
    children: Mapping[str, Sequence[str]], *, last: str | None = None
) -> tuple[str, ...]:
    """Put every node after its causes, ties by name, and ``last`` at the end.

    ``last`` must have no children; Raises HasCycle with a shortest cycle through its first
    node when there is no order.

    >>> order_causally({"Y": [], "X": ["Y"], "S": [], "A": []}, last="S")
    ('A', 'X', 'Y', 'S')
    """
    waiting = dict.fromkeys(children, 0)
    for effects in children.values():
        for effect in effects:
            waiting[effect] += 1
    ready = [node for node, n in waiting.items() if n == 0 and node != last]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for effect in children[node]:
            waiting[effect] -= 1
            if waiting[effect] == 0 and effect != last:
                heapq.heappush(ready, effect)
    if last is not None and waiting[last] == 0:
        order.append(last)
    if len(order) < len(children):
        raise HasCycle(_find_cycle(children, {n for n, w in waiting.items() if w > 0}))
    return tuple(order)


def _find_cycle(children: Mapping[str, Sequence[str]], unordered: set[str]) -> list[str]:
    """Walk forward among nodes that never became ready until one comes again.

    Nodes downstream of a cycle never become ready either and may lead nowhere, so they are
    peeled off from the end first; every node that is left has a child that is left.
    """
    effects = {n: [c for c in children[n] if c in unordered] for n in unordered}
    causes: dict[str, list[str]] = {n: [] for n in unordered}
    for node, below in effects.items():
        for effect in below:
            causes[effect].append(node)
    left = {n: len(below) for n, below in effects.items()}
    ends = [n for n, k in left.items() if k == 0]
    while ends:
        node = ends.pop()
        del left[node]
        for cause in causes[node]:
            if cause in left:
                left[cause] -= 1
                if left[cause] == 0:
                    ends.append(cause)
    walk, seen = [min(left)], {min(left): 0}
    while True:
        node = min(c for c in effects[walk[-1]] if c in left)
        walk.append(node)
        if node in seen:
            return walk[seen[node] :]
        seen[node] = len(walk) - 1
