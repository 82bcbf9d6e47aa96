"""The mean of a claim's e-value over every log: at most 1 for a claim that holds."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tests.bounds.claims.levels import Estimate
from tests.bounds.claims.logs import Floats
from tests.bounds.claims.penalties import Payer, pay_hoeffding

LevelPayer: TypeAlias = Callable[[Estimate, int, float], Floats]
"""For every log, the penalty of a level before the last."""
SLACK = 1e-9
"""What rounding may add to a mean of 1."""
FACTORS = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0)
"""The scales tried."""


def find_e_values(
    estimate: Estimate,
    factor: float,
    pay_last: Payer,
    pay: LevelPayer = pay_hoeffding,
) -> Floats:
    """Find for every log ``exp(factor (theta_low - theta) - penalties)``, mean over orders."""
    theta = estimate.form.find_theta(estimate.law)
    cost = np.zeros(len(estimate.rows[-1]))
    for place in range(len(estimate.form.levels) - 1):
        cost = cost + pay(estimate, place, factor)
    return pay_last(estimate, factor) * np.exp(factor * (estimate.theta - theta) - cost)
