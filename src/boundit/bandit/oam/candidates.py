"""What optimal allocation matching looks at: the arms of a context, and all pairs known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.dense import Numbers
from boundit.bandit.kernels.score_table import LOWER, UPPER
from boundit.bandit.learned.features import Vector
from boundit.bandit.oam.round import gaps_within
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

    def gaps(self, theta: Vector) -> Numbers:
        """How far each pair falls short of the best of its context."""
        return gaps_within(self.x, self.blocks, theta)


@final
class CandidateArms:
    """The arms that one context offers, without those the bounds rule out."""

    __slots__ = ("_allocation", "_needs", "kept", "lineup", "lower", "upper", "x")

    def __init__(self, lineup: RankedArms, kept: RankedArms, x: Numbers) -> None:
        self.lineup, self.kept, self.x = lineup, kept, x
        self.lower, self.upper = kept.blank[:, LOWER].copy(), kept.blank[:, UPPER].copy()
        self._allocation: Shares | None = None
        self._needs: Numbers = np.full(len(kept), math.inf)

    def row(self, i: int) -> tuple[float, ...]:
        """The features of one arm, as a decision keeps them."""
        return tuple(self.x[i].tolist())

    def needs(self, context: Context, allocation: Shares) -> Numbers:
        """The pulls that the allocation has for the arms; it is read once."""
        if allocation is not self._allocation:
            found = [allocation.get((context, e.arm), math.inf) for e in self.kept]
            self._allocation, self._needs = allocation, np.array(found)
        return self._needs


def worthwhile(entrants: Sequence[RankedArm]) -> list[RankedArm]:
    """Drop the arms whose upper end lies below the lower end of another (D-34), by place.

    >>> a, b = RankedArm(("A",), 0.5, 0.9, 0), RankedArm(("B",), 0.1, 0.4, 1)
    >>> worthwhile([a, b]) == [a]
    True
    """
    reached = max(entrant.lower for entrant in entrants)
    kept = [entrant for entrant in entrants if entrant.upper >= reached]
    return sorted(kept, key=lambda entrant: entrant.place)
