"""The last step of every Thompson sampling: what was drawn, who won, and with what chance."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from boundit.bandit.contest import Outcome
from boundit.bandit.laws import Law
from boundit.bandit.lineup import Entrant, Lineup
from boundit.bandit.stage import Floats
from boundit.terms.bound import Arm

Chance: TypeAlias = Callable[[Mapping[Arm, Law], Arm], float]
"""How likely an arm was to win, given the laws of all that could."""


def drawn(
    lineup: Lineup,
    found: tuple[int, int],
    draws: Floats,
    free: Floats,
    *,
    features: tuple[float, ...] = (),
    propensity: float | None = None,
) -> Outcome:
    """Write down what a kernel drew: the winner's position, and how many arms were drawn.

    An arm is capped when its draw, had there been no bound, would have been above its upper
    end.
    """
    winner, looked = found
    shown, final = lineup.first(looked), draws.tolist()
    capped: tuple[Arm, ...] = ()
    if lineup.bounded:
        loose = free.tolist()
        capped = tuple([arm for i, arm in shown if final[i] < loose[i]])
    return Outcome(
        lineup[winner].arm,
        {arm: final[i] for i, arm in shown},
        capped,
        len(lineup) - looked,
        features,
        propensity,
    )


def winning_chance(
    lineup: Lineup, winner: int, law_of: Callable[[Entrant], Law], chance: Chance
) -> float:
    """The chance of an arm, as the laws of those that can win have it.

    Arms whose upper end lies below another's lower end never win and are not counted.
    """
    surest = max(entrant.lower for entrant in lineup)
    able = sorted((e for e in lineup if e.upper >= surest), key=lambda e: e.place)
    laws = {entrant.arm: law_of(entrant) for entrant in able}
    return min(chance(laws, lineup[winner].arm), 1.0)
