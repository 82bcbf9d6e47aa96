"""R-OFUL (Sharma, Basu, Shanmugam and Shakkottai): linear means that have bounds.

From the paper's abstract: bounds on means give smaller sub-Gaussian factors, and with the
linear model they may rule out arms altogether. Here every arm has a ridge model of its own, as
LinUCB's; the radius of its ellipsoid is OFUL's (Abbasi-Yadkori, Pal and Szepesvari 2011),
``noise sqrt(log(det A) + 2 log(K / d)) + 1`` with ridge 1 and d = .01, and no index passes the
highest mean that a linear model within all bounds of the arm can have. This restriction and the
constants are ours: the paper's are not in its abstract, which has one vector of coefficients
for all arms.

A model is the logarithm of the determinant, the estimate and the inverse, in a row of numbers.
The option ``scale``, 1 unless tuned, multiplies the radius.
"""

import math

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel, inline_kernel
from boundit_research.rivals.bounded_kernels import find_best_row
from boundit_research.rivals.columns import FEATURES, FREE, INDEX, LOWER, NOISE, UPPER

_DELTA = 0.01
_NORM = 1.0
"""How long an arm's coefficients may be, times the root of the ridge."""


@compile_kernel
def make_untrained(arms: int, d: int) -> Floats:
    """Make the models of all arms before the first reward: ridge 1, nothing learned.

    Gives a row of numbers for each.
    """
    models = np.zeros((arms, 1 + d + d * d))
    for arm in range(arms):
        for i in range(d):
            models[arm, 1 + d + i * d + i] = 1.0
    return models


@inline_kernel
def _multiply_inverse(model: Floats, x: Floats, found: Floats) -> float:
    """Multiply features with a model's inverse, into ``found``; gives ``x' inverse x``."""
    d, square = x.size, 0.0
    for i in range(d):
        found[i] = 0.0
        for j in range(d):
            found[i] += model[1 + d + i * d + j] * x[j]
        square += found[i] * x[i]
    return square


@compile_kernel
def decide_r_oful(block: Floats, models: Floats, scale: float) -> int:
    """Make one decision of R-OFUL; gives the arm's row."""
    arms, d = block.shape[0], block.shape[1] - FEATURES
    found, least = np.empty(d), -np.inf
    for arm in range(arms):
        least = max(least, block[arm, LOWER])
    for arm in range(arms):
        if block[arm, UPPER] < least:
            block[arm, INDEX] = np.nan
            continue
        model, x = models[arm], block[arm, FEATURES:]
        spread = math.sqrt(max(_multiply_inverse(model, x, found), 0.0))
        surprise = model[0] + 2.0 * math.log(arms / _DELTA)
        free = scale * (block[arm, NOISE] * math.sqrt(surprise) + _NORM) * spread
        for i in range(d):
            free += model[1 + i] * x[i]
        block[arm, FREE], block[arm, INDEX] = free, min(free, block[arm, UPPER])
    return find_best_row(block)


@compile_kernel
def learn_r_oful(block: Floats, models: Floats, row: int, reward: float) -> None:
    """Let the ridge model of an arm learn a reward (Sherman and Morrison)."""
    d = block.shape[1] - FEATURES
    model, x, found = models[row], block[row, FEATURES:], np.empty(d)
    growth = 1.0 + _multiply_inverse(model, x, found)
    surprise = reward
    for i in range(d):
        surprise -= model[1 + i] * x[i]
    for i in range(d):
        model[1 + i] += found[i] * surprise / growth
        for j in range(d):
            model[1 + d + i * d + j] -= found[i] * found[j] / growth
    model[0] += math.log(growth)
