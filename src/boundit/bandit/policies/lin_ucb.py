"""LinUCB with a model for each arm or one for all, capped by prior bounds (Algorithm 4)."""

from collections.abc import Mapping
from typing import Self, final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.batch.narrowing_layout import living_board
from boundit.bandit.batch.ridge_layout import laid_out
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.lin_ucb import decide_lin_ucb, play_lin_ucb
from boundit.bandit.kernels.lin_ucb_narrowing import play_lin_ucb_narrowing
from boundit.bandit.learned.features import Features
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.level_codec import Record
from boundit.bandit.options import flag, not_negative
from boundit.bandit.prior.monitor import LIVING
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class LinUCB(BasePolicy[RidgeModels]):
    """Optimism on a ridge model, capped by prior bounds: LinUCB, and with a prior LinUCB-PCB.

    The index of an arm is ``min(theta' x + alpha sqrt(x' inverse(A) x), U)``, from a model of
    its own, or from one for all (``shared``). With a ``floor`` it is at least ``L``, which the
    paper's algorithm leaves out. Features are ``[1, context, treatments]``, or what the
    function ``features(context, arm)`` gives. A ``warm_start`` puts point estimates into the
    models: with those of the log the paper's LinUCB_CP and LinUCB_Biased.

    >>> policy = LinUCB(arms=["A", "B"], context=["Age"])
    >>> decision = policy.decide({"Age": 0.3})
    >>> policy.learn(decision, 0.0)
    >>> decision.arm, policy.decide({"Age": 0.3}).arm
    (('B',), ('A',))
    """

    narrows = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        floor: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._alpha = not_negative("alpha", alpha)
        self._floor = flag("floor", floor)
        how = RidgeSettings(ridge, shared, features, warm_start)
        self.desk = Desk.of(
            lambda scene: RidgeModels(scene, how),
            prior=prior,
            arms=arms,
            context=context,
            reward_range=reward_range,
            watch=watch,
            living=living,
        )

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        return cls._restored(
            state, lambda options: RidgeSettings.given(options, features, "LinUCB")
        )

    def _play(self, board: BatchLayout, runs: BatchRuns) -> Places | None:
        start = laid_out(self.desk.book.fresh(self.desk.scene), board)
        if start is None:
            return None
        stack, course = start.stack, board.course(runs)
        linear = (
            stack.models,
            start.x,
            start.sheet,
            stack.n_features,
            self._alpha,
            self._floor,
        )
        if runs.seeing is None or not self.desk.narrows_on(board.stage):
            return play_lin_ucb(*linear, course)
        rounds = living_board(self.desk.fresh().guard.ends, board, board.stage.shows)
        return rounds and play_lin_ucb_narrowing(*linear, rounds, runs.seeing, course)

    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        sight = self.desk.book.sight(context, lineup)
        d, x, sheet = sight.n_features, sight.x, sight.sheet
        models = self.desk.book.stack_of(d).models
        found = decide_lin_ucb(models, x, sheet, d, self._alpha, self._floor)
        return Scores(lineup, found, sheet, sight)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.take(decision, reward)

    def _options(self) -> Record:
        return {"alpha": self._alpha, "floor": self._floor}
