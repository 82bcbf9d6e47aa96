"""Thompson sampling on each context by itself, with bounds (B-TS, Zhang and Bareinboim)."""

from typing import final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.rng import hash_context, wrap_seed
from boundit.bandit.kernels.ts import decide_ts, play_ts
from boundit.bandit.kernels.win_probability import (
    compute_win_probability,
    tabulate_beta_densities,
)
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.level_codec import Record
from boundit.bandit.options import flag, whole
from boundit.bandit.prior.monitor import LIVING
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class TS(BasePolicy[ArmCounts]):
    """Play an arm as often as it is believed best: Beta beliefs, cut to the prior's bounds.

    The belief about a mean starts uniform; a reward between 0 and 1 counts as that much success
    and the rest failure. A draw outside ``[L, U]`` is rejected and drawn again inside. Draws
    hang on the seed, the number of rewards learned, the context and the place of the arm, so
    that a retry gives the same arm. A propensity is worked out when it is read; with
    ``propensities=False`` there is none.

    >>> policy = TS(arms=["A", "B"], seed=1)
    >>> policy.decide(id="7") == policy.decide(id="7"), round(policy.decide().propensity, 3)
    (True, 0.5)
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        propensities: bool = True,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._seed = whole("seed", seed)
        self._word = wrap_seed(seed)
        self._propensities = flag("propensities", propensities)
        self.desk = Desk.of(
            lambda _: ArmCounts(),
            prior=prior,
            arms=arms,
            context=context,
            reward_range=reward_range,
            watch=watch,
            living=living,
        )

    def _play(self, board: BatchLayout, runs: BatchRuns) -> Places | None:
        low, high = self.desk.scene.reward_range
        course = board.course(runs)
        return play_ts(board.sheet, board.words, low, high, runs.seeds, course)

    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        book, sheet = self.desk.book, self.desk.book.sheet(context, lineup)
        found = decide_ts(
            self._word,
            self.desk.events,
            hash_context(context),
            book.rows,
            sheet,
            *self.desk.scene.reward_range,
        )
        chance = self._chance if self._propensities else None
        return Scores(lineup, found, sheet, chance=chance)

    def _chance(self, outcome: Scores) -> float:
        low, high = self.desk.scene.reward_range
        return compute_win_probability(
            tabulate_beta_densities(outcome.sheet, low, high), outcome.winner
        )

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _options(self) -> Record:
        return {"seed": self._seed, "propensities": self._propensities}
