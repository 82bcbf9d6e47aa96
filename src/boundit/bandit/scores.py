"""What a decision came to: who won, and the indices that were worked out.

Ties are the normal case (Algorithm 4, line 13): a cap makes indices equal. The rule is the same
everywhere: the higher index wins; among equals the higher index before the prior lowered or
raised it; among these the arm that comes first. A cap of the reward's own maximum therefore
changes no pull. An index never exceeds its cap, so kernels score arms by decreasing cap until
the next one lies strictly below the best index: the same arm wins as if all were scored.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Protocol, TypeAlias, final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import COLUMNS, FREE_SCORE, SCORE
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm

EXPLORED = "explore"
"""The branch of a decision whose arm was drawn uniformly, by the option ``explore``."""


Branch: TypeAlias = "str | Callable[[Scores], str | None] | None"
"""The part of an algorithm that chose, what tells it when it is read, or None without parts."""


class FeatureRows(Protocol):
    """The features of ranked arms, a row each; linear policies and OAM give ``Scores`` one."""

    def row(self, i: int) -> tuple[float, ...]:
        """Give the features of the ``i``-th ranked arm, a number each."""
        ...


@final
class Scores:
    """Who won, and the score table that a kernel filled in, as it was.

    Deciding is quicker than saying why, so that the reasons are read when somebody asks.
    ``found`` is the winner's position and how many arms needed no score; ``win_chances`` works
    out the chance of each to win, and is None where nobody wants any. Made by
    ``BasePolicy.choose``; ``BasePolicy.decide`` adds the arms of the call and what explores.

    >>> from boundit.bandit.ranked_arms import RankedArm
    >>> two = RankedArms.of([RankedArm(("A",), 0, 0.9, 0), RankedArm(("B",), 0, 0.4, 1)])
    >>> score_table = two.blank_table.copy()
    >>> score_table[:, FREE_SCORE], score_table[:, SCORE] = [2.0, 0.0], [0.9, np.nan]
    >>> scores = Scores(two, (0, 1), score_table)
    >>> scores.arm, scores.index, scores.capped, scores.skipped
    (('A',), {('A',): 0.9}, (('A',),), 1)
    """

    allowed: tuple[Arm, ...] = ()
    """All arms of the call, those that were ruled out too."""
    explore: float = 0.0
    """The chance with which the arm was drawn uniformly from them."""
    spec: BanditSpec | None = None
    """What read the context of the call, where one visitor was decided for."""
    _features: tuple[float, ...] = ()
    _wanted: bool = True
    _like: "Scores | None" = None

    def __init__(
        self,
        ranked_arms: RankedArms,
        found: tuple[int, int],
        score_table: Floats,
        rows: FeatureRows | None = None,
        win_chances: "WinChances | None" = None,
        branch: "Branch" = None,
        wanted: bool = True,  # noqa: FBT001, FBT002, a word costs more than the rest
    ) -> None:
        self.winner, self._unscored = found
        self.arm: Arm = ranked_arms[self.winner].arm
        self.ranked_arms, self.rows, self._branch = ranked_arms, rows, branch
        self._table_bytes, self._win_chances = score_table.tobytes(), win_chances
        if not wanted:
            self._wanted = False

    def repeat(self, found: tuple[int, int], score_table: Floats) -> "Scores":
        """Make scores of another visitor of the same context, by a table of their own.

        The chances of arms to win are the same for both, and worked out once.
        """
        made = Scores(
            self.ranked_arms,
            found,
            score_table,
            self.rows,
            self._win_chances,
            self._branch,
            wanted=self._wanted,
        )
        made.allowed, made.explore, made._like = self.allowed, self.explore, self
        return made

    @property
    def found(self) -> tuple[int, int]:
        """The row of the arm with the highest score, and how many arms needed none."""
        return self.best, self._unscored

    @property
    def score_table(self) -> Floats:
        """A copy of the score table as the kernel left it."""
        return np.frombuffer(self._table_bytes).reshape(-1, COLUMNS).copy()

    @property
    def features(self) -> tuple[float, ...]:
        """The chosen arm's features, none where a policy needs none."""
        return self.rows.row(self.winner) if self.rows else self._features

    @cached_property
    def index(self) -> dict[Arm, float]:
        """The score of every arm that was scored, in the order the arms were passed in."""
        final = self.score_table[:, SCORE].tolist()
        return {
            arm: final[i]
            for i, arm in self.ranked_arms.in_call_order
            if not math.isnan(final[i])
        }

    @cached_property
    def capped(self) -> tuple[Arm, ...]:
        """The arms whose score the prior bounds lowered; read by ``Decision.capped``."""
        table = self.score_table
        lowered = (table[:, SCORE] < table[:, FREE_SCORE]).tolist()
        return tuple(arm for i, arm in self.ranked_arms.in_call_order if lowered[i])

    @property
    def skipped(self) -> int:
        """The number of arms that needed no score, as their upper end ruled them out."""
        return self._unscored + len(self.ranked_arms.beaten)

    def find_row(self, arm: Arm) -> int:
        """Find the row of an arm in the score table, -1 if it was ruled out before."""
        return next((i for i, ranked in enumerate(self.ranked_arms) if ranked.arm == arm), -1)

    def explore_arm(self, arm: Arm, row: int, features: tuple[float, ...]) -> None:
        """Play another arm than the one that won: it was drawn to explore.

        ``features`` are those of an arm without a row.
        """
        self.best = self.winner
        self.arm, self.winner, self._branch = arm, row, EXPLORED
        if row < 0:
            self.rows, self.winner, self._features = None, 0, features

    @cached_property
    def best(self) -> int:
        """The row of the arm that won, also where another was played to explore."""
        return self.winner

    @cached_property
    def chances(self) -> list[float]:
        """The chance of each row of the score table to win by the algorithm's own draws."""
        if self._win_chances is None:
            return [float(i == self.best) for i in range(len(self.ranked_arms))]
        if self._like is not None:
            return self._like.chances
        found: list[float] = self._win_chances(self).tolist()
        return found

    @cached_property
    def propensity(self) -> float | None:
        """The chance that the policy's own randomness chose this arm, None if not wanted.

        Worked out when it is first read.
        """
        if not self._wanted:
            return None
        if not self.explore:
            return 1.0 if self._win_chances is None else self.chances[self.winner]
        row = self.find_row(self.arm)
        return self._mix(self.chances[row] if row >= 0 else 0.0)

    @cached_property
    def propensities(self) -> dict[Arm, float] | None:
        """The chance of every arm of the call, in its order; None if not wanted.

        Worked out when it is first read.
        """
        if not self._wanted:
            return None
        found = dict.fromkeys(self.allowed or self.ranked_arms.arms, 0.0)
        for i, arm in self.ranked_arms.in_call_order:
            found[arm] = self.chances[i]
        return {arm: self._mix(chance) for arm, chance in found.items()}

    def _mix(self, chance: float) -> float:
        """Mix an arm's chance under the algorithm with that of being drawn to explore."""
        if not self.explore:
            return chance
        return self.explore / len(self.allowed) + (1.0 - self.explore) * chance

    @property
    def branch(self) -> str | None:
        """The part of the algorithm that chose, None for algorithms of a single part.

        Told when it is first read.
        """
        if callable(self._branch):
            self._branch = self._branch(self)
        return self._branch


WinChances: TypeAlias = Callable[[Scores], Floats]
"""What works out the chance of each row of a score table to win."""
