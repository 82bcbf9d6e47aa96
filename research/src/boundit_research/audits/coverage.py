"""How often whole tables hold with finite logs, and what that costs in width.

Problems are random models whose truth and identified sets are known. A log *holds* when every
interval of its table holds the truth, and holds *the set* when every interval holds both
endpoints that the exact distribution would give. Tables are counted by the kinds of rules that
give their endpoints on the exact distribution, which no log can choose, by what was known, and by
how many rows were drawn. All differences of two arms are one more statement, counted apart.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import permutations
from typing import Any, get_args

import numpy as np
from numpy.random import Generator
from scipy.special import bdtr

from boundit.core.rounding import ROUNDING
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE
from boundit.results.sampling import Inference
from boundit_research.audits.coverage_problems import draw_coverage_problems
from boundit_research.audits.problems import BINARY, REFUTED, Problem, classify_rule
from boundit_research.audits.report import Report, judge_each

FALSE_ALARM = 0.05
"""The probability that an audit of valid methods blames one, shared by all its counts."""
APPROXIMATE_SLACK = 0.02
"""By how much the approximate method may stay below its confidence on logs of any size."""
EVERYTHING = "all"
DIFFERENCES = "differences of arms"
ROWS = ((0, 500), (500, 5_000), (5_000, 10**9))


@dataclass
class Coverage:
    """How tables of one kind did by one method: in how many all bounds held, how wide they are.

    ``width`` and ``set_width`` are sums over tables of the mean width of the intervals, and of
    the identified sets.
    """

    kind: str
    inference: str
    floor: float
    logs: int = 0
    held: int = 0
    held_set: int = 0
    width: float = 0.0
    set_width: float = 0.0

    @property
    def chance(self) -> float:
        """The probability of no more tables that hold the sets if just enough did (binomial)."""
        return float(bdtr(self.held_set, self.logs, self.floor)) if self.logs else 1.0


@dataclass(frozen=True, slots=True)
class CoverageMiss:
    """A table that leaves a truth or an endpoint of a set out, and the problem's number."""

    problem: int
    inference: str
    graph: str
    query: str
    rows: int
    what: str


@dataclass
class CoverageReport(Report):
    """How many tables of each kind held, by method, and which did not."""

    unit = "problems"
    confidence: float = 0.95
    counts: dict[tuple[str, str], Coverage] = field(default_factory=dict)
    misses: list[CoverageMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no count is below its confidence beyond chance."""
        return not self.list_short()

    def list_short(self) -> list[Coverage]:
        """List the counts whose share is too low beyond chance, all counts considered."""
        level = FALSE_ALARM / max(len(self.counts), 1)
        return [count for count in self.counts.values() if count.chance < level]

    def find_count(self, kind: str, inference: Inference) -> Coverage:
        """Find the count of a kind and a method, or begin it."""
        slack = APPROXIMATE_SLACK if inference == "approximate" else 0.0
        fresh = Coverage(kind, inference, self.confidence - slack)
        return self.counts.setdefault((kind, inference), fresh)

    def record(self) -> dict[str, Any]:
        """All that was found, counts as a list."""
        counts = [asdict(one) | {"chance": one.chance} for one in self.counts.values()]
        return asdict(self) | {"counts": counts}

    def __str__(self) -> str:
        """Say how often tables hold by kind and method, and which hold too seldom."""
        lines = [
            f"{self.models:,} random problems with a log each, seed {self.seed}, "
            f"confidence {self.confidence:g}",
            f"{'kind':<34}{'method':<13}{'tables':>7}{'truth':>8}{'set':>8}{'width':>8}"
            f"{'of set':>8}{'probability':>13}",
        ]
        short = self.list_short()
        lines += [
            f"{one.kind:<34}{one.inference:<13}{one.logs:>7,}{one.held / one.logs:>8.3f}"
            f"{one.held_set / one.logs:>8.3f}{one.width / one.logs:>8.3f}"
            f"{one.set_width / one.logs:>8.3f}{one.chance:>13.2g}"
            + ("  too few" if one in short else "")
            for one in sorted(self.counts.values(), key=lambda one: one.kind)
        ]
        lines.append(
            "set: both endpoints of the exact distribution; probability: of no more tables"
        )
        lines += [
            f"missed: problem {miss.problem}, {miss.inference}, {miss.rows:,} rows, "
            f"{miss.query} on {miss.graph}; {miss.what}"
            for miss in self.misses[:10]
        ]
        return "\n".join(lines)


def measure_coverage(
    models: int,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> CoverageReport:
    """Count how often tables of intervals hold the truth and the identified sets.

    Draws ``models`` random problems with a log each, and bounds the log by both methods.

    >>> report = measure_coverage(3)
    >>> report.models, [c.held == c.logs for k, c in report.counts.items() if k[0] == "all"]
    (3, [True, True])
    """
    report = CoverageReport(seed, confidence=confidence)
    drawn = draw_coverage_problems(seed, models)
    judge_each(report, drawn, lambda one: _judge_problem(*one, report), progress)
    return report


def _judge_problem(problem: Problem, rng: Generator, report: CoverageReport) -> None:
    """Draw the log of one problem, bound it by both methods, and count what holds."""
    exact, truth = problem.bound_exactly(), problem.find_truth()
    counts, kinds = problem.draw_counts(rng), list(_list_kinds(problem, exact))
    for inference in get_args(Inference):
        try:
            table = problem.bound_counts(
                counts, confidence=report.confidence, inference=inference
            )
        except REFUTED as refuted:
            missed = missed_set = str(refuted)
            widths = [0.0, 0.0]
        else:
            missed, missed_set = _list_missed(table, exact, truth)
            widths = [
                float(np.mean([interval.width for interval in one.intervals.values()]))
                for one in (table, exact)
            ]
            if len(table.arms) > 1:
                held = _holds_differences(table, truth)
                _count(report.find_count(DIFFERENCES, inference), held, held, [0.0, 0.0])
        for kind in kinds:
            _count(report.find_count(kind, inference), not missed, not missed_set, widths)
        if missed_set:
            report.misses.append(
                CoverageMiss(
                    report.models,
                    inference,
                    str(problem.model.graph),
                    str(problem.query),
                    problem.sizes[0],
                    missed or missed_set,
                )
            )


def _count(count: Coverage, held: bool, held_set: bool, widths: list[float]) -> None:  # noqa: FBT001
    count.logs += 1
    count.held += held
    count.held_set += held_set
    count.width += widths[0]
    count.set_width += widths[1]


def _list_missed(
    table: BoundTable, exact: BoundTable, truth: Mapping[Key, float]
) -> tuple[str, str]:
    """What intervals of a table leave out of the truth, and of the identified sets, in words."""
    missed, missed_set = list[str](), list[str]()
    for key, interval in table.intervals.items():
        value, of = truth[key], exact.intervals[key]
        if not interval.lower - ROUNDING <= value <= interval.upper + ROUNDING:
            missed.append(f"{key}: {value:.6g} outside {interval}")
        if interval.lower > of.lower + ROUNDING or of.upper > interval.upper + ROUNDING:
            missed_set.append(f"{key}: {of} not within {interval}")
    return "; ".join(missed), "; ".join(missed_set)


def _holds_differences(table: BoundTable, truth: Mapping[Key, float]) -> bool:
    """Tell whether no arm leads another by more than the table says it can."""
    return all(
        truth[one, where] - truth[other, where]
        <= table.find_largest_difference(one, other, where) + ROUNDING
        for where in table.contexts
        for one, other in permutations(table.arms, 2)
    )


def _list_kinds(problem: Problem, exact: BoundTable) -> Iterator[str]:
    """List as what a problem counts: the rules of its identified sets, and what it has."""
    yield EVERYTHING
    bounds = exact.bounds.values()
    rules = {name for bound in bounds for name in (bound.lower_rule, bound.upper_rule)}
    claims = {name: str(exact.rules[name].claim) for name in rules - {RANGE}}
    yield from sorted(
        {classify_rule(n) + ", a ratio" * (" / " in claim) for n, claim in claims.items()}
    )
    if problem.tables:
        yield "with an external table"
    for fact in problem.facts:
        yield f"with {fact.replace('_', ' ')}"
    if problem.pay != BINARY:
        yield "with a numeric outcome"
    for least, most in ROWS:
        if least <= problem.sizes[0] < most:
            yield f"rows from {least:,}"
