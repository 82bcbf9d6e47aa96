"""Arms x contexts as arrays: what whole runs of a policy are played on in compiled code."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, final

import numpy as np

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places, Seeds
from boundit.bandit.kernels.score_table import POSITION, STATISTICS
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.ridge import RidgeStack
from boundit.bandit.learned.ridge_models import RidgeModels
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.errors import BounditError

_WHOLE: tuple[Literal["C"], Literal["W"], Literal["A"]] = ("C", "W", "A")


class BatchRuns(NamedTuple):
    """What comes in whole runs: contexts by their places, runs x rounds, and what is drawn.

    ``uniforms`` decide the rewards and ``observation_uniforms`` what a round shows besides,
    where rounds show anything, nan in one that does not; each run has a seed for what the
    policy itself draws. ``explore`` is the share of rounds that play any arm.
    """

    contexts: Places
    uniforms: Floats
    seeds: Seeds
    observation_uniforms: Floats | None
    explore: float = 0.0

    @classmethod
    def of(
        cls,
        contexts: Places,
        uniforms: Floats,
        seeds: Seeds,
        observation_uniforms: Floats | None,
        *,
        explore: float = 0.0,
    ) -> Self:
        """Bring contexts, uniforms and seeds to the types that kernels were compiled for.

        Arrays that are so already are not copied.
        """
        return cls(
            np.require(contexts, np.int64, _WHOLE),
            np.require(uniforms, np.float64, _WHOLE),
            np.require(seeds, np.uint64, _WHOLE),
            None
            if observation_uniforms is None
            else np.require(observation_uniforms, np.float64, _WHOLE),
            explore,
        )


@final
@dataclass(frozen=True, eq=False)
class BatchLayout:
    """The arms of every context by decreasing cap, context after context in one score table.

    Those of context ``c`` lie from ``starts[c]`` to ``starts[c + 1]``; ``arms`` are what their
    positions speak of, ``places`` where an arm stands in the environment. Each has statistics
    of its own. Arms that are left out of their context, since another is surely better, come
    last: only exploration plays them. ``rows`` says where each arm of a context lies.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    ranked_arms: tuple[RankedArms, ...]
    starts: Places
    score_table: Floats
    means: Floats
    places: Places
    rows: Places  # contexts x arms
    environment: FiniteEnvironment

    @classmethod
    def of(
        cls, spec: BanditSpec, prior: PriorBounds, environment: FiniteEnvironment
    ) -> Self | None:
        """Rank the arms of every context of an environment and put them in one score table.

        Gives what kernels play whole runs on; None if the policy would refuse a context, an arm
        or a reward of it.
        """
        contexts = _read_contexts(spec, environment)
        if contexts is None:
            return None
        known = {arm: i for i, arm in enumerate(environment.arms)}
        ranked = tuple(prior.rank(spec.arms, c, held=True) for c in contexts)
        sizes = [len(arms) for arms in ranked]
        listed = [(c, a) for c, arms in enumerate(ranked) for a in arms]
        beaten = [(c, a) for c, arms in enumerate(ranked) for a in arms.beaten]
        places = np.array([known[a.arm] for _, a in (*listed, *beaten)], np.int64)
        score_table = np.concatenate(
            [*(arms.blank_table for arms in ranked), *_tabulate_beaten(beaten)]
        )
        score_table[:, STATISTICS] = np.arange(len(score_table))
        met = np.array([c for c, _ in (*listed, *beaten)], np.int64)
        rows = np.empty((len(contexts), len(spec.arms)), np.int64)
        rows[met, score_table[:, POSITION].astype(np.int64)] = np.arange(len(score_table))
        return cls(
            contexts,
            spec.arms,
            ranked,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            score_table,
            np.asarray(environment.means, np.float64)[met, places],
            places,
            rows,
            environment,
        )

    def make_arrays(self, runs: BatchRuns) -> BatchArrays:
        """Put contexts, uniforms, means and places of the arms into arrays for a kernel.

        Gives what kernels such as ``play_ucb`` play whole runs on.
        """
        return BatchArrays(
            self.starts,
            self.means,
            self.places,
            runs.contexts,
            runs.uniforms,
            runs.seeds,
            runs.explore,
            self.rows,
        )

    @property
    def pairs(self) -> list[Key]:
        """The arm and the context of every row of the score table."""
        met = list(zip(self.contexts, self.ranked_arms, strict=True))
        kept = [(ranked.arm, context) for context, arms in met for ranked in arms]
        return kept + [(ranked.arm, context) for context, arms in met for ranked in arms.beaten]


def _tabulate_beaten(beaten: list[tuple[int, RankedArm]]) -> list[Floats]:
    """Make the rows of the score table for arms that are left out, if there are any."""
    return [RankedArms(ranked for _, ranked in beaten).blank_table] if beaten else []


def _read_contexts(
    spec: BanditSpec, environment: FiniteEnvironment
) -> tuple[Context, ...] | None:
    """Read the contexts of a simulated environment as the policy's spec reads a visitor's.

    None if the spec refuses a context, an arm or a reward of 0 or 1, or finds the bins of
    numbers.
    """
    low, high = spec.reward_range
    if not (spec.arms and spec.held_arms <= set(environment.arms) and low <= 0 and high >= 1):
        return None
    try:
        found = tuple(map(spec.read_context, environment.contexts))
    except BounditError:
        return None
    return found if found == tuple(map(spec.find_cell, found)) else None


@final
@dataclass(frozen=True, eq=False)
class RidgeLayout:
    """A model for each arm, or one for all; the rows of a layout, and its table with slots."""

    stack: RidgeStack
    x: Floats
    score_table: Floats


def lay_out_ridge(models: RidgeModels, layout: BatchLayout) -> RidgeLayout | None:
    """Put the ridge models that whole runs start from on a stack, all features in an array.

    None if features are refused, or of several lengths.
    """
    try:
        pairs = zip(layout.contexts, layout.ranked_arms, strict=True)
        rows = [models.get_features(context, arms) for context, arms in pairs]
        beaten = [
            models.find_features(context, arm)
            for arm, context in layout.pairs[layout.starts[-1] :]
        ]
    except BadFeatures:
        return None
    sizes = {row.n_features for row in rows} | {len(features) for features in beaten}
    if len(sizes) > 1:
        return None
    (d,), shared = sizes, models.ridge_settings.shared
    stack = RidgeStack(d, room=len(layout.arms))
    for arm in layout.arms[:1] if shared else layout.arms:
        stack.push(models.get_model(arm, d))
    score_table = layout.score_table.copy()
    score_table[:, STATISTICS] = 0 if shared else score_table[:, POSITION] * stack.block
    x = [row.x for row in rows] + [pad_rows(np.array(features)) for features in beaten]
    return RidgeLayout(stack, np.concatenate(x), score_table)
