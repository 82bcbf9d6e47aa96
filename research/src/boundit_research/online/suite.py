"""Valid bounds on a fixed suite of worlds: whether LinUCB-PCB regrets more than LinUCB.

Theorem 6 says that it never does, and does not hold (D-29). Here every world of the suite is
played with the exact bounds, and each difference gets an interval that allows for their number.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from boundit.bandit.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation.environment import Environment
from boundit.simulation.environments import make_suite
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import (
    choose_level,
    compute_half_width,
    compute_paired_p,
    correct_p_values,
    format_runs,
)
from boundit_research.online.logs import require_all_runs, write_interval
from boundit_research.theory import count_ruled_out


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One world: its pairs, how many the bounds rule out, and both final regrets.

    Of both regrets there are mean, median and 95 % quantile (``q95``) over the runs. ``less``
    is what bounds spare, with an interval that holds for all worlds at once, and ``p`` is
    corrected by Holm.
    """

    world: str
    pairs: int
    ruled_out: int
    without: float
    without_median: float
    without_q95: float
    bounded: float
    bounded_median: float
    bounded_q95: float
    less: float
    less_lower: float
    less_upper: float
    p: float

    @property
    def worse(self) -> bool:
        """Whether LinUCB regrets more with bounds in this world, beyond chance."""
        return self.less_upper < 0

    @property
    def better(self) -> bool:
        """Whether LinUCB regrets less with bounds in this world, beyond chance."""
        return self.less_lower > 0

    def __str__(self) -> str:
        word = "worse" if self.worse else "better" if self.better else "no difference"
        return (
            f"{self.world:<38}{self.ruled_out:>3} of {self.pairs:<4}"
            f"{self.without:>9.2f}{self.without_median:>9.2f}{self.without_q95:>9.2f}"
            f"{self.bounded:>9.2f}{self.bounded_median:>9.2f}{self.bounded_q95:>9.2f}"
            f"{self.less:>+9.2f} {write_interval(self.less_lower, self.less_upper, 2)}  {word}"
        )


@dataclass(frozen=True, slots=True)
class SuiteStudy:
    """All worlds of the suite, and what made the numbers."""

    rows: tuple[SuiteRow, ...]
    rounds: int
    runs: int
    seed: int

    def __bool__(self) -> bool:
        """True when bounds cost no regret beyond chance, in no world."""
        return not any(row.worse for row in self.rows)

    def record(self) -> dict[str, object]:
        """Write the rows, rounds, runs and seed as an object for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        head = (
            f"{format_runs(self.runs, self.rounds)}, seed {self.seed}; differences with "
            f"intervals that hold in all {len(self.rows)} worlds at once (95 %)"
        )
        measures = f"{'median':>9}{'q95':>9}"
        columns = (
            f"{'world':<38}{'ruled out':<11}{'LinUCB':>8}{measures}{'-PCB':>9}{measures}"
            f"{'less':>9}"
        )
        return "\n".join([head, columns, *map(str, self.rows)])


def run_suite_study(
    *,
    runs: int = 1_000,
    rounds: int = 5_000,
    seed: int = 0,
    worlds: tuple[Environment, ...] | None = None,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> SuiteStudy:
    """Play LinUCB with and without exact bounds in every world of a fixed suite.

    Gives for each world whether bounds raised or lowered the regret beyond chance.
    """
    chosen = make_suite() if worlds is None else worlds
    found = []
    for i, world in enumerate(chosen):
        bounds = derive_bounds(
            world.graph, world.query, world.exact_log(), confidence=None
        ).intervals_only()
        policies = {"LinUCB": LinUCB(), "LinUCB-PCB": LinUCB(prior=bounds)}
        regret = simulate(world, policies, rounds=rounds, runs=runs, seed=seed)
        found.append(
            (world, count_ruled_out(bounds, world.means()), require_all_runs(regret, runs))
        )
        progress(i + 1, len(chosen))
    chances = np.array([compute_paired_p(_subtract_regrets(regret)) for _, _, regret in found])
    corrected = correct_p_values(chances, "holm").tolist()
    level = choose_level(len(found), "holm")
    rows = [
        _summarize_world(*entry, level, p) for entry, p in zip(found, corrected, strict=True)
    ]
    return SuiteStudy(tuple(rows), rounds, runs, seed)


def _subtract_regrets(regret: Regret) -> np.ndarray:
    """Subtract LinUCB's final regret with bounds from that without, run by run.

    Positive where bounds helped.
    """
    return regret.final("LinUCB") - regret.final("LinUCB-PCB")


def _summarize_world(
    world: Environment, ruled_out: int, regret: Regret, level: float, p: float
) -> SuiteRow:
    """Sum up the regrets in one world; the interval of their difference has chance ``level``."""
    less_by_run, lines = _subtract_regrets(regret), regret.summary()
    less, error = float(less_by_run.mean()), float(compute_half_width(less_by_run, level))
    return SuiteRow(
        world.name,
        world.finite.means.size,
        ruled_out,
        lines[0].mean,
        lines[0].median,
        lines[0].q95,
        lines[1].mean,
        lines[1].median,
        lines[1].q95,
        less,
        less - error,
        less + error,
        p,
    )
