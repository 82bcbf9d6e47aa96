"""The contingency table: how often each combination of levels was logged, empty cells left out.

A log of many variables fills few of its cells, so the table is sparse: one line per cell that
was seen. Whatever a rule needs is a dense marginal over a few variables, made here by packing
the codes of a line into one number and adding up the lines that share it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boundit.core.errors import DataError, shorten
from boundit.core.message import ANY, Message, Note, Option
from boundit.core.names import Names, Nodes, read_nodes
from boundit.counts.errors import ClustersDiffer, TooLarge
from boundit.counts.levels import Codes, Levels, join_levels
from boundit.counts.named_array import (
    Floats,
    NamedArray,
    SeenCells,
    find_distinct,
    require_axes,
)

DENSE_LIMIT = 2**24
"""The most cells a dense table may have: 128 MiB of numbers."""
_MOST_SHOWN = 3


@dataclass(frozen=True, eq=False)
class ClusterLines:
    """The lines of a count table cut up by cluster, one entry for a cluster in a cell.

    Entry ``i`` says that cluster ``cluster[i]``, a number from 0 to below ``n_clusters``, has
    ``n[i]`` rows in the cell of line ``line[i]`` of the table, with ``sums[i]`` as the sum of
    their reward and ``lowest[i]`` to ``highest[i]`` as its range. The last three are None
    where the table has no reward. What any statistic that is a sum over rows comes to in each
    cluster is ``np.bincount(cluster, n * value[line], n_clusters)`` for a ``value`` of each
    line, and with ``sums`` in the place of ``n`` for a multiple of the reward: variances that
    allow for clusters are made of those. Lines keep their places when a table gets levels, so
    that ``line`` stays right.
    """

    name: str
    n_clusters: int
    cluster: Codes
    line: Codes
    n: Floats
    sums: Floats | None = None
    lowest: Floats | None = None
    highest: Floats | None = None

    def __post_init__(self) -> None:
        """Keep the numbers from changing."""
        for array in (self.cluster, self.line, self.n, self.sums, self.lowest, self.highest):
            if array is not None:
                array.flags.writeable = False


@dataclass(frozen=True, eq=False, repr=False)
class CountTable:
    """Counts per cell, and of a reward its sum, sum of squares and range.

    Line ``i`` is the cell ``codes[i]``, places in ``levels`` in the order of ``variables``; it
    was logged ``n[i]`` times, a whole number, or has the probability ``n[i]`` in an ``exact``
    distribution. Lines are sorted by code, and no cell has two. Without a ``reward`` the arrays
    ``sums``, ``squares``, ``lowest`` and ``highest`` are None. ``clusters`` cuts the lines up
    by cluster, for a log that was counted with one. ``adaptive`` says that a policy learned
    while it wrote the rows, so that counts depend on rewards. ``bins`` has the edges by which
    numbers were cut into the levels of a variable.

    >>> from boundit.counts.log import read_log
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
        for array in (self.codes, self.n, self.sums, self.squares, self.lowest, self.highest):
            if array is not None:
                array.flags.writeable = False

    def __str__(self) -> str:
        unit = "an exact distribution" if self.exact else f"{self.rows:,.0f} rows"
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
        """How many rows were counted, or the total weight: 1 of an exact distribution."""
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

    def add_levels(self, levels: Mapping[str, Iterable[object]]) -> Self:
        """Add levels to some variables, such as those another table has seen.

        >>> from boundit.counts.log import read_log
        >>> table = read_log({"X": [2, 1]}).count("X").add_levels({"X": [0, 1]})
        >>> table.levels["X"], table.marginalize("X").values
        ((0, 1, 2), array([0., 1., 1.]))
        """
        widened = {
            name: join_levels(name, self.levels[name], levels.get(name, ()))
            for name in self.variables
        }
        if widened == self.levels:
            return self
        codes = self.codes.copy(order="F")
        for i, (name, of) in enumerate(widened.items()):
            at = {level: place for place, level in enumerate(of)}
            moved = np.array([at[level] for level in self.levels[name]], dtype=np.int64)
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
        # Rows of a cluster differ in their cell or, within a cell, in the reward.
        differ = np.bincount(found.cluster, minlength=found.n_clusters) > 1
        if found.lowest is not None:
            differ[found.cluster[found.lowest != found.highest]] = True
        if n_differing := int(differ.sum()):
            read = (*self.variables, *([self.reward] if self.reward else []))
            raise ClustersDiffer(found.name, n_differing, found.n_clusters, read)
        note = (
            f"each of {found.n_clusters:,} clusters by {found.name} was counted once, however "
            f"many of the {self.rows:,.0f} rows it has: the numbers speak of clusters, not of "
            "rows"
        )
        once = {"n": np.ones(len(found.line))}
        if found.lowest is not None:
            once |= {"sums": found.lowest, "squares": found.lowest**2}
        added = _add_up_by(found.line, once, n_lines)
        sums, squares = added.get("sums"), added.get("squares")
        notes = (*self.notes, note)
        return replace(
            self, n=added["n"], sums=sums, squares=squares, notes=notes, clusters=None
        )

    def _add_up(self, names: Names, numbers: Floats) -> NamedArray:
        """Add up one number per line of the table into a dense array over ``names``."""
        asked = require_axes(read_nodes(names), self.variables)
        places = [i for i, name in enumerate(self.variables) if name in asked]
        axes = [self.variables[i] for i in places]
        shape = [len(self.levels[name]) for name in axes]
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
        asked = require_axes(read_nodes(names), self.variables)
        places = [i for i, name in enumerate(self.variables) if name in asked]
        codes, kept = self.codes[:, places], tuple(self.variables[i] for i in places)
        first, group = find_distinct(codes, [len(self.levels[name]) for name in kept])
        added = np.bincount(group, numbers, len(first)).astype(np.float64)
        return SeenCells(kept, codes[first], added)

    def _require_reward(self, numbers: Floats | None) -> Floats:
        """Return the table's sums of reward (or of squares) if it has any."""
        if numbers is None:
            more = Option("reward", ANY)
            raise DataError("the table holds no reward; count with ", more, " to add one up")
        return numbers


def merge_cells(
    codes: Codes, shape: Sequence[int], n: Floats, reward: Mapping[str, Floats]
) -> tuple[Codes, Floats, dict[str, Floats], NDArray[np.intp]]:
    """Add up the lines of a table that have the same codes, and sort them by codes.

    Returns the codes, the counts and the sums of reward that are left, and which of the lines
    that are left each line went to.
    """
    first, group = find_distinct(codes, shape)
    joined = _add_up_by(group, {"n": n, **reward}, len(first))
    # Column by column, as tables keep them: a copy less.
    kept = np.empty((len(first), len(shape)), dtype=np.int64, order="F")
    for i in range(len(shape)):
        kept[:, i] = codes[first, i]
    return kept, joined.pop("n"), joined, group


def cut_by_cluster(
    name: str, cluster: Codes, line: Codes, numbers: Mapping[str, Floats]
) -> ClusterLines:
    """Number the clusters that have rows, and join the cells of one cluster in one line.

    ``cluster`` and ``line`` say of each cell where it belongs, ``numbers`` are its ``n`` and,
    with a reward, its sums and range.
    """
    codes, cluster = np.unique(cluster, return_inverse=True)
    shape = (len(codes), int(line.max(initial=0)) + 1)
    first, group = find_distinct(np.stack([cluster, line], axis=1), shape)
    joined = _add_up_by(group, numbers, len(first))
    return ClusterLines(name, len(codes), cluster[first], line[first], **joined)


def _add_up_by(
    group: NDArray[np.intp], numbers: Mapping[str, Floats], n_groups: int
) -> dict[str, Floats]:
    """Add up numbers by the group each belongs to; of ``lowest`` and ``highest``, the extreme."""
    extremes = {"lowest": np.minimum, "highest": np.maximum}
    joined: dict[str, Floats] = {}
    for name, of in numbers.items():
        if name in extremes:
            joined[name] = np.zeros(n_groups)
            joined[name][group] = of
            extremes[name].at(joined[name], group, of)
        else:
            joined[name] = np.bincount(group, of, n_groups).astype(np.float64, copy=False)
    return joined


def share_levels(
    log: CountTable,
    others: Sequence[CountTable],
    declared: Mapping[str, Iterable[object]] | None = None,
) -> tuple[CountTable, ...]:
    """Give the log and its external tables the levels of all of them and those declared.

    Returns the tables anew, the log first. A level that only an external table has gets a
    caveat there: it may be a slip.

    >>> from boundit.counts.log import read_log
    >>> log, survey = read_log({"X": ["a", "b"]}), read_log({"X": ["b", "B"]})
    >>> one, other = share_levels(log.count("X"), [survey.count("X")])
    >>> one.levels == other.levels == {"X": ("B", "a", "b")}
    True
    >>> print(other.caveats[0])
    X is never 'B' in the log, only in the dict of columns: a slip for 'b'? If it is right, declare it with domain=
    """  # noqa: E501
    extra = {name: tuple(levels) for name, levels in (declared or {}).items()}
    levels = {
        name: [
            *(t.levels[name] for t in (log, *others) if name in t.levels),
            extra.get(name, ()),
        ]
        for table in (log, *others)
        for name in table.variables
    }
    joined = {name: join_levels(name, *parts) for name, parts in levels.items()}
    noted = [log]
    for table in others:
        notes = list(table.notes)
        for name in table.variables:
            if name in log.variables:
                known = join_levels(name, log.levels[name], extra.get(name, ()))
                notes += warn_of_strange_levels(name, table.levels[name], known, table.label)
        noted.append(replace(table, notes=tuple(notes)))
    return tuple(table.add_levels(joined) for table in noted)


def warn_of_strange_levels(
    name: str, levels: Levels, known: Levels, label: str
) -> tuple[Message, ...]:
    """Ask about levels that an external table has and the log never: slips of writing, perhaps."""
    strange = [level for level in levels if level is not None and level not in known]
    if not strange:
        return ()
    shown = shorten(", ".join(map(repr, strange[:_MOST_SHOWN])))
    more = len(strange) - _MOST_SHOWN
    shown += f" and {more} more" if more > 0 else ""
    texts = {level.casefold(): level for level in known if isinstance(level, str)}
    near = [texts[t] for t in get_close_matches(str(strange[0]).casefold(), texts, n=1)]
    slip = f"a slip for {near[0]!r}? If it is right" if near else "if that is right"
    said = f"{name} is never {shown} in the log, only in {label}: {slip}, declare it with "
    return (Message(said, Option("domain", ANY)),)
