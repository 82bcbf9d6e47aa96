r"""What the paper's theorems promise about regret, as functions of stated quantities.

The bounds :math:`[L_{a,c}, U_{a,c}]` must hold: every promise below is void otherwise. An arm
is *ruled out* in a context when its upper end lies below the best mean there.

Theorem 6 has no ceiling. It says that bounds which rule out an arm lower LinUCB's regret, and
that does not hold, not even in expectation (D-29): bounds lower the ceilings of this page, and
``find_ruled_out`` lists the arms that its Lemma 6 speaks of.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bandit.oam.allocation import allocate
from boundit.core.errors import BounditError
from boundit.core.rounding import EXACT_ROUNDING
from boundit.results.bound import Context, Key
from boundit.results.bound_table import BoundTable

K = TypeVar("K", bound=Key)


class OutsideTheorem(BounditError):
    """Quantities for which a theorem's proof does not go through."""

    def __init__(self, ridge: float, norm: float) -> None:
        self.ridge, self.norm = ridge, norm
        super().__init__(
            f"Lemma 3 needs a ridge of at least {max(1.0, norm**2):g} for features of length "
            f"{norm:g}, found {ridge:g}; scale the features down or the ridge up"
        )


def find_ruled_out(bounds: BoundTable, means: Mapping[K, float]) -> tuple[K, ...]:
    r"""List the arms and contexts that bounds rule out: upper end below the best mean.

    That is the best mean of the context. ``means`` has :math:`\mu_{a,c}` for every arm and
    context, as ``World.means`` gives them.
    """
    best = _find_best_means(means)
    return tuple(key for key in means if bounds[key].upper < best[key[1]])


def count_ruled_out(bounds: BoundTable, means: Mapping[K, float]) -> int:
    r"""Count the pairs of arm and context that bounds rule out, :math:`N_{pcb}^-`.

    Their upper end lies below the best mean of the context.

    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.2, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> count_ruled_out(table, {(("A",), ()): 0.25, (("B",), ()): 0.5})
    1
    """
    return len(find_ruled_out(bounds, means))


def find_largest_norm(
    features: Mapping[K, Sequence[float]],
    means: Mapping[K, float],
    bounds: BoundTable | None = None,
) -> float:
    r"""Measure the longest vector that may be pulled, :math:`L` of Theorem 5.

    .. math:: L = \max_{a,c:\; U_{a,c} \ge \mu^*_c} \lVert x_{a,c} \rVert_2

    Bounds never raise it, and need not lower it: the best arm is never ruled out (D-27).
    """
    gone = set(find_ruled_out(bounds, means)) if bounds else set()
    return max(float(np.linalg.norm(features[key])) for key in means if key not in gone)


def bound_log_volume(
    *, horizon: int, n_features: int, norm: float, ridge: float = 1.0
) -> float:
    r"""Bound how much a regression can know, :math:`d \log(1 + T L^2 / (d \lambda))`.

    Lemma 4: :math:`\log(|A_T| / \lambda^d)` is at most this after ``horizon`` :math:`T` vectors
    of ``n_features`` :math:`d` numbers, none longer than ``norm`` :math:`L`, with ``ridge``
    :math:`\lambda`. Lemma 3: twice this bounds the sum of :math:`\lVert x_t
    \rVert^2_{A_{t-1}^{-1}}`, where the ridge is at least :math:`\max(1, L^2)`.
    """
    return n_features * math.log1p(horizon * norm**2 / (n_features * ridge))


def compute_confidence_radius(
    *,
    horizon: int,
    n_features: int,
    norm: float,
    theta_norm: float,
    ridge: float = 1.0,
    delta: float,
) -> float:
    r"""Compute the radius of the confidence ellipsoid, what ``alpha`` must reach (Lemma 5).

    .. math:: \sqrt\lambda M + \sqrt{2 \log(1/\delta) + d \log(1 + T L^2 / (d \lambda))}

    With probability :math:`1 - \delta` the coefficients lie in it in every round up to
    ``horizon`` :math:`T`, the noise being 1-sub-Gaussian; ``theta_norm`` is :math:`M`, at least
    their length. ``horizon`` is in the radius, so later rounds are not covered (D-25).
    """
    volume = bound_log_volume(horizon=horizon, n_features=n_features, norm=norm, ridge=ridge)
    return math.sqrt(ridge) * theta_norm + math.sqrt(2 * math.log(1 / delta) + volume)


def compute_lin_ucb_ceiling(
    *,
    horizon: int,
    n_features: int,
    norm: float,
    theta_norm: float,
    ridge: float = 1.0,
    delta: float,
    regressions: int = 1,
) -> float:
    r"""Compute a ceiling on the regret of LinUCB and LinUCB-PCB (Theorem 5).

    .. math:: 2 \alpha \sqrt{2 T d \log(1 + T L^2 / (d \lambda))}

    with :math:`\alpha` the ``compute_confidence_radius`` and its symbols; ``norm`` is the
    ``find_largest_norm`` with the bounds, or without. What holds differs from what is printed:

    - it holds with probability :math:`1 - \delta`, not in expectation, and for an ``alpha`` of
      at least the radius (D-25);
    - the proof is for one regression shared by all arms. For one regression an arm give their
      number: the same steps cost a factor :math:`\sqrt k`, and :math:`\delta` is divided among
      them (D-24);
    - Lemma 3 needs a ridge of at least :math:`\max(1, L^2)`, or this raises (D-26).

    >>> how = {"n_features": 5, "norm": 1.0, "theta_norm": 1.0, "delta": 0.05}
    >>> round(compute_lin_ucb_ceiling(horizon=15_000, **how))
    17061
    """
    if ridge < max(1.0, norm**2):
        raise OutsideTheorem(ridge, norm)
    volume = bound_log_volume(horizon=horizon, n_features=n_features, norm=norm, ridge=ridge)
    radius = compute_confidence_radius(
        horizon=horizon,
        n_features=n_features,
        norm=norm,
        theta_norm=theta_norm,
        ridge=ridge,
        delta=delta / regressions,
    )
    return 2 * radius * math.sqrt(2 * horizon * regressions * volume)


def compute_oam_rate(
    features: Mapping[K, Sequence[float]],
    means: Mapping[K, float],
    bounds: BoundTable | None = None,
    *,
    pull_ruled_out: bool = False,
) -> float:
    r"""Compute what OAM-PCB regrets for each unit of :math:`\log T`, in the limit (Theorem 7).

    Without bounds that is what OAM regrets. With them it is what an algorithm could reach that
    knows the best mean; Algorithm 5 does not, and goes on exploring an arm whose upper end lies
    below it, unless some lower end rules the arm out (D-43).

    The optimal value :math:`\mathcal V(\theta, \mathcal A)` of

    .. math::

       \inf_{\alpha \ge 0} \sum \alpha_{a,c} \Delta_{a,c} \quad\text{such that}\quad
       x_{a,c}^T \Bigl(\sum \alpha_{a,c} x_{a,c} x_{a,c}^T\Bigr)^{-1} x_{a,c}
       \le \Delta_{a,c}^2 / 2

    over pairs with :math:`U_{a,c} \ge \mu^*_c`, where :math:`\Delta_{a,c}` is the gap of the
    means, linear in the ``features`` :math:`x_{a,c}`, and the noise is 1-sub-Gaussian. It is
    the limit superior of :math:`R(T) / \log T`; of a finite :math:`T` it says nothing (D-35).

    The constraints of ruled-out arms go too (D-33). Even so bounds can *raise* the value: an
    arm that is bad may be the cheapest way to learn about the others, and is not pulled any
    more. With ``pull_ruled_out`` it may be, and then no valid bound raises the value.

    Two arms that tell nothing of each other: 2 over the gap, as Lai and Robbins have it.

    >>> a, b = (("A",), ()), (("B",), ())
    >>> round(compute_oam_rate({a: (1, 0), b: (0, 1)}, {a: 0.5, b: 0.25}), 3)
    8.0
    """
    gone = set(find_ruled_out(bounds, means)) if bounds else set()
    keys = [key for key in means if pull_ruled_out or key not in gone]
    best = _find_best_means(means)
    x = np.array([features[key] for key in keys], dtype=np.float64)
    gaps = np.array([best[key[1]] - means[key] for key in keys])
    tested = np.array([key not in gone for key in keys])
    return allocate(x, gaps, tested, 2.0, math.inf, 0.0).cost


def compute_oam_ceiling(
    features: Mapping[K, Sequence[float]],
    means: Mapping[K, float],
    bounds: BoundTable | None = None,
    *,
    horizon: int,
    sigma2: float = 1.0,
) -> float:
    r"""Compute what Theorem 7 prints, :math:`\log(T) \mathcal V(\theta, \mathcal A)`.

    For ``horizon`` :math:`T`. As a ceiling it holds in the limit only (D-35). ``sigma2`` is the
    variance proxy of the noise, 1 in the text and at most 1/4 for rewards in [0, 1]; the value
    grows with it in proportion.

    >>> a, b = (("A",), ()), (("B",), ())
    >>> round(compute_oam_ceiling({a: (1, 0), b: (0, 1)}, {a: 0.5, b: 0.25}, horizon=1000), 2)
    55.26
    """
    return (
        sigma2 * math.log(_require_horizon(horizon)) * compute_oam_rate(features, means, bounds)
    )


def compute_ucb_ceiling(
    means: Mapping[K, float], *, horizon: int, bounds: BoundTable | None = None
) -> float:
    r"""Compute a ceiling on the expected regret of UCB and UCB-PCB (Theorem 8).

    .. math::

       3 \sum_a \Delta_a + \sum_{a:\; U_a \ge \mu^*,\, \Delta_a > 0} \frac{16 \log T}{\Delta_a}

    for ``horizon`` :math:`T`, 1-sub-Gaussian rewards (those in [0, 1] are) and :math:`\delta =
    1/T^2` in the index; :math:`\Delta_a` is the gap of arm :math:`a`. It is an upper bound,
    where the text has an equality, and the best arm is no term of the sum (D-37). With
    contexts, one index for each pair: the sum over contexts, none of which is met more than
    :math:`T` times.

    >>> a, b = (("A",), ()), (("B",), ())
    >>> round(compute_ucb_ceiling({a: 0.5, b: 0.25}, horizon=1000), 2)
    442.85
    """
    log_t = math.log(_require_horizon(horizon))
    gone = set(find_ruled_out(bounds, means)) if bounds else set()
    best = _find_best_means(means)
    gaps = {key: best[key[1]] - mean for key, mean in means.items()}
    searched = sum(
        1 / gap for key, gap in gaps.items() if gap > EXACT_ROUNDING and key not in gone
    )
    return 3 * sum(gaps.values()) + 16 * log_t * searched


def _require_horizon(horizon: int) -> int:
    """Refuse a horizon without a single round."""
    if horizon < 1:
        raise BadOption("horizon", "a whole number, 1 or more", horizon)
    return horizon


def _find_best_means(means: Mapping[K, float]) -> dict[Context, float]:
    """Find the best mean of every context."""
    best: dict[Context, float] = {}
    for (_, context), mean in means.items():
        best[context] = max(mean, best.get(context, mean))
    return best
