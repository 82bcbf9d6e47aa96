"""``boundit simulate``: policies with and without bounds, in worlds whose truth is known."""

import json
import logging
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from boundit.cli.options import json_option, show
from boundit.cli.progress import progress

if TYPE_CHECKING:
    from boundit.simulation.regret import Regret
    from boundit.simulation.world import World
    from boundit.studies.online_shown import Found

POLICIES = "LinUCB,LinUCB-PCB,UCB,UCB-PCB"


@click.command()
@click.option(
    "--world",
    "place",
    default="paper",
    show_default=True,
    metavar="WORLD",
    help="paper, flipped, flipped:STRENGTH, random:SEED, or a JSON file with query and tables.",
)
@click.option(
    "--policies",
    default=POLICIES,
    show_default=True,
    metavar="NAME,...",
    help="Who plays; the others are compared with the first.",
)
@click.option("--rounds", type=click.IntRange(1), help="In each run.  [default: 2000]")
@click.option("--runs", type=click.IntRange(1), help="[default: 10]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--log-points",
    type=click.IntRange(500, 10_000_000),
    help="Bound from a log of so many points, at confidence 0.95; else from the exact law.",
)
@click.option("--workers", type=click.IntRange(1), help="Threads; else one for each processor.")
@click.option(
    "--study",
    type=click.Choice(["paper", "flip", "suite", "watch", "living", "theorem6", "ceilings"]),
    help="Play one of our own studies instead, at the size we report unless told.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="Save: npz, of a study JSON.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Draw the curves: png or svg.")
@json_option
@click.pass_context
def simulate(
    context: click.Context,
    place: str,
    policies: str,
    rounds: int | None,
    runs: int | None,
    seed: int,
    log_points: int | None,
    workers: int | None,
    study: str | None,
    out: str | None,
    plot: str | None,
    *,
    as_json: bool,
) -> None:
    """Play policies in a world and compare their regret.

    All meet the same users and the same luck. Ctrl-C keeps the runs that are done. Policies:
    UCB, LinUCB, LinUCB-shared, KL-UCB, TS, LinTS, LinTS-shared and OAM; each with -PCB behind
    its name starts from bounds. LinUCB_CP-N and LinUCB_Biased-N start from biased estimates
    that count for N rows: 1, 10, 100 or counts.

    \b
    Examples:
      boundit simulate --rounds 15000 --runs 100
      boundit simulate --world flipped --policies LinUCB,LinUCB-PCB,LinUCB_CP-100
      boundit simulate --world random:7 --runs 50 --plot regret.png --out regret.npz
      boundit simulate --world shop.json --log-points 20000 --json
      boundit simulate --study watch --plot watch.svg
    """
    # A watch that drops its bounds says so each time; here that is what is being counted.
    logging.getLogger("boundit").addHandler(logging.NullHandler())
    if study is not None:
        _refuse(context, "place", "policies", "log_points", "workers")
        found, curves = _studied(study, runs, rounds, seed)
        record, text = found.record(), str(found)
        _keep_record(out, {"study": study, **record})
    else:
        names = [name for part in policies.split(",") if (name := part.strip())]
        size = (runs or 10, rounds or 2_000)
        curves = _played(_world(place), names, *size, seed, log_points, workers)
        record, text = curves.record(), str(curves)
        if out is not None:
            curves.save(out)
    if plot is not None:
        _plot(curves, plot)
    show(record) if as_json else click.echo(text)
    if study is None and curves is not None and curves.runs < (runs or 10):
        click.echo(f"interrupted after {curves.runs} of {runs or 10} runs", err=True)
        context.exit(130)


def _played(
    world: "World",
    names: list[str],
    runs: int,
    rounds: int,
    seed: int,
    log_points: int | None,
    workers: int | None,
) -> "Regret":
    from boundit.simulation.simulate import simulate as play  # noqa: PLC0415
    from boundit.studies.online_roster import Offline, named  # noqa: PLC0415

    offline = Offline.of(world, points=log_points or 30_000, seed=seed)
    players = named(names, offline, exact=log_points is None)
    with progress("runs") as told:
        return play(
            world,
            players,
            rounds=rounds,
            runs=runs,
            seed=seed,
            workers=workers,
            told=lambda done: told(done, runs),
        )


def _studied(
    study: str, runs: int | None, rounds: int | None, seed: int
) -> "tuple[Found, Regret | None]":
    from boundit.studies.online_shown import shown  # noqa: PLC0415

    with progress(study) as told:
        return shown(study, runs=runs, rounds=rounds, seed=seed, told=told)


def _refuse(context: click.Context, *names: str) -> None:
    """A study has a world and policies of its own."""
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in names and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--study does not go with {parameter.opts[0]}")


def _keep_record(out: str | None, record: dict[str, object]) -> None:
    from boundit import __version__  # noqa: PLC0415
    from boundit.terms.files import write_page  # noqa: PLC0415

    if out is not None:
        write_page(out, json.dumps({**record, "version": __version__}, ensure_ascii=False))


def _plot(curves: "Regret | None", path: str) -> None:
    if curves is None:
        raise click.UsageError("this study has no curves to plot")
    curves.plot(path)


def _world(place: str) -> "World":
    from boundit.simulation import worlds  # noqa: PLC0415, keeps --help quick
    from boundit.simulation.world_file import read_world  # noqa: PLC0415

    kind, _, number = place.partition(":")
    if place == "paper":
        return worlds.paper_world()
    if kind not in ("flipped", "random") or (kind == "random") > bool(number):
        return read_world(place)
    try:
        if kind == "random":
            return worlds.random_world(int(number))
        return worlds.flipped_world(float(number or 1))
    except ValueError:
        raise click.BadParameter(
            f"{number!r} is no number; write flipped:0.9 or random:7"
        ) from None
