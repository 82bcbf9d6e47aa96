"""The policy that users should run: rows of the log and rounds count in the same cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import final

import numpy as np

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption
from boundit.bandit.fused.arrays import (
    N_LEARNED,
    N_SEEN,
    WEIGHT,
    FusedCounts,
    FusedLayout,
)
from boundit.bandit.fused.beliefs import NO_PLAN, FusedBeliefs
from boundit.bandit.fused.decide import (
    OWN,
    PLAIN,
    FusedOptions,
    decide_fused,
    decide_many_fused,
    draw_fused,
    draw_many_fused,
    tabulate_indices,
)
from boundit.bandit.fused.indices import write_doubts
from boundit.bandit.fused.linear import is_numeric, make_encoding
from boundit.bandit.fused.particles import ParticleCounts, ParticleLaws
from boundit.bandit.fused.propensities import compute_propensities
from boundit.bandit.fused.runs import play_fused
from boundit.bandit.fused.sights import lay_out_sights
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.rng import StreamKey, StreamKeys
from boundit.bandit.kernels.score_table import (
    FREE_SCORE,
    FUSED_PART,
    FUSED_TAU,
    SCORE,
    STATISTICS,
)
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.options import read_flag, read_not_negative
from boundit.bandit.prior.log_refutation import LogRefutation
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Refutation, Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Branch, Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import FusedPlan

_NO_INDICES: Floats = np.empty((0, 0))
"""Where no propensities are wanted."""
_PARTS = {OWN: "own weights", PLAIN: "plain rewards, in doubt of the log"}
_UNKNOWN = "own rewards alone, as the plan does not know it"
_SHOWN_DOUBT = 0.2


@final
class Fused(BasePolicy[FusedBeliefs]):
    """Count rows of the log and rounds in the same cells, and trust the log as far as it holds.

    The policy that we recommend. Its prior carries a plan (``bounds.fused``), which says which
    rows of the log are data on the mechanism behind the rewards; where the graph allows none,
    the bounds cap plain indices instead, and ``plan_reason`` says why. An arm's index is its
    mean and ``kappa sqrt(2 log t)`` deviations more. Against a wrong log or graph it learns how
    biased the log may be (one size, tau, for all of it), and keeps two doubts in every arm and
    context: that what is fused is wrong there, alone or for the arm in all contexts, and then a
    draw from its own rewards decides, and that its weights are its own. ``doubt`` is shared by
    the arms of a decision; 0 trusts the log and the graph. ``observes`` names the variables
    that help if ``learn`` is told them; nothing is required: what no round shows is learned
    from rewards alone.

    With ``linear`` a ridge model of each arm and cell of these variables, by ``[1, context]``,
    stands for counts by context, so that one context tells of another: text is one-hot, where
    the prior has bins a model sees bin and number, and a context variable that the graph drops
    from a cell is left out. Unless it is given, this is so where a context variable has bins or
    more than eight numbers. Told rewards alone, models fit rows of the log, and rewards then
    count by context. Simulations play this form round by round, which takes longer.

    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.2, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> policy = Fused(prior=table, seed=1)
    >>> policy.decide().arm, policy.plan_reason
    (('B',), 'these bounds came without a log, so there are no rows to count')
    """

    samples = True

    def __init__(
        self,
        *,
        doubt: float = 0.08,
        kappa: float = 0.5,
        linear: bool | None = None,
        propensities: bool = True,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        remember: int | IdStore = REMEMBERED,
        unseen: Unseen = "error",
        seed: int | None = None,
        explore: float = 0.0,
    ) -> None:
        self._doubt = read_not_negative("doubt", doubt)
        if self._doubt >= 1:
            raise BadOption("doubt", "a number from 0 up to, but not, 1", doubt)
        self._kappa = read_not_negative("kappa", kappa)
        self._linear = None if linear is None else read_flag("linear", linear)
        self._propensities = read_flag("propensities", propensities)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior and _take_off(prior), watch=watch)
        beliefs = self._make_beliefs(prior, spec)
        super().__init__(spec, monitor, beliefs, seed=seed, explore=explore, remember=remember)

    def _make_beliefs(self, prior: BoundTable | None, spec: BanditSpec) -> FusedBeliefs:
        """Make beliefs that have learned nothing, by the plan of a table if it has one."""
        encoding = self._find_encoding(prior, spec)
        return FusedBeliefs(
            _find_plan(prior), spec.reward_range, trusting=self._doubt == 0, encoding=encoding
        )

    def _find_encoding(
        self, prior: BoundTable | None, spec: BanditSpec
    ) -> FeatureEncoding | None:
        """Find how contexts are written as features; None where cells are counted."""
        wanted = is_numeric(prior) if self._linear is None else self._linear
        return make_encoding(spec) if wanted and _find_plan(prior).pairs else None

    @property
    def sees_numbers(self) -> bool:
        """Whether visitors' numbers count where the prior has bins: in models they do."""
        return self.statistics.linear is not None

    @property
    def plan(self) -> FusedPlan | None:
        """The plan by which rows of the log count, None where the graph allows none."""
        table = self.monitor.prior.table
        return table.pooling if table and isinstance(table.pooling, FusedPlan) else None

    @property
    def plan_reason(self) -> str:
        """Why rows of the log count as they do, or why there are only bounds to cap indices."""
        table = self.monitor.prior.table
        if table is None:
            return "there is no prior, so that every arm is learned from its rewards alone"
        found = table.pooling
        return str(found) if isinstance(found, FusedPlan) else found.reason

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that help when ``learn`` is told them; none is required."""
        return self.statistics.plan.variables

    @property
    def refutation(self) -> Refutation | LogRefutation | None:
        """What showed that graph or log cannot be right; else None.

        A message: the policy goes on with the log discounted as it learned.
        """
        return self.statistics.evidence.refutation or self.monitor.refutation

    @property
    def bias(self) -> dict[float, float]:
        """How likely each size of the log's bias (tau) is by now."""
        weights = self._find_taus()[:, WEIGHT].tolist()
        return dict(zip(self.statistics.taus, weights, strict=True))

    def describe(self) -> str:
        """Say in lines of text what the policy goes by and how far it trusts the log.

        Users print it.
        """
        beliefs, lines = self.statistics, [repr(self), self.plan_reason]
        if self.plan is None:
            lines[1] = f"{lines[1]}: the bounds cap the indices"
            return "\n".join(lines)
        context = ", ".join(self.spec.context or ())
        lines.append(
            f"cells by linear models of {context or 'a constant'}"
            if beliefs.linear
            else "cells by counts"
        )
        learned, seen = beliefs.counts.totals[[N_LEARNED, N_SEEN]].tolist()
        if beliefs.plan.variables:
            names, by = ", ".join(beliefs.plan.variables), "cells and pools"
            by = "rewards alone" if beliefs.is_blind else by
            lines.append(f"{seen:.0f} of {learned:.0f} rounds showed {names}: decides by {by}")
        bias = ", ".join(f"{tau:g}: {chance:.2f}" for tau, chance in self.bias.items())
        lines.append(f"bias of the log, and how likely it is: {bias}")
        lines += self._list_doubts()
        if self.refutation:
            lines.append(str(self.refutation))
        return "\n".join(lines)

    def _list_doubts(self) -> list[str]:
        """List the pairs of arm and context for which the plan is much in doubt, a line each."""
        beliefs, n_arms = self.statistics, max(len(self.spec.arms), 1)
        share = self._doubt / n_arms
        log_odds = float(np.log(share / (1 - share))) if share else -np.inf
        found = list[str]()
        for place, (arm, context) in enumerate(beliefs.plan.pairs):
            doubt, own = write_doubts(beliefs.layout, beliefs.counts, place, log_odds)
            if max(doubt, own) >= _SHOWN_DOUBT:
                found.append(
                    f"arm {arm!r} in context {context!r}: log in doubt {doubt:.2f}, "
                    f"weights of its own {own:.2f}"
                )
        return found

    def choose(
        self, context: Context, ranked_arms: RankedArms, stream_key: StreamKey
    ) -> Scores:
        """Score arms by pooled cells, or as doubt is drawn by own weights or rewards alone."""
        table = self.statistics.make_score_table(context, ranked_arms)
        options, indices = self._list_constants(), _NO_INDICES
        if self._propensities:
            indices = self._tabulate(context, ranked_arms, table)
            taus, pairs = self._find_taus(), self.statistics.counts.pairs
            winner = draw_fused(*stream_key, indices, taus, pairs, options, table)
        else:
            arguments = (*stream_key, *self._list_arguments(context, table), table)
            winner = decide_fused(*arguments)
        # Only an arm whose upper end lies below the best is left without a score.
        unscored = int(np.isnan(table[:, SCORE]).sum()) if options.capped else 0
        return self._make_scores(ranked_arms, (winner, unscored), table, indices)

    def choose_many(
        self, context: Context, ranked_arms: RankedArms, stream_keys: StreamKeys
    ) -> ScoreBatch:
        """Score arms for several visitors of one context, each with draws of their own."""
        table = self.statistics.make_score_table(context, ranked_arms)
        options, indices = self._list_constants(), _NO_INDICES
        if self._propensities:
            indices = self._tabulate(context, ranked_arms, table)
            taus, pairs = self._find_taus(), self.statistics.counts.pairs
            drawn = draw_many_fused(*stream_keys, indices, taus, pairs, options, table)
        else:
            arguments = (*stream_keys, *self._list_arguments(context, table), table)
            drawn = decide_many_fused(*arguments)
        winners, tables = drawn
        found = np.zeros((winners.size, 2), np.int64)
        found[:, 0] = winners
        if options.capped:
            found[:, 1] = np.isnan(tables[:, :, SCORE]).sum(axis=1)
        first = found[0, 0].item(), found[0, 1].item()
        scores = self._make_scores(ranked_arms, first, tables[0], indices)
        return ScoreBatch(scores, found, tables)

    def _tabulate(
        self, context: Context, ranked_arms: RankedArms, score_table: Floats
    ) -> Floats:
        """Give what ``tabulate_indices`` writes of a visitor's arms, kept until it learns."""
        beliefs = self.statistics
        found = beliefs.find_indices(context, ranked_arms)
        if found is None:
            arguments = self._list_arguments(context, score_table)
            found = tabulate_indices(*arguments, score_table)
            beliefs.keep_indices(context, ranked_arms, found)
        return found

    def _find_taus(self) -> Floats:
        """Find the sizes of the log's bias with their weights, as decisions draw them."""
        beliefs = self.statistics
        return (beliefs.learned if beliefs.is_blind else beliefs.counts).taus

    def _list_arguments(
        self, context: Context, score_table: Floats
    ) -> tuple[FusedLayout, FusedCounts, ParticleLaws, ParticleCounts, bool, FusedOptions]:
        """List what kernels decide by: beliefs on a visitor, whether by particles, options."""
        beliefs = self.statistics
        return (
            *beliefs.show(context, score_table[:, STATISTICS]),
            beliefs.laws,
            beliefs.learned,
            beliefs.is_blind,
            self._list_constants(),
        )

    def _make_scores(
        self,
        ranked_arms: RankedArms,
        found: tuple[int, int],
        score_table: Floats,
        indices: Floats,
    ) -> Scores:
        """Make scores that know how to work out propensities, from ``indices`` of all arms."""
        weights, has_plan = self._find_taus()[:, WEIGHT].copy(), self.plan is not None

        # Reasons may be read after bounds were replaced: they are those of this moment.
        def find_chances(scores: Scores) -> Floats:
            return compute_propensities(indices, weights) if has_plan else _share_tie(scores)

        return Scores(
            ranked_arms,
            found,
            score_table,
            win_chances=find_chances,
            branch=self._find_branch(),
            wanted=self._propensities,
        )

    def _find_branch(self) -> Branch:
        """Find what tells where an index came from: nothing where rewards alone decide."""
        if self.plan is None:
            capped = self.monitor.prior.binding is not None
            return f"plain indices capped by bounds: {self.plan_reason}" if capped else None
        return partial(_tell_parts, self.statistics.taus, len(self.statistics.plan.pairs))

    def _list_constants(self) -> FusedOptions:
        """List the options that kernels need; without a plan the bounds cap the indices."""
        capped = self.plan is None and self.monitor.prior.binding is not None
        return FusedOptions(self._kappa, self._doubt, *self.spec.reward_range, capped)

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs from nothing learned; gives the arm of every round of each.

        In compiled code; None where what rounds show is refused, and where models stand for
        cells.
        """
        beliefs = self.statistics.fresh(self.spec)
        sights = lay_out_sights(beliefs.reader, layout, runs)
        if sights is None or beliefs.linear:
            return None
        score_table = layout.score_table.copy()
        score_table[:, STATISTICS] = [beliefs.find_place(pair) for pair in layout.pairs]
        laws, learned = beliefs.laws, beliefs.learned
        if beliefs.plan.variables and (not sights.luck.size or np.isnan(sights.luck).any()):
            laws, learned = beliefs.particles.laws, beliefs.particles.make_counts()
        return play_fused(
            beliefs.layout,
            beliefs.counts,
            laws,
            learned,
            self._list_constants(),
            score_table,
            sights,
            layout.make_arrays(runs),
        )

    def take(
        self, decision: Decision, reward: float, observed: Mapping[str, object] | None
    ) -> None:
        """Learn one reward, and what else its round showed of the plan's variables."""
        self.statistics.take(decision, reward, observed)

    def check_observed(self, observed: Mapping[str, object]) -> None:
        """Refuse what no round can have shown, also of the plan's variables."""
        with self._lock:
            self.statistics.reader.read(self._read(observed))

    def refresh(self, prior: BoundTable, *, arms: Arms | None = None) -> None:
        """Count the rows of another table's log instead; what was learned stays.

        Rounds count in the new plan's cells and pools; what they showed of other variables is
        forgotten where the new plan does not ask for it, also if a later plan does. The new log
        must hold no round that the policy was told: it would count twice. Arms come and go as
        with every policy.
        """
        with self._lock:
            believed = _take_off(prior) if isinstance(prior, BoundTable) else prior
            super().refresh(believed, arms=arms)
            table = self.monitor.prior.table
            encoding = self._find_encoding(table, self.spec)
            self.statistics = self.statistics.refit(
                _find_plan(table), self.spec.reward_range, encoding
            )

    def restore_statistics(
        self, record: list[list[object]], spec: BanditSpec, monitor: BoundMonitor
    ) -> FusedBeliefs:
        """Read the beliefs that ``state()`` wrote, by the plan of the prior's table."""
        return self._make_beliefs(monitor.prior.table, spec).restore(record, spec)

    def options(self) -> Record:
        """Give doubt, kappa, linear and propensities as the constructor took them."""
        return {
            "doubt": self._doubt,
            "kappa": self._kappa,
            "linear": self._linear,
            "propensities": self._propensities,
        }

    def __repr__(self) -> str:
        said = super().__repr__()[:-1]
        plan = self.plan
        if plan is None:
            return f"{said}, no plan)"
        return f"{said}, {sum(plan.n):,} rows in {len(plan.n)} cells)"


def _find_plan(prior: BoundTable | None) -> FusedPlan:
    """Find the plan of a table; one without pairs where it has none."""
    return prior.pooling if prior and isinstance(prior.pooling, FusedPlan) else NO_PLAN


def _take_off(prior: BoundTable) -> BoundTable:
    """Take off a table with a plan what would rule out arms for certain.

    A wrong graph must be able to lose every argument.
    """
    if not isinstance(prior.pooling, FusedPlan):
        return prior
    return replace(prior, contrasts={})


def _share_tie(scores: Scores) -> Floats:
    """Share all chance among the best arm and those that tie with it exactly.

    Without a plan nothing else is drawn.
    """
    table = scores.score_table[:, [SCORE, FREE_SCORE]]
    tied = (table == table[scores.best]).all(axis=1).astype(np.float64)
    shares: Floats = tied / tied.sum()
    return shares


def _tell_parts(taus: Sequence[float], n_pairs: int, scores: Scores) -> str:
    """Tell what the index of each arm came from, and the tau that was drawn.

    ``n_pairs`` are known to the plan. Given by ``Fused._find_branch`` to the scores, which call
    it when the branch is read.
    """
    table = scores.score_table
    known = (table[:, STATISTICS] >= 0) & (table[:, STATISTICS] < n_pairs)
    told = [f"tau {taus[int(table[0, FUSED_TAU])]:g}"]
    told.append(_name_part(table[scores.winner, FUSED_PART], is_known=known[scores.winner]))
    others = [
        f"{_name_part(table[i, FUSED_PART], is_known=known[i])} for {arm!r}"
        for i, arm in scores.ranked_arms.in_call_order
        if i != scores.winner and (table[i, FUSED_PART] or not known[i])
    ]
    return "; ".join(told + others)


def _name_part(part: float, *, is_known: bool) -> str:
    """Name what an index came from, for the reasons of a decision."""
    return _PARTS.get(int(part), "pooled cells") if is_known else _UNKNOWN
