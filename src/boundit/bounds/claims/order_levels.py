r"""The order in which the columns of a log may be revealed, level after level.

A sum reads its levels :math:`P(v_j \mid g_j)` off the same rows. Its errors add up to one
martingale if, when the columns of a level are revealed, what was revealed before leaves them
independent with the law :math:`P(v_j \mid g_j)`: either all of it is in :math:`g_j`, or what is
not is separated from :math:`v_j` given :math:`g_j` and selection. That is asked of the graph of
the log itself, where no edge is cut. A level that fits nowhere gets a fold of the rows of its
own, of which nothing is revealed before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeAlias, final

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes

MOST_FOLDS = 3
"""Into how many folds the rows are cut at most."""
MOST_STEPS = 4000
"""How many sets of levels are looked at before the search gives up."""

Order: TypeAlias = tuple[tuple[int, int], ...]
"""Places of readings, in the order in which they are revealed, each with its fold."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The columns that a level reads, and the places of the readings that come before it.

    Those ``logged`` are read off the selected rows, others off tables of everyone, which share
    no rows with the log.
    """

    of: Nodes
    given: Nodes
    logged: bool
    after: frozenset[int]


@final
@dataclass(slots=True)
class _OrderSearch:
    """A search for an order of some readings, with what it has found out so far."""

    readings: Sequence[Reading]
    graph: CausalGraph
    steps: int = 0
    separated: dict[tuple[Nodes, Nodes, Nodes, bool], bool] = field(default_factory=dict)

    def find_order(self, folds: Sequence[int]) -> Order | None:
        """Find an order of the readings for one choice of their folds."""
        self.steps += 1
        dead = set[frozenset[int]]()
        placed = list[int]()
        waiting = [self._find_next((), folds)]
        while waiting:
            if len(placed) == len(self.readings):
                return tuple((place, folds[place]) for place in placed)
            place = next(waiting[-1], None)
            if place is None:
                dead.add(frozenset(placed))
                waiting.pop()
                if placed:
                    placed.pop()
            elif frozenset((*placed, place)) not in dead and self.steps < MOST_STEPS:
                self.steps += 1
                placed.append(place)
                waiting.append(self._find_next(tuple(placed), folds))
        return None

    def _find_next(self, placed: Sequence[int], folds: Sequence[int]) -> Iterator[int]:
        """Yield the readings that may come next, once some were placed."""
        for place, reading in enumerate(self.readings):
            if place in placed or not reading.after.issubset(placed):
                continue
            source = reading.logged, folds[place]
            before = (
                self.readings[other]
                for other in placed
                if (self.readings[other].logged, folds[other]) == source
            )
            revealed = frozenset[str]().union(*(other.of | other.given for other in before))
            if self._may_follow(reading, revealed):
                yield place

    def _may_follow(self, reading: Reading, revealed: Nodes) -> bool:
        """Tell whether what was revealed of the rows says no more than what a level is given."""
        if revealed & reading.of:
            return False
        beyond = revealed - reading.given
        key = reading.of, reading.given, beyond, reading.logged
        if beyond and key not in self.separated:
            selection = self.graph.selection if reading.logged else None
            given = reading.given | {selection} if selection else reading.given
            self.separated[key] = open_walk(self.graph, beyond, reading.of, given=given) is None
        return not beyond or self.separated[key]


def order_readings(readings: Sequence[Reading], graph: CausalGraph) -> Order | None:
    """Order readings so that what comes before leaves the law of each as it is.

    With as few folds as will do, and as few readings outside the first; None where there is no
    such order.
    """
    search = _OrderSearch(readings, graph)
    for folds in _list_folds(len(readings)):
        found = search.find_order(folds)
        if found is not None:
            return found
        if search.steps >= MOST_STEPS:
            return None
    return None


def _list_folds(n: int) -> Iterator[list[int]]:
    """List the ways to put ``n`` readings into folds, those with the fewest folds first.

    A way that differs in the numbers of the folds alone is listed once.
    """
    for n_folds in range(1, MOST_FOLDS + 1):
        for n_moved in range(n_folds - 1, n if n_folds > 1 else 1):
            for moved in combinations(range(n), n_moved):
                for choice in product(range(1, n_folds), repeat=n_moved):
                    # Each fold is used, and they are met in their order.
                    if list(dict.fromkeys(choice)) == list(range(1, n_folds)):
                        folds = dict(zip(moved, choice, strict=True))
                        yield [folds.get(place, 0) for place in range(n)]
