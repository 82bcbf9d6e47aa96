"""The influence of every line of a count table on ends, and how ends move together.

A line moves an end through every term that reads it. Its influence is the sum over terms of how
much more than average its cell counts, divided by the rows that the cell's ``given`` has. Terms
that read the same rows, as above and below a line, are so taken together; and rows that belong
to one cluster are added up before anything is squared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.approximate.derivatives import OWN, TermDerivative
from boundit.bounds.approximate.term_counts import TermCounter, TermCounts, align_to
from boundit.bounds.binary_reward import SUCCESS, BinaryReward
from boundit.counts.named_array import Floats
from boundit.counts.table import CountTable

BLOCK = 2**21
"""How many influences are there at once."""
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Some ends of one rule: derivatives, and at which of their rows each end stands.

    ``places`` has a line for each end, with a number for each axis of the rows.
    """

    derivatives: tuple[TermDerivative, ...]
    rows: tuple[str, ...]
    places: Indices

    def take(self, some: slice) -> "Claims":
        """Take some of the ends."""
        return Claims(self.derivatives, self.rows, self.places[some])


@final
class LineInfluence:
    """Reads influences off the lines of the log and of the tables of the population."""

    def __init__(self, counts: TermCounter) -> None:
        self.counts = counts

    @property
    def n_lines(self) -> int:
        """How many lines all tables have."""
        return sum(len(table.table.n) for table in self.counts.tables)

    @property
    def is_clustered(self) -> bool:
        """Whether some table says which of its rows belong together.

        The rows of a cell are then not independent.
        """
        return any(table.table.clusters is not None for table in self.counts.tables)

    @property
    def n_sums(self) -> int:
        """How many numbers an end needs at once: one for each line or each cluster."""
        clusters = (table.table.clusters for table in self.counts.tables)
        return self.n_lines + sum(found.n_clusters for found in clusters if found)

    def find_covariance(self, claims: Sequence[Claims]) -> Floats:
        """Find how all ends move together: a matrix with a line for each end."""
        n_ends = sum(len(part.places) for part in claims)
        total = np.zeros((n_ends, n_ends))
        for number, table in enumerate(self.counts.tables):
            if table.table.exact:
                continue
            if table.table.clusters is not None:
                sums = self._sum_clusters(claims, number, table)
                total += sums @ sums.T
                continue
            for block in self._list_moments(claims, number, table, n_ends):
                total += block
        return total

    def find_variances(self, claims: Claims) -> tuple[Floats, Floats]:
        """Find how far chance moves each end, and with how many degrees of freedom.

        Only clusters limit these here. One block of ends comes after another.
        """
        step = int(np.clip(BLOCK // max(self.n_sums, 1), 1, 64))
        variances, freedoms = [np.zeros(0)], [np.zeros(0)]
        for start in range(0, len(claims.places), step):
            some = [claims.take(slice(start, start + step))]
            variances.append(np.diag(self.find_covariance(some)))
            freedoms.append(self._count_freedom(some))
        return np.concatenate(variances), np.concatenate(freedoms)

    def _count_freedom(self, claims: Sequence[Claims]) -> Floats:
        """Count the clusters that move each end as far as those that there are."""
        freedom = np.full(sum(len(part.places) for part in claims), np.inf)
        for number, table in enumerate(self.counts.tables):
            if table.table.clusters is not None:
                squares = self._sum_clusters(claims, number, table) ** 2
                fourth = (squares**2).sum(axis=1)
                moved = squares.sum(axis=1) ** 2 / np.where(fourth > 0, fourth, 1)
                freedom = np.where(fourth > 0, np.minimum(freedom, moved), freedom)
        return freedom

    def _sum_clusters(
        self, claims: Sequence[Claims], number: int, source: BinaryReward
    ) -> Floats:
        """Add up the influence of every cluster's rows on each end.

        Rows of a cluster may move together in any way; clusters are independent, and there is
        one fewer than it seems, as with any mean.
        """
        found = source.table.clusters
        assert found is not None
        self.counts.workspace.require_time()
        fail, win = self._influence_all(claims, number, source.table, slice(None))
        sums = np.zeros_like(found.n)
        if found.sums is not None:
            sums = (found.sums - source.low * found.n) / (source.high - source.low)
        added = np.empty((len(fail), found.n_clusters))
        for i, (one, other) in enumerate(zip(fail, win - fail, strict=True)):
            moved = found.n * one[found.line] + sums * other[found.line]
            added[i] = np.bincount(found.cluster, moved, found.n_clusters)
        added *= np.sqrt(found.n_clusters / max(found.n_clusters - 1, 1))
        return added

    def _list_moments(
        self, claims: Sequence[Claims], number: int, source: BinaryReward, n_ends: int
    ) -> Iterator[Floats]:
        """Yield what blocks of lines of a table add to the covariance of ends."""
        table = source.table
        step = max(1, BLOCK // max(n_ends, 1))
        for start in range(0, len(table.n), step):
            self.counts.workspace.require_time()
            some = slice(start, start + step)
            fail, win = self._influence_all(claims, number, table, some)
            n, sums, squares = _scale_rewards(source, some)
            gap = win - fail
            mixed = (fail * sums) @ gap.T
            yield (fail * n) @ fail.T + mixed + mixed.T + (gap * squares) @ gap.T

    def _influence_all(
        self, claims: Sequence[Claims], number: int, table: CountTable, some: slice
    ) -> tuple[Floats, Floats]:
        """Find the influence of failures and of successes in some lines on all ends."""
        fail, win = (
            np.concatenate([self._influence(part, number, table, some, at) for part in claims])
            for at in (1 - SUCCESS, SUCCESS)
        )
        return fail, win

    def _influence(
        self, claims: Claims, number: int, table: CountTable, some: slice, outcome: int
    ) -> Floats:
        """Find the influence of some lines on some ends, with the outcome at one level."""
        codes = {name: table.codes[some, place] for place, name in enumerate(table.variables)}
        n_lines = len(table.n[some])
        total = np.zeros((len(claims.places), n_lines))
        for derivative in claims.derivatives:
            counts = self.counts.read(derivative.term)
            if counts.table != number:
                continue
            line = {
                column: codes.get(column, np.full(n_lines, outcome, dtype=np.intp))
                for column in derivative.term.free
            }
            total += _find_influence(derivative, counts, claims, line)
        return total


def _find_influence(
    derivative: TermDerivative,
    counts: TermCounts,
    claims: Claims,
    line: dict[str, Indices],
) -> Floats:
    """Find how much lines move ends through one term."""
    n_rows = len(claims.rows)
    at = tuple(claims.places.T)
    shape = derivative.values.shape[:n_rows]
    # Axes of length 1 hold for every level of the row.
    index = tuple(np.zeros_like(i) if n == 1 else i for i, n in zip(at, shape, strict=True))
    names, order = derivative.names, derivative.axes
    shares = align_to(counts.axes, counts.find_shares().arrays[0], names, order)
    over = derivative.list_own_axes(counts.term.of)
    mean = (derivative.values * shares).sum(axis=over, keepdims=True)
    inverse = align_to(counts.axes, counts.invert_rows(), names, order)
    value = _look_up(derivative.values, index, n_rows, order, line)
    for column, axis in derivative.tied.items():
        if column in counts.term.of:
            value = value * _match(line[column], at[claims.rows.index(axis)])
    average = _look_up(mean, _fit(mean, at, n_rows), n_rows, order, line)
    per_row = _look_up(inverse, _fit(inverse, at, n_rows), n_rows, order, line)
    found = (value - average) * per_row
    for column, axis in derivative.tied.items():
        if column in counts.term.given:
            found = found * _match(line[column], at[claims.rows.index(axis)])
    return found


def _fit(values: Floats, at: Sequence[Indices], n_rows: int) -> tuple[Indices, ...]:
    """Fit places to the axes of an array: 0 along those of length 1."""
    shape = values.shape[:n_rows]
    return tuple(np.zeros_like(i) if n == 1 else i for i, n in zip(at, shape, strict=True))


def _look_up(
    values: Floats,
    index: Sequence[Indices],
    n_rows: int,
    order: Sequence[str],
    line: dict[str, Indices],
) -> Floats:
    """Look up a number for every end and line, at the levels that each has."""
    own = tuple(
        np.zeros(1, dtype=np.intp) if n == 1 else line[axis.removeprefix(OWN)]
        for axis, n in zip(order[n_rows:], values.shape[n_rows:], strict=True)
    )
    return np.asarray(values[(*(i[:, None] for i in index), *(i[None, :] for i in own))])


def _match(column: Indices, levels: Indices) -> NDArray[np.bool_]:
    """Tell for every end and line whether the line has the end's level of a column."""
    return np.asarray(levels[:, None] == column[None, :])


def _scale_rewards(source: BinaryReward, some: slice) -> tuple[Floats, Floats, Floats]:
    """Return rows, sums and sums of squares of some lines, rewards scaled to [0, 1]."""
    table = source.table
    n = table.n[some]
    if table.sums is None or table.squares is None:
        return n, np.zeros_like(n), np.zeros_like(n)
    sums, squares, width = table.sums[some], table.squares[some], source.high - source.low
    scaled = (sums - source.low * n) / width
    return n, scaled, (squares - 2 * source.low * sums + source.low**2 * n) / width**2
