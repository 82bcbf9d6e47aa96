"""``boundit study``: our own studies of policies, at the size at which we report them."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from boundit.cli.options import INTERRUPTED, Number, flags
from boundit.cli.outputs import OutputFile, notify_written, print_json, show_steps, write_json
from boundit.cli.simulate import LEAST_POINTS, MOST_POINTS, read_policy_names

PROPOSED = "LinUCB,Fused,GLUE*"
SINGLE = {
    "paper": "All policies in the paper's environment.",
    "flip": "The same where bias flips the best arm.",
    "suite": "LinUCB with and without valid bounds in twelve environments.",
    "monitor": "What wrong bounds cost, and a monitor that drops them.",
    "theorem6": "A valid bound that raises the regret of a near tie.",
    "ceilings": "Regret beside what Theorems 5, 7 and 8 allow.",
}
"""Studies that have a size and nothing else to choose."""


def read_lengths(text: str) -> tuple[int, ...]:
    """Read the length of a log, or several with commas between, each once, in the order given."""
    try:
        found = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise click.BadParameter(f"{text!r} is no number; write 1000, or 1000,30000") from None
    if not all(LEAST_POINTS <= length <= MOST_POINTS for length in found):
        raise click.BadParameter(
            f"{text!r} is not in the range {LEAST_POINTS:,} to {MOST_POINTS:,}"
        )
    return found


def _read_groups(text: str) -> tuple[str, ...]:
    """Read the groups of environments that a study is to play."""
    from boundit_research.online.worlds import GROUPS  # noqa: PLC0415

    named = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if unknown := [name for name in named if name not in GROUPS]:
        message = f"{unknown[0]!r} is none of the study's worlds {', '.join(GROUPS)}"
        raise click.BadParameter(message)
    return named


_OPTIONS = (
    click.option("--rounds", type=click.IntRange(1), metavar="N", help="How long a run is."),
    click.option("--runs", type=click.IntRange(1), metavar="N", help="How often all play."),
    flags("seed"),
    click.option(
        "--out", type=OutputFile(".json"), metavar="FILE", help="Save what it found: json."
    ),
    flags("json"),
)


def _add_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group(short_help="Play one of our own studies of policies.")
def study() -> None:
    """Play one of our own studies, at the size we report unless --runs and --rounds say other.

    \b
    Examples:
      boundit study monitor --plot monitor.svg
      boundit study logs --world wrong --log-points 30000 --batch 500
      boundit study logs --policies 'LinUCB,Fused,GLUE,GLUE*' --runs 10
    """
    # A monitor that drops its bounds says so each time; here that is what is being counted.
    logging.getLogger("boundit").addHandler(logging.NullHandler())


def _make_command(name: str) -> click.Command:
    """Make the command of a study that has a size and nothing else to choose."""

    @_add_options
    @click.option(
        "--plot",
        type=OutputFile(".png", ".svg"),
        metavar="FILE",
        help="Draw the curves: png or svg. The studies suite and ceilings have none.",
    )
    def play(plot: Path | None, out: Path | None, *, as_json: bool, **size: Any) -> None:
        from boundit_research.online.catalogue import STUDIES, run_study  # noqa: PLC0415

        if plot is not None and name in ("suite", "ceilings"):
            raise click.UsageError(f"the study {name} has no curves for --plot; leave it out")
        with show_steps(name) as tell:
            found, curves = run_study(
                name, **size, progress=lambda done, of: tell("runs", done, of)
            )
        _give(found, name, out, as_json=as_json)
        if curves is None:
            return
        if plot is not None:
            curves.plot(plot)
            notify_written(plot)
        if curves.runs < (asked := size["runs"] or STUDIES[name][1]):
            click.echo(f"interrupted after {curves.runs:,} of {asked:,} runs", err=True)
            click.get_current_context().exit(INTERRUPTED)

    return click.command(name, help=SINGLE[name])(play)


for _name in SINGLE:
    study.add_command(_make_command(_name))


@study.command(short_help="Policies that start from a fresh log in each run.")
@click.option(
    "--world",
    "groups",
    type=_read_groups,
    default="paper,flipped,shop,random,wrong",
    show_default=True,
    metavar="WORLD,...",
    help="Some of these; wrong are those that the assumed graph gets wrong.",
)
@click.option("--policies", metavar="NAME,...", help="Which, the first to compare with.")
@click.option(
    "--log-points",
    "points",
    type=read_lengths,
    default="1000,30000",
    show_default=True,
    metavar="N,...",
    help="From logs of how many points before selection.",
)
@click.option(
    "--observed",
    type=Number(0, 1),
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="In which share of rounds policies observe their auxiliary variables.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Rewards are learned every so many rounds.",
)
@_add_options
def logs(
    groups: tuple[str, ...],
    policies: str | None,
    points: tuple[int, ...],
    out: Path | None,
    *,
    as_json: bool,
    **settings: Any,
) -> None:
    """Play policies from a fresh log in each run, in environments of several kinds.

    Policies are LinUCB, TS, LinUCB-PCB, TS-PCB, Fused, Fused-trusting (doubt=0), Fused-unseen
    (rewards alone), and those of other papers: B-kl-UCB, B-TS, GLUE, R-OFUL, MIN-UCB, VirUCB,
    ARRoW-CB, EXP3-IX and 'Warm start'. Most of these have a tuned constant too, as 'GLUE*' and
    'LinUCB*', and all take any, as 'GLUE@0.5'.
    """
    from boundit_research.online.logs import OWN, LogSettings, run_log_study  # noqa: PLC0415

    names = list(OWN) if policies is None else read_policy_names(policies, PROPOSED)
    given = {name: value for name, value in settings.items() if value is not None}
    with show_steps("runs") as tell:
        found = run_log_study(
            groups=groups,
            policies=names,
            points=points,
            settings=LogSettings(**given),
            progress=lambda done, of: tell("runs", done, of),
        )
    _give(found, "logs", out, as_json=as_json)


def _give(found: Any, name: str, out: Path | None, *, as_json: bool) -> None:
    """Print what a study found, and write it to the JSON file of --out, where one is given."""
    from boundit import __version__  # noqa: PLC0415
    from boundit.core.files import write_page  # noqa: PLC0415

    if out is not None:
        write_page(out, write_json({"study": name, **found.record(), "version": __version__}))
        notify_written(out)
    print_json(found.record()) if as_json else click.echo(str(found))
