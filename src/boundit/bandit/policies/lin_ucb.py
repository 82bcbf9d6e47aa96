"""LinUCB with a model for each arm or one for all, capped by prior bounds (Algorithm 4)."""

from collections.abc import Mapping
from typing import Self, final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns, lay_out_ridge
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.lin_ucb import decide_lin_ucb, play_lin_ucb
from boundit.bandit.kernels.rng import StreamKey
from boundit.bandit.learned.features import Features
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.options import read_flag, read_not_negative
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
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

    sees_numbers = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        floor: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
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
        self._alpha = read_not_negative("alpha", alpha)
        self._floor = read_flag("floor", floor)
        settings = RidgeSettings(ridge, shared, features, warm_start)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior, watch=watch)
        super().__init__(
            spec,
            monitor,
            RidgeModels(spec, settings),
            seed=seed,
            explore=explore,
            remember=remember,
        )

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, object],
        *,
        features: Features | None = None,
        remember: IdStore | None = None,
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        return cls.restore(
            state,
            lambda options: RidgeSettings.restore_options(options, features, "LinUCB"),
            remember,
        )

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of LinUCB from nothing learned; gives the arm of every round of each.

        In compiled code; None where features are refused.
        """
        ridge = lay_out_ridge(self.statistics.fresh(self.spec), layout)
        if ridge is None:
            return None
        start = ridge.stack.models, ridge.x, ridge.score_table, ridge.stack.n_features
        return play_lin_ucb(*start, self._alpha, self._floor, layout.make_arrays(runs))

    def choose(
        self,
        context: Context,
        ranked_arms: RankedArms,
        stream_key: StreamKey,  # noqa: ARG002, nothing is drawn
    ) -> Scores:
        """Score arms by LinUCB's index, capped by the bounds; the highest wins."""
        rows = self.statistics.get_features(context, ranked_arms)
        d, score_table = rows.n_features, rows.score_table
        found = decide_lin_ucb(
            rows.stack.models, rows.x, score_table, d, self._alpha, self._floor
        )
        return Scores(ranked_arms, found, score_table, rows)

    def options(self) -> Record:
        """Give alpha and floor as the constructor took them."""
        return {"alpha": self._alpha, "floor": self._floor}
