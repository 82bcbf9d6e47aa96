"""Choosing the best arm with as few looks as the bounds allow (Algorithm 4, line 13).

Ties are the normal case: a cap makes indices equal. The rule is the same everywhere: the higher
index wins; among equals the higher index before the prior lowered or raised it; among these the
arm that comes first. A cap of the reward's own maximum therefore changes no pull.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from boundit.bandit.prior import Entrant
from boundit.terms.bound import Arm


class Score(NamedTuple):
    """An index as the prior leaves it, and as it would be without one."""

    final: float
    free: float


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


def contest(entrants: Sequence[Entrant], score: Callable[[Entrant], Score]) -> Outcome:
    """Score arms by decreasing cap until no other can win; the same winner as scoring all.

    An index never exceeds its cap, so once the next cap lies strictly below the best index all
    that follow have lost. A cap that equals it may still win the tie.

    >>> arms = (Entrant(("A",), 0, 0.9, 0), Entrant(("B",), 0, 0.4, 1))
    >>> contest(arms, lambda entrant: Score(0.5, 0.5)).skipped
    1
    """
    found: dict[Arm, Score] = {}
    places: dict[Arm, int] = {}
    best: tuple[float, float, int] | None = None
    leader = entrants[0]
    for entrant in entrants:
        if best and entrant.upper < best[0]:
            break
        found[entrant.arm] = got = score(entrant)
        places[entrant.arm] = entrant.place
        rank = (got.final, got.free, -entrant.place)
        if best is None or rank > best:
            best, leader = rank, entrant
    shown = sorted(found, key=places.__getitem__)
    return Outcome(
        leader.arm,
        {arm: found[arm].final for arm in shown},
        tuple(arm for arm in shown if found[arm].final < found[arm].free),
        len(entrants) - len(found),
    )
