"""A wrong bound, caught: regret goes from linear back to that of the unbounded policy.

In the flipped world the best arm's upper end is set below the mean of another arm, as a wrong
graph or a bad log would. Believed, that costs the gap in every round. Monitored, the bound is
refuted and all are dropped; but an arm that is ruled out is not played, so the monitor needs a
share of rounds that explore, which has a price of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boundit.bandit.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

ROUNDS, RUNS, EXPLORE, ERROR = 6_000, 30, 0.1, 0.1
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class MonitorStudy:
    """The regret curves, and what each policy still loses per round at the end."""

    regret: Regret
    slopes: tuple[tuple[str, float], ...]
    explore: float

    def record(self) -> dict[str, object]:
        """Write the regrets, and their growth in the last quarter, as an object for JSON."""
        return {**self.regret.record(), "slopes": dict(self.slopes), "explore": self.explore}

    def __str__(self) -> str:
        lines = [f"{name:<32}{slope:>8.4f}" for name, slope in self.slopes]
        return "\n".join(
            [str(self.regret), "", "regret for each round of the last quarter", *lines]
        )


def make_wrong_bounds(
    world: Environment, bounds: BoundTable, *, error: float = ERROR
) -> BoundTable:
    """Make a table of wrong bounds: the best arm's ends lie below the second best mean.

    They lie ``error`` below it, in every context.
    """
    best: dict[object, tuple[float, float]] = {}
    for (_, context), mean in world.means().items():
        first, second = best.get(context, (0.0, 0.0))
        best[context] = (max(first, mean), max(second, min(first, mean)))
    rows = []
    for row, (key, mean) in zip(bounds.rows(), world.means().items(), strict=True):
        first, second = best[key[1]]
        upper = second - error if mean == first else float(str(row["upper"]))
        rows.append({**row, "lower": min(float(str(row["lower"])), upper), "upper": upper})
    return BoundTable.from_rows(
        rows,
        outcome=bounds.outcome,
        treatments=bounds.treatments,
        context=bounds.context,
        outcome_range=bounds.outcome_range,
    )


def run_monitor_study(
    *,
    runs: int = RUNS,
    rounds: int = ROUNDS,
    explore: float = EXPLORE,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> MonitorStudy:
    """Play LinUCB without bounds, with wrong ones, and with wrong and right ones monitored.

    A monitor drops bounds that rewards contradict. Gives the regrets, and how fast each still
    grows at the end.
    """
    world = flipped_environment()
    right = derive_bounds(
        world.graph, world.query, world.exact_log(), confidence=None
    ).intervals_only()
    wrong = make_wrong_bounds(world, right)
    policies: dict[str, Policy] = {
        "no bounds": LinUCB(),
        "wrong bounds": LinUCB(prior=wrong),
        "wrong, monitored": LinUCB(prior=wrong, monitor=LEVEL),
        "wrong, monitored, explores": LinUCB(prior=wrong, monitor=LEVEL, explore=explore),
        "right bounds": LinUCB(prior=right),
        "right, monitored, explores": LinUCB(prior=right, monitor=LEVEL, explore=explore),
    }
    regret = simulate(
        world,
        policies,
        rounds=rounds,
        runs=runs,
        seed=seed,
        progress=lambda _, n, __: progress(n, runs),
    )
    slopes = tuple((name, _measure_last_quarter(regret, i)) for i, name in enumerate(policies))
    return MonitorStudy(regret, slopes, explore)


def _measure_last_quarter(regret: Regret, i: int) -> float:
    """Measure how fast a policy's mean regret grows per round in the last quarter of rounds."""
    at, mean = regret.at, regret.curves[i].mean(axis=0)
    start = int(at.searchsorted(0.75 * at[-1]))
    return float((mean[-1] - mean[start]) / (at[-1] - at[start]))
