"""Is "surely better" ever wrong? Policies compared on models whose truth is known.

On exact laws of random problems two random policies are compared: arms, lotteries of each
context, or what the log did; contexts come by random shares, by those of the population, or as
they will. What the bounds choose is compared with every arm, since that is told most often. A
miss is a true difference outside the interval. On finite logs intervals may miss
as often as their confidence says: of trials where arms were drawn by the context alone, with
samples of contexts and propensities, and of selected logs, against what the log did. On trials
the values of policies are estimated from propensities too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.bounds.derive import derive_bounds
from boundit.bounds.request import read_request
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import NamedArray
from boundit.decisions.choose import choose
from boundit.decisions.compare import Comparison, ComparisonVerdict, compare, compare_by
from boundit.decisions.evaluation import evaluate_policy
from boundit.decisions.policies import LOGGED, Logged
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.text import parse
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import Problem, bound_problem, draw_problem, find_means
from boundit_research.audits.report import Claims, Report, judge_each
from boundit_research.expected_log import open_expected_log

PAIRS = 4
"""How many pairs of random policies are compared on one problem."""
CONFIDENCE = 0.9
"""Of bounds by finite logs: low, so that intervals which miss too often are seen."""
BESIDE = 0.02
"""The chance of missing that a comparison may add to the bounds' own."""
_TRIAL = "C -> X; C -> Y; X -> Y"
_SELECTED = "C -> Z; Z -> X; C -> Y; Z -> Y; X -> Y; Z -> [S]"
SIZES = (100, 400, 1_600, 6_400)
"""How many rows drawn logs have, before selection and but for a factor."""
_Lottery: TypeAlias = dict[Context, dict[Arm, float]]
_Side: TypeAlias = _Lottery | Logged


@dataclass(frozen=True, slots=True)
class ComparisonMiss:
    """A true difference outside the interval of a comparison."""

    graph: str
    query: str
    what: str
    log: str


@dataclass
class ComparisonReport(Report):
    """What an audit of comparisons found.

    ``verdicts`` counts those on exact distributions; ``wrong`` those of them that the truth
    contradicts, and ``outside`` all intervals there that miss. ``drawn`` are comparisons on
    finite logs, ``drawn_wrong`` those with a wrong verdict, and ``estimates`` those of values.
    """

    comparisons: int = 0
    verdicts: dict[ComparisonVerdict, int] = field(default_factory=dict)
    wrong: int = 0
    outside: int = 0
    width: float = 0.0
    subtracted_width: float = 0.0
    drawn: Claims = field(default_factory=Claims)
    drawn_told: int = 0
    drawn_wrong: int = 0
    estimates: Claims = field(default_factory=Claims)
    misses: list[ComparisonMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no interval of an exact distribution misses, and not too many of logs."""
        return not self.outside and bool(self.drawn) and bool(self.estimates)

    def __str__(self) -> str:
        """Say what was told, what was wrong, and how wide intervals are."""
        found = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(self.verdicts.items()))
        n = max(self.comparisons, 1)
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}",
                f"{self.comparisons:,} comparisons on exact distributions: {found}",
                f"{self.outside} intervals miss, {self.wrong} verdicts are wrong; mean width "
                f"{self.width / n:.3f}, {self.subtracted_width / n:.3f} where intervals are "
                "subtracted",
                f"drawn logs at confidence {CONFIDENCE - BESIDE:g}: {self.drawn_told:,} verdicts, "
                f"{self.drawn_wrong} wrong; intervals that miss: {self.drawn}",
                f"estimates from propensities at {CONFIDENCE:g} that miss: {self.estimates}",
                *(
                    f"missed: {miss.query} on {miss.graph}, {miss.log}; {miss.what}"
                    for miss in self.misses[:10]
                ),
            ]
        )


def audit_comparisons(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> ComparisonReport:
    """Compare random policies on ``models`` random models and count what leaves the truth out.

    >>> report = audit_comparisons(5)
    >>> report.models, report.outside, report.wrong
    (5, 0, 0)
    """
    report = ComparisonReport(seed)

    def judge(stream: SeedSequence) -> None:
        rng = default_rng(stream)
        _judge_exact(draw_problem(rng), rng, report)
        _judge_trial(rng, report)
        _judge_selected(rng, report)

    judge_each(report, SeedSequence(seed).spawn(models), judge, progress)
    return report


@dataclass(frozen=True, eq=False)
class _Truth:
    """What is true of a problem: means of arms, of the log, and shares of contexts."""

    means: Mapping[Key, float]
    logged: Mapping[Context, float]
    shares: Mapping[Context, float]

    @classmethod
    def of(cls, model: SCM, table: BoundTable) -> "_Truth":
        """Ask a model for all that a comparison may need."""
        outcome = table.outcome
        means = find_means(model, EffectQuery((outcome,), table.treatments, table.context))
        law = model.distribution((*table.context, outcome))
        shares = _list_cells(law.marginalize(table.context), table.context)
        paid = _list_cells(law.at({outcome: 1}), table.context)
        logged = {where: paid[where] / share for where, share in shares.items() if share}
        return cls(means, logged, shares)

    def find_value(self, side: _Side, where: Context) -> float:
        """Find what a side earns in a context."""
        if isinstance(side, Logged):
            return self.logged.get(where, 0.0)
        return sum(chance * self.means[arm, where] for arm, chance in side[where].items())

    def find_difference(self, new: _Side, old: _Side, shares: Mapping[Context, float]) -> float:
        """Find how much more one side earns than another."""
        return sum(
            share * (self.find_value(new, where) - self.find_value(old, where))
            for where, share in shares.items()
        )


def _judge_exact(problem: Problem, rng: Generator, report: ComparisonReport) -> None:
    """Compare random policies by bounds of an exact law."""
    model, rate_known = problem.model, bool(rng.random() < 0.5)
    table = bound_problem(problem, "sound", rate_known=rate_known)
    truth = _Truth.of(model, table)
    selected = model.graph.selection is not None
    rate = model.selection_rate() if selected and rate_known else None
    external = [problem.open(model.distribution(names), exact=True) for names in problem.tables]
    request = read_request(
        model.graph,
        problem.query,
        open_expected_log(model),
        confidence=None,
        external=external,
        selection_rate=rate,
    )
    for new, old in _list_pairs(table, rng):
        shares, contexts = _draw_shares(truth, table, rng)
        found = compare_by(table, new, old, shares=contexts, log=request.log, request=request)
        value = truth.find_difference(new, old, shares)
        report.comparisons += 1
        report.verdicts[found.verdict] = report.verdicts.get(found.verdict, 0) + 1
        report.width += found.interval.width
        if not isinstance(old, Logged):
            plain = compare(table.intervals_only(), new, old, shares=contexts)
            report.subtracted_width += plain.interval.width
        else:
            report.subtracted_width += found.interval.width
        report.wrong += _is_wrong(found, value)
        if _misses(found, value):
            report.outside += 1
            _note_miss(report, model.graph, problem.query, found, value, "an exact law")


def _list_pairs(table: BoundTable, rng: Generator) -> Iterator[tuple[_Lottery, _Side]]:
    """Yield the policies that are compared: random ones, and the choice with every arm."""
    for _ in range(PAIRS):
        yield _draw_lottery(table, rng), _draw_side(table, rng)
    choice = _read_choice(table)
    for arm in table.arms:
        yield choice, {where: {arm: 1.0} for where in table.contexts}


def _read_choice(table: BoundTable) -> _Lottery:
    """Read the lotteries that the bounds choose."""
    return {
        where: dict(found.probabilities)
        for where, found in choose(table, randomize=True).items()
    }


def _draw_side(table: BoundTable, rng: Generator) -> _Side:
    """Draw a policy, one in four times what the log did."""
    return LOGGED if rng.random() < 0.25 else _draw_lottery(table, rng)


def _draw_lottery(table: BoundTable, rng: Generator) -> _Lottery:
    """Draw an arm for every context, or chances of all arms."""
    n = len(table.arms)
    found = _Lottery()
    for where in table.contexts:
        if rng.random() < 0.5:
            found[where] = {table.arms[rng.integers(n)]: 1.0}
        else:
            chances = rng.dirichlet(np.ones(n))
            found[where] = dict(zip(table.arms, chances.tolist(), strict=True))
    return found


def _draw_arm(table: BoundTable, rng: Generator) -> _Lottery:
    """Draw one arm for all contexts, without a look at the log."""
    arm = table.arms[rng.integers(len(table.arms))]
    return {where: {arm: 1.0} for where in table.contexts}


def _draw_shares(
    truth: _Truth, table: BoundTable, rng: Generator
) -> tuple[Mapping[Context, float], object]:
    """Draw how often contexts come, and what a comparison is told of it.

    Shares of everyone where ``truth`` says so, random ones, or "any".
    """
    drawn = dict(zip(table.contexts, rng.dirichlet(np.ones(len(table.contexts))), strict=True))
    kind = rng.integers(3) if table.context else 2
    if kind == 0:
        return truth.shares, dict(truth.shares)
    return (drawn, dict(drawn)) if kind == 1 else (drawn, "any")


def _judge_trial(rng: Generator, report: ComparisonReport) -> None:
    """Compare policies by a finite log of a trial, from bounds, samples and propensities.

    The trial draws arms by the context; its propensities are known.
    """
    graph = parse(_TRIAL)
    model = draw_model(graph, rng, levels=(2, 3), floor=0.05, binary=("Y",))
    rows = model.sample_log(int(rng.choice(SIZES)), rng)
    chances = model.distribution(("C", "X")).align(("C", "X"))
    chances = chances / chances.sum(axis=1, keepdims=True)
    columns = {name: column.tolist() for name, column in rows.items()}
    columns["p"] = chances[rows["C"], rows["X"]].tolist()
    log = read_log(columns)
    table = _bound_log(model, log)
    truth = _Truth.of(model, table)
    new = _read_choice(table) if rng.random() < 0.5 else _draw_lottery(table, rng)
    old: _Side = LOGGED if rng.random() < 0.3 else _draw_arm(table, rng)
    weighed = "p" if rng.random() < 0.5 else None
    found = compare(table, new, old, shares="log", log=log, graph=graph, propensity=weighed)
    _count_drawn(report, graph, found, truth.find_difference(new, old, truth.shares), log)
    estimate = evaluate_policy(
        "Y | do(X), C",
        log,
        new,
        propensity="p",
        confidence=CONFIDENCE,
        estimator="dr" if rng.random() < 0.5 else "ips",
        min_propensity=float(chances.min()),
    )
    value = sum(share * truth.find_value(new, c) for c, share in truth.shares.items())
    report.estimates.count(CONFIDENCE, failed=value not in estimate.interval)


def _judge_selected(rng: Generator, report: ComparisonReport) -> None:
    """Compare a policy with what a finite selected log did, the rate of selection known."""
    graph = parse(_SELECTED)
    model = draw_model(graph, rng, levels=(2, 3), floor=0.05, binary=("Y",))
    rows = model.sample_log(2 * int(rng.choice(SIZES)), rng)
    log = read_log({name: column.tolist() for name, column in rows.items()})
    rate = model.selection_rate()
    table = _bound_log(model, log, selection_rate=rate)
    truth = _Truth.of(model, table)
    new = _read_choice(table) if rng.random() < 0.5 else _draw_lottery(table, rng)
    request = read_request(graph, "Y | do(X), C", log, selection_rate=rate)
    shares = dict(truth.shares)
    found = compare_by(table, new, LOGGED, shares=shares, log=log, request=request)
    _count_drawn(report, graph, found, truth.find_difference(new, LOGGED, truth.shares), log)


def _bound_log(model: SCM, log: Log, *, selection_rate: float | None = None) -> BoundTable:
    """Bound all arms of a model from a drawn log, its unseen levels declared."""
    names = model.graph.observed - {"Y"}
    return derive_bounds(
        model.graph,
        "Y | do(X), C",
        log,
        confidence=CONFIDENCE,
        domain={name: list(range(model.n_levels[name])) for name in names},
        selection_rate=selection_rate,
    )


def _count_drawn(
    report: ComparisonReport, graph: CausalGraph, found: Comparison, value: float, log: Log
) -> None:
    """Count a comparison on a drawn log, and whether it misses the truth."""
    misses = _misses(found, value)
    report.drawn.count(CONFIDENCE - BESIDE, failed=misses)
    report.drawn_told += found.verdict != "inconclusive"
    report.drawn_wrong += _is_wrong(found, value)
    if misses:
        _note_miss(report, graph, "Y | do(X), C", found, value, str(log))


def _misses(found: Comparison, value: float) -> bool:
    """Tell whether a true difference lies outside."""
    low, high = found.interval.lower, found.interval.upper
    return not bool(low - ROUNDING <= value <= high + ROUNDING)


def _is_wrong(found: Comparison, value: float) -> bool:
    """Tell whether a verdict is contradicted by the truth."""
    if found.verdict == "inconclusive":
        return False
    signed = value if found.verdict == "better" else -value
    return bool(signed < -ROUNDING)


def _note_miss(
    report: ComparisonReport,
    graph: CausalGraph,
    query: object,
    found: Comparison,
    value: float,
    log: str,
) -> None:
    """Note where a true difference lies outside its interval."""
    what = f"{found.policy} against {found.baseline}: {value:.6g} outside {found.interval}"
    report.misses.append(ComparisonMiss(str(graph), str(query), what, log))


def _list_cells(law: NamedArray, names: tuple[str, ...]) -> dict[Context, float]:
    """List a law's chances by the levels of some variables."""
    return {tuple(at): float(value) for at, value in np.ndenumerate(law.align(names))}
