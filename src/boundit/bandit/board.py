"""A stage as one policy sees it: its own arms in each context, laid out for whole runs."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from boundit.bandit.lineup import Lineup
from boundit.bandit.prior import Prior
from boundit.bandit.scene import Scene
from boundit.bandit.stage import Floats, Places, Stage
from boundit.terms.bound import Arm, Context
from boundit.terms.errors import BounditError


@final
@dataclass(frozen=True, eq=False)
class Board:
    """The arms of every context by decreasing cap, context after context in flat arrays.

    Those of context ``c`` lie from ``starts[c]`` to ``starts[c + 1]``; ``arms`` are what
    ``place`` speaks of, ``target`` is the place of an arm on the stage.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    lineups: tuple[Lineup, ...]
    starts: Places
    means: Floats
    lower: Floats
    upper: Floats
    place: Places
    target: Places

    @classmethod
    def of(cls, scene: Scene, prior: Prior, stage: Stage) -> Self | None:
        """Lay out a stage; None if the policy would refuse one of its visitors or rewards."""
        low, high = scene.reward_range
        known = {arm: i for i, arm in enumerate(stage.arms)}
        if not (scene.arms and set(scene.arms) <= set(known) and low <= 0 and high >= 1):
            return None
        try:
            contexts = tuple(map(scene.read_context, stage.contexts))
        except BounditError:
            return None
        lineups = tuple(prior.entrants(scene.arms, c, held=True) for c in contexts)
        sizes = [len(lineup) for lineup in lineups]
        target = np.array([known[e.arm] for lineup in lineups for e in lineup], np.int64)
        met = np.repeat(np.arange(len(contexts)), sizes)
        return cls(
            contexts,
            scene.arms,
            lineups,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.asarray(stage.means, np.float64)[met, target],
            np.concatenate([lineup.lower for lineup in lineups]),
            np.concatenate([lineup.upper for lineup in lineups]),
            np.concatenate([lineup.place for lineup in lineups]),
            target,
        )


def as_runs(visitors: Places, luck: Floats) -> tuple[Places, Floats]:
    """Visitors and luck as the kernels were compiled for: in one piece, runs x rounds."""
    return (
        np.require(visitors, np.int64, ["C", "W", "A"]),
        np.require(luck, np.float64, ["C", "W", "A"]),
    )
