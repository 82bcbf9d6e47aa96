"""Thompson sampling on each context by itself, with bounds (B-TS, Zhang and Bareinboim)."""

from typing import final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.rng import StreamKey, StreamKeys
from boundit.bandit.kernels.ts import decide_many_ts, decide_ts, play_ts
from boundit.bandit.kernels.win_probability import (
    compute_win_probabilities,
    tabulate_beta_densities,
)
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.options import read_flag
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class TS(BasePolicy[ArmCounts]):
    """Play an arm as often as it is believed best: Beta beliefs, cut to the prior's bounds.

    The belief about a mean starts uniform; a reward between 0 and 1 counts as that much success
    and the rest failure. A draw outside ``[L, U]`` is rejected and drawn again inside. Draws
    hang on the seed, the decision's id and the place of the arm, so that visitors are drawn for
    independently and a retry under the same id gives the same arm. A propensity is worked out
    when it is read; with ``propensities=False`` there is none.

    >>> policy = TS(arms=["A", "B"], seed=1)
    >>> policy.decide(id="7") == policy.decide(id="7"), round(policy.decide().propensity, 3)
    (True, 0.5)
    """

    samples = True

    def __init__(
        self,
        *,
        seed: int | None = None,
        explore: float = 0.0,
        propensities: bool = True,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        remember: int | IdStore = REMEMBERED,
        unseen: Unseen = "error",
    ) -> None:
        self._propensities = read_flag("propensities", propensities)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior, watch=watch)
        super().__init__(
            spec, monitor, ArmCounts(), seed=seed, explore=explore, remember=remember
        )

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of TS from nothing learned; gives the arm of every round of each.

        In compiled code.
        """
        low, high = self.spec.reward_range
        arrays = layout.make_arrays(runs)
        return play_ts(layout.score_table, low, high, arrays)

    def choose(
        self, context: Context, ranked_arms: RankedArms, stream_key: StreamKey
    ) -> Scores:
        """Draw a mean for every arm from its Beta belief, within its bound; the highest wins."""
        score_table = self.statistics.make_score_table(context, ranked_arms)
        found = decide_ts(
            *stream_key, self.statistics.rows, score_table, *self.spec.reward_range
        )
        return self._make_scores(ranked_arms, found, score_table)

    def choose_many(
        self, context: Context, ranked_arms: RankedArms, stream_keys: StreamKeys
    ) -> ScoreBatch:
        """Draw a mean for every arm and each of several visitors of one context."""
        score_table = self.statistics.make_score_table(context, ranked_arms)
        found, tables = decide_many_ts(
            *stream_keys, self.statistics.rows, score_table, *self.spec.reward_range
        )
        winner, unscored = found[0].tolist()
        scores = self._make_scores(ranked_arms, (winner, unscored), tables[0])
        return ScoreBatch(scores, found, tables)

    def _make_scores(
        self, ranked_arms: RankedArms, found: tuple[int, int], score_table: Floats
    ) -> Scores:
        """Make scores that know how to work out propensities."""
        chances, wanted = self._compute_win_chances, self._propensities
        return Scores(ranked_arms, found, score_table, None, chances, None, wanted)

    def _compute_win_chances(self, scores: Scores) -> Floats:
        """Compute for every arm the chance that its draw is the highest, by an integral.

        Given by ``TS._make_scores`` to the scores, which call it when a propensity is read.
        """
        densities = tabulate_beta_densities(scores.score_table, *self.spec.reward_range)
        return compute_win_probabilities(densities)

    def options(self) -> Record:
        """Give the options of its own that the constructor took."""
        return {"propensities": self._propensities}
