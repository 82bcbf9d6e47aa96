"""The last step of every Thompson sampling: draw, keep the highest, say with what chance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from boundit.bandit.contest import Outcome, Score, contest
from boundit.bandit.laws import Law, Numbers
from boundit.bandit.prior import Entrant
from boundit.terms.bound import Arm

Chance: TypeAlias = Callable[[Mapping[Arm, Law], Arm], float]
"""How likely an arm was to win, given the laws of all that could."""


def draw_best(
    entrants: Sequence[Entrant],
    law_of: Callable[[Entrant], Law],
    shares: Numbers,
    chance: Chance | None,
) -> Outcome:
    """Draw for each arm at its share, by decreasing cap until no other can win.

    An arm is capped when its draw, had there been no bound, would have been above its upper
    end. Arms whose upper end lies below another's lower end never win and are not counted in
    the chance.
    """
    capped: list[Entrant] = []

    def score(entrant: Entrant) -> Score:
        law, share = law_of(entrant), shares[entrant.place : entrant.place + 1]
        if float(law.free(share)[0]) > law.upper:
            capped.append(entrant)
        draw = float(law.quantile(share)[0])
        return Score(draw, draw)

    found = contest(entrants, score)
    ordered = sorted(capped, key=lambda entrant: entrant.place)
    outcome = replace(found, capped=tuple(entrant.arm for entrant in ordered))
    if chance is None:
        return replace(outcome, propensity=None)
    surest = max(entrant.lower for entrant in entrants)
    able = sorted((e for e in entrants if e.upper >= surest), key=lambda e: e.place)
    laws = {entrant.arm: law_of(entrant) for entrant in able}
    return replace(outcome, propensity=min(chance(laws, outcome.arm), 1.0))
