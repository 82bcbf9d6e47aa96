"""Linear Thompson sampling with a model for each arm or one for all, cut to prior bounds."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Self, TypeAlias, final

import numpy as np

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.batch.ridge_layout import laid_out
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.lin_ts import decide_lin_ts, estimate_win_probability, play_lin_ts
from boundit.bandit.kernels.rng import hash_context, wrap_seed
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.kernels.win_probability import (
    compute_win_probability,
    tabulate_normal_densities,
)
from boundit.bandit.learned.feature_cache import ContextFeatures
from boundit.bandit.learned.features import Features
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.level_codec import Record
from boundit.bandit.options import flag, not_negative, whole
from boundit.bandit.prior.monitor import LIVING
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable

_FURTHER_DRAWS = 999
Luck: TypeAlias = tuple[np.uint64, int, np.uint64]
"""What the draws of a decision hang on: the seed, the rewards learned, the context."""


@final
class LinTS(BasePolicy[RidgeModels]):
    """Play an arm as often as its ridge model believes it best, within the prior's bounds.

    The belief about ``theta`` is normal around the ridge estimate with covariance
    ``scale^2 inverse(A)``, for each arm or one for all (``shared``); an arm's mean is drawn
    from it, and drawn again inside ``[L, U]`` if it lies outside. Draws hang on the seed, the
    number of rewards learned, the context and the place of the arm, so that a retry gives the
    same arm. Arms that share a model are drawn together, and their propensity is then the share
    of wins in this and 999 further draws; otherwise it is computed. That is done when it is
    read; with ``propensities=False`` there is none.

    >>> policy = LinTS(arms=["A", "B"], context=["Age"], seed=1)
    >>> policy.decide(0.3, id="7") == policy.decide(0.3, id="7")
    True
    """

    def __init__(
        self,
        *,
        scale: float = 1.0,
        seed: int = 0,
        propensities: bool = True,
        ridge: float = 1.0,
        shared: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._scale = not_negative("scale", scale)
        self._seed = whole("seed", seed)
        self._word = wrap_seed(seed)
        self._propensities = flag("propensities", propensities)
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
            state, lambda options: RidgeSettings.given(options, features, "LinTS")
        )

    def _play(self, board: BatchLayout, runs: BatchRuns) -> Places | None:
        start = laid_out(self.desk.book.fresh(self.desk.scene), board)
        if start is None:
            return None
        return play_lin_ts(
            start.stack.models,
            start.x,
            start.sheet,
            start.stack.n_features,
            self._scale,
            self.desk.book.how.shared,
            board.words,
            runs.seeds,
            board.course(runs),
        )

    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        sight, shared = self.desk.book.sight(context, lineup), self.desk.book.how.shared
        d, x, sheet = sight.n_features, sight.x, sight.sheet
        luck = self._word, self.desk.events, hash_context(context)
        models, telling = self.desk.book.stack_of(d).models, self._propensities and not shared
        found = decide_lin_ts(*luck, models, x, sheet, d, self._scale, shared, telling)
        return Scores(lineup, found, sheet, sight, self._chance(luck, sight))

    def _chance(self, luck: Luck, sight: ContextFeatures) -> Callable[[Scores], float] | None:
        """Tell how to work out a propensity, from the models as they are now."""
        if not self._propensities:
            return None
        if not self.desk.book.how.shared:
            return _computed
        stack, slot = self.desk.book.stack_of(sight.n_features), int(sight.sheet[0, STATISTICS])
        model = stack.models[slot : slot + stack.block].copy()
        return partial(_counted, luck, model, sight, self._scale)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.take(decision, reward)

    def _options(self) -> Record:
        return {
            "scale": self._scale,
            "seed": self._seed,
            "propensities": self._propensities,
        }


def _computed(outcome: Scores) -> float:
    """The chance of an arm whose draw hangs on no other's."""
    return compute_win_probability(tabulate_normal_densities(outcome.sheet), outcome.winner)


def _counted(
    luck: Luck, model: Floats, sight: ContextFeatures, scale: float, outcome: Scores
) -> float:
    """The share of wins in this and further draws from one model."""
    sheet, d = outcome.sheet, sight.n_features
    sheet[:, STATISTICS] = 0
    return estimate_win_probability(
        *luck, model, sight.x, sheet, d, scale, outcome.winner, _FURTHER_DRAWS
    )
