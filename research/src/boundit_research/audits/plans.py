"""Do plans say what is true? Cells, pools, draws and tilts against models that are known.

A plan for ``Fused`` says that rows of the log are draws of a reward's mean in a cell, that
pairs of arm and context share weights in a pool, and that rows are draws of these weights or
show them up to one tilt. Each of these is an identity of laws. The log here has so many rows
that their shares are the law, and the model gives the other side.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from boundit.bounds.count import PlanCounts
from boundit.bounds.plan import BoundPlan
from boundit.bounds.pooling import plan_pooling
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.results.fused_plan import Factor, FusedPlan, NoFusedPlan
from boundit_research.audits.problems import Problem, draw_problems
from boundit_research.audits.report import Report, judge_each

ROWS = 10**15
"""How many rows the logs have: shares differ from the law by less than ``SAME``."""
SAME = 1e-6
"""How far two sides of an identity may be apart."""


@dataclass(frozen=True, slots=True)
class PlanMiss:
    """Something that a plan says and that is not so: what, by how much, and where."""

    what: str
    gap: float
    graph: str
    query: str


@dataclass
class PlanReport(Report):
    """How many problems have a plan, by the worst source of its weights, and what is wrong.

    ``from_rows`` counts plans whose weights all come from rows, ``tilted`` those whose other
    weights are known up to a tilt, ``online`` those with weights that rounds alone teach, and
    ``plain`` plans without any weights. ``compared`` counts the identities that were looked at,
    by kind, and ``worst_gap`` is the largest difference of two sides.
    """

    plans: int = 0
    plain: int = 0
    from_rows: int = 0
    tilted: int = 0
    online: int = 0
    compared: dict[str, int] = field(default_factory=dict)
    worst_gap: float = 0.0
    misses: list[PlanMiss] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when nothing that a plan says is wrong."""
        return not self.misses

    def __str__(self) -> str:
        """Say how many plans there are, of which kind, and what was compared."""
        compared = ", ".join(f"{n:,} {what}" for what, n in self.compared.items())
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}, logs as large as populations",
                f"{self.plans:,} ({self.plans / max(self.models, 1):.1%}) have a plan: "
                f"{self.plain:,} go over no variable, {self.from_rows:,} have all weights from "
                f"rows, {self.tilted:,} up to a tilt, {self.online:,} from rounds",
                f"compared with the models: {compared or 'nothing'}",
                f"{len(self.misses):,} misses, worst difference {self.worst_gap:.1e}",
                *(
                    f"missed: {miss.what} by {miss.gap:.2g}, {miss.query} on {miss.graph}"
                    for miss in self.misses[:10]
                ),
            ]
        )


def audit_plans(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> PlanReport:
    """Plan random problems from logs as large as populations, and compare plans with truth.

    The problems are those of ``boundit_research.audits.soundness``.

    >>> report = audit_plans(20, seed=1)
    >>> report.plans, report.misses
    (8, [])
    """
    report = PlanReport(seed)

    def judge(problem: Problem) -> None:
        judge_plan(problem, plan_problem(problem), report)

    judge_each(report, draw_problems(seed, models), judge, progress)
    return report


def plan_problem(problem: Problem) -> FusedPlan | NoFusedPlan:
    """Plan a random problem from a log and external tables of as many rows as ``ROWS``."""
    query, levels, outcome = problem.query, problem.model.n_levels, problem.outcome
    domain = {name: range(levels[name]) for name in problem.model.graph.observed - {outcome}}
    counts = list[CountTable]()
    for one in problem.list_distributions():
        log = problem.open(NamedArray(one.axes, np.rint(one.values * ROWS)), exact=False)
        names = [name for name in one.axes if name != outcome]
        own = {name: domain[name] for name in names}
        counts.append(
            log.count(names, reward=outcome if outcome in one.axes else None, domain=own)
        )
    plan = BoundPlan(problem.model.graph, query, "sound", ())
    evidence = PlanCounts(counts[0], tuple(counts[1:])).gather(plan, None)
    arms, contexts = (
        list(product(*(range(levels[name]) for name in names)))
        for names in (query.treatments, query.context)
    )
    return plan_pooling(evidence, list(product(arms, contexts)))


def judge_plan(problem: Problem, plan: FusedPlan | NoFusedPlan, report: PlanReport) -> None:
    """Count a plan, and compare all that it says with the problem's model.

    What it finds goes into the report.
    """
    if isinstance(plan, NoFusedPlan):
        return
    report.plans += 1
    has_rows = [any(map(any, factor.counts)) for factor in plan.factors]
    has_tilt = [factor.shares is not None for factor in plan.factors]
    kinds = [rows or tilt for rows, tilt in zip(has_rows, has_tilt, strict=True)]
    report.plain += not plan.factors
    report.from_rows += bool(plan.factors) and all(has_rows)
    report.tilted += all(kinds) and not all(has_rows)
    report.online += not all(kinds)
    judge = _PlanJudge(problem, plan, report)
    judge.compare_means()
    before = 1
    for factor in plan.factors:
        judge.compare_factor(factor, before)
        before *= len(factor.cells)


class _PlanJudge:
    """Compares one plan with the model of its problem."""

    def __init__(self, problem: Problem, plan: FusedPlan, report: PlanReport) -> None:
        self._problem, self._plan, self._report = problem, plan, report
        query, names = problem.query, plan.variables
        axes = query.treatments + query.context
        effect = problem.model.effect(
            outcomes=(*names, *query.outcomes),
            treatments=query.treatments,
            context=query.context,
        )
        joint = effect.align((*axes, *names, *query.outcomes))
        # A line for each pair, a column for each leaf, and the outcome.
        self._joint = joint.reshape(len(plan.pairs), plan.n_leaves, 2)

    def compare_means(self) -> None:
        """Compare the means of cells with those under the arm, and their mean with the effect."""
        plan, weights = self._plan, self._joint.sum(axis=-1)
        means = np.array(plan.sums) / np.array(plan.n)
        found = means[np.array(plan.cells)]
        self._note("cells", found - self._joint[..., 1] / weights)
        truth = self._joint[..., 1].sum(axis=-1)
        self._note("means", (found * weights).sum(axis=-1) - truth)

    def compare_factor(self, factor: Factor, before: int) -> None:
        """Compare a factor with the law of its variables: within pools, with rows, by tilt.

        ``before`` is how many combinations of cells the factors before it have.
        """
        weights = self._joint.sum(axis=-1)
        cut = weights.reshape(len(weights), before, len(factor.cells), -1).sum(axis=-1)
        laws = cut / cut.sum(axis=-1, keepdims=True)
        pools = np.array(factor.pools)
        of_pools = np.zeros((factor.n_pools, len(factor.cells)))
        of_pools[pools] = laws  # any one of a pool
        self._note("pools", laws - of_pools[pools])
        rows = np.array(factor.counts, dtype=float)
        if rows.any():
            self._note("draws", rows / rows.sum(axis=1, keepdims=True) - of_pools)
        if factor.shares is not None:
            bent = np.log(np.array(factor.shares)) - np.log(of_pools)
            tilt = bent - bent[:, :1]
            self._note("tilts", tilt - tilt[0])

    def _note(self, what: str, gaps: Floats) -> None:
        """Count identities that were compared, and note the worst if it is off."""
        report, gap = self._report, float(np.abs(gaps).max())
        report.compared[what] = report.compared.get(what, 0) + gaps.size
        report.worst_gap = max(report.worst_gap, gap)
        if not gap < SAME:
            graph, query = str(self._problem.model.graph), str(self._problem.query)
            report.misses.append(PlanMiss(what, gap, graph, query))
