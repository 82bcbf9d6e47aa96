"""The population in which an end is attained: who there would be more of than the log shows."""

import numpy as np

from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.program import Optimum, SolveStatus
from boundit.bounds.proof import RowKind, WorstPopulation
from boundit.bounds.selection_facts import SelectionFacts
from boundit.terms.names import sort_names

MOST_KINDS = 8
"""How many kinds of rows are shown, those furthest from the log first."""
_NEAR = 1e-6  # a share this near to a limit is said to be at it
LEAST, MOST = ", the least allowed", ", the most allowed"


def find_worst_population(populations: Populations, found: Optimum) -> WorstPopulation | None:
    """Read off a solved program the population that attains an end, as shares of kinds of rows.

    None where the program was not solved or the log's shares were not needed.
    """
    law = populations.reweighting
    solved = found.status is SolveStatus.OPTIMAL and found.point[0] > 0
    if not (solved and law.reads_steering):
        return None
    names = sort_names(law.steering)
    low, high = populations.logged_shares
    shares = populations.read_shares(found.point)
    places = np.ndindex(*(populations.levels[name] for name in names))
    kinds = []
    for place, *numbers in zip(places, shares, low, high, strict=True):
        share, least, most = map(float, numbers)
        stopped = _name_limit(law.facts, share, least, most)
        levels = dict(zip(names, place, strict=True))
        kinds.append(RowKind(levels, share, (least + most) / 2, stopped))
    furthest = sorted(kinds, key=_measure_shift, reverse=True)[:MOST_KINDS]
    shown = tuple(kind for kind in kinds if kind in furthest)
    return WorstPopulation(shown, len(kinds) - len(shown))


def _name_limit(facts: SelectionFacts, share: float, least: float, most: float) -> str:
    """Say whether a fact about selection stops a kind of row from being rarer, or more common.

    What comes out are words for the explanation, empty where nothing stops it. ``share`` is its
    part of the population; its part of the log is between ``least`` and ``most``.
    """
    if facts and least > 0 and share <= facts.least_ratio * least + _NEAR:
        return LEAST
    if facts and share >= facts.find_greatest_share(most) - _NEAR:
        return MOST
    return ""


def _measure_shift(kind: RowKind) -> float:
    """Measure how far the share of a kind of row among everyone is from its share of the log."""
    return abs(kind.share - kind.logged)
