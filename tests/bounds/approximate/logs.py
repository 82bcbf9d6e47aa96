"""Small logs with known laws, and finders of their approximate ends."""

from functools import partial

import numpy as np

from boundit.bounds.approximate.approximate_rules import ApproximateRules
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.numbers import Ends
from boundit.bounds.plan import BoundPlan, plan_sound
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.try_rules import EndFinder, try_rules
from boundit.counts.named_array import Floats
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.terms.long_work import say_nothing
from boundit.terms.message import Note

BACK_DOOR = plan_sound(parse("Z -> X -> Y; Z -> Y"), parse_query("Y | do(X)"), ())
NAPKIN = plan_sound(parse("W -> Z -> X -> Y; W <-> X; W <-> Y"), parse_query("Y | do(X)"), ())
INSTRUMENT = plan_sound(parse("Z -> X -> Y; X <-> Y"), parse_query("Y | do(X)"), ())


class Strata:
    """A back door: shares of strata, propensities of arm 1, and means of both arms."""

    def __init__(self, n_strata: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.shares = rng.dirichlet(np.full(n_strata, 4.0))
        self.chances = rng.uniform(0.2, 0.8, n_strata)
        self.means = rng.uniform(0.2, 0.8, (2, n_strata))

    @property
    def truth(self) -> Floats:
        """What each arm would earn."""
        return np.asarray(self.means @ self.shares)

    @property
    def variance(self) -> Floats:
        """The variance of the best estimate from one row, of each arm (that of AIPW)."""
        arms = np.stack([1 - self.chances, self.chances])
        within = (self.shares * self.means * (1 - self.means) / arms).sum(axis=1)
        between = (self.shares * (self.means - self.truth[:, None]) ** 2).sum(axis=1)
        return np.asarray(within + between)

    def draw(self, n_rows: int, rng: np.random.Generator) -> CountTable:
        """Draw a log and count it."""
        z = rng.choice(len(self.shares), n_rows, p=self.shares)
        x = (rng.random(n_rows) < self.chances[z]).astype(int)
        y = (rng.random(n_rows) < self.means[x, z]).astype(int)
        table = read_log({"Z": z, "X": x, "Y": y}).count(["Z", "X"], reward="Y")
        return table.add_levels({"Z": range(len(self.shares)), "X": [0, 1]})


def read_evidence(
    plan: BoundPlan,
    log: CountTable,
    *external: CountTable,
    declared: tuple[float, float] | None = None,
) -> BoundEvidence:
    return BoundEvidence.from_counts(plan, PlanCounts(log, external), declared)


def read_counts(evidence: BoundEvidence) -> TermCounter:
    return TermCounter(evidence.rewards, evidence.population, evidence.evaluator.workspace)


def approximate(
    plan: BoundPlan, evidence: BoundEvidence, error: float = 0.05
) -> tuple[ApproximateRules, list[Ends], tuple[Note, ...]]:
    """Find near ends, with the intervals of cells as exact ones, for a table of two arms."""
    found = ApproximateRules(plan, evidence, error)
    ends, notes = found.find(
        find_exact(plan, evidence, found.exact_error),
        plan.rules,
        plan.rules,
        (2,),
        say_nothing,
        whole=find_exact(plan, evidence, error),
        alone=plan.rules,
    )
    return found, ends, notes


def find_exact(plan: BoundPlan, evidence: BoundEvidence, error: float) -> EndFinder:
    rules = [planned.rule for planned in plan.rules]
    return partial(try_rules, evidence.make_confident(rules, 1 - error))
