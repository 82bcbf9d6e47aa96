"""Laws of the population that a limit on confounding reads: formulas, or reweighted logs.

Selection may leave no formula for the chance of an arm, or for what those who got it show. With
facts about selection, or unselected tables, each such law still lies between two ends over all
populations that the log leaves possible. The ends of different laws need not belong to one
population, so that what is made of them holds and is not sharp.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.numbers import Numbers
from boundit.bounds.rules.chain import KnownFormula
from boundit.bounds.rules.claims import write_population_law
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.terms.formula import Sentence
from boundit.terms.long_work import TimeBudget

Law: TypeAlias = KnownFormula | ReweightedBlock


def list_formulas(law: Law) -> tuple[Expression, ...]:
    """List the formulas whose numbers a law reads off counts."""
    if isinstance(law, KnownFormula):
        return (law.expression,)
    return law.reweighting.formulas


def write_law(law: Law) -> Sentence:
    """Write a law as a formula, that of a population as ``P*``."""
    if isinstance(law, KnownFormula):
        return make_sentence(law.expression)
    return Sentence.of(write_population_law(law.variables, law.given))


def read_law(
    law: Law, variable: str, order: Sequence[str], numbers: Numbers, budget: TimeBudget
) -> tuple[Floats, Floats]:
    """Read both ends of a variable's law at every level of ``order``; its own axis comes last."""
    if isinstance(law, KnownFormula):
        return numbers.read_ends(law.expression, (*order, variable))
    expectation = Expectation(Populations(law.reweighting, numbers), law, budget)
    size = numbers.levels[variable]
    lows, highs = list[Floats](), list[Floats]()
    for level in np.eye(size):
        is_level = level.reshape([1] * len(order) + [size])
        low, high = expectation.find_ends(is_level, is_level, order)
        lows.append(low)
        highs.append(high)
    return np.stack(lows, axis=-1), np.stack(highs, axis=-1)
