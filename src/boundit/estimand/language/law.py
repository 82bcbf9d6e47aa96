"""A law written as conditionals in causal order, so that dividing it means leaving some out.

Tian's lemmas and Algorithm 2 divide a law by c-factors and sum variables out, again and again.
Written as ratios of sums that grows without end. Written as ``P(v_i | v_1 .. v_{i-1})`` one for
each variable, a division by ``Q[C]`` drops the conditionals of ``C``, and summing out the last
variable drops its conditional. Only a variable that later ones depend on costs a real sum.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from boundit.estimand.language.algebra import divide, multiply, sum_out
from boundit.estimand.language.expression import Expression, P, find_free_variables
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes

Conditional = Callable[[str], Expression]


@dataclass(frozen=True, slots=True)
class Law:
    """The conditionals of ``order``, each given those before it and what was divided away."""

    order: tuple[str, ...]
    conditional: Conditional

    def write_formula(self) -> Expression:
        """Write the law as one formula: the product of its conditionals, one for each variable."""
        return multiply(*map(self.conditional, self.order))

    def divide_by(self, divided: Nodes) -> "Law":
        """Divide the law by the c-factors of ``divided``: drop their conditionals (Lemma 1).

        ``divided`` holds whole c-components, sets of nodes that bidirected edges join. Returns
        the new law.
        """
        return Law(tuple(v for v in self.order if v not in divided), self.conditional)

    def marginalize(self, kept: Nodes) -> "Law":
        """Sum all nodes but ``kept`` out of the law; ``kept`` holds all its causes (Lemma 3).

        Returns the new law.
        """
        order = list(self.order)
        for i in range(len(order) - 1, -1, -1):
            node = order[i]
            if node not in kept and not any(
                node in self._find_scope(v) for v in order[i + 1 :]
            ):
                del order[i]
        start = next((i for i, v in enumerate(order) if v not in kept), len(order))
        if start == len(order):
            return Law(tuple(order), self.conditional)
        early = order[:start]
        stay = [v for v in order[start:] if v in kept]
        body = multiply(*map(self.conditional, order[start:]))
        # tails[i] is the law of all that stay but the last i, given the early ones.
        tails = [sum_out(Nodes(order[start:]) - kept, body)]
        place = {v: i for i, v in enumerate(reversed(stay))}
        before = self.conditional

        @cache
        def conditional(node: str) -> Expression:
            if node not in place:
                return before(node)
            while len(tails) < place[node] + 2:
                last = frozenset((stay[-len(tails)],))
                tails.append(sum_out(last, tails[-1]))
            return divide(tails[place[node]], tails[place[node] + 1])

        return Law((*early, *stay), conditional)

    def _find_scope(self, node: str) -> Nodes:
        """Find the variables that the conditional of a node depends on."""
        return find_free_variables(self.conditional(node))


Reader = Callable[[CausalGraph, Sequence[Nodes]], Law]
"""Writes the law that data give of an ancestral part of a graph, with some nodes late in it."""


def write_observed_law(graph: CausalGraph, late: Sequence[Nodes] = ()) -> Law:
    """Write the law that the log shows, ``P(v | S=1)`` or ``P(v)``, as one conditional a node.

    The nodes stand in a causal order. Built from its end, it takes the first set of ``late`` as
    soon as it may, then the second, then the rest.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> print(write_observed_law(chain).conditional("Y"))
    P(of=frozenset({'Y'}), given=frozenset({'M'}), logged=False)
    """
    order = order_from_end(graph, late)
    logged = graph.selection is not None
    places = {node: i for i, node in enumerate(order)}
    selected = frozenset((graph.selection,)) if graph.selection else frozenset[str]()

    @cache
    def conditional(node: str) -> Expression:
        before = frozenset(order[: places[node]])
        given = find_boundary(graph, node, given=before | selected, closed=before) - selected
        return P(frozenset((node,)), given, logged)

    return Law(order, conditional)


def order_from_end(graph: CausalGraph, late: Sequence[Nodes]) -> tuple[str, ...]:
    """Order the observed nodes, causes before effects, those of ``late`` as late as can be.

    The order is built from its end.
    """
    rank = {node: i for i, nodes in reversed([*enumerate(late)]) for node in nodes}
    observed, links = graph.observed, graph.links
    waiting = {v: len(observed.intersection(links[v].children)) for v in observed}
    ready = [(rank.get(v, len(late)), v) for v, n in waiting.items() if n == 0]
    heapq.heapify(ready)
    backwards = list[str]()
    while ready:
        backwards.append(heapq.heappop(ready)[1])
        for cause in links[backwards[-1]].parents:
            waiting[cause] -= 1
            if waiting[cause] == 0:
                heapq.heappush(ready, (rank.get(cause, len(late)), cause))
    return tuple(reversed(backwards))
