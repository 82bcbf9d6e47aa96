"""Whether intervals from logged propensities cover while rewards come late.

Thompson sampling decides for a thousand visitors before it hears of any reward. What each arm
earns is then estimated from the log by inverse propensities; a 95 % interval should hold the
truth in 95 % of the logs. An arm that hardly ever comes weighs much when it does, and its
interval is then too short unless a floor of exploration keeps its propensity up.
"""

import math
from typing import TYPE_CHECKING

import click
import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.ts import TS

if TYPE_CHECKING:
    from collections.abc import Mapping

MEANS = (0.5, 0.45, 0.4)
VISITORS, LATE, LOGS = 3000, 1000, 100


def cover_means(
    seed: int, *, explore: float, visitors: int = VISITORS, late: int = LATE
) -> list[bool]:
    """Write one log; tell for each arm whether its interval holds what the arm earns.

    Rewards of ``late`` visitors come together, after the last of them.
    """
    policy = TS(arms=range(len(MEANS)), seed=seed, explore=explore)
    rng = np.random.default_rng(seed)
    terms, waiting = np.zeros((visitors, len(MEANS))), list[tuple[Decision, float]]()
    chances: Mapping[object, float] = {}
    for i in range(visitors):
        decision = policy.decide(id=f"log {seed}, visitor {i}")
        arm = int(str(decision.arm))
        reward = float(rng.random() < MEANS[arm])
        # While nothing is learned, the chances of the arms stay as they are.
        chances = chances if waiting else decision.propensities
        terms[i, arm] = reward / chances[decision.arm]
        waiting.append((decision, reward))
        if len(waiting) == late:
            for waited, earned in waiting:
                policy.learn(waited, earned)
            waiting.clear()
    off = np.abs(terms.mean(axis=0) - MEANS)
    wide: list[bool] = (off <= 1.96 * terms.std(axis=0) / math.sqrt(visitors)).tolist()
    return wide


def run(logs: int = LOGS) -> None:
    """Print how many intervals cover, with a floor of exploration and without."""
    click.echo(f"{logs} logs of {VISITORS} visitors, rewards {LATE} visitors late: how many of")
    click.echo("the 95 % intervals from logged propensities cover what an arm earns")
    click.echo(f"{'explore':<12}" + "".join(f"{f'arm of {mean}':>14}" for mean in MEANS))
    for explore in (0.0, 0.1, 0.3):
        covered = np.sum([cover_means(seed, explore=explore) for seed in range(logs)], axis=0)
        click.echo(f"{explore:<12}" + "".join(f"{hits:>14}" for hits in covered.tolist()))


if __name__ == "__main__":
    run()
