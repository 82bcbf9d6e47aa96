"""Environments for whole runs, drawn at random, and the same runs through decide and learn."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.contrast import Pair


@dataclass(frozen=True, eq=False)
class BatchCase:
    """An environment, what is drawn in whole runs, and bounds that hold for some pairs."""

    environment: FiniteEnvironment
    contexts: Places
    uniforms: Floats
    bounds: BoundTable | None

    @property
    def seeds(self) -> Any:
        return np.arange(len(self.contexts), dtype=np.uint64)

    @property
    def options(self) -> dict[str, Any]:
        """Options of a policy for this environment: its bounds, or its arms and names."""
        if self.bounds:
            return {"prior": self.bounds}
        return {"arms": self.environment.arms, "context": {"U": ["a", "b", "c"], "V": [0, 1]}}


@st.composite
def batch_cases(draw: st.DrawFn, *, runs: int = 2, rounds: int = 60) -> BatchCase:
    """Numbers and text in contexts and arms; ends are coarse, so that indices often tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    contexts = tuple(product(("a", "b", "c")[: draw(st.integers(1, 3))], (0, 1)))
    arms = tuple(product((0, 1, 2)[: draw(st.integers(1, 3))], ("x", "y")))
    means = rng.random((len(contexts), len(arms))).round(draw(st.integers(1, 3)))
    rows = [
        {"A": arm[0], "B": arm[1], "U": context[0], "V": context[1]}
        | dict(zip(("lower", "upper"), _ends(rng, means[c, a]), strict=True))
        for (c, context), (a, arm) in product(enumerate(contexts), enumerate(arms))
    ]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["A", "B"], context=["U", "V"], outcome_range=(0, 1)
    )
    if draw(st.booleans()):
        table = replace(table, contrasts=_contrasts(rng, contexts, arms, means))
    shape = runs, rounds
    return BatchCase(
        FiniteEnvironment(contexts, arms, means),
        rng.integers(len(contexts), size=shape),
        rng.random(shape),
        table if draw(st.booleans()) else None,
    )


def _ends(rng: np.random.Generator, mean: float) -> tuple[float, float]:
    lower = round(max(mean - rng.random() / 2, 0.0), 1)
    return min(lower, mean), max(mean, round(min(mean + rng.random() / 2, 1.0), 1))


def _contrasts(
    rng: np.random.Generator,
    contexts: tuple[Context, ...],
    arms: tuple[Arm, ...],
    means: Floats,
) -> dict[Pair, float]:
    """What some arms may earn more than others, at the very most."""
    return {
        (context, arms[a], arms[b]): float(means[c, a] - means[c, b] + rng.random() / 5)
        for (c, context), a, b in product(
            enumerate(contexts), range(len(arms)), range(len(arms))
        )
        if a != b and rng.random() < 0.4
    }


def play_one_by_one(policy: Any, case: BatchCase) -> Places:
    """The pulls of fresh policies through the public interface."""
    places = {arm: i for i, arm in enumerate(case.environment.arms)}
    pulls = np.empty_like(case.contexts)
    for run, seed in enumerate(case.seeds):
        own = policy.fresh(seed=int(seed))
        for t, (c, uniform) in enumerate(
            zip(case.contexts[run], case.uniforms[run], strict=True)
        ):
            decision = own.decide(case.environment.contexts[c], id=str(t))
            pulls[run, t] = places[decision.arm]
            own.learn(decision, float(uniform < case.environment.means[c, pulls[run, t]]))
    return pulls
