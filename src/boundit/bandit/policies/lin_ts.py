"""Linear Thompson sampling with a model for each arm or one for all, cut to prior bounds."""

from collections.abc import Mapping
from functools import partial
from typing import Self, final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns, lay_out_ridge
from boundit.bandit.errors import BadOption
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.kernels.lin_ts import (
    decide_lin_ts,
    decide_many_lin_ts,
    estimate_win_probabilities,
    play_lin_ts,
)
from boundit.bandit.kernels.rng import StreamKey, StreamKeys
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.kernels.win_probability import (
    compute_win_probabilities,
    tabulate_normal_densities,
)
from boundit.bandit.learned.feature_cache import ContextFeatures
from boundit.bandit.learned.features import Features
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.learned_ids import REMEMBERED, IdStore
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.options import read_flag, read_not_negative
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores, WinChances
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable

_DRAWS = 4096
"""How many draws estimate the propensities of arms that share a model."""


@final
class LinTS(BasePolicy[RidgeModels]):
    """Play an arm as often as its ridge model believes it best, within the prior's bounds.

    The belief about ``theta`` is normal around the ridge estimate with covariance
    ``scale^2 inverse(A)``, for each arm (``shared`` is refused); an arm's mean is drawn
    from it, and drawn again inside ``[L, U]`` if it lies outside. Draws hang on the seed, the
    decision's id and the place of the arm, so that visitors are drawn for independently and a
    retry under the same id gives the same arm. Propensities are computed when they are read;
    with ``propensities=False`` there are none.

    >>> policy = LinTS(arms=["A", "B"], context=["Age"], seed=1)
    >>> policy.decide(0.3, id="7") == policy.decide(0.3, id="7")
    True
    """

    samples = True
    sees_numbers = True

    def __init__(
        self,
        *,
        scale: float = 1.0,
        seed: int | None = None,
        explore: float = 0.0,
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
        remember: int | IdStore = REMEMBERED,
        unseen: Unseen = "error",
    ) -> None:
        self._scale = read_not_negative("scale", scale)
        self._propensities = read_flag("propensities", propensities)
        if read_flag("shared", shared):
            wanted = (
                "False for LinTS, which has no exact propensities of arms that share a model"
            )
            raise BadOption("shared", f"{wanted} (LinUCB may share one)", shared)
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
            lambda options: RidgeSettings.restore_options(options, features, "LinTS"),
            remember,
        )

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of LinTS from nothing learned; gives the arm of every round of each.

        In compiled code; None where features are refused.
        """
        ridge = lay_out_ridge(self.statistics.fresh(self.spec), layout)
        if ridge is None:
            return None
        return play_lin_ts(
            ridge.stack.models,
            ridge.x,
            ridge.score_table,
            ridge.stack.n_features,
            self._scale,
            self.statistics.ridge_settings.shared,
            layout.make_arrays(runs),
        )

    def choose(
        self, context: Context, ranked_arms: RankedArms, stream_key: StreamKey
    ) -> Scores:
        """Draw a mean for every arm by its ridge model, within its bound; the highest wins."""
        shared = self.statistics.ridge_settings.shared
        rows = self.statistics.get_features(context, ranked_arms)
        d, x, score_table = rows.n_features, rows.x, rows.score_table
        models, beliefs = rows.stack.models, self._propensities and not shared
        found = decide_lin_ts(
            *stream_key, models, x, score_table, d, self._scale, shared, beliefs
        )
        chances, wanted = self._find_win_chances(stream_key[0], rows), self._propensities
        return Scores(ranked_arms, found, score_table, rows, chances, None, wanted)

    def choose_many(
        self, context: Context, ranked_arms: RankedArms, stream_keys: StreamKeys
    ) -> ScoreBatch:
        """Draw a mean for every arm and each of several visitors of one context."""
        shared = self.statistics.ridge_settings.shared
        rows = self.statistics.get_features(context, ranked_arms)
        d, beliefs = rows.n_features, self._propensities and not shared
        models, x, table = rows.stack.models, rows.x, rows.score_table
        found, tables = decide_many_lin_ts(
            *stream_keys, models, x, table, d, self._scale, shared, beliefs
        )
        winner, unscored = found[0].tolist()
        chances = self._find_win_chances(stream_keys.seed, rows)
        scores = Scores(
            ranked_arms,
            (winner, unscored),
            tables[0],
            rows,
            chances,
            wanted=self._propensities,
        )
        return ScoreBatch(scores, found, tables)

    def _find_win_chances(self, seed: int, rows: ContextFeatures) -> WinChances | None:
        """Give the function that works out all arms' chances to win from the present models.

        None where nobody wants propensities.
        """
        if not self._propensities:
            return None
        if not self.statistics.ridge_settings.shared:
            return _integrate_win_chances
        stack, slot = rows.stack, int(rows.score_table[0, STATISTICS])
        model = stack.models[slot : slot + stack.block].copy()
        return partial(_count_wins, seed, model, rows, self._scale)

    def options(self) -> Record:
        """Give scale and propensities as the constructor took them."""
        return {
            "scale": self._scale,
            "propensities": self._propensities,
        }


def _integrate_win_chances(scores: Scores) -> Floats:
    """Compute for each arm the chance that its draw is the highest, draws being independent."""
    return compute_win_probabilities(tabulate_normal_densities(scores.score_table))


def _count_wins(
    seed: int, model: Floats, rows: ContextFeatures, scale: float, scores: Scores
) -> Floats:
    """Estimate each arm's chance as its share of wins in draws from the shared model."""
    score_table, d = scores.score_table, rows.n_features
    score_table[:, STATISTICS] = 0
    return estimate_win_probabilities(seed, model, rows.x, score_table, d, scale, _DRAWS)
