"""What rows of the log tell a policy of the mechanism behind the rewards, as counts.

``E[Y | do(x), c]`` is the mean of ``E[Y | do(x), c, w]`` over ``w``, whatever ``w`` is. Where
the graph says that the log shows these inner means as they are, its rows are data on them just
as rounds of a policy are: both are counted in the same *cells*. How likely each ``w`` is comes
from *factors*, ``P(w_1 | do(x), c)``, ``P(w_2 | do(x), c, w_1)`` and so on; pairs of arm and
context that share a factor form a *pool*. Everything is counts, so that a plan can be saved,
and holds no confidence.
"""

from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul
from typing import TypeAlias, final

from boundit.results.bound import Arm, Key, Value

Places: TypeAlias = tuple[tuple[int, ...], ...]
"""For each pair of arm and context: numbers of pools, or of cells."""
Counts: TypeAlias = tuple[tuple[int, ...], ...]
"""For each pool: rows of every cell of a factor."""


@final
@dataclass(frozen=True, repr=False)
class Factor:
    """How likely the cells of some variables are: ``P(w_j | do(x), c, w_1 .. w_(j-1))``.

    ``cells`` are the joint levels of the variables. ``pools[pair][prefix]`` is the pool of a
    pair of arm and context, where ``prefix`` is the place of the cells of the factors before,
    the first factor's slowest; the first factor has one prefix. ``counts[pool][cell]`` are rows
    of the log that are draws of the factor, 0 where rows are none. ``shares[pool][cell]`` are
    rows that show it up to one tilt that all pools have in common; None where they do not.
    ``reason`` says why rows count, count up to a tilt, or do not.
    """

    variables: tuple[str, ...]
    cells: tuple[tuple[Value, ...], ...]
    pools: Places
    counts: Counts
    shares: Counts | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        tables = (self.counts, self.shares or ())
        if any(len(row) != len(self.cells) for table in tables for row in table):
            raise ValueError(f"a pool has a count for each of its {len(self.cells)} cells")
        if self.shares is not None and len(self.shares) != self.n_pools:
            raise ValueError("counts and shares speak of other pools")
        _require_places(self.pools, self.n_pools, "pool")

    @property
    def n_pools(self) -> int:
        """The number of distributions of the variables that pairs of arm and context have."""
        return len(self.counts)

    def __str__(self) -> str:
        names = ", ".join(self.variables)
        size = f"{_count(len(self.cells), 'cell')} in {_count(self.n_pools, 'pool')}"
        return f"{names}: {size}; {self.reason}"

    __repr__ = __str__


@final
@dataclass(frozen=True, repr=False)
class FusedPlan:
    """Which cells and pools rows of the log and rounds of a policy count in, and what rows say.

    ``pairs`` are arms and contexts as in the table of bounds. ``factors`` say how likely the
    cells are, one given those before; there are none where ``E[Y | x, c]`` of the log is the
    mean itself. ``cells[pair][leaf]`` is the cell of rewards, where ``leaf`` is the place of
    the cells of all factors, the first factor's slowest. ``n[cell]`` are rows of the log and
    ``sums[cell]`` the sum of their rewards on the scale from 0 to 1. ``reasons`` say why the
    cells of the log are those of a policy, and what is pooled. ``n_ways`` is in how many ways
    cells could have been pooled, had rows of the log been others.

    >>> factor = Factor(("W",), ((0,), (1,)), ((0,), (0,)), ((0, 0),), reason="learned online")
    >>> pairs = (((0,), ()), ((1,), ()))
    >>> FusedPlan(pairs, (factor,), ((0, 1), (2, 3)), (5, 1, 0, 2), (1.0, 0.5, 0.0, 2.0))
    8 rows in 4 cells for 2 pairs
    W: 2 cells in 1 pool; learned online
    """

    pairs: tuple[Key, ...]
    factors: tuple[Factor, ...]
    cells: Places
    n: tuple[int, ...]
    sums: tuple[float, ...]
    reasons: tuple[str, ...] = ()
    n_ways: int = 1

    def __post_init__(self) -> None:
        if self.n_ways < 1:
            raise ValueError("cells are pooled in one way at least")
        if len(self.n) != len(self.sums):
            raise ValueError("rows and sums of rewards speak of other cells")
        if any(not 0 <= total <= n for n, total in zip(self.n, self.sums, strict=True)):
            raise ValueError("a sum of rewards is outside 0 and the number of rows")
        sizes = accumulate((len(factor.cells) for factor in self.factors), mul, initial=1)
        tables = (*(factor.pools for factor in self.factors), self.cells)
        for table, size in zip(tables, sizes, strict=True):
            if len(table) != len(self.pairs) or any(len(row) != size for row in table):
                raise ValueError(f"each of {len(self.pairs)} pairs has {size} places")
        _require_places(self.cells, len(self.n), "cell")

    @property
    def variables(self) -> tuple[str, ...]:
        """The auxiliary variables that help a policy after each round, in order.

        >>> FusedPlan((), (), (), (), ()).variables
        ()
        """
        return tuple(name for factor in self.factors for name in factor.variables)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms of the pairs, each once, in the order of the pairs.

        >>> FusedPlan((((0,), ("a",)), ((0,), ("b",))), (), ((0,), (0,)), (3,), (1.0,)).arms
        ((0,),)
        """
        return tuple(dict.fromkeys(arm for arm, _ in self.pairs))

    @property
    def n_leaves(self) -> int:
        """How many combinations of cells of all factors each pair has."""
        return prod(len(factor.cells) for factor in self.factors)

    def __str__(self) -> str:
        sizes = _count(sum(self.n), "row"), _count(len(self.n), "cell")
        first = f"{sizes[0]} in {sizes[1]} for {_count(len(self.pairs), 'pair')}"
        return "\n".join((first, *map(str, self.factors), *self.reasons))

    __repr__ = __str__


@final
@dataclass(frozen=True, repr=False)
class NoFusedPlan:
    """Why rows cannot be pooled."""

    reason: str

    def __str__(self) -> str:
        return f"no plan: {self.reason}"

    __repr__ = __str__


def _require_places(places: Places, n: int, what: str) -> None:
    """Refuse places that are not numbers of pools or cells, each of them taken by some pair."""
    found = {place for row in places for place in row}
    if found != set(range(n)):
        raise ValueError(f"pairs name {what}s 0 to {n - 1}, each at least once")


def _count(n: int, noun: str) -> str:
    """Write a number of things, such as "1 pool" or "2 pools"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
