"""The covariate level paid by its variance, bounded by the total variance less that within.

Each of four statements fails with at most its share of error; on few rows the shares are
large, so that the statements say something.
"""

from dataclasses import dataclass
from math import log

import numpy as np
import pytest

from tests.bounds.claims.forms import make_back_door
from tests.bounds.claims.levels import estimate
from tests.bounds.claims.logs import Floats, Law, Logs, draw_hard_laws, list_logs, pair_logs
from tests.bounds.claims.penalties import pay_hoeffding, weigh_squares

REWARDS = {"binary": (0.0, 1.0), "numeric": (0.0, 0.5, 1.0)}


@dataclass(frozen=True)
class Variance:
    """The statements on every log: whether each fails, and the bound with the true value."""

    failures: dict[str, Floats]
    bound: Floats
    truth: Floats
    theta_low: Floats
    theta: float
    penalty: Floats


def bound_variance(
    law: Law, census: Logs, logs: Logs, rewards: tuple[float, ...], factor: float, share: float
) -> Variance:
    """Bound ``sum_z P(z) (m_z - theta)**2`` at shares, with four statements at ``share``."""
    form = make_back_door(rewards)
    low, high = (estimate(form, law, [census, logs], hole=hole) for hole in (0.0, 1.0))
    truths = form.find_truths(law)
    means, weights, theta = truths[1][:, 1], low.shares[0], form.find_theta(law)
    average = weights @ means
    radius = (log(1 / share) + pay_hoeffding(low, 1, factor)) / factor
    bottom, top = np.clip(low.theta - radius, 0, 1), np.clip(high.theta + radius, 0, 1)
    nearest = np.clip(0.5, bottom, top)
    rows = low.rows[1][:, :, 1]
    values = np.array(rewards)
    hits = low.hits[1][..., 1]
    ones, squares = (np.tensordot(hits, v, axes=(1, 0)) for v in (values, values**2))
    pairs, seen = np.floor(rows / 2), rows >= 2
    within = np.where(
        seen, (squares - ones**2 / np.maximum(rows, 1)) / np.maximum(rows - 1, 1), 0.0
    )
    doubt = (np.where(seen, weights**2, 0) / (4 * np.maximum(pairs, 1))).sum(axis=1)
    least = (weights * within).sum(axis=1) - np.sqrt(log(1 / share) / 2 * doubt)
    n = float(low.rows[0][0])
    drift = log(2 / share) / (2 * n)
    failures = {
        "above": average < low.theta - radius - 1e-12,
        "below": average > high.theta + radius + 1e-12,
        "within": (weights * (means * (1 - means))).sum(axis=1) < least - 1e-12,
        "drift": (average - theta) ** 2 > drift + 1e-12,
    }
    bound = np.maximum(nearest * (1 - nearest) - np.maximum(least, 0), 0) + drift
    spread = low.spread(0)
    scale = np.full(len(spread), factor / n)
    penalty = pay_hoeffding(low, 1, factor) + n * weigh_squares(scale) * bound
    return Variance(failures, bound, spread, low.theta, theta, penalty)


@pytest.mark.parametrize("kind", REWARDS)
@pytest.mark.parametrize("external", [False, True])
def test_statements(kind: str, external: bool) -> None:
    rewards = REWARDS[kind]
    rows = 5 if kind == "binary" else 4
    informed = 0.0
    for law in draw_hard_laws("zxy", (2, 2, len(rewards)), draws=2):
        census = logs = list_logs(law, rows)
        if external:
            census, logs = pair_logs(list_logs(Law(("z",), law.tables[:1]), 6), logs)
        for factor in (1.0, 3.0, 5.0):
            for share in (0.02, 0.1, 0.25, 0.5, 0.8):
                found = bound_variance(law, census, logs, rewards, factor, share)
                for fails in found.failures.values():
                    assert logs.mean(fails.astype(float)) <= share
                wrong = found.bound < found.truth - 1e-12
                assert logs.mean(wrong.astype(float)) <= 4 * share
                held = ~np.any(list(found.failures.values()), axis=0)
                assert not (wrong & held).any()
                informed = max(informed, logs.mean((found.bound < 0.25).astype(float)))
    assert informed > 0.1


def test_end_holds() -> None:
    """The end that pays by the bound misses at most as often as it may."""
    for law in draw_hard_laws("zxy", (2, 2, 2)):
        logs = list_logs(law, 6)
        for factor in (1.0, 3.0, 5.0):
            for a in (0.2, 0.5, 0.8):
                found = bound_variance(law, logs, logs, (0.0, 1.0), factor, 0.06 * a / 4)
                low = found.theta_low - (log(1 / (0.94 * a)) + found.penalty) / factor
                assert logs.mean((low > found.theta).astype(float)) <= a
