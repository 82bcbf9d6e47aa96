"""``boundit simulate``: policies with and without bounds, in worlds whose truth is known."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.cli.logs import LogFiles, database_options, require_one_place
from boundit.cli.numbers import Number, read_lengths
from boundit.cli.options import INTERRUPTED, is_path, json_option, load_graph, seed_option
from boundit.cli.outputs import (
    OutputFile,
    notify_written,
    print_json,
    refuse_overwriting,
    spell_command,
    write_json,
)
from boundit.cli.progress import show_progress, show_steps

if TYPE_CHECKING:
    from boundit.simulation.feedback.feedback import Feedback
    from boundit.simulation.fitted.play import FittedRegret
    from boundit.simulation.regret import Regret
    from boundit.simulation.world import World
    from boundit.studies.online.catalogue import StudyResult
    from boundit.studies.online.rival_study import RivalStudy

POLICIES = "LinUCB,Fused,LinUCB-PCB,UCB,UCB-PCB"
STUDIED = {"logs": "LinUCB,Fused,LinUCB-PCB", "rivals": "Fused,GLUE,GLUE*,GLUE@0.5"}
"""Policies that the studies have which let one choose."""
RUNS, ROUNDS, POINTS = 10, 2_000, 30_000
FITTED = 5
"""In how many worlds that fit a log everyone plays, unless told."""
LOG_OPTIONS = ("drawn", "query", "weight", "fitted")
"""The flags that go with --log alone."""
WORLDS = {"paper": "paper", "flipped": "flipped", "random": "random:7"}
FEEDBACK = ("delay", "law", "window", "missing", "default", "batch")
"""The flags that say how rewards come."""
WITHOUT_CURVES = ("suite", "ceilings", "logs", "rivals")
"""Studies that compare worlds, and have no curve to draw."""


@click.command(short_help="Play policies with and without bounds in a world.")
@click.option(
    "--world",
    "place",
    default="paper",
    show_default=True,
    metavar="WORLD",
    help="paper, flipped, flipped:STRENGTH, random:SEED, or a JSON file with query and tables. "
    "With the studies of logs and rivals: paper, flipped, random or wrong, or several of these "
    "with commas between.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="LOG",
    help="Play in worlds that fit this log, and start from its bounds; needs --graph and "
    "--query. Repeatable.",
)
@database_options
@click.option(
    "--graph",
    "drawn",
    metavar="GRAPH",
    help="With --log: the graph that is assumed, a file or its text.",
)
@click.option("--query", metavar="QUERY", help="With --log: what is asked, 'Y | do(X), U'.")
@click.option("--weight", metavar="COLUMN", help="With --log: how many rows a row stands for.")
@click.option(
    "--worlds",
    "fitted",
    type=click.IntRange(1),
    metavar="N",
    help=f"With --log: in how many worlds that fit it, {FITTED} unless told. With the study of "
    "rivals: in how many random ones.",
)
@click.option(
    "--policies",
    default=POLICIES,
    show_default=True,
    metavar="NAME,...",
    help="Who plays; the others are compared with the first. With the studies of logs and "
    "rivals: some of theirs, as above.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    metavar="N",
    help=f"How long a run is: {ROUNDS:,} rounds unless told, of a study its own.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    metavar="N",
    help=f"How often everyone plays: {RUNS} times unless told, of a study its own.",
)
@seed_option
@click.option(
    "--log-points",
    type=read_lengths,
    metavar="N",
    help="Bound from a log of so many points, at confidence 0.95; else from the exact law, and "
    f"Fused from a log of {POINTS:,}. With the studies of logs and rivals several, 1000,30000.",
)
@click.option(
    "--delay",
    type=Number(0),
    metavar="N",
    help="Rewards come so many rounds late; with --law geometric, so many on average.",
)
@click.option(
    "--law",
    type=click.Choice(["fixed", "geometric"]),
    help="By which law rewards are late; fixed unless told.",
)
@click.option(
    "--window",
    type=click.IntRange(0),
    metavar="N",
    help="Rewards that are later than N rounds never count.",
)
@click.option(
    "--missing",
    type=Number(0, 1),
    metavar="SHARE",
    help="The share of rewards that never come.",
)
@click.option(
    "--default",
    type=Number(0, 1),
    metavar="REWARD",
    help="Learn this when the window ends, in place of a reward that has not come.",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="Rewards are handed on every N rounds.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Threads; else one for each processor. Does not go with --study.",
)
@click.option(
    "--study",
    type=click.Choice(
        [
            *("paper", "flip", "suite", "watch", "living", "theorem6", "ceilings"),
            *("logs", "rivals"),
        ]
    ),
    help="Play one of our own studies instead, at the size we report unless told.",
)
@click.option(
    "--observed",
    type=Number(0, 1),
    metavar="SHARE",
    help="In which share of rounds policies see what helps them besides the reward: in none "
    "unless told, with the studies of logs and rivals in all.",
)
@click.option(
    "--out",
    type=OutputFile(".npz", ".json"),
    metavar="FILE",
    help="Save every run (npz), or of a study what it found (json).",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg", drawn_later=True),
    metavar="FILE",
    help="Draw the curves: png or svg.",
)
@click.option(
    "--report",
    type=OutputFile(".html", ".md"),
    metavar="FILE",
    help="With the study of rivals: write a page with its tables and pictures (html), or the "
    "tables alone (md).",
)
@json_option
@click.pass_context
def simulate(
    context: click.Context,
    place: str,
    logs: tuple[str, ...],
    sql: str | None,
    connection: str | None,
    drawn: str | None,
    query: str | None,
    weight: str | None,
    fitted: int | None,
    policies: str,
    rounds: int | None,
    runs: int | None,
    seed: int,
    log_points: tuple[int, ...] | None,
    delay: float | None,
    law: str | None,
    window: int | None,
    missing: float | None,
    default: float | None,
    batch: int | None,
    workers: int | None,
    study: str | None,
    observed: float | None,
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Play policies in a world and compare their regret.

    With --log, in worlds that fit a log of your own: models drawn from those that the log and
    the graph allow, spread over the bounds; policies start from the bounds of that log.

    All meet the same users and the same luck. Ctrl-C keeps the runs that are done. Policies:
    Fused, which we recommend and which counts the rows of a log, and Fused-trusting, the same
    without doubt of it; UCB, LinUCB, LinUCB-shared, KL-UCB, TS, LinTS, LinTS-shared and OAM;
    each of these with -PCB behind its name starts from bounds. LinUCB_CP-N and
    LinUCB_Biased-N start from biased estimates that count for N rows: 1, 10, 100 or counts.

    The study of logs draws a fresh log for each run, in the worlds paper, flipped, random and
    wrong (those that the assumed graph gets wrong) or in some of these; --out keeps what is
    done, also where Ctrl-C ends it, and the same command goes on from it. The study of rivals
    does so with policies of other papers: B-kl-UCB, B-TS, GLUE, R-OFUL, MIN-UCB, VirUCB,
    ARRoW-CB, EXP3-IX and 'Warm start'; most with a tuned constant too, as 'GLUE*', and all
    with any, as 'GLUE@0.5'.

    \b
    Examples:
      boundit simulate --rounds 15000 --runs 100
      boundit simulate --log-points 30000 --observed 1 --policies LinUCB,Fused,LinUCB-PCB
      boundit simulate --world flipped --policies LinUCB,LinUCB-PCB,LinUCB_CP-100
      boundit simulate --world random:7 --runs 50 --plot regret.png --out regret.npz
      boundit simulate --world shop.json --log-points 20000 --json
      boundit simulate --delay 200 --law geometric --window 500 --default 0 --batch 100
      boundit simulate --log log.csv --graph graph.txt --query 'Click | do(Ad), Age'
      boundit simulate --study watch --plot watch.svg
      boundit simulate --study logs --world wrong --log-points 30000 --out logs.json
      boundit simulate --study rivals --worlds 5 --out rivals.json --report rivals.html
      boundit simulate --study rivals --world paper,wrong --log-points 1000,30000 --runs 5
    """
    # A watch that drops its bounds says so each time; here that is what is being counted.
    logging.getLogger("boundit").addHandler(logging.NullHandler())
    _check_targets(study, out, plot, report)
    require_one_place("--log", logs, sql, connection)
    log = LogFiles(logs, weight, sql=sql, connection=connection)
    _check_log_options(context, study, drawn, query, logged=log.given)
    refuse_overwriting(context, [place, *logs])
    if study is not None:
        found, curves, asked = _answer_study(context, study, runs, rounds, seed, out)
        record, text = found.record(), str(found)
    else:
        asked, length = runs or RUNS, rounds or ROUNDS
        given = dict(zip(FEEDBACK, (delay, law, window, missing, default, batch), strict=True))
        how = _Play(
            tuple(_read_policy_names(policies)),
            asked,
            length,
            seed,
            workers,
            observed or 0.0,
            _read_feedback(given),
        )
        played: FittedRegret | Regret
        if log.given:
            played = _play_fitted(log, str(drawn), str(query), fitted, how)
            curves, asked = played.pooled, asked * len(played.worlds)
        else:
            played = curves = _play_policies(_load_world(place), _read_one(log_points), how)
        record, text = played.record(), str(played)
        if out is not None:
            curves.save(out)
            notify_written(out)
    if plot is not None and curves is not None:
        curves.plot(plot)
        notify_written(plot)
    print_json(record) if as_json else click.echo(text)
    if curves is not None and curves.runs < asked:
        click.echo(f"interrupted after {curves.runs:,} of {asked:,} runs", err=True)
        context.exit(INTERRUPTED)


def _check_targets(
    study: str | None, out: Path | None, plot: Path | None, report: Path | None
) -> None:
    """Refuse an --out of the wrong ending, a --plot without curves, a --report without a page.

    Called by ``simulate`` before anything is played.
    """
    kept = ".npz" if study is None else ".json"
    if out is not None and out.suffix.lower() != kept:
        what = "runs are" if study is None else "what a study finds is"
        raise click.UsageError(f"--out {out}: {what} saved as {kept}; name the file so")
    if plot is not None and study in WITHOUT_CURVES:
        raise click.UsageError(f"the study {study} has no curves to plot; leave out --plot")
    if report is not None and study != "rivals":
        raise click.UsageError("--report goes with --study rivals alone")
    if plot is not None:
        from boundit.report.figures.canvas import require_matplotlib  # noqa: PLC0415, quick --help

        require_matplotlib()


@dataclass(frozen=True, slots=True)
class _Play:
    """Who plays, how often and how long, and how rewards come: as the flags say it."""

    names: tuple[str, ...]
    runs: int
    rounds: int
    seed: int
    workers: int | None
    observed: float
    feedback: "Feedback | None"

    @property
    def options(self) -> dict[str, Any]:
        """The options that ``simulate`` and ``play_fitted`` of the library take alike.

        Read by ``_play_policies`` and ``_play_fitted``.
        """
        return {
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "workers": self.workers,
            "observed": self.observed,
            "feedback": self.feedback,
        }


def _check_log_options(
    context: click.Context,
    study: str | None,
    drawn: str | None,
    query: str | None,
    *,
    logged: bool,
) -> None:
    """Refuse --log without a graph and a question, and flags that do not go with it.

    Called by ``simulate`` before anything is played.
    """
    clashing = _list_clashing(study, logged=logged)
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in clashing and given is ParameterSource.COMMANDLINE:
            others = " or --study rivals" if parameter.name == "fitted" else " alone"
            how = "does not go with --log" if logged else f"goes with --log{others}"
            raise click.UsageError(f"{parameter.opts[0]} {how}")
    if logged and study is not None:
        raise click.UsageError("--study does not go with --log")
    if logged and (drawn is None or query is None):
        raise click.UsageError("--log needs --graph and --query, as 'boundit bound' does")


def _list_clashing(study: str | None, *, logged: bool) -> tuple[str, ...]:
    """List the options that do not go with a log of one's own, or with nothing else.

    Called by ``_check_log_options``.
    """
    if logged:
        return "place", "log_points"
    return tuple(name for name in LOG_OPTIONS if study != "rivals" or name != "fitted")


def _play_fitted(
    files: LogFiles, drawn: str, query: str, fitted: int | None, how: _Play
) -> "FittedRegret":
    """Play the named policies in worlds that fit a log, started from the bounds of that log.

    Called by ``simulate`` for --log.
    """
    from boundit.simulation.fitted.fit_worlds import fit_worlds  # noqa: PLC0415
    from boundit.simulation.fitted.play import play_fitted  # noqa: PLC0415
    from boundit.studies.online.policies import OfflineTables, pick_policies  # noqa: PLC0415

    graph, log = load_graph(drawn), files.open().log
    with show_steps() as tell:
        worlds = fit_worlds(graph, query, log, n=fitted or FITTED, seed=how.seed, told=tell)
    offline = OfflineTables.from_log(graph, query, log, worlds.bounds)
    players = pick_policies(how.names, offline, exact=False)
    with show_progress("runs") as advance:
        return play_fitted(
            worlds,
            players,
            told=lambda done: advance(done, how.runs * len(worlds)),
            **how.options,
        )


def _play_policies(world: "World", log_points: int | None, how: _Play) -> "Regret":
    """Play the named policies in a world, with bounds from its log, and give their regrets.

    Called by ``simulate`` without --study and without --log.
    """
    from boundit.simulation.simulate import simulate as play  # noqa: PLC0415
    from boundit.studies.online.policies import OfflineTables, pick_policies  # noqa: PLC0415

    offline = OfflineTables.from_world(world, points=log_points or POINTS, seed=how.seed)
    players = pick_policies(how.names, offline, exact=log_points is None)
    with show_progress("runs") as advance:
        return play(world, players, told=lambda done: advance(done, how.runs), **how.options)


def _read_feedback(given: Mapping[str, object]) -> "Feedback | None":
    """Make the value that says how rewards come, of those flags of it that were given.

    None where there are none, so that rewards come at once. Called by ``simulate``.
    """
    from boundit.simulation.feedback.feedback import Feedback  # noqa: PLC0415

    options: dict[str, Any] = {name: of for name, of in given.items() if of is not None}
    delay = options.get("delay", 0.0)
    if options.get("law", "fixed") == "fixed" and delay == int(delay):
        options["delay"] = int(delay)
    return Feedback(**options) if options.keys() - {"delay"} or delay else None


def _answer_study(
    context: click.Context,
    study: str,
    runs: int | None,
    rounds: int | None,
    seed: int,
    out: Path | None,
) -> "tuple[StudyResult, Regret | None, int]":
    """Refuse what a study has no use for, run it, and write what it found to --out.

    Called by ``simulate`` for --study.
    """
    if study in ("logs", "rivals"):
        _refuse_options(context, "workers", *FEEDBACK)
        return _run_log_study(context, study, runs, rounds, seed, out), None, 0
    _refuse_options(
        context, "place", "policies", "log_points", "observed", "workers", *FEEDBACK
    )
    found, curves, asked = _run_study(study, runs, rounds, seed)
    _save_record(out, {"study": study, **found.record()})
    return found, curves, asked


def _run_log_study(
    context: click.Context,
    study: str,
    runs: int | None,
    rounds: int | None,
    seed: int,
    out: Path | None,
) -> "StudyResult":
    """Run the study of fresh logs or that of rivals, with what of them was named.

    That is worlds, policies, and lengths of the log. Called by ``_answer_study`` for --study
    logs and rivals.
    """
    from boundit.studies.online import log_study, rival_study  # noqa: PLC0415

    rivals = study == "rivals"
    given = {
        name: context.params[name]
        for name in ("place", "policies", "log_points", "observed", "fitted")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    groups = _read_groups(given["place"]) if "place" in given else tuple(log_study.RUNS)
    names = rival_study.POLICIES if rivals else log_study.POLICIES
    options: dict[str, Any] = {
        "groups": groups,
        "policies": _read_studied(given["policies"], study) if "policies" in given else names,
        "points": given.get("log_points"),
        "runs": runs,
        "worlds": given.get("fitted", log_study.RANDOM),
        "settings": log_study.LogStudySettings(
            rounds or log_study.ROUNDS, seed, given.get("observed", 1.0)
        ),
        "path": out,
    }
    with show_progress("runs") as advance:
        if not rivals:
            return log_study.run_log_study(**options, told=advance)
        found = rival_study.run_rival_study(**options, told=advance)
    _write_rival_page(context, found)
    return found


def _read_groups(place: str) -> tuple[str, ...]:
    """Read the groups of worlds in --world, separated by commas, that a study is to play.

    Called by ``_run_log_study``.
    """
    from boundit.studies.online.log_study import RUNS as GROUPS  # noqa: PLC0415

    named = tuple(dict.fromkeys(part.strip() for part in place.split(",")))
    if unknown := [name for name in named if name not in GROUPS]:
        message = f"{unknown[0]!r} is none of the study's worlds {', '.join(GROUPS)}"
        raise click.BadParameter(message, param_hint="'--world'")
    return named


def _read_one(lengths: tuple[int, ...] | None) -> int | None:
    """Take the one length of a log where several make no sense; None where none was given.

    Called by ``simulate`` without --study.
    """
    if lengths is not None and len(lengths) > 1:
        message = "several lengths go with --study logs and rivals alone"
        raise click.BadParameter(message, param_hint="'--log-points'")
    return lengths[0] if lengths else None


def _write_rival_page(context: click.Context, found: "RivalStudy") -> None:
    """Write the page of the study of rivals, or its text, to --report, where one is given.

    Called by ``_run_log_study``.
    """
    from boundit.studies.online.rival_page import (  # noqa: PLC0415
        make_rival_page,
        write_rival_text,
    )
    from boundit.terms.saving.files import write_page  # noqa: PLC0415

    report = context.params["report"]
    if report is not None:
        write = write_rival_text if report.suffix.lower() == ".md" else make_rival_page
        write_page(report, write(found, command=spell_command()))
        notify_written(report)


def _run_study(
    study: str, runs: int | None, rounds: int | None, seed: int
) -> "tuple[StudyResult, Regret | None, int]":
    """Run a study by name; give what it found, its regret curves and the runs asked for.

    Called by ``_answer_study`` for all studies but that of logs.
    """
    from boundit.studies.online.catalogue import STUDIES, run_study  # noqa: PLC0415

    with show_progress(study) as advance:
        found, curves = run_study(study, runs=runs, rounds=rounds, seed=seed, told=advance)
    return found, curves, runs or STUDIES[study][1].runs


def _refuse_options(context: click.Context, *names: str) -> None:
    """Refuse --world, --policies and other options that a study has no use for.

    Called by ``_answer_study``.
    """
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in names and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--study does not go with {parameter.opts[0]}")


def _read_policy_names(policies: str, some: str = POLICIES) -> list[str]:
    """Read the names of policies in --policies, separated by commas.

    ``some`` are names to write where there are none. Called by ``simulate`` and
    ``_read_studied``.
    """
    names = [name for part in policies.split(",") if (name := part.strip())]
    if not names:
        raise click.UsageError(f"--policies names nobody; write {some} or such")
    return names


def _read_studied(policies: str, study: str) -> list[str]:
    """Read the names of policies for a study; refuse a constant behind @ that can be none.

    Called by ``_run_log_study`` for --policies.
    """
    names = _read_policy_names(policies, STUDIED[study])
    for name in names:
        base, at, constant = name.partition("@")
        if at and not _is_positive(constant):
            raise click.UsageError(
                f"--policies {name}: the constant behind @ must be a number above 0, as in "
                f"{base}@0.5"
            )
    return names


def _is_positive(text: str) -> bool:
    """Tell whether a text is a finite number above 0. Called by ``_read_studied``."""
    try:
        return 0 < float(text) < inf
    except ValueError:
        return False


def _save_record(out: Path | None, record: dict[str, object]) -> None:
    """Write what a study found to the JSON file of --out, where one is given.

    Called by ``_answer_study``.
    """
    from boundit import __version__  # noqa: PLC0415
    from boundit.terms.saving.files import write_page  # noqa: PLC0415

    if out is not None:
        write_page(out, write_json({**record, "version": __version__}))
        notify_written(out)


def _load_world(place: str) -> "World":
    """Make the world of --world, by its name or from its file. Called by ``simulate``."""
    from boundit.simulation import worlds  # noqa: PLC0415, keeps --help quick
    from boundit.simulation.world_file import read_world  # noqa: PLC0415

    kind, _, number = place.partition(":")
    try:
        match kind, number:
            case "paper", "":
                return worlds.paper_world()
            case "flipped", _:
                return worlds.flipped_world(float(number or 1))
            case "random", number if number:
                return worlds.random_world(int(number))
    except ValueError:
        message = f"{number!r} is no number; write flipped:0.9 or random:7"
        raise click.BadParameter(message, param_hint="'--world'") from None
    if not is_path(place):
        raise click.BadParameter(_describe_unknown(place), param_hint="'--world'")
    return read_world(place)


def _describe_unknown(place: str) -> str:
    """Write the message for a --world that is neither a name of ours nor a file.

    Called by ``_load_world``.
    """
    near = get_close_matches(place.partition(":")[0].lower(), WORLDS, n=1)
    there = "there are paper, flipped, flipped:STRENGTH and random:SEED, or name a JSON file"
    hint = f"did you mean {WORLDS[near[0]]!r}?" if near else there
    return f"there is no world {place!r} and no such file; {hint}"
