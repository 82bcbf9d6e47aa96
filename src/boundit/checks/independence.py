"""The test of one independence, calibrated for the counts at hand.

Two questions are put to the groups: is there any association, and is there a steady one
(``association.py``). With two answers the smaller p-value counts double. Where every expected
count is large, chi-square says what chance does; where one is small, shuffles do; where one is
small and there are too many cells to shuffle, rare levels are joined first, and groups that
stay thin count in the second question only.
"""

from dataclasses import dataclass
from math import ceil, inf, log10
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.special import chdtrc

from boundit.checks.association import (
    PooledGroups,
    Statistic,
    compute_phi_squared,
    measure_any_association,
    pool_groups,
)
from boundit.checks.joining import join_rare_levels
from boundit.checks.power import find_weakest_detectable
from boundit.checks.shuffles import WORK, count_cells, find_chances
from boundit.checks.strata import Strata
from boundit.terms.long_work import FOR_EVER, TimeBudget

PLENTY = 20.0
"""Where every expected count is as large, the tail of chi-square is trusted."""
MANY = 100
"""Of more statements than these p-values must be so small that larger counts are needed."""
ENOUGH_OF_MANY = 5.0
"""What is plenty for one of a great many cells, whose errors average out."""
ALL_WORK = 10**9
"""So many for all statements together: a minute or two."""
MOST_DRAWS = 10**5
"""The most shuffles for one statement."""
_RESOLUTION = 4  # how many times smaller than needed a p-value of shuffles can be
_AVERAGED = 50  # errors of a cell weigh less from so many cells on
MOST_ROWS = 10**9
"""NumPy draws shuffles of smaller groups than this."""
EXACT = 1e-6
"""An exact law that is independent up to rounding has a Cramér's V below this."""


Pattern: TypeAlias = Literal["any", "steady", "exact"]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is asked of one test, since all tests of a report must hold at once.

    At most ``draws`` shuffles of ``work`` cells are drawn; with none, chi-square must do. It is
    trusted where expected counts reach ``plenty``.
    """

    draws: int
    plenty: float
    work: int

    @classmethod
    def for_statements(cls, n: int, level: float) -> Self:
        """Choose how ``n`` statements are tested so that one of them can be contradicted.

        A p-value by shuffles is never below one over their number, which must be small enough
        after correction for all statements. Where that takes more shuffles than anyone has time
        for, none is drawn. Then p-values come from the far tail of chi-square, which asks for
        larger counts: with the counts chosen here, a cell that varies like Poisson's law
        exceeds the tail's chance by less than a factor of two. Called by ``check``.

        >>> Calibration.for_statements(8, 0.05)
        Calibration(draws=639, plenty=20.0, work=20000000)
        >>> Calibration.for_statements(10_000, 0.05)
        Calibration(draws=0, plenty=180.0, work=100000)
        """
        draws = ceil(_RESOLUTION * max(1, n) / level) - 1
        beyond = max(0.0, log10(max(1, n) / MANY))
        return cls(
            draws if draws <= MOST_DRAWS else 0,
            PLENTY * (1 + beyond) ** 2,
            min(WORK, ALL_WORK // max(1, n)),
        )

    def find_least(self, n_cells: int) -> float:
        """Find how large expected counts must be if ``n_cells`` of them are added up.

        Called by ``_answer_by_formula``.
        """
        averaged = self.plenty * _AVERAGED / max(1, n_cells)
        return min(self.plenty, max(ENOUGH_OF_MANY, averaged))


@dataclass(frozen=True, slots=True)
class Answer:
    """One question put to the groups, and its answer; ``draws`` is 0 without shuffles."""

    pattern: Pattern
    statistic: Statistic
    p: float
    draws: int = 0


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The answers to one statement, the deciding one first; ``rows`` had a say in it."""

    answers: tuple[Answer, ...]
    rows: float
    groups: int

    @property
    def decisive_answer(self) -> Answer:
        """The answer with the smallest p-value: to "any association?" or to "a steady one?".

        Read by ``TestOutcome.p``, and by ``Finding.row`` and ``Finding.numbers`` for the
        report.
        """
        return self.answers[0]

    @property
    def p(self) -> float:
        """The p-value of the independence: the smallest, times the number of questions asked.

        Read by ``_correct_findings``, which corrects it for the number of statements.
        """
        return min(1.0, len(self.answers) * self.decisive_answer.p)

    def find_detectable(self, level: float, *, any_pattern: bool = False) -> float:
        """Find the weakest association (Cramér's V) that 8 logs of 10 would show; inf if none.

        ``level`` is the false alarm rate of the test. An association that is alike in every
        group is seen by either question, one of ``any_pattern`` only by the first. Called by
        ``_correct_findings`` for each finding.
        """
        if self.decisive_answer.pattern == "exact":
            return 0.0
        asked = [a for a in self.answers if a.pattern == "any" or not any_pattern]
        each = level / len(self.answers)
        return min((find_weakest_detectable(a.statistic, each) for a in asked), default=inf)


def judge_independence(
    strata: Strata, calibration: Calibration, rng: Generator, time: TimeBudget = FOR_EVER
) -> TestOutcome | None:
    """Test whether two variables are independent in all groups; None when no group can tell.

    Chi-square or shuffles, by how large the counts are and how small a p-value must be. None
    also when the time is over before shuffles are. Called by ``_TestRunner.run`` for a log of
    rows.
    """
    if not len(strata):
        return None
    total = PooledGroups(strata)
    answers = (
        _answer_by_shuffles(total, calibration, rng, time)
        if _needs_shuffles(total, calibration)
        else _answer_by_formula(total, calibration)
    )
    if not answers:
        return None
    by_p = sorted(answers, key=lambda a: (a.p, -a.statistic.value / a.statistic.df))
    return TestOutcome(tuple(by_p), strata.rows, len(strata))


def _needs_shuffles(total: PooledGroups, calibration: Calibration) -> bool:
    """Tell whether counts are too small for chi-square, and few enough cells to be shuffled.

    Called by ``judge_independence``.
    """
    strata = total.strata
    if not calibration.draws or (strata.least_expected >= calibration.plenty).all():
        return False
    cost = count_cells(total) * calibration.draws
    return cost <= calibration.work and bool(strata.totals.max() < MOST_ROWS)


def judge_exact_law(strata: Strata) -> TestOutcome | None:
    """Judge independence in an exact law, where p is 1 or 0: there is no chance in it.

    None when no group can tell. Called by ``_TestRunner.run`` for a table of probabilities
    instead of counted rows.
    """
    if not len(strata):
        return None
    ones, others = strata.sizes
    away = float(strata.totals @ compute_phi_squared(strata))
    weight = float(strata.totals @ (np.minimum(ones, others) - 1))
    measure = Statistic(max(away, 0.0), 0, weight)
    found = Answer("exact", measure, 0.0 if measure.find_strength() > EXACT else 1.0)
    return TestOutcome((found,), strata.rows, len(strata))


def _answer_by_shuffles(
    total: PooledGroups, calibration: Calibration, rng: Generator, time: TimeBudget
) -> list[Answer]:
    """Test for any and for steady association with p-values from shuffles of the log.

    A steady association is alike in all groups. No answers when the time is over. Called by
    ``judge_independence`` where some expected counts are small.
    """
    statistics = [measure_any_association(total.strata)]
    if len(total.strata) > 1:
        statistics.append(total.make_statistic())
    patterns: tuple[Pattern, ...] = ("any", "steady")
    chances = find_chances(total, calibration.draws, rng, work=calibration.work, time=time)
    found = zip(patterns, statistics, chances, strict=False)
    return [Answer(pattern, stat, chance.p, chance.draws) for pattern, stat, chance in found]


def _answer_by_formula(total: PooledGroups, calibration: Calibration) -> list[Answer]:
    """Test for any and for steady association with p-values from chi-square.

    A steady association is alike in all groups. Called by ``judge_independence`` where expected
    counts are large, or cells too many to shuffle.
    """
    answers, strata = [], total.strata
    least = calibration.find_least(count_cells(total))
    if len(full := join_rare_levels(strata, least)):
        answers.append(_answer_by_chi_square("any", measure_any_association(full)))
    if len(strata) > 1 and (common := pool_groups(strata, calibration.plenty)):
        answers.append(_answer_by_chi_square("steady", common.make_statistic()))
    return answers


def _answer_by_chi_square(pattern: Pattern, statistic: Statistic) -> Answer:
    """Turn one statistic into an answer, its p-value from the tail of chi-square.

    Called by ``_answer_by_formula`` for each pattern of association.
    """
    return Answer(pattern, statistic, float(chdtrc(statistic.df, statistic.value)))


def correct_by_holm(p_values: list[float]) -> list[float]:
    """Correct p-values for their number, so that all of them hold at once (Holm).

    Called by ``_correct_findings`` for the p-values of all statements.

    >>> correct_by_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, floor, left = [0.0] * len(p_values), 0.0, len(p_values)
    for place in sorted(range(left), key=p_values.__getitem__):
        floor = max(floor, min(1.0, left * p_values[place]))
        corrected[place] = floor
        left -= 1
    return corrected
