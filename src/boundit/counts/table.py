"""The contingency table: how often each combination of levels was logged, empty cells left out.

A log of many variables fills few of its cells, so the table is sparse: one line per cell that
was seen. Whatever a rule needs is a dense marginal over a few variables, made here by packing
the codes of a line into one number and adding up the lines that share it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boundit.counts.clusters import ClusterLines
from boundit.counts.errors import ClustersDiffer, NoReward, NotALevel, TooLarge
from boundit.counts.levels import Codes, Levels, index_levels, join_levels, to_native
from boundit.counts.named_array import Floats, MissingAxis, NamedArray
from boundit.counts.seen import SeenCells, find_distinct
from boundit.terms.message import Note
from boundit.terms.names import Names, Nodes, read_nodes, sort_names

DENSE_LIMIT = 2**24
"""The most cells a dense table may have: 128 MiB of numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class CountTable:
    """Counts per cell, and of a reward its sum, sum of squares and range.

    Line ``i`` is the cell ``codes[i]``, places in ``levels`` in the order of ``variables``; it
    was logged ``n[i]`` times, a whole number, or has the probability ``n[i]`` of an ``exact``
    law. Lines are sorted by code, and no cell has two. Without a ``reward`` the arrays
    ``sums``, ``squares``, ``lowest`` and ``highest`` are None. ``clusters`` cuts the lines up
    by cluster, for a log that was counted with one. ``adaptive`` says that a policy learned
    while it wrote the rows, so that counts hang on rewards. ``bins`` has the edges by which
    numbers were cut into the levels of a variable.

    >>> from boundit.counts.read import read_log
    >>> log = read_log({"X": ["a", "b", "a"], "C": [0, 0, 1], "Y": [0.5, 1, 0]})
    >>> table = log.count(["X", "C"], reward="Y")
    >>> print(table)
    CountTable of X, C: 3 rows in 3 of 4 cells, with the reward Y
    >>> table.levels["X"], table.marginalize("X").values, table.sum_rewards("X").values
    (('a', 'b'), array([2., 1.]), array([0.5, 1. ]))
    """

    variables: tuple[str, ...]
    levels: Mapping[str, Levels]
    codes: Codes
    n: Floats
    reward: str | None = None
    sums: Floats | None = None
    squares: Floats | None = None
    lowest: Floats | None = None
    highest: Floats | None = None
    exact: bool = False
    notes: tuple[Note, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    label: str = "the table"
    clusters: ClusterLines | None = None
    adaptive: bool = False
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the numbers from changing, and columns of codes close together."""
        object.__setattr__(self, "codes", np.asfortranarray(self.codes, dtype=np.int64))
        for array in (self.codes, self.n, *self._list_reward_arrays().values()):
            array.flags.writeable = False

    def __str__(self) -> str:
        unit = "an exact law" if self.exact else f"{self.rows:,.0f} rows"
        reward = f", with the reward {self.reward}" if self.reward else ""
        n_cells, size = len(self.n), prod(self.shape)
        names = ", ".join(self.variables) or "no variables"
        return f"CountTable of {names}: {unit} in {n_cells:,} of {size:,} cells{reward}"

    __repr__ = __str__

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of these counts should know, in sentences that name Python options."""
        return tuple(map(str, self.notes))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each variable has, in the table's order."""
        return tuple(len(self.levels[name]) for name in self.variables)

    @property
    def names(self) -> Nodes:
        """The variables that the table counts, as a set."""
        return frozenset(self.variables)

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each variable has."""
        return {name: len(self.levels[name]) for name in self.variables}

    @cached_property
    def rows(self) -> float:
        """How many rows were counted, or the total weight: 1 of an exact law."""
        return float(self.n.sum())

    def marginalize(self, names: Names) -> NamedArray:
        """Count each combination of levels of ``names``, which keep the table's order."""
        return self._add_up(names, self.n)

    def sum_rewards(self, names: Names) -> NamedArray:
        """Add up the reward over each combination of levels of ``names``."""
        return self._add_up(names, self._require_reward(self.sums))

    def sum_squares(self, names: Names) -> NamedArray:
        """Add up the squared reward over each combination of levels of ``names``."""
        return self._add_up(names, self._require_reward(self.squares))

    def list_seen(self, names: Names) -> SeenCells:
        """List the cells of some variables that were seen, and how often; never more than rows."""
        return self._merge_lines(names, self.n)

    def list_rewards(self, names: Names) -> SeenCells:
        """List the cells of some variables that were seen, and the sum of their rewards."""
        return self._merge_lines(names, self._require_reward(self.sums))

    def find_code(self, name: str, value: object) -> int:
        """Find a value's place among the levels of a variable, or raise NotALevel."""
        self._find_places([name])
        try:
            return self._codes_of[name][to_native(value)]
        except (KeyError, TypeError):
            raise NotALevel(name, value, self.levels[name]) from None

    def add_levels(self, levels: Mapping[str, Iterable[object]]) -> Self:
        """Add levels to some variables, such as those another table has seen.

        >>> from boundit.counts.read import read_log
        >>> table = read_log({"X": [2, 1]}).count("X").add_levels({"X": [0, 1]})
        >>> table.levels["X"], table.marginalize("X").values
        ((0, 1, 2), array([0., 1., 1.]))
        """
        widened = {
            name: join_levels(name, self.levels[name], levels.get(name, ()))
            for name in self.variables
        }
        at = index_levels(widened)
        codes = self.codes.copy(order="F")
        for i, name in enumerate(self.variables):
            moved = np.array([at[name][v] for v in self.levels[name]], dtype=np.int64)
            codes[:, i] = moved[codes[:, i]] if len(moved) else 0
        return replace(self, levels=widened, codes=codes)

    def count_clusters_once(self) -> Self:
        """Count each cluster as one row, or refuse the table where rows of a cluster differ.

        Clusters are independent where their rows are not, so that the table becomes one of
        independent rows. One without clusters stays as it is.
        """
        found, n_lines = self.clusters, len(self.n)
        if found is None:
            return self
        if n_differing := int(found.find_differing().sum()):
            read = (*self.variables, *([self.reward] if self.reward else []))
            raise ClustersDiffer(found.name, n_differing, found.n_clusters, read)
        note = (
            f"each of {found.n_clusters:,} clusters by {found.name} was counted once, however "
            f"many of the {self.rows:,.0f} rows it has: the numbers speak of clusters, not of "
            "rows"
        )
        return replace(
            self,
            n=found.count_clusters(n_lines),
            sums=found.sum_powers(n_lines, 1),
            squares=found.sum_powers(n_lines, 2),
            notes=(*self.notes, note),
            clusters=None,
        )

    @cached_property
    def _codes_of(self) -> dict[str, dict[object, int]]:
        """The code of every level, for each variable."""
        return index_levels(self.levels)

    def _find_places(self, names: Names) -> list[int]:
        """Find the positions of variables among the table's columns, or raise MissingAxis."""
        asked = read_nodes(names)
        if missing := asked.difference(self.variables):
            raise MissingAxis(sort_names(missing)[0], self.variables)
        return [i for i, name in enumerate(self.variables) if name in asked]

    def _add_up(self, names: Names, numbers: Floats) -> NamedArray:
        """Add up one number per line of the table into a dense array over ``names``."""
        places = self._find_places(names)
        axes, shape = [self.variables[i] for i in places], [self.shape[i] for i in places]
        if (size := prod(shape)) > DENSE_LIMIT:
            raise TooLarge(axes, size, DENSE_LIMIT)
        packed = np.zeros(len(numbers), dtype=np.int64)
        for i, n_levels in zip(places, shape, strict=True):
            packed *= n_levels
            packed += self.codes[:, i]
        added: Floats = np.bincount(packed, numbers, size).astype(np.float64, copy=False)
        return NamedArray(tuple(axes), added.reshape(shape))

    def _merge_lines(self, names: Names, numbers: Floats) -> SeenCells:
        """Add up one number per line over the lines that agree in some variables."""
        places = self._find_places(names)
        codes = self.codes[:, places]
        first, group = find_distinct(codes, [self.shape[i] for i in places])
        kept = tuple(self.variables[i] for i in places)
        added = np.bincount(group, numbers, len(first)).astype(np.float64)
        return SeenCells(kept, codes[first], added)

    def _require_reward(self, numbers: Floats | None) -> Floats:
        """Return the table's sums of reward (or of squares), or raise NoReward if it has none."""
        if numbers is None:
            raise NoReward
        return numbers

    def _list_reward_arrays(self) -> dict[str, Floats]:
        """List the reward's sums, squares and range, one number per line each, by name."""
        named = {
            "sums": self.sums,
            "squares": self.squares,
            "lowest": self.lowest,
            "highest": self.highest,
        }
        return {name: array for name, array in named.items() if array is not None}


def merge_cells(
    codes: Codes, shape: Sequence[int], n: Floats, reward: Mapping[str, Floats]
) -> tuple[Codes, Floats, dict[str, Floats], NDArray[np.intp]]:
    """Add up the lines of a table that have the same codes, and sort them by codes.

    Returns the codes, the counts and the sums of reward that are left, and which of the lines
    that are left each line went to.
    """
    first, group = find_distinct(codes, shape)
    joined: dict[str, Floats] = {}
    for name, numbers in {"n": n, **reward}.items():
        joined[name] = np.zeros(len(first))
        if name in {"lowest", "highest"}:
            joined[name][group] = numbers
        how = {"lowest": np.minimum, "highest": np.maximum}.get(name, np.add)
        how.at(joined[name], group, numbers)
    # Column by column, as tables keep them: a copy less.
    kept = np.empty((len(first), len(shape)), dtype=np.int64, order="F")
    for i in range(len(shape)):
        kept[:, i] = codes[first, i]
    return kept, joined.pop("n"), joined, group


def join_domains(tables: Iterable[CountTable]) -> dict[str, Levels]:
    """Join the levels of every variable over several tables.

    >>> from boundit.counts.read import read_log
    >>> one, other = read_log({"X": [0, 1]}).count("X"), read_log({"X": [2], "Z": ["a"]})
    >>> join_domains([one, other.count(["X", "Z"])])
    {'X': (0, 1, 2), 'Z': ('a',)}
    """
    parts: dict[str, list[Levels]] = {}
    for table in tables:
        for name in table.variables:
            parts.setdefault(name, []).append(table.levels[name])
    return {name: join_levels(name, *levels) for name, levels in parts.items()}
