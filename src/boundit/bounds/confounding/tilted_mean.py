r"""Means of everyone, when those who got another arm may differ so far from those who did not.

Of some value ``V`` (the reward, or what a chain makes of a variable) only those with arm ``x``
show what it is under ``x``. Of everybody, with ``e = P(x)``,

.. math:: E[V(x)] = e\,E[V \mid x] + (1 - e)\,E[\rho V \mid x], \qquad E[\rho \mid x] = 1

where ``rho`` is how much commoner a value is among the others, and a limit ``L`` on the odds of
``x`` states ``1/L <= rho <= L``. The least ``E[rho V | x]`` puts ``L`` on the smallest values
until the mean of ``rho`` is used up, which is their share ``1 / (1 + L)``, and ``1/L`` on all
others. It falls as ``e`` falls and as the law of ``V`` is shifted down, so that over intervals
of both it is at the least ``e`` and the lowest law. It is sharp (Dorn and Guo 2023).
"""

import numpy as np

from boundit.bounds.rules.chain import find_lowest_law
from boundit.counts.named_array import Floats


def find_least_tilted_mean(
    chance: Floats, low: Floats, high: Floats, values: Floats, limit: float
) -> Floats:
    """Find the least mean of everyone, the least ``chance`` of the arm and a law being known.

    ``low`` and ``high`` bound the law of the ``values`` among those who got the arm, along the
    last axis; ``limit`` is infinite where nothing is known of the others, who may then have any
    of the values. The greatest mean is that of the values with the other sign.

    >>> chance, law = np.array(0.4), np.array([0.7, 0.3])
    >>> [float(find_least_tilted_mean(chance, law, law, np.arange(2.0), g).round(3))
    ...     for g in (1.0, 2.0, np.inf)]
    [0.3, 0.21, 0.12]
    """
    weights, ordered = find_lowest_law(low, high, values)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    mean = (weights * ordered).sum(axis=-1)
    others = find_least_mean_of_others(weights, ordered, mean, limit)
    return np.asarray(chance * mean + (1 - chance) * others)


def find_least_mean_of_others(
    weights: Floats, ordered: Floats, mean: Floats, limit: float
) -> Floats:
    """Find the least mean of those who got another arm, by the law of those who got this one.

    ``ordered`` values come smallest first.
    """
    if limit == np.inf:
        return ordered[..., 0]
    share = 1 / (1 + limit)
    before = weights.cumsum(axis=-1) - weights
    taken = np.minimum(weights, (share - before).clip(0))
    lowest = (taken * ordered).sum(axis=-1) / taken.sum(axis=-1)
    return np.asarray(mean / limit + (1 - 1 / limit) * lowest)
