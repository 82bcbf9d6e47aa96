"""The counts of a plan as rules read them: a 0/1 reward, and formulas as numbers."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.confidence import CellErrors, ConfidentNumbers, collect_extremes
from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.plan import BoundPlan
from boundit.bounds.plan_counts import PlanCounts
from boundit.bounds.reward import has_two_values, settle_outcome_range
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.table import CountTable
from boundit.estimand.language.expression import P
from boundit.terms.names import Nodes


@dataclass(frozen=True, eq=False)
class BoundEvidence:
    """Counts with the reward as a 0/1 variable, and how formulas are read off them.

    ``population`` are the tables that formulas without selection are read off.
    """

    log: CountTable
    rewards: BinaryReward
    population: tuple[BinaryReward, ...]
    evaluator: Evaluator
    outcome_range: tuple[float, float]

    @classmethod
    def from_counts(
        cls,
        plan: BoundPlan,
        counts: PlanCounts,
        declared: tuple[float, float] | None,
        workspace: Workspace | None = None,
    ) -> "BoundEvidence":
        """Make of a plan's counts what rules read: tables of a 0/1 reward, and its range.

        The range is the declared one, or plain from the rewards; the ``workspace`` is what
        reading formulas may use.
        """
        (outcome,) = plan.query.outcomes
        low, high = settle_outcome_range(
            [table for table in counts.tables if table.reward], declared
        )
        log, *external = (
            BinaryReward(
                table,
                outcome if table.reward else None,
                low,
                high,
                has_two_values(table, low, high),
            )
            for table in counts.tables
        )
        # Without selection the log is the population, and formulas speak of that alone: of two
        # tables the smaller would be read, however few rows it has.
        population = tuple(external) if plan.graph.selection is not None else (log,)
        # Chance plays a part as soon as one table was counted from rows.
        table = replace(counts.log, exact=counts.are_exact)
        return cls(table, log, population, Evaluator(log, population, workspace), (low, high))

    @property
    def is_numeric(self) -> bool:
        """Whether some table holds a reward of more than two values.

        The log may not, by chance, where an external table does.
        """
        tables = (self.rewards, *self.population)
        return any(source.outcome is not None and not source.binary for source in tables)

    @property
    def is_clustered(self) -> bool:
        """Whether rows of some table belong together, so that cells have no intervals."""
        tables = (self.rewards, *self.population)
        return any(source.table.clusters is not None for source in tables)

    @property
    def is_adaptive(self) -> bool:
        """Whether a policy learned while it wrote some of the rows that formulas are read off.

        Rows then hang on earlier ones, and only intervals of cells that allow for it hold.
        """
        return any(source.table.adaptive for source in (self.rewards, *self.population))

    def make_confident(self, rules: Iterable[BoundRule], confidence: float) -> ConfidentNumbers:
        """Make confidence intervals that hold at once for all cells that some rules read."""
        read = list(rules)
        spread = {
            rule.spread_term
            for rule in read
            if isinstance(rule, LimitedConfounding) and rule.spread and rule.spread_term
        }
        return self.make_confident_of(collect_extremes(read), confidence, spread=spread)

    def make_confident_of(
        self,
        terms: Mapping[P, Nodes],
        confidence: float,
        cells: Mapping[P, CellErrors] | None = None,
        *,
        spread: Collection[P] = (),
    ) -> ConfidentNumbers:
        """Make confidence intervals that hold at once for all cells of some terms.

        A term is a ``P(of | given)``. Those among ``cells`` have errors of their own, those in
        ``spread`` one more for their whole law.
        """
        return ConfidentNumbers(
            self.rewards,
            self.population,
            terms,
            confidence=confidence,
            workspace=self.evaluator.workspace,
            cells=cells,
            spread=spread,
        )
