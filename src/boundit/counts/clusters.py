"""Rows that belong together: how often each cluster, such as a user, fell into each cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundit.counts.levels import Codes
from boundit.counts.named_array import Floats
from boundit.counts.seen import find_distinct


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

    @classmethod
    def from_cells(
        cls,
        name: str,
        cluster: Codes,
        line: Codes,
        numbers: dict[str, Floats],
    ) -> "ClusterLines":
        """Number the clusters that have rows, and join the cells of one cluster in one line.

        ``cluster`` and ``line`` say of each cell where it belongs, ``numbers`` are its ``n``
        and, with a reward, its sums and range.
        """
        codes, cluster = np.unique(cluster, return_inverse=True)
        shape = (len(codes), int(line.max(initial=0)) + 1)
        first, group = find_distinct(np.stack([cluster, line], axis=1), shape)
        joined = {"n": _add_up(group, numbers["n"], len(first))}
        if "sums" in numbers:
            joined["sums"] = _add_up(group, numbers["sums"], len(first))
            for end, how in (("lowest", np.minimum), ("highest", np.maximum)):
                joined[end] = numbers[end][first].copy()
                how.at(joined[end], group, numbers[end])
        return cls(name, len(codes), cluster[first], line[first], **joined)

    def find_differing(self) -> NDArray[np.bool_]:
        """Find the clusters whose rows differ: in their cell or, within a cell, in the reward."""
        differ = np.bincount(self.cluster, minlength=self.n_clusters) > 1
        if self.lowest is not None and self.highest is not None:
            differ[self.cluster[self.lowest != self.highest]] = True
        return differ

    def count_clusters(self, n_lines: int) -> Floats:
        """Count the clusters in each line of the table, however many rows each has there."""
        return np.bincount(self.line, minlength=n_lines).astype(np.float64)

    def sum_powers(self, n_lines: int, power: int) -> Floats | None:
        """Sum a power of the reward over the clusters in each line, each counted once.

        None without a reward.
        """
        return None if self.lowest is None else _add_up(self.line, self.lowest**power, n_lines)


def _add_up(places: NDArray[np.intp], numbers: Floats, size: int) -> Floats:
    """Add up numbers by the place each belongs to."""
    return np.bincount(places, numbers, size).astype(np.float64)
