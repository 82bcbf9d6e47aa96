"""Thompson sampling on ridge regressions, truncated to prior bounds, without drawing.

With a regression for each arm their means are independent, and the quadrature of ``best_arm``
gives each arm's probability (Agrawal and Goyal 2013 draw instead).
"""

from typing import Any, NamedTuple, Unpack

import numpy as np

from boundit.bandit.best_arm import (
    COLUMNS,
    LOWER,
    MEAN,
    P_BEST,
    SD,
    UPPER,
    weigh_arms,
)
from boundit.bandit.compiled import kernel, step
from boundit.bandit.features import Features
from boundit.bandit.ids import Floats, Ints, pick_arm
from boundit.bandit.options import CommonOptions
from boundit.bandit.ridge import LinearPolicy, WarmStart, find_spread, predict, update
from boundit.bandit.runs import register_runs
from boundit.results.bound_table import BoundTable

_LEAST_SPREAD = 1e-9


class LinTSArrays(NamedTuple):
    """``models`` as in ``ridge``; ``x`` for whole runs: contexts x arms x p."""

    models: Floats
    bounds: Floats
    x: Floats
    d: int
    scale: float


@kernel
def score_lin_ts(
    models: Floats, x: Floats, bounds: Floats, c: int, columns: Ints, d: int, scale: float
) -> Floats:
    """Write the distribution of each arm's mean: normal, truncated to the bounds.

    And the probability that it is the best.
    """
    belief, scratch = np.zeros((columns.size, COLUMNS)), np.empty(x.shape[1])
    for i in range(columns.size):
        k = columns[i]
        belief[i, MEAN] = predict(models[k], x[k])
        spread = scale * find_spread(models[k], x[k], d, scratch)
        belief[i, SD] = max(spread, _LEAST_SPREAD)
        belief[i, LOWER], belief[i, UPPER] = bounds[c, k, 0], bounds[c, k, 1]
    weigh_arms(belief)
    return belief


@kernel
def _choose(
    arrays: LinTSArrays, c: int, columns: Ints, start: int, stop: int, uniform: float
) -> int:
    a, open_ = arrays, columns[start:stop]
    belief = score_lin_ts(a.models, a.x[c], a.bounds, c, open_, a.d, a.scale)
    k: int = open_[pick_arm(belief[:, P_BEST], uniform)]
    return k


@step
def _learn(arrays: LinTSArrays, c: int, k: int, reward: float, leaf: int) -> None:
    model = arrays.models[k]
    update(model, arrays.x[c, k], arrays.d, reward, model[arrays.x.shape[2] + 2])


register_runs(LinTSArrays, choose=_choose, learn=_learn)


class LinTS(LinearPolicy):
    """Thompson sampling with a ridge regression for each arm, truncated to the prior bounds.

    An arm is played with the probability that it is the best; its coefficients are normal with
    covariance ``scale^2 inverse(A)``. Features are ``[1, context, treatments]``, with text
    one-hot. It assumes that mean rewards are linear in them.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds to start from.
    scale : float
        How noisy rewards are: 0.5 is enough for rewards from 0 to 1, and less explores less.
    ridge : float
        The penalty of the regressions.
    features : function, optional
        Gives the features for a context and an arm, instead of those above.
    warm_start : WarmStart, optional
        Estimates that the regressions start from.
    **common
        The options of every policy: see ``Policy``.

    Examples
    --------
    >>> policy = LinTS(arms=["A", "B"], context=["Age"], seed=0)
    >>> policy.learn(policy.decide({"Age": 0.3}), 1.0)
    >>> round(sum(policy.decide({"Age": 0.3}).propensities.values()), 9)
    1.0
    """

    draws = True

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        scale: float = 1.0,
        ridge: float = 1.0,
        features: Features | None = None,
        warm_start: WarmStart | None = None,
        **common: Unpack[CommonOptions],
    ) -> None:
        own = {
            "scale": scale,
            "ridge": ridge,
            "features": features,
            "warm_start": warm_start,
        }
        super().__init__(prior, own, common)

    def make_arrays(self) -> LinTSArrays:
        """Make the regressions of nothing learned."""
        models, nothing, scale = self.make_models(), np.zeros((0, 0, 0)), self.options["scale"]
        return LinTSArrays(models, self.prior.bounds, nothing, self.d, scale)

    def score(self, context: Any, row: int, columns: Ints) -> tuple[int, Floats, Floats]:
        """Compute the probability that each arm is the best; scores are the expected rewards."""
        found = self.find_features(context, columns)
        a = self.arrays
        belief = score_lin_ts(a.models, found.x, a.bounds, row, columns, a.d, a.scale)
        mean = belief[:, MEAN]
        kept = np.minimum(np.maximum(mean, belief[:, LOWER]), belief[:, UPPER])
        return -1, belief[:, P_BEST].copy(), np.array([mean, kept]).T

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Any, rounds: Any) -> Any:
        """Give regressions of nothing learned, with the features of an environment."""
        x = self.lay_out_features(contexts)
        return self.make_arrays()._replace(bounds=self.prior.bounds[rows], x=x)
