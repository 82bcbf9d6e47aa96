"""Is a promised regret ever exceeded? Choices on models whose truth is known.

On exact laws of random problems every rule chooses in every context, and no true regret may
exceed the promised one, nor may a lottery earn less than it is said to earn at least. On finite
logs all regrets of a table may be exceeded together as often as the choice's confidence says;
tables whose differences of arms hold one at a time are counted apart, since these cost some of
it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from numpy.random import Generator
from scipy.special import bdtrc

from boundit.bounds.intersect import EndsCross, NoModelFits
from boundit.bounds.selection_facts import FactsRefuted
from boundit.decisions.choose.choose import choose
from boundit.decisions.choose.mean_set import MeansContradict
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable
from boundit.terms.choices.choice import Choice, ContextChoice
from boundit.terms.rounding import ROUNDING
from boundit_research.audits.coverage_problems import (
    CoverageProblem,
    draw_coverage_problems,
    read_place,
)
from boundit_research.audits.problems import Problem, bound_problem, draw_problems, read_levels

CONFIDENCE: Final = 0.8
"""Of bounds by finite logs: low, so that promises which are exceeded too often are seen."""
FALSE_ALARM: Final = 0.001
"""The chance that an audit of valid promises blames them."""
AT_ONCE, ONE_AT_A_TIME = "at once", "one at a time"
WAYS: Final[Mapping[str, Mapping[str, object]]] = {
    "minimax regret": {},
    "minimax regret, one arm": {"lottery": False},
    "maximin": {"rule": "maximin"},
    "optimism 0.3": {"rule": "optimism", "optimism": 0.3},
}


@dataclass
class DrawnChoices:
    """Choices from finite logs: tables, those with a broken promise, and the error allowed."""

    tables: int = 0
    missed: int = 0
    error: float = 0.0

    @property
    def chance(self) -> float:
        """The chance of as many misses if regrets were exceeded as often as they may be.

        The binomial law with the mean error has the heavier tail (Hoeffding).
        """
        if not self.missed:
            return 1.0
        return float(bdtrc(self.missed - 1, self.tables, self.error / self.tables))


@dataclass
class ChoiceReport:
    """What an audit of choices found, and the seed that repeats it.

    ``contexts`` are contexts of exact laws, ``choices`` as many times the ways to choose;
    ``settled`` have an arm that is best whatever is true, and ``sharpened`` a promise that
    rests on differences of arms. ``regret`` and ``promised`` are sums over the lotteries of
    least regret, ``single`` the promises of their best single arms.
    """

    seed: int
    models: int = 0
    contexts: int = 0
    choices: int = 0
    settled: int = 0
    sharpened: int = 0
    regret: float = 0.0
    promised: float = 0.0
    single: float = 0.0
    drawn: dict[str, DrawnChoices] = field(
        default_factory=lambda: {AT_ONCE: DrawnChoices(), ONE_AT_A_TIME: DrawnChoices()}
    )
    misses: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no promise of an exact law is exceeded, and not too many of logs."""
        return not self.misses and all(
            count.chance >= FALSE_ALARM for count in self.drawn.values()
        )


def audit_choices(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> ChoiceReport:
    """Choose on ``models`` random models, exact laws and drawn logs, and count broken promises.

    ``progress`` is called with how many models are done. A Ctrl-C ends the audit with what is done.

    >>> report = audit_choices(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = ChoiceReport(seed)
    drawn = draw_coverage_problems(seed, models)
    try:
        for problem, (coverage, rng) in zip(draw_problems(seed, models), drawn, strict=True):
            for rate_known in (False, True):
                _judge_exact(problem, report, rate_known=rate_known)
            _judge_drawn(coverage, rng, report)
            report.models += 1
            progress(report.models)
    except KeyboardInterrupt:
        if not report.models:
            raise
    return report


def _judge_exact(problem: Problem, report: ChoiceReport, *, rate_known: bool) -> None:
    """Choose by bounds of an exact law, in every way, and hold each promise to the truth.

    Where no arm changes the outcome there is nothing to choose, and nothing is counted.
    """
    query = problem.query
    if query.outcomes[0] not in problem.model.graph.descendants(query.treatments):
        return
    table = bound_problem(problem, "sound", rate_known=rate_known)
    truth = problem.model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    ).at({query.outcomes[0]: 1})
    means = {
        key: float(truth.at(read_levels(table, key)))
        for key in product(table.arms, table.contexts)
    }
    report.contexts += len(table.contexts)
    for way, options in WAYS.items():
        choice = choose(table, **options)  # type: ignore[arg-type]
        report.choices += len(choice)
        for found in choice.values():
            regret, earned = find_regret(found, means, table)
            if regret > found.regret + ROUNDING or earned < found.floor - ROUNDING:
                report.misses.append(
                    f"{way}, {query} on {problem.model.graph}, {found.context}: regret "
                    f"{regret:.6g} of {found.regret:.6g}, earns {earned:.6g}"
                )
            if not options:
                report.regret += regret
                report.promised += found.regret
                report.single += found.single_regret
                report.settled += found.against is None
                report.sharpened += found.by_differences


def find_regret(
    found: ContextChoice, means: Mapping[Key, float], table: BoundTable
) -> tuple[float, float]:
    """Find what a lottery truly regrets and earns on average in its context."""
    where = found.context
    earned = sum(chance * means[arm, where] for arm, chance in found.lottery.items())
    return max(means[arm, where] for arm in table.arms) - earned, earned


def _judge_drawn(problem: CoverageProblem, rng: Generator, report: ChoiceReport) -> None:
    """Choose by bounds of a drawn log, and count whether some regret exceeds its promise."""
    counts = problem.draw_counts(rng)
    try:
        table = problem.bound_counts(counts, confidence=CONFIDENCE, inference="exact")
        choices = [choose(table), choose(table, lottery=False)]
    except (EndsCross, NoModelFits, FactsRefuted, MeansContradict):
        count = report.drawn[AT_ONCE]
        count.tables, count.missed = count.tables + 1, count.missed + 1
        count.error += 1 - CONFIDENCE
        return
    truth = problem.find_truth()
    means = {key: float(truth[read_place(key)]) for key in product(table.arms, table.contexts)}
    lowered = choices[0].confidence or CONFIDENCE
    count = report.drawn[ONE_AT_A_TIME if lowered < CONFIDENCE else AT_ONCE]
    count.tables += 1
    count.error += 1 - lowered
    count.missed += any(_exceeds(choice, means, table) for choice in choices)


def _exceeds(choice: Choice, means: Mapping[Key, float], table: BoundTable) -> bool:
    """Tell whether the true regret of some context exceeds what a choice promised."""
    return any(
        find_regret(found, means, table)[0] > found.regret + ROUNDING
        for found in choice.values()
    )
