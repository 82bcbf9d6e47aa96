"""KL-UCB on each context by itself, with bounds (B-kl-UCB of Zhang and Bareinboim 2017)."""

from typing import final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.kl_ucb import decide_kl_ucb, play_kl_ucb
from boundit.bandit.kernels.rng import StreamKey
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.options import read_not_negative
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class KLUCB(BasePolicy[ArmCounts]):
    """Optimism by relative entropy: kl-UCB, and with a prior B-kl-UCB.

    Arms whose upper end lies below another's lower end are out. The others are played once in
    each context; then the index is the largest ``m`` with ``n kl(mean, m) <= log t + c log log
    t``, capped by ``U``, where ``t`` counts the rounds of this context.

    >>> policy = KLUCB(arms=["A", "B"])
    >>> for reward in (1.0, 0.0):
    ...     policy.learn(policy.decide(), reward)
    >>> policy.decide().arm
    ('A',)
    """

    def __init__(
        self,
        *,
        c: float = 3.0,
        seed: int | None = None,
        explore: float = 0.0,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        remember: int | IdStore = REMEMBERED,
        unseen: Unseen = "error",
    ) -> None:
        self._c = read_not_negative("c", c)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior, watch=watch)
        super().__init__(
            spec, monitor, ArmCounts(), seed=seed, explore=explore, remember=remember
        )

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of KL-UCB from nothing learned; gives the arm of every round of each.

        In compiled code.
        """
        low, high = self.spec.reward_range
        return play_kl_ucb(layout.score_table, self._c, low, high, layout.make_arrays(runs))

    def choose(
        self,
        context: Context,
        ranked_arms: RankedArms,
        stream_key: StreamKey,  # noqa: ARG002, nothing is drawn
    ) -> Scores:
        """Score arms by KL-UCB's index, capped by the bounds; the highest wins."""
        counts, (low, high) = self.statistics, self.spec.reward_range
        score_table, t = (
            counts.make_score_table(context, ranked_arms),
            counts.count_rounds(context) + 1.0,
        )
        found = decide_kl_ucb(counts.rows, score_table, t, self._c, low, high)
        return Scores(ranked_arms, found, score_table)

    def options(self) -> Record:
        """Give the options of its own that the constructor took."""
        return {"c": self._c}
