"""What a decision came to: who won, and the indices that were worked out.

Ties are the normal case (Algorithm 4, line 13): a cap makes indices equal. The rule is the same
everywhere: the higher index wins; among equals the higher index before the prior lowered or
raised it; among these the arm that comes first. A cap of the reward's own maximum therefore
changes no pull. An index never exceeds its cap, so kernels score arms by decreasing cap until
the next one lies strictly below the best index: the same arm wins as if all were scored.
"""

import math
from typing import TYPE_CHECKING, Protocol, TypeAlias, final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import COLUMNS, FREE_SCORE, SCORE
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Arm

if TYPE_CHECKING:
    from collections.abc import Callable

Chance: TypeAlias = "float | Callable[[Scores], float] | None"
"""A propensity, what works it out when it is read, or None where nobody wants any."""


class FeatureRows(Protocol):
    """The features of the arms of a lineup."""

    def row(self, i: int) -> tuple[float, ...]:
        """Those of one arm."""
        ...


@final
class Scores:
    """Who won, and the sheet that a kernel filled in, as it was.

    Deciding is quicker than saying why, so that the reasons are read when somebody asks.
    ``found`` is the winner's position and how many arms needed no score; ``chance`` the
    winner's propensity, or what works it out.

    >>> from boundit.bandit.ranked_arms import RankedArm
    >>> two = RankedArms.of([RankedArm(("A",), 0, 0.9, 0), RankedArm(("B",), 0, 0.4, 1)])
    >>> sheet = two.blank.copy()
    >>> sheet[:, FREE_SCORE], sheet[:, SCORE] = [2.0, 0.0], [0.9, np.nan]
    >>> outcome = Scores(two, (0, 1), sheet)
    >>> outcome.arm, outcome.index, outcome.capped, outcome.skipped
    (('A',), {('A',): 0.9}, (('A',),), 1)
    """

    __slots__ = ("_chance", "_kept", "_left", "branch", "lineup", "rows", "winner")

    def __init__(
        self,
        lineup: RankedArms,
        found: tuple[int, int],
        sheet: Floats,
        rows: FeatureRows | None = None,
        chance: "Chance" = 1.0,
        branch: str | None = None,
    ) -> None:
        self.winner, self._left = found
        self.lineup, self.rows, self.branch = lineup, rows, branch
        self._kept, self._chance = sheet.tobytes(), chance

    @property
    def sheet(self) -> Floats:
        """What the kernel wrote down."""
        return np.frombuffer(self._kept).reshape(-1, COLUMNS).copy()

    @property
    def arm(self) -> Arm:
        """The winner."""
        return self.lineup[self.winner].arm

    @property
    def features(self) -> tuple[float, ...]:
        """The winner's features, none where a policy needs none."""
        return self.rows.row(self.winner) if self.rows else ()

    @property
    def index(self) -> dict[Arm, float]:
        """The score of every arm that was scored, in the order of the call."""
        final = self.sheet[:, SCORE].tolist()
        return {arm: final[i] for i, arm in self.lineup.shown if not math.isnan(final[i])}

    @property
    def capped(self) -> tuple[Arm, ...]:
        """The arms whose score the prior lowered."""
        lowered = (self.sheet[:, SCORE] < self.sheet[:, FREE_SCORE]).tolist()
        return tuple(arm for i, arm in self.lineup.shown if lowered[i])

    @property
    def skipped(self) -> int:
        """How many arms needed no score."""
        return self._left + len(self.lineup.beaten)

    @property
    def propensity(self) -> float | None:
        """The chance of the winner under the policy's own randomness."""
        return self._chance(self) if callable(self._chance) else self._chance
