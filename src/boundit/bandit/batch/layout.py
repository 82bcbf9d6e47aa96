"""A stage as one policy sees it: its own arms in each context, laid out for whole runs."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, final

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places, Seeds
from boundit.bandit.kernels.rng import hash_context
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit.terms.errors import BounditError

_WHOLE: tuple[Literal["C"], Literal["W"], Literal["A"]] = ("C", "W", "A")


class BatchRuns(NamedTuple):
    """Who comes in whole runs: contexts by their places, with luck, a seed for each run."""

    visitors: Places
    luck: Floats
    seeds: Seeds
    seeing: Floats | None

    @classmethod
    def of(cls, visitors: Places, luck: Floats, seeds: Seeds, seeing: Floats | None) -> Self:
        """Put them as kernels were compiled for: in one piece that may be written to."""
        return cls(
            np.require(visitors, np.int64, _WHOLE),
            np.require(luck, np.float64, _WHOLE),
            np.require(seeds, np.uint64, _WHOLE),
            None if seeing is None else np.require(seeing, np.float64, _WHOLE),
        )


@final
@dataclass(frozen=True, eq=False)
class BatchLayout:
    """The arms of every context by decreasing cap, context after context on one sheet.

    Those of context ``c`` lie from ``starts[c]`` to ``starts[c + 1]``; ``arms`` are what their
    places speak of, ``target`` is the place of an arm on the stage. Each has a slot of its own.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    lineups: tuple[RankedArms, ...]
    starts: Places
    sheet: Floats
    means: Floats
    target: Places
    stage: FiniteEnvironment

    @classmethod
    def of(cls, scene: BanditSpec, prior: PriorBounds, stage: FiniteEnvironment) -> Self | None:
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
        sheet = np.concatenate([lineup.blank for lineup in lineups])
        sheet[:, STATISTICS] = np.arange(len(sheet))
        met = np.repeat(np.arange(len(contexts)), sizes)
        return cls(
            contexts,
            scene.arms,
            lineups,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            sheet,
            np.asarray(stage.means, np.float64)[met, target],
            target,
            stage,
        )

    def course(self, runs: BatchRuns) -> BatchArrays:
        """What runs on this board are played on, for compiled code."""
        return BatchArrays(self.starts, self.means, self.target, runs.visitors, runs.luck)

    @property
    def words(self) -> Seeds:
        """What the luck of a sampling policy knows each context by."""
        return np.array([hash_context(context) for context in self.contexts])
