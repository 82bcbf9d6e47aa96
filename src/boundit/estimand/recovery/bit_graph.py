"""A small graph as bit masks, for searches that ask about thousands of separations."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import final

from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes


@final
class BitGraph:
    """Node ``i`` of ``names`` is the bit ``1 << i``; the selection node has the highest.

    >>> chain = BitGraph(CausalGraph.of(directed=[("A", "B"), ("B", "C")]))
    >>> chain.read(chain.connected(0, chain.mask("B"), 0, 0)) == frozenset("AB")
    True
    """

    def __init__(self, graph: CausalGraph) -> None:
        self.names = graph.order
        self.places = {name: i for i, name in enumerate(self.names)}
        links = [graph.links[name] for name in self.names]
        self.parents = [self.mask(link.parents) for link in links]
        self.children = [self.mask(link.children) for link in links]
        self.siblings = [self.mask(link.siblings) for link in links]
        self.everything = (1 << len(self.names)) - 1
        self.selection = self.mask((graph.selection,)) if graph.selection else 0
        self.connected = cache(self._find_connected)
        self.ancestors = cache(self._find_ancestors)

    def mask(self, names: Iterable[str]) -> int:
        """Write a set of nodes as the bits of an integer."""
        return sum(1 << self.places[name] for name in names)

    def read(self, mask: int) -> Nodes:
        """Read the bits of an integer as a set of nodes, the selection node left out."""
        return frozenset(self.names[i] for i in list_bits(mask & ~self.selection))

    def _find_ancestors(self, of: int, cut_into: int, cut_out_of: int = 0) -> int:
        """Find ``An(of)`` as a bit mask, with the edges into one mask and out of another cut.

        The search of the do-calculus calls it as ``ancestors``, which keeps the answers.
        """
        found, queue = of, of
        while queue:
            i = queue.bit_length() - 1
            queue &= ~(1 << i)
            if not cut_into >> i & 1:
                new = self.parents[i] & ~cut_out_of & ~found
                found |= new
                queue |= new
        return found

    def _find_connected(self, node: int, given: int, cut_into: int, cut_out_of: int) -> int:
        """Find the nodes, as a mask, that ``given`` does not separate from ``node``.

        The edges into one mask and out of another are cut. The search of the do-calculus calls
        it as ``connected``, which keeps the answers, thousands of times to see whether a rule
        applies.

        It is the search of ``graph.separation`` in masks: a node is entered by an arrowhead or
        by a tail, and left the way a collider or any other node may be left.
        """
        opening = self._find_ancestors(given, cut_into, cut_out_of)
        tails, heads = 1 << node, 0
        new_tails, new_heads = tails, 0
        while new := new_heads or new_tails:
            bit, by_head = new & -new, bool(new_heads)
            i = bit.bit_length() - 1
            if by_head:
                new_heads ^= bit
            else:
                new_tails ^= bit
            known = bool(given & bit)
            if not cut_into & bit and (opening & bit if by_head else not known):
                up = self.parents[i] & ~cut_out_of & ~tails
                aside = self.siblings[i] & ~cut_into & ~heads
                tails, new_tails = tails | up, new_tails | up
                heads, new_heads = heads | aside, new_heads | aside
            if not known and not cut_out_of & bit:
                down = self.children[i] & ~cut_into & ~heads
                heads, new_heads = heads | down, new_heads | down
        return tails | heads


def list_bits(mask: int) -> Iterator[int]:
    """List the places of the bits that are set in a mask: the nodes in it.

    >>> list(list_bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
