"""What a decision came to: who won, and the indices that were worked out.

Ties are the normal case (Algorithm 4, line 13): a cap makes indices equal. The rule is the same
everywhere: the higher index wins; among equals the higher index before the prior lowered or
raised it; among these the arm that comes first. A cap of the reward's own maximum therefore
changes no pull. An index never exceeds its cap, so kernels score arms by decreasing cap until
the next one lies strictly below the best index: the same arm wins as if all were scored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

from boundit.bandit.lineup import Lineup
from boundit.terms.bound import Arm


@final
@dataclass(frozen=True)
class Outcome:
    """Who won, the scores that were worked out, and how many arms needed none."""

    arm: Arm
    index: Mapping[Arm, float]
    capped: tuple[Arm, ...]
    skipped: int
    features: tuple[float, ...] = ()
    propensity: float | None = 1.0
    branch: str | None = None

    @classmethod
    def at_once(
        cls,
        arm: Arm,
        index: Mapping[Arm, float],
        capped: tuple[Arm, ...],
        skipped: int,
        features: tuple[float, ...],
    ) -> Self:
        """Make one without a call for each frozen field, which would double the cost."""
        made = object.__new__(cls)
        vars(made).update(
            arm=arm,
            index=index,
            capped=capped,
            skipped=skipped,
            features=features,
            propensity=1.0,
            branch=None,
        )
        return made


def settled(
    lineup: Lineup,
    winner: int,
    shown: Sequence[tuple[int, Arm]],
    free: Sequence[float],
    final: Sequence[float],
    *,
    skipped: int,
    features: tuple[float, ...] = (),
) -> Outcome:
    """Write down what a kernel found: the winner's position, and the indices of those shown.

    >>> from boundit.bandit.lineup import Entrant
    >>> two = Lineup.of([Entrant(("A",), 0, 0.9, 0), Entrant(("B",), 0, 0.4, 1)])
    >>> settled(two, 0, two.first(1), [2.0], [0.9], skipped=1)
    Outcome(arm=('A',), index={('A',): 0.9}, capped=(('A',),), skipped=1, ...)
    """
    capped = tuple([arm for i, arm in shown if final[i] < free[i]]) if lineup.bounded else ()
    return Outcome.at_once(
        lineup[winner].arm, {arm: final[i] for i, arm in shown}, capped, skipped, features
    )
