"""KL-UCB on each context by itself, with bounds (B-kl-UCB of Zhang and Bareinboim 2017)."""

from typing import final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.kl_ucb import compute_kl as compute_kl
from boundit.bandit.kernels.kl_ucb import decide_kl_ucb, play_kl_ucb
from boundit.bandit.kernels.kl_ucb import invert_kl as invert_kl
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.level_codec import Record
from boundit.bandit.options import not_negative
from boundit.bandit.prior.monitor import LIVING
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, ContextNames
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
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._c = not_negative("c", c)
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
        return play_kl_ucb(board.sheet, self._c, low, high, board.course(runs))

    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        book, (low, high) = self.desk.book, self.desk.scene.reward_range
        sheet, t = book.sheet(context, lineup), book.plays(context) + 1.0
        return Scores(lineup, decide_kl_ucb(book.rows, sheet, t, self._c, low, high), sheet)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _options(self) -> Record:
        return {"c": self._c}
