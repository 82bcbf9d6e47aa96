"""A run of the simulator, played by the service: the same visitors and luck, round by round.

A round is a second on a clock that stands still meanwhile. What the service hears of a round,
and when, is given; so the same run can be heard of in several ways.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from boundit.bandit.ids import Ints
from boundit.service.commands import (
    CloseWindows,
    Decide,
    DecideRequest,
    GiveRewards,
    RewardRequest,
)
from boundit.service.engine import Engine
from boundit.simulation.block import RunBlock
from tests.service.kit import NOON, SECOND, SetClock

NEVER = -1


@dataclass(frozen=True)
class Heard:
    """After how many rounds the service is told of a success, and of a failure; or NEVER."""

    success: Sequence[int]
    failure: Sequence[int]

    def find_delay(self, t: int, reward: float) -> int:
        return (self.success if reward else self.failure)[t]


@dataclass(frozen=True)
class PlayedRun:
    """The arms that the service pulled, and how often it answered rewards by each status.

    ``learned`` has, for the rounds asked for, how many rewards it had learned and their sum.
    """

    pulls: Ints
    statuses: dict[str, int]
    learned: dict[int, tuple[int, float]]


def play_service(
    engine: Engine,
    clock: SetClock,
    name: str,
    chunk: RunBlock,
    i: int,
    heard: Heard,
    *,
    look_at: Collection[int] = (),
) -> PlayedRun:
    """Play run ``i`` of a chunk with a policy of the engine that has learned nothing yet."""
    environment = chunk.environment.finite
    place = {arm: j for j, arm in enumerate(environment.arms)}
    rounds = chunk.contexts.shape[1]
    pulls, statuses = np.empty(rounds, np.int64), defaultdict[str, int](int)
    learned = dict[int, tuple[int, float]]()
    to_tell = defaultdict[int, list[RewardRequest]](list)
    for t, context in enumerate(chunk.contexts[i].tolist()):
        clock.now = NOON + t * SECOND
        if told := to_tell.pop(t, None):
            for answer in engine.run(GiveRewards(name, told)).rewards:
                statuses[answer.status] += 1
        engine.run(CloseWindows(name))
        visitor = DecideRequest(str(t), list(environment.contexts[context]))
        decision = engine.run(Decide(name, [visitor])).decisions[0]
        values = decision.arm.values() if isinstance(decision.arm, dict) else decision.arm
        pulls[t] = arm = place[tuple(values)]
        reward = float(chunk.uniforms[i, t] < environment.means[context, arm])
        delay = heard.find_delay(t, reward)
        if delay != NEVER:
            to_tell[t + 1 + delay].append(RewardRequest(str(t), reward))
        if t + 1 in look_at:
            rows = engine.list_daily_counts(name)
            learned[t + 1] = (
                sum(row.rewards for row in rows),
                sum(row.reward_sum for row in rows),
            )
    return PlayedRun(pulls, dict(statuses), learned)
