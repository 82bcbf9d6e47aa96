"""The regret ceilings of Theorems 5, 7 and 8 beside regret that was simulated.

Theorem 5 holds with a stated probability for an ``alpha`` as large as its proof needs, so
LinUCB plays with that one here; Theorem 8 bounds an expectation. Theorem 7 is a limit: its rate
times log T is no ceiling for a finite T (D-35), and stands here to show it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.ucb import UCB
from boundit.bounds.derive import derive_bounds
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import format_runs
from boundit_research.online.logs import require_all_runs
from boundit_research.theory import (
    compute_confidence_radius,
    compute_lin_ucb_ceiling,
    compute_oam_ceiling,
    compute_ucb_ceiling,
    find_largest_norm,
)

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

DELTA = 0.05


@dataclass(frozen=True, slots=True)
class CeilingRow:
    """One theorem in one world: mean and largest regret, and what the theorem says."""

    theorem: int
    world: str
    policy: str
    mean: float
    largest: float
    ceiling: float

    @property
    def holds(self) -> bool:
        """Whether the mean regret stays below the theorem's ceiling; for Theorem 5 every run's."""
        return (self.largest if self.theorem == 5 else self.mean) <= self.ceiling

    def __str__(self) -> str:
        word = "below" if self.holds else "above"
        return (
            f"Theorem {self.theorem}  {self.world:<38}{self.policy:<12}{self.mean:>10.1f}"
            f"{self.largest:>10.1f}{self.ceiling:>12.1f}  {word}"
        )


@dataclass(frozen=True, slots=True)
class CeilingStudy:
    """All rows, and what made them."""

    rows: tuple[CeilingRow, ...]
    rounds: int
    runs: int
    seed: int

    def record(self) -> dict[str, object]:
        """Write the rows, rounds, runs and seed as an object for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        head = f"{format_runs(self.runs, self.rounds)}, seed {self.seed}"
        columns = (
            f"{'':<11}{'world':<38}{'policy':<12}{'mean':>10}{'largest':>10}{'ceiling':>12}"
        )
        return "\n".join([head, columns, *map(str, self.rows)])


def run_ceiling_study(
    *,
    runs: int = 100,
    rounds: int = 15_000,
    oam_runs: int = 10,
    seed: int = 0,
    worlds: tuple[Environment, ...] | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> CeilingStudy:
    """Play the policies that have a regret theorem, with and without exact bounds.

    Gives a row for each world and theorem: the regret played and the theorem's ceiling. OAM
    plays where one model can fit all arms: the paper's world and the flipped one, where bias
    makes another arm look best.
    """
    chosen = _make_worlds() if worlds is None else worlds
    rows = list[CeilingRow]()
    for i, world in enumerate(chosen):
        exact = derive_bounds(
            world.graph, world.query, world.exact_log(), confidence=None
        ).intervals_only()
        for suffix, bounds in (("", None), ("-PCB", exact)):
            few = min(runs, oam_runs) if len(world.query.treatments) > 1 else 0
            rows += _play_world(world, suffix, bounds, rounds, runs, few, seed)
        progress(i + 1, len(chosen))
    return CeilingStudy(tuple(rows), rounds, runs, seed)


def _make_worlds() -> tuple[Environment, ...]:
    """List the worlds of the study of ceilings: the paper's, the flipped, two random ones."""
    random = (
        random_environment(4, arms=4, contexts=1),
        random_environment(7, arms=8, contexts=2),
    )
    return (paper_environment(), flipped_environment(), *random)


def _play_world(
    world: Environment,
    suffix: str,
    bounds: BoundTable | None,
    rounds: int,
    runs: int,
    oam_runs: int,
    seed: int,
) -> list[CeilingRow]:
    """Play each theorem's policy in one world, and set its regret beside the ceiling."""
    means, x = world.means(), _make_features(world)
    alpha, ridge, linear = _apply_theorem5(world, x, bounds, rounds)
    theorems: dict[str, tuple[int, Policy, float, int]] = {
        "LinUCB": (5, LinUCB(alpha=alpha, ridge=ridge, prior=bounds), linear, runs),
        "UCB": (
            8,
            UCB(prior=bounds),
            compute_ucb_ceiling(means, horizon=rounds, bounds=bounds),
            runs,
        ),
    }
    if oam_runs:
        rate = compute_oam_ceiling(x, means, bounds, horizon=rounds)
        theorems["OAM"] = (7, OAM(prior=bounds), rate, oam_runs)
    found = []
    for name, (theorem, policy, ceiling, times) in theorems.items():
        regret = simulate(world, {name: policy}, rounds=rounds, runs=times, seed=seed)
        final = require_all_runs(regret, times).final(name)
        seen = float(final.mean()), float(final.max())
        found.append(CeilingRow(theorem, world.name, name + suffix, *seen, ceiling))
    return found


def _make_features(
    world: Environment,
) -> Mapping[tuple[tuple[int, ...], tuple[int, ...]], list[float]]:
    """Make LinUCB's feature vector of every arm and context."""
    return {(arm, context): [1.0, *context, *arm] for arm, context in world.means()}


def _apply_theorem5(
    world: Environment,
    x: Mapping[tuple[tuple[int, ...], tuple[int, ...]], list[float]],
    bounds: BoundTable | None,
    rounds: int,
) -> tuple[float, float, float]:
    """Compute what the paper's Theorem 5 on LinUCB needs and says: alpha, ridge and ceiling.

    Gives the exploration weight and the ridge that its proof needs, and the most regret it
    allows; each arm has a model of its own.
    """
    means, arms = world.means(), world.finite.arms
    length = 0.0
    for arm in arms:
        own = [key for key in means if key[0] == arm]
        rows, values = np.array([x[key] for key in own]), np.array([means[key] for key in own])
        theta = np.linalg.lstsq(rows, values, rcond=None)[0]
        length = max(length, float(np.linalg.norm(theta)))
    norm = find_largest_norm(x, means, bounds)
    ridge = max(1.0, norm**2)
    facts = {"norm": norm, "theta_norm": length, "ridge": ridge}
    size = len(next(iter(x.values())))
    alpha = compute_confidence_radius(
        horizon=rounds, n_features=size, delta=DELTA / len(arms), **facts
    )
    ceiling = compute_lin_ucb_ceiling(
        horizon=rounds, n_features=size, delta=DELTA, regressions=len(arms), **facts
    )
    return alpha, ridge, ceiling
