"""A causal order of nodes, or the cycle that forbids one."""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from boundit.terms.errors import HasCycle


def order_causally(
    children: Mapping[str, Sequence[str]], *, last: str | None = None
) -> tuple[str, ...]:
    """Put every node after its causes, ties by name, and ``last`` at the end.

    ``last`` must have no children. Raises HasCycle with a shortest cycle through its first node
    when there is no order.

    >>> order_causally({"Y": [], "X": ["Y"], "S": [], "A": []}, last="S")
    ('A', 'X', 'Y', 'S')
    """
    waiting = dict.fromkeys(children, 0)
    for effects in children.values():
        for effect in effects:
            waiting[effect] += 1
    ready = [node for node, n in waiting.items() if n == 0]
    order = list[str]()
    heapq.heapify(ready)
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for effect in children[node]:
            waiting[effect] -= 1
            if waiting[effect] == 0:
                heapq.heappush(ready, effect)
    if len(order) < len(children):
        raise HasCycle(_find_cycle(children))
    if last is not None:
        order.remove(last)
        order.append(last)
    return tuple(order)


def _find_cycle(children: Mapping[str, Sequence[str]]) -> list[str]:
    """Find a directed cycle, as short as one through its first node can be."""
    cycle: Sequence[str] = ()
    try:
        TopologicalSorter({node: children[node] for node in sorted(children)}).prepare()
    except CycleError as error:
        cycle = error.args[1]
    start = min(cycle)
    came_from, queue = dict[str, str](), deque([start])
    while start not in came_from:
        node = queue.popleft()
        for effect in children[node]:
            if effect not in came_from:
                came_from[effect] = node
                queue.append(effect)
    walk = [start, came_from[start]]
    while walk[-1] != start:
        walk.append(came_from[walk[-1]])
    return walk[::-1]
