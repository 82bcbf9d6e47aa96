"""Endpoints of ratios of two linear forms over a box of distributions."""

from math import inf

import numpy as np

from boundit.counts.named_array import Floats

ROUNDS = 4
_LEAST = 1e-9  # a smaller denominator proves nothing


def bound_ratios(sign: int, top: Floats, bottom: Floats, low: Floats, high: Floats) -> Floats:
    """The greatest (``sign`` 1) or least (-1) ``top theta / bottom theta``, row by row.

    Over ``low <= theta <= high`` that sum to one. Linear-fractional: Dinkelbach (1967) on a
    greedy filling. The last filling is the greatest of ``(top - t bottom) theta``, so that no
    ratio exceeds t by more than that over the least denominator; and none exceeds the ratios of
    single coefficients, whatever theta is.
    """
    theta = np.broadcast_to((low + high) / 2, top.shape)
    ratio = np.zeros(len(top))
    for _ in range(ROUNDS):
        below = np.maximum((bottom * theta).sum(axis=1), 1e-14)
        ratio = (top * theta).sum(axis=1) / below
        order = np.argsort(-sign * (top - ratio[:, None] * bottom), axis=1)
        slack = (high - low)[order]
        filled = np.clip((1 - low.sum()) - (np.cumsum(slack, axis=1) - slack), 0, slack)
        theta = np.empty(top.shape)
        np.put_along_axis(theta, order, low[order] + filled, axis=1)
    slack = np.maximum(sign * ((top - ratio[:, None] * bottom) * theta).sum(axis=1), 0.0)
    least = np.maximum((bottom * low).sum(axis=1), bottom.min(axis=1))
    proved = np.where(
        least > _LEAST, ratio + sign * slack / np.maximum(least, _LEAST), sign * inf
    )
    none = ~(bottom > 0).any(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        single = np.where(
            bottom > 0, top / bottom, np.where((top > 0) | none, sign * inf, -sign * inf)
        )
    worst = sign * np.minimum(sign * proved, (sign * single).max(axis=1))
    return np.asarray(worst, dtype=np.float64)
