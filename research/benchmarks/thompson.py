"""Regret of Thompson sampling beside release 0.2.0 (``make old``), which drew from its posteriors.

Now an arm is drawn from the probability that it is the best. Both releases play the same runs:
contexts and rewards follow from the seed, so that differences are paired.
"""

from collections.abc import Sequence

import click
import numpy as np
from research.benchmarks.speed import ask
from scipy import stats

WORLDS = ("paper", "flipped", "random 0", "random 1", "random 2")
_PLAY = """
import json, warnings
warnings.simplefilter("ignore")
import boundit as bd
def make(name):
    kind, _, seed = name.partition(" ")
    found = getattr(bd, f"{kind}_world", None) or getattr(bd.simulation, f"{kind}_environment")
    return found(int(seed)) if seed else found()
regrets = {}
for name in WORLDS:
    played = bd.simulate(
        make(name), {"TS": bd.TS(), "LinTS": bd.LinTS()}, rounds=15_000, runs=RUNS, seed=SEED
    )
    regrets[name] = played.curves[:, :, -1].tolist()
print(json.dumps(regrets))
"""


@click.command()
@click.option("--runs", default=400)
@click.option("--seed", default=0)
def measure(runs: int, seed: int) -> None:
    """Print mean regrets of both releases, and their difference with a 95 % interval."""
    code = f"WORLDS, RUNS, SEED = {WORLDS!r}, {runs}, {seed}" + _PLAY
    new, old = ask(code), ask(code, old=True)
    click.echo(f"{runs} paired runs of 15,000 rounds, seed {seed}")
    click.echo(f"{'':<18}{'0.2.0':>8}{'now':>8}   difference, 95 %        of 0.2.0")
    for i, kind in enumerate(("TS", "LinTS")):
        for world in WORLDS:
            before, after = np.array(old[world][i]), np.array(new[world][i])
            gap = after - before
            half = stats.sem(gap) * stats.t.ppf(0.975, runs - 1)
            click.echo(
                f"{kind + ', ' + world:<18}{before.mean():>8.1f}{after.mean():>8.1f}   "
                f"{gap.mean():>+7.1f} [{gap.mean() - half:+.1f}, {gap.mean() + half:+.1f}]"
                f"{gap.mean() / before.mean():>+12.1%}"
            )


def run(options: Sequence[str] = ()) -> None:
    """Print the table."""
    measure.main(list(options), standalone_mode=False)
