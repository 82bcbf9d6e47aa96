"""The population in which an end is attained: who there would be more of than the log shows."""

import numpy as np

from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.program import Optimum, SolveStatus
from boundit.bounds.proof import RowKind, WorstPopulation
from boundit.terms.names import sort_names

MOST_KINDS = 8
"""How many kinds of rows are shown, those furthest from the log first."""
_NEAR = 1e-6
LEAST, MOST = ", the least allowed", ", the most allowed"


def find_worst_population(populations: Populations, found: Optimum) -> WorstPopulation | None:
    """Read the population off the answer of a program; None where there is none to show."""
    law = populations.reweighting
    if (
        found.status is not SolveStatus.OPTIMAL
        or not law.reads_steering
        or not found.point[0] > 0
    ):
        return None
    names = sort_names(law.steering)
    low, high = populations.logged_shares
    shares = populations.read_shares(found.point)
    facts = law.facts
    kinds = []
    for place, share, least, most in zip(
        np.ndindex(*(populations.levels[name] for name in names)),
        shares,
        low,
        high,
        strict=True,
    ):
        stopped = ""
        if facts and least > 0 and share <= facts.least_ratio * least + _NEAR:
            stopped = LEAST
        elif facts and share >= facts.find_greatest_share(float(most)) - _NEAR:
            stopped = MOST
        levels = dict(zip(names, place, strict=True))
        kinds.append(RowKind(levels, float(share), float(least + most) / 2, stopped))
    furthest = sorted(kinds, key=_measure_shift, reverse=True)[:MOST_KINDS]
    shown = tuple(kind for kind in kinds if kind in furthest)
    return WorstPopulation(shown, len(kinds) - len(shown))


def _measure_shift(kind: RowKind) -> float:
    return abs(kind.share - kind.logged)
