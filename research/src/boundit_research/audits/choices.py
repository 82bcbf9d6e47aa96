"""Is a promised regret ever exceeded? Choices on models whose truth is known.

On exact distributions of random problems every rule chooses in every context, and no true regret
may exceed the promised one, nor may a lottery earn less than it is said to earn at least. On
finite logs all regrets of a table may be exceeded together as often as the choice's confidence
says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from numpy.random import Generator

from boundit.core.rounding import ROUNDING
from boundit.decisions.choose import choose
from boundit.decisions.means import MeansContradict
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice, ContextChoice
from boundit_research.audits.coverage_problems import draw_coverage_problems
from boundit_research.audits.problems import REFUTED, Problem, bound_problem, draw_problems
from boundit_research.audits.report import Claims, Report, judge_each

CONFIDENCE: Final = 0.8
"""Of bounds by finite logs: low, so that promises which are exceeded too often are seen."""
WAYS: Final[Mapping[str, Mapping[str, object]]] = {
    "minimax regret, randomized": {"randomize": True},
    "minimax regret": {},
    "maximin": {"rule": "maximin"},
    "optimism 0.3": {"rule": "optimism", "optimism": 0.3},
}


@dataclass
class ChoiceReport(Report):
    """What an audit of choices found.

    ``contexts`` are contexts of exact distributions, ``choices`` as many times the ways to choose;
    ``settled`` have an arm that is best whatever is true, and ``sharpened`` a promise that
    rests on differences of arms. ``regret`` and ``promised`` are sums over the lotteries of
    least regret, ``single`` the promises of their best single arms.
    """

    contexts: int = 0
    choices: int = 0
    settled: int = 0
    sharpened: int = 0
    regret: float = 0.0
    promised: float = 0.0
    single: float = 0.0
    drawn: Claims = field(default_factory=Claims)
    misses: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no promise of an exact distribution is exceeded, and not too many of logs."""
        return not self.misses and bool(self.drawn)

    def __str__(self) -> str:
        """Say how many promises are broken, and what choices regret."""
        n = max(self.contexts, 1)
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}",
                f"{self.contexts:,} contexts on exact distributions: {self.settled:,} settled, "
                f"{self.sharpened:,} sharper by differences of arms",
                f"{self.choices:,} choices, {len(self.misses)} promises broken; mean regret "
                f"{self.regret / n:.4f}, promised {self.promised / n:.4f}, by one arm "
                f"{self.single / n:.4f}",
                f"drawn logs at confidence {CONFIDENCE:g} that break a promise: {self.drawn}",
                *(f"missed: {miss}" for miss in self.misses[:10]),
            ]
        )


def audit_choices(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> ChoiceReport:
    """Choose on random models, by exact distributions and drawn logs, and count broken promises.

    >>> report = audit_choices(5)
    >>> report.models, report.misses
    (5, [])
    """
    report = ChoiceReport(seed)

    def judge(one: tuple[Problem, tuple[Problem, Generator]]) -> None:
        problem, (sampled, rng) = one
        for rate_known in (False, True):
            _judge_exact(problem, report, rate_known=rate_known)
        _judge_drawn(sampled, rng, report)

    drawn = draw_coverage_problems(seed, models)
    judge_each(report, zip(draw_problems(seed, models), drawn, strict=True), judge, progress)
    return report


def _judge_exact(problem: Problem, report: ChoiceReport, *, rate_known: bool) -> None:
    """Choose by bounds of an exact distribution, in every way, and check each promise.

    Where no arm changes the outcome there is nothing to choose, and nothing is counted.
    """
    query = problem.query
    if problem.outcome not in problem.model.graph.descendants(query.treatments):
        return
    table = bound_problem(problem, "sound", rate_known=rate_known)
    truth = problem.find_truth()
    report.contexts += len(table.contexts)
    for way, options in WAYS.items():
        choice = choose(table, **options)  # type: ignore[arg-type]
        report.choices += len(choice)
        report.misses += [
            f"{way}, {query} on {problem.model.graph}: {broken}"
            for broken in list_broken(choice, table, truth)
        ]
        if not options:
            for found in choice.values():
                report.regret += find_regret(found, truth, table)[0]
                report.promised += found.max_regret
                report.single += found.single_regret
                report.settled += found.against is None
                report.sharpened += found.by_differences


def list_broken(choice: Choice, table: BoundTable, truth: Mapping[Key, float]) -> Iterator[str]:
    """List the contexts whose regret is more, or whose worth is less, than promised."""
    for found in choice.values():
        regret, earned = find_regret(found, truth, table)
        if regret > found.max_regret + ROUNDING or earned < found.floor - ROUNDING:
            yield (
                f"the choice in {found.context} regrets {regret:.6g} of {found.max_regret:.6g} and "
                f"earns {earned:.6g}"
            )


def find_regret(
    found: ContextChoice, truth: Mapping[Key, float], table: BoundTable
) -> tuple[float, float]:
    """Find what a lottery truly regrets and earns on average in its context."""
    where = found.context
    earned = sum(chance * truth[arm, where] for arm, chance in found.probabilities.items())
    return max(truth[arm, where] for arm in table.arms) - earned, earned


def _judge_drawn(problem: Problem, rng: Generator, report: ChoiceReport) -> None:
    """Choose by bounds of a drawn log, and count whether some regret exceeds its promise."""
    truth = problem.find_truth()
    try:
        table = problem.bound_counts(problem.draw_counts(rng), confidence=CONFIDENCE)
        choices = [choose(table, randomize=True), choose(table)]
    except (*REFUTED, MeansContradict):
        report.drawn.count(CONFIDENCE, failed=True)
        return
    failed = any(any(list_broken(choice, table, truth)) for choice in choices)
    report.drawn.count(choices[0].confidence, failed=failed)
