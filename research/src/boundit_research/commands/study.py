"""``boundit study``: our own studies of policies, at the size at which we report them."""

import logging
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.cli.numbers import LEAST_POINTS, MOST_POINTS, Number
from boundit.cli.options import INTERRUPTED, json_option, seed_option
from boundit.cli.outputs import (
    OutputFile,
    notify_written,
    print_json,
    spell_command,
    write_json,
)
from boundit.cli.progress import show_progress
from boundit.cli.simulate import read_policy_names

if TYPE_CHECKING:
    from boundit.simulation.regret import Regret
    from boundit_research.online.catalogue import StudyResult
    from boundit_research.online.rival_study import RivalStudy

STUDIES = (
    "paper",
    "flip",
    "suite",
    "monitor",
    "theorem6",
    "ceilings",
    "logs",
    "rivals",
)
STUDIED = {"logs": "LinUCB,Fused,LinUCB-PCB", "rivals": "Fused,GLUE,GLUE*,GLUE@0.5"}
"""Policies that the studies have which let one choose."""
WITHOUT_CURVES = ("suite", "ceilings", "logs", "rivals")
"""Studies that compare worlds, and have no curve to draw."""


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


@click.command(short_help="Play one of our own studies of policies.")
@click.argument("study", metavar="NAME", type=click.Choice(STUDIES))
@click.option(
    "--world",
    "place",
    metavar="WORLD,...",
    help="Of logs and rivals: paper, flipped, random or wrong, or several of these; all unless "
    "told.",
)
@click.option(
    "--worlds",
    "drawn",
    type=click.IntRange(1),
    metavar="N",
    help="Of rivals: in how many random worlds.",
)
@click.option("--policies", metavar="NAME,...", help="Of logs and rivals: some of theirs.")
@click.option("--rounds", type=click.IntRange(1), metavar="N", help="How long a run is.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="How often everyone plays.")
@seed_option
@click.option(
    "--log-points",
    type=read_lengths,
    metavar="N,...",
    help="Of logs and rivals: from logs of how many points, 1000,30000.",
)
@click.option(
    "--observed",
    type=Number(0, 1),
    metavar="SHARE",
    help="Of logs and rivals: in which share of rounds policies see what helps them besides "
    "the reward; in all unless told.",
)
@click.option(
    "--out", type=OutputFile(".json"), metavar="FILE", help="Save what it found: json."
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg"),
    metavar="FILE",
    help="Draw the curves: png or svg.",
)
@click.option(
    "--report",
    type=OutputFile(".html", ".md"),
    metavar="FILE",
    help="Of rivals: write a page with its tables and pictures (html), or the tables alone "
    "(md).",
)
@json_option
@click.pass_context
def study(
    context: click.Context,
    study: str,
    place: str | None,
    drawn: int | None,
    policies: str | None,
    rounds: int | None,
    runs: int | None,
    seed: int,
    log_points: tuple[int, ...] | None,
    observed: float | None,
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Play one of our own studies, at the size we report unless told.

    NAME is paper, flip, suite, monitor, theorem6, ceilings, logs or rivals. Ctrl-C keeps
    the runs that are done.

    The study of logs draws a fresh log for each run, in the worlds paper, flipped, random and
    wrong (those that the assumed graph gets wrong) or in some of these; --out keeps what is
    done, also where Ctrl-C ends it, and the same command goes on from it. The study of rivals
    does so with policies of other papers: B-kl-UCB, B-TS, GLUE, R-OFUL, MIN-UCB, VirUCB,
    ARRoW-CB, EXP3-IX and 'Warm start'; most with a tuned constant too, as 'GLUE*' and
    'LinUCB*', and all with any, as 'GLUE@0.5'.

    \b
    Examples:
      boundit study monitor --plot monitor.svg
      boundit study logs --world wrong --log-points 30000 --out logs.json
      boundit study rivals --worlds 5 --out rivals.json --report rivals.html
      boundit study rivals --world paper,wrong --log-points 1000,30000 --runs 5
    """
    # A monitor that drops its bounds says so each time; here that is what is being counted.
    logging.getLogger("boundit").addHandler(logging.NullHandler())
    _refuse_options(context, study)
    curves, asked = None, 0
    if study in STUDIED:
        chosen: dict[str, Any] = {"seed": seed, "runs": runs, "rounds": rounds}
        chosen |= {"place": place, "policies": policies, "points": log_points}
        chosen |= {"worlds": drawn, "observed": observed, "out": out}
        found = _run_log_study(study, chosen, report)
    else:
        found, curves, asked = _run_study(study, runs, rounds, seed)
        _save_record(out, {"study": study, **found.record()})
    if plot is not None and curves is not None:
        curves.plot(plot)
        notify_written(plot)
    print_json(found.record()) if as_json else click.echo(str(found))
    if curves is not None and curves.runs < asked:
        click.echo(f"interrupted after {curves.runs:,} of {asked:,} runs", err=True)
        context.exit(INTERRUPTED)


def _refuse_options(context: click.Context, study: str) -> None:
    """Refuse the options that a study has no use for."""
    refused = {"plot"} if study in WITHOUT_CURVES else set()
    if study != "rivals":
        refused |= {"drawn", "report"}
    if study not in STUDIED:
        refused |= {"place", "policies", "log_points", "observed"}
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in refused and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"the study {study} has no use for {parameter.opts[0]}; leave it out"
            )


def _run_log_study(study: str, given: dict[str, Any], report: Path | None) -> "StudyResult":
    """Run the study of fresh logs or that of rivals, with what of them was named.

    That is worlds, policies, and lengths of the log.
    """
    from boundit_research.online import log_study, rival_study  # noqa: PLC0415

    rivals = study == "rivals"
    place, policies, observed = given["place"], given["policies"], given["observed"]
    names = rival_study.POLICIES if rivals else log_study.POLICIES
    options: dict[str, Any] = {
        "groups": tuple(log_study.RUNS) if place is None else _read_groups(place),
        "policies": names if policies is None else _read_studied(policies, study),
        "points": given["points"],
        "runs": given["runs"],
        "worlds": given["worlds"] or log_study.RANDOM,
        "settings": log_study.LogStudySettings(
            given["rounds"] or log_study.ROUNDS,
            given["seed"],
            1.0 if observed is None else observed,
        ),
        "path": given["out"],
    }
    with show_progress("runs") as advance:
        if not rivals:
            return log_study.run_log_study(**options, progress=advance)
        found = rival_study.run_rival_study(**options, progress=advance)
    if report is not None:
        _write_rival_page(report, found)
    return found


def _read_groups(place: str) -> tuple[str, ...]:
    """Read the groups of worlds in --world, separated by commas, that a study is to play."""
    from boundit_research.online.log_study import RUNS as GROUPS  # noqa: PLC0415

    named = tuple(dict.fromkeys(part.strip() for part in place.split(",")))
    if unknown := [name for name in named if name not in GROUPS]:
        message = f"{unknown[0]!r} is none of the study's worlds {', '.join(GROUPS)}"
        raise click.BadParameter(message, param_hint="'--world'")
    return named


def _write_rival_page(report: Path, found: "RivalStudy") -> None:
    """Write the page of the study of rivals, or its text, to --report."""
    from boundit.core.files import write_page  # noqa: PLC0415
    from boundit_research.online.rival_page import (  # noqa: PLC0415
        make_rival_page,
        write_rival_text,
    )

    write = write_rival_text if report.suffix.lower() == ".md" else make_rival_page
    write_page(report, write(found, command=spell_command()))
    notify_written(report)


def _run_study(
    study: str, runs: int | None, rounds: int | None, seed: int
) -> "tuple[StudyResult, Regret | None, int]":
    """Run a study by name; give what it found, its regret curves and the runs asked for."""
    from boundit_research.online.catalogue import STUDIES, run_study  # noqa: PLC0415

    with show_progress(study) as advance:
        found, curves = run_study(study, runs=runs, rounds=rounds, seed=seed, progress=advance)
    return found, curves, runs or STUDIES[study][1].runs


def _read_studied(policies: str, study: str) -> list[str]:
    """Read the names of policies for a study; refuse a constant behind @ that can be none."""
    names = read_policy_names(policies, STUDIED[study])
    for name in names:
        base, at, constant = name.partition("@")
        if at and not _is_positive(constant):
            raise click.UsageError(
                f"--policies {name}: the constant behind @ must be a number above 0, as in "
                f"{base}@0.5"
            )
    return names


def _is_positive(text: str) -> bool:
    """Tell whether a text is a finite number above 0."""
    try:
        return 0 < float(text) < inf
    except ValueError:
        return False


def _save_record(out: Path | None, record: dict[str, object]) -> None:
    """Write what a study found to the JSON file of --out, where one is given."""
    from boundit import __version__  # noqa: PLC0415
    from boundit.core.files import write_page  # noqa: PLC0415

    if out is not None:
        write_page(out, write_json({**record, "version": __version__}))
        notify_written(out)
