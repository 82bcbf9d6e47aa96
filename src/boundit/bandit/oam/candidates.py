"""The arms of a context that the bounds leave, and all such pairs of contexts met."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.kernels.score_table import LOWER, UPPER
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.terms.bound import Arm, Context

Pair: TypeAlias = tuple[Context, Arm]
Shares: TypeAlias = Mapping[Pair, float]
"""How often each pair should be pulled."""


@final
@dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Every pair worth pulling with its features, in blocks of one context each."""

    keys: tuple[Pair, ...]
    x: Numbers
    blocks: Places


@final
class CandidateArms:
    """The arms of one context, without those the bounds rule out, and their features."""

    __slots__ = ("_allocation", "_needs", "kept", "lower", "ranked_arms", "upper", "x")

    def __init__(self, ranked_arms: RankedArms, kept: RankedArms, x: Numbers) -> None:
        self.ranked_arms, self.kept, self.x = ranked_arms, kept, x
        self.lower, self.upper = (
            kept.blank_table[:, LOWER].copy(),
            kept.blank_table[:, UPPER].copy(),
        )
        self._allocation: Shares | None = None
        self._needs: Numbers = np.full(len(kept), math.inf)

    @property
    def n_features(self) -> int:
        """The number of features of an arm; read by ``MatchingStatistics.choose``."""
        return int(self.x.shape[1])

    def row(self, i: int) -> tuple[float, ...]:
        """Give the features of the ``i``-th arm as a tuple; called by ``Scores.features``."""
        return tuple(self.x[i].tolist())

    def find_needs(self, context: Context, allocation: Shares) -> Numbers:
        """Give how many pulls OAM's allocation wants of each candidate arm in a context.

        Looked up once for each allocation.
        """
        if allocation is not self._allocation:
            found = [allocation.get((context, ranked.arm), math.inf) for ranked in self.kept]
            self._allocation, self._needs = allocation, np.array(found)
        return self._needs


def drop_ruled_out(arms: Sequence[RankedArm]) -> list[RankedArm]:
    """Drop the arms whose upper end lies below the lower end of another (D-34).

    Gives the others in the order they were passed in.

    >>> a, b = RankedArm(("A",), 0.5, 0.9, 0), RankedArm(("B",), 0.1, 0.4, 1)
    >>> drop_ruled_out([a, b]) == [a]
    True
    """
    reached = max(ranked.lower for ranked in arms)
    kept = [ranked for ranked in arms if ranked.upper >= reached]
    return sorted(kept, key=lambda ranked: ranked.place)
