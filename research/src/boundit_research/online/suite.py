"""Valid bounds on a fixed suite of worlds: whether LinUCB-PCB regrets more than LinUCB.

Theorem 6 says that it never does, and does not hold (D-29). Here every world of the suite is
played with the exact bounds, and each difference gets an interval that allows for their number.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from boundit.bandit.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import Line, choose_level, compute_half_width, format_runs
from boundit_research.online.logs import require_all_runs, write_interval
from boundit_research.theory import count_ruled_out


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One world: its pairs, how many the bounds rule out, and both final regrets.

    ``half`` is half the interval of their difference, which holds for all worlds at once.
    """

    world: str
    pairs: int
    ruled_out: int
    without: Line
    bounded: Line
    half: float

    @property
    def worse(self) -> bool:
        """Whether LinUCB regrets more with bounds in this world, beyond chance."""
        return self.bounded.less + self.half < 0

    @property
    def better(self) -> bool:
        """Whether LinUCB regrets less with bounds in this world, beyond chance."""
        return self.bounded.less - self.half > 0

    def __str__(self) -> str:
        word = "worse" if self.worse else "better" if self.better else "no difference"
        less = self.bounded.less
        shown = "".join(
            f"{line.mean:>9.2f}{line.median:>9.2f}{line.q95:>9.2f}"
            for line in (self.without, self.bounded)
        )
        return (
            f"{self.world:<38}{self.ruled_out:>3} of {self.pairs:<4}{shown}{less:>+9.2f} "
            f"{write_interval(less - self.half, less + self.half, 2)}  {word}"
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


def make_suite() -> tuple[Environment, ...]:
    """Make the twelve environments that claims about regret are tested in.

    >>> len({environment.name for environment in make_suite()})
    12
    """
    shapes = ((2, 0), (2, 1), (3, 1), (4, 0), (4, 1), (4, 2), (6, 1), (8, 2), (10, 3))
    return (
        paper_environment(),
        flipped_environment(0.5),
        flipped_environment(1.0),
        *(random_environment(i, arms=a, contexts=k) for i, (a, k) in enumerate(shapes)),
    )


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
    level, rows = choose_level(len(chosen), "bonferroni"), list[SuiteRow]()
    for i, world in enumerate(chosen):
        asked, log = (world.graph, world.query), world.exact_log()
        bounds = derive_bounds(*asked, log, confidence=None).intervals_only()
        policies = {"LinUCB": LinUCB(), "LinUCB-PCB": LinUCB(prior=bounds)}
        regret = require_all_runs(
            simulate(world, policies, rounds=rounds, runs=runs, seed=seed), runs
        )
        less = regret.final("LinUCB") - regret.final("LinUCB-PCB")
        counts = world.finite.means.size, count_ruled_out(bounds, world.means())
        half = float(compute_half_width(less, level))
        without, bounded = regret.summary()
        rows.append(SuiteRow(world.name, *counts, without, bounded, half))
        progress(i + 1, len(chosen))
    return SuiteStudy(tuple(rows), rounds, runs, seed)
