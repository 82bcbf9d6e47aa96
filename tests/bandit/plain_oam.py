"""One round of Algorithm 5 in plain NumPy: the oracle of the compiled one."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.oam.round import Branch, MatchingConstants

Numbers = NDArray[np.float64]


class Known(NamedTuple):
    """What all rounds so far have taught."""

    gram: Numbers
    moment: Numbers
    pairs: Numbers
    blocks: NDArray[np.int64]
    explorations: int
    events: int


class Arms(NamedTuple):
    """The arms at hand."""

    x: Numbers
    pulls: Numbers
    allocation: Numbers
    lower: Numbers
    upper: Numbers


def estimate(x: Numbers, known: Known) -> tuple[Numbers, Numbers, Numbers]:
    """``theta``, the spread of each row, and its share that nothing measured."""
    size = np.square(x).sum(axis=1)
    ridge = 1e-6 * (float(size.max()) or 1.0)
    inverse = np.linalg.inv(known.gram + ridge * np.eye(x.shape[1]))
    spreads = np.einsum("ij,jk,ik->i", x, inverse, x)
    unseen = np.divide(ridge * spreads, size, out=np.zeros_like(size), where=size > 0)
    return inverse @ known.moment, spreads, unseen


def compute_width(constants: MatchingConstants, delta: float, d: int) -> float:
    """The printed formula, after eq. (17)."""
    log_n = math.log(constants.horizon)
    spent = constants.c * d * math.log(d * log_n)
    return constants.sigma2 * (2 * (1 + 1 / log_n) * math.log(1 / delta) + spent)


def choose_for_visitor(
    constants: MatchingConstants, known: Known, arms: Arms
) -> tuple[Branch, int, Numbers]:
    """The branch, the place of the arm pulled, and the index (lines 3 to 25)."""
    theta, spreads, unseen = estimate(arms.x, known)
    if unseen.max() > 1e-3:
        return Branch.START, int(spreads.argmax()), spreads
    d, s = arms.x.shape[1], known.explorations
    means, f = arms.x @ theta, compute_width(constants, 1 / constants.horizon, d)
    blocks = np.split(known.pairs @ theta, known.blocks[1:-1])
    gaps = np.concatenate([m.max() - m for m in (means, *blocks)])
    least = max(gaps[gaps > 1e-9].min(initial=math.inf), constants.smallest_gap)
    least = constants.smallest_gap if math.isinf(least) else least
    if (spreads <= np.maximum(means.max() - means, least) ** 2 / f).all():
        index = np.clip(means, arms.lower, arms.upper)
        return Branch.EXPLOIT, _best(index, means), index
    needed = np.minimum(arms.allocation, f / least**2)
    if (arms.pulls >= needed).all():
        hopes = means + np.sqrt(compute_width(constants, (s + 1) ** -2, d) * spreads)
        index = np.minimum(hopes, arms.upper)
        return Branch.WASTED, _best(index, hopes), index
    forced = constants.epsilon
    if math.isnan(forced):
        forced = 1 / max(math.log(math.log(max(known.events + 1, 16))), 1)
    if arms.pulls.min() <= forced * s:
        return Branch.FORCED, _best(-arms.pulls, means), -arms.pulls
    with np.errstate(divide="ignore", invalid="ignore"):
        index = np.where(needed > 0, -arms.pulls / needed, -math.inf)
    return Branch.UNWASTED, _best(index, means), index


def _best(index: Numbers, free: Numbers) -> int:
    return int(np.lexsort((-np.arange(len(index)), free, index))[-1])
