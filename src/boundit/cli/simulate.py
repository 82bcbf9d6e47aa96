"""``boundit simulate``: policies with and without bounds, in the paper's world."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from boundit.cli.options import json_option, show

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=2_000, show_default=True)
@click.option("--runs", type=click.IntRange(1), default=10, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--log-points",
    type=click.IntRange(500, 10_000_000),
    help="Bound from a log of so many points, at confidence 0.95; else from the exact law.",
)
@json_option
def simulate(
    rounds: int, runs: int, seed: int, log_points: int | None, *, as_json: bool
) -> None:
    """Play UCB and LinUCB in the paper's world, each with and without prior bounds.

    All meet the same users and the same luck. Ctrl-C keeps the runs that are done.

    \b
    Example: boundit simulate --rounds 15000 --runs 100
    """
    from boundit.bandit.lin_ucb import LinUCB  # noqa: PLC0415, keeps --help quick
    from boundit.bandit.ucb import UCB  # noqa: PLC0415
    from boundit.bounds.derive import derive_bounds  # noqa: PLC0415
    from boundit.simulation.simulate import simulate as play  # noqa: PLC0415
    from boundit.simulation.worlds import paper_world  # noqa: PLC0415

    world = paper_world()
    log = world.exact_log() if log_points is None else world.log(log_points, seed=seed)
    confidence = None if log_points is None else 0.95
    bounds = derive_bounds(world.graph, world.query, log, confidence=confidence)
    policies: dict[str, Policy] = {
        "LinUCB": LinUCB(),
        "LinUCB-PCB": LinUCB(prior=bounds),
        "UCB": UCB(),
        "UCB-PCB": UCB(prior=bounds),
    }
    with click.progressbar(
        length=runs, label="runs", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:
        found = play(
            world, policies, rounds=rounds, runs=runs, seed=seed, told=lambda _: bar.update(1)
        )
    if as_json:
        lines = [asdict(line) for line in found.summary()]
        show({"rounds": rounds, "runs": found.runs, "seed": seed, "policies": lines})
    else:
        click.echo(str(found))
