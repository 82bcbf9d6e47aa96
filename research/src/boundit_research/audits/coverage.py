"""How often whole tables hold with finite logs, and what that costs in width.

Problems are random models whose truth and identified sets are known. A log *holds* when every
interval of its table holds the truth, and holds *the set* when every interval holds both ends
that the exact law would give. Tables are counted by the kinds of rules that give their ends on
the exact law, which no log can choose, by what was known, and by how many rows were drawn. Of
differences of two arms one is chosen blindly, since each holds by itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.random import Generator
from scipy.special import bdtr

from boundit.bounds.intersect import EndsCross, NoModelFits
from boundit.bounds.selection_facts import FactsRefuted
from boundit.counts.named_array import Floats
from boundit.terms.bound_table import BoundTable
from boundit.terms.explanation import RANGE
from boundit.terms.rounding import ROUNDING
from boundit.terms.sampling import Inference
from boundit_research.audits.coverage_problems import (
    BINARY,
    CoverageProblem,
    draw_coverage_problems,
    read_place,
)

FALSE_ALARM = 0.05
"""The chance that an audit of valid methods blames one, shared by all its counts."""
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
    def share(self) -> float:
        """The share of tables that hold the truth."""
        return self.held / self.logs if self.logs else 0.0

    @property
    def share_set(self) -> float:
        """The share of tables that hold the identified sets."""
        return self.held_set / self.logs if self.logs else 0.0

    @property
    def chance(self) -> float:
        """The chance of no more tables that hold the sets if just enough did (binomial)."""
        return float(bdtr(self.held_set, self.logs, self.floor)) if self.logs else 1.0


@dataclass(frozen=True, slots=True)
class CoverageMiss:
    """A table that leaves a truth or an end of a set out, and the problem's number."""

    problem: int
    inference: str
    graph: str
    query: str
    rows: int
    what: str


@dataclass
class CoverageReport:
    """What an audit of coverage found, and the seed that repeats it."""

    seed: int
    confidence: float
    problems: int = 0
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


def measure_coverage(
    problems: int,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[int], None] = lambda _: None,
) -> CoverageReport:
    """Count how often tables of confident bounds hold the truth and the identified sets.

    Draws ``problems`` random problems with a log each, and bounds the log by both methods.
    ``progress`` is called with how many problems are done. A Ctrl-C ends the audit with what is
    done.

    >>> report = measure_coverage(3)
    >>> report.problems, [c.held == c.logs for k, c in report.counts.items() if k[0] == "all"]
    (3, [True, True])
    """
    report = CoverageReport(seed, confidence)
    try:
        for problem, rng in draw_coverage_problems(seed, problems):
            _judge_problem(problem, rng, report)
            report.problems += 1
            progress(report.problems)
    except KeyboardInterrupt:
        if not report.problems:
            raise
    return report


def _judge_problem(problem: CoverageProblem, rng: Generator, report: CoverageReport) -> None:
    """Draw the log of one problem, bound it by both methods, and count what holds."""
    exact, truth = problem.bound_law(), problem.find_truth()
    counts, chosen = problem.draw_counts(rng), rng.random()
    kinds = list(_list_kinds(problem, exact))
    for inference in get_args(Inference):
        try:
            table = problem.bound_counts(
                counts, confidence=report.confidence, inference=inference
            )
        except (EndsCross, NoModelFits, FactsRefuted) as refuted:
            judged, fits = _Judged(str(refuted), str(refuted)), None
        else:
            judged, fits = _judge_table(table, exact, truth), _judge_lead(table, truth, chosen)
        for kind in kinds:
            _count_table(report.find_count(kind, inference), judged)
        if fits is not None:
            lead = report.find_count(DIFFERENCES, inference)
            lead.logs, lead.held, lead.held_set = (
                lead.logs + 1,
                lead.held + fits,
                lead.held_set + fits,
            )
        if judged.missed_set:
            report.misses.append(
                CoverageMiss(
                    report.problems,
                    inference,
                    str(problem.model.graph),
                    str(problem.query),
                    problem.sizes[0],
                    judged.missed or judged.missed_set,
                )
            )


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a table leaves out of the truth and of the sets, in words, and mean widths."""

    missed: str
    missed_set: str
    width: float = 0.0
    set_width: float = 0.0


def _count_table(count: Coverage, judged: _Judged) -> None:
    """Add one table to a count."""
    count.logs += 1
    count.held += not judged.missed
    count.held_set += not judged.missed_set
    count.width += judged.width
    count.set_width += judged.set_width


def _judge_table(table: BoundTable, exact: BoundTable, truth: Floats) -> _Judged:
    """Hold every interval of a table against the truth and against the set of the exact law."""
    missed, missed_set = list[str](), list[str]()
    for key, bound in table.bounds.items():
        value, of = float(truth[read_place(key)]), exact.bounds[key]
        if not bound.lower - ROUNDING <= value <= bound.upper + ROUNDING:
            missed.append(f"{key}: {value:.6g} outside {bound.interval}")
        if bound.lower > of.lower + ROUNDING or of.upper > bound.upper + ROUNDING:
            missed_set.append(f"{key}: {of.interval} not within {bound.interval}")
    width, set_width = (
        float(np.mean([bound.upper - bound.lower for bound in one.bounds.values()]))
        for one in (table, exact)
    )
    return _Judged("; ".join(missed), "; ".join(missed_set), width, set_width)


def _judge_lead(table: BoundTable, truth: Floats, chosen: float) -> bool | None:
    """Tell whether one difference of two arms, chosen blindly, is at most what the table says.

    None where the table compares no arms.
    """
    arms, contexts = table.arms, table.contexts
    pairs = [(one, other, where) for where in contexts for one in arms for other in arms]
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    if not pairs:
        return None
    one, other, where = pairs[int(chosen * len(pairs))]
    lead = truth[read_place((one, where))] - truth[read_place((other, where))]
    return bool(lead <= table.contrast(one, other, where) + ROUNDING)


def _list_kinds(problem: CoverageProblem, exact: BoundTable) -> Iterator[str]:
    """List as what a problem counts: the rules of its ends on the exact law, and what it has."""
    yield EVERYTHING
    bounds = exact.bounds.values()
    rules = {name for bound in bounds for name in (bound.lower_rule, bound.upper_rule)}
    claims = {name: str(exact.rules[name].claim) for name in rules if name != RANGE}
    yield from sorted({_classify_rule(name, claim) for name, claim in claims.items()})
    if problem.tables:
        yield "with an external table"
    for fact in problem.facts:
        yield f"with {fact.replace('_', ' ')}"
    if problem.pay != BINARY:
        yield "with a numeric reward"
    for least, most in ROWS:
        if least <= problem.sizes[0] < most:
            yield f"rows from {least:,}"


def _classify_rule(name: str, claim: str) -> str:
    """Name the kind of a rule by its name and whether its formula is or has a ratio.

    >>> _classify_rule("recovery through W, then program over X, Y", "...")
    'nested: program'
    >>> _classify_rule("exact recovery", "P(Y | do(X)) is [P(X, Y)] / [P(X)]")
    'exact recovery, a ratio'
    """
    *outer, last = name.split(", then ")
    kinds = ("exact recovery", "natural bounds", "c-component factorization")
    kind = next((kind for kind in kinds if last.startswith(kind)), last.split()[0])
    if kind in ("exact recovery", "recovery") and " / " in claim:
        kind += ", a ratio"
    if kind == "natural bounds" and "reweighted" in last:
        kind += ", reweighted"
    return f"nested: {kind}" if outer else kind
