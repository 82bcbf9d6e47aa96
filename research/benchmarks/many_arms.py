"""What protection costs where there are many arms and the log is right.

Every arm is doubted a little, and an arm in doubt that was never played may be anything. So
``doubt`` is shared by the arms of a decision. Here 50 and 300 arms act through a variable that
steers which rows are logged; each run has a log of 30,000 points before selection. The policy
with its doubt should regret at most twice as much as the one that trusts the log, and 120 more.
"""

import click
from numpy.random import default_rng

from boundit.estimand.query import parse_query
from boundit.simulation.environment import Environment
from boundit.simulation.scm import SCM
from boundit.simulation.simulate import simulate
from boundit_research.online.run_tables import RunTables, make_sources
from boundit_research.online.wrong_graphs import AssumedWorld

ARMS, POINTS, ROUNDS, RUNS = (50, 300), 30_000, 15_000, 12
NAMES = ("LinUCB", "Fused", "Fused-trusting")


def make_world(n_arms: int) -> Environment:
    """Make a world without contexts in which arms act through W, which selection hangs on."""
    rng = default_rng(n_arms)
    weights, means = rng.uniform(0.2, 0.8, n_arms), rng.uniform(0.2, 0.7, (n_arms, 2))
    means[:, 1] += 0.1
    model = SCM.of(
        {
            "X": ([], [1 / n_arms] * n_arms),
            "W": (["X"], weights.tolist()),
            "Y": (["X", "W"], means.tolist()),
            "S": (["W"], [0.3, 0.8]),
        },
        selection="S",
    )
    return Environment(model, parse_query("Y | do(X)"), f"{n_arms} arms")


def run(runs: int = RUNS) -> None:
    """Print the mean regret of each policy, and what the doubting one may regret."""
    click.echo(
        f"{runs} runs of {ROUNDS:,} rounds, a log of {POINTS:,} points each: mean regret"
    )
    click.echo(f"{'arms':<8}" + "".join(f"{name:>16}" for name in NAMES) + f"{'limit':>16}")
    for n_arms in ARMS:
        world = make_world(n_arms)
        tables = RunTables(AssumedWorld.right(world), POINTS, 0)
        regret = simulate(
            world, make_sources(NAMES, tables), rounds=ROUNDS, runs=runs, observed=1.0
        )
        found = [line.mean for line in regret.summary()]
        shown = (*found, 2 * found[-1] + 120)
        click.echo(f"{n_arms:<8}" + "".join(f"{number:>16.1f}" for number in shown))


if __name__ == "__main__":
    run()
