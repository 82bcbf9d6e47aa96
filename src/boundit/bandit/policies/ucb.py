"""UCB on each context by itself, clipped by prior bounds (Algorithm 6, UCB-PCB)."""

import math
from functools import cached_property
from typing import final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.rng import StreamKey
from boundit.bandit.kernels.ucb import compute_anytime_width, decide_ucb, play_ucb
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.options import read_chance, read_horizon, read_positive
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class UCB(BasePolicy[ArmCounts]):
    """Optimism about the mean of every (context, arm): UCB, and with a prior UCB-PCB.

    The index is ``mean + sigma sqrt(2 log(1/delta) / n)``, clipped to the prior's ``[L, U]``;
    an arm not yet played there has index ``U``. ``delta`` is ``1/horizon**2`` unless given;
    without either it is ``1 / (1 + t log(t)**2)``, where ``t`` counts the rewards of this
    context: the policy may then play for any time. A simulation binds the horizon. The
    paper's noise is 1-sub-Gaussian for rewards from 0 to 1, so ``sigma`` is the width of the
    reward's range; half of it suffices.

    >>> policy = UCB(arms=["A", "B"], horizon=100)
    >>> decision = policy.decide()
    >>> policy.learn(decision, 1.0)
    >>> decision.arm, policy.decide().arm
    (('A',), ('B',))
    """

    def __init__(
        self,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        sigma: float | None = None,
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
        self._horizon = read_horizon(horizon)
        self._delta = None if delta is None else read_chance("delta", delta)
        self._anytime = self._delta is None and self._horizon is None
        self._sigma = None if sigma is None else read_positive("sigma", sigma)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior, watch=watch)
        super().__init__(
            spec, monitor, ArmCounts(), seed=seed, explore=explore, remember=remember
        )

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of UCB from nothing learned; gives the arm of every round of each.

        In compiled code.
        """
        return play_ucb(layout.score_table, self._width, self._noise, layout.make_arrays(runs))

    def choose(
        self,
        context: Context,
        ranked_arms: RankedArms,
        stream_key: StreamKey,  # noqa: ARG002, nothing is drawn
    ) -> Scores:
        """Score arms by UCB's index, clipped to the bounds; the highest wins."""
        counts, width = self.statistics, self._width
        score_table = counts.make_score_table(context, ranked_arms)
        if self._anytime:
            width = compute_anytime_width(self._noise, counts.count_rounds(context) + 1.0)
        found = decide_ucb(counts.rows, score_table, width)
        return Scores(ranked_arms, found, score_table)

    @cached_property
    def _width(self) -> float:
        """How far the index of an arm lies above its mean after one play.

        ``sigma sqrt(2 log(1/delta))``; nan where it grows with the rounds.
        """
        if self._anytime:
            return math.nan
        surprise = -math.log(self._delta) if self._delta else 2 * math.log(self._horizon or 1)
        return self._noise * math.sqrt(2 * surprise)

    @cached_property
    def _noise(self) -> float:
        """The scale of the noise: ``sigma``, or the width of the reward's range."""
        low, high = self.spec.reward_range
        return high - low if self._sigma is None else self._sigma

    def options(self) -> Record:
        """Give horizon, delta and sigma as the constructor took them."""
        return {"horizon": self._horizon, "delta": self._delta, "sigma": self._sigma}
