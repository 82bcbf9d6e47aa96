"""``boundit simulate``: policies with and without bounds, in worlds whose truth is known."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.cli.logs import LogFiles, log_options
from boundit.cli.numbers import LEAST_POINTS, MOST_POINTS, Number
from boundit.cli.options import (
    INTERRUPTED,
    is_path,
    json_option,
    load_graph,
    memory_limit_option,
    seed_option,
)
from boundit.cli.outputs import (
    OutputFile,
    notify_written,
    print_json,
    refuse_overwriting,
)
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.counts.tabulate import Missing
    from boundit.simulation.feedback.feedback import Feedback
    from boundit.simulation.fitted.play import FittedRegret
    from boundit.simulation.regret import Regret
    from boundit.simulation.world import World

POLICIES = "LinUCB,Fused,LinUCB-PCB,UCB,UCB-PCB"
RUNS, ROUNDS, POINTS = 10, 2_000, 30_000
FITTED = 5
"""In how many worlds that fit a log everyone plays, unless told."""
LOG_OPTIONS = (
    *("drawn", "query", "weight", "columns", "bins", "missing"),
    *("tolerance", "memory_limit", "fitted"),
)
"""The flags that go with --log alone."""
WORLDS = {"paper": "paper", "flipped": "flipped", "random": "random:7"}
FEEDBACK = ("delay", "law", "window", "missing", "default", "batch")
"""The flags that say how rewards come."""


@click.command(short_help="Play policies with and without bounds in a world.")
@click.option(
    "--world",
    "place",
    default="paper",
    show_default=True,
    metavar="WORLD",
    help="paper, flipped, flipped:STRENGTH, random:SEED, or a JSON file with query and tables.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="LOG",
    help="Play in worlds that fit this log, and start from its bounds; needs --graph and "
    "--query. Repeatable.",
)
@log_options
@click.option(
    "--graph",
    "drawn",
    metavar="GRAPH",
    help="With --log: the graph that is assumed, a file or its text.",
)
@click.option("--query", metavar="QUERY", help="With --log: what is asked, 'Y | do(X), U'.")
@click.option("--weight", metavar="COLUMN", help="With --log: how many rows a row stands for.")
@click.option(
    "--tolerance",
    type=Number(0, 1, min_open=True),
    metavar="DISTANCE",
    help="With --log: how far the law of a world may be from the log's, as a total variation.",
)
@memory_limit_option
@click.option(
    "--worlds",
    "fitted",
    type=click.IntRange(1),
    metavar="N",
    help=f"With --log: in how many worlds that fit it, {FITTED} unless told.",
)
@click.option(
    "--policies",
    default=POLICIES,
    show_default=True,
    metavar="NAME,...",
    help="Who plays; the others are compared with the first.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    metavar="N",
    default=ROUNDS,
    show_default=True,
    help="How long a run is.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    metavar="N",
    default=RUNS,
    show_default=True,
    help="How often everyone plays.",
)
@seed_option
@click.option(
    "--log-points",
    type=click.IntRange(LEAST_POINTS, MOST_POINTS),
    metavar="N",
    help="Bound from a log of so many points, at confidence 0.95; else from the exact law, and "
    f"Fused from a log of {POINTS:,}.",
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
    "--missing-rewards",
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
    help="Threads; else one for each processor.",
)
@click.option(
    "--observed",
    type=Number(0, 1),
    metavar="SHARE",
    default=0,
    show_default=True,
    help="In which share of rounds policies see what helps them besides the reward.",
)
@click.option(
    "--out",
    type=OutputFile(".npz"),
    metavar="FILE",
    help="Save every run: npz.",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg"),
    metavar="FILE",
    help="Draw the curves: png or svg.",
)
@json_option
@click.pass_context
def simulate(
    context: click.Context,
    place: str,
    logs: tuple[str, ...],
    columns: Mapping[str, str],
    bins: Mapping[str, Sequence[float]],
    missing: "Missing",
    drawn: str | None,
    query: str | None,
    weight: str | None,
    tolerance: float | None,
    memory_limit: str | None,
    fitted: int | None,
    policies: str,
    rounds: int,
    runs: int,
    seed: int,
    log_points: int | None,
    delay: float | None,
    law: str | None,
    window: int | None,
    missing_rewards: float | None,
    default: float | None,
    batch: int | None,
    workers: int | None,
    observed: float,
    out: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """Play policies in a world and compare their regret.

    With --log, in worlds that fit a log of your own: models drawn from those that the log and
    the graph allow, spread over the bounds; policies start from the bounds of that log.

    All meet the same users and the same luck. Ctrl-C keeps the runs that are done. Policies:
    Fused, which we recommend and which counts the rows of a log, and Fused-trusting, the same
    without doubt of it; UCB, LinUCB, LinUCB-shared, KL-UCB, TS, LinTS and OAM;
    each of these with -PCB behind its name starts from bounds. LinUCB_CP-N and
    LinUCB_Biased-N start from biased estimates that count for N rows: 1, 10, 100 or counts.

    \b
    Examples:
      boundit simulate --rounds 15000 --runs 100
      boundit simulate --log-points 30000 --observed 1 --policies LinUCB,Fused,LinUCB-PCB
      boundit simulate --world flipped --policies LinUCB,LinUCB-PCB,LinUCB_CP-100
      boundit simulate --world random:7 --runs 50 --plot regret.png --out regret.npz
      boundit simulate --world shop.json --log-points 20000 --json
      boundit simulate --delay 200 --law geometric --window 500 --default 0 --batch 100
      boundit simulate --log log.csv --graph graph.txt --query 'Click | do(Ad), Age'
    """
    # Worlds that were left out are told in the answer; a warning would say so once more.
    logging.getLogger("boundit").addHandler(logging.NullHandler())
    log = LogFiles(logs, weight, columns, bins, missing)
    _check_log_options(context, drawn, query, logged=bool(logs))
    refuse_overwriting(context, [place, *logs])
    given = dict(
        zip(FEEDBACK, (delay, law, window, missing_rewards, default, batch), strict=True)
    )
    names = tuple(read_policy_names(policies, POLICIES))
    how = _Play(names, runs, rounds, seed, workers, observed, _read_feedback(given))
    played: FittedRegret | Regret
    if logs:
        limits = {"tolerance": tolerance, "memory_limit": memory_limit}
        played = _play_fitted(log, str(drawn), str(query), fitted, how, limits)
        curves, asked = played.pooled, runs * len(played.worlds)
    else:
        played = curves = _play_policies(_load_world(place), log_points, how)
        asked = runs
    if out is not None:
        curves.save(out)
        notify_written(out)
    if plot is not None:
        curves.plot(plot)
        notify_written(plot)
    print_json(played.record()) if as_json else click.echo(str(played))
    if curves.runs < asked:
        click.echo(f"interrupted after {curves.runs:,} of {asked:,} runs", err=True)
        context.exit(INTERRUPTED)


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
        """The options that ``simulate`` and ``play_fitted`` of the library take alike."""
        return {
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "workers": self.workers,
            "observed": self.observed,
            "feedback": self.feedback,
        }


def _check_log_options(
    context: click.Context, drawn: str | None, query: str | None, *, logged: bool
) -> None:
    """Refuse --log without a graph and a question, and flags that do not go with it."""
    clashing = ("place", "log_points") if logged else LOG_OPTIONS
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in clashing and given is ParameterSource.COMMANDLINE:
            how = "does not go with --log" if logged else "goes with --log alone"
            raise click.UsageError(f"{parameter.opts[0]} {how}")
    if logged and (drawn is None or query is None):
        raise click.UsageError("--log needs --graph and --query, as 'boundit bound' does")


def _play_fitted(
    files: LogFiles,
    drawn: str,
    query: str,
    fitted: int | None,
    how: _Play,
    limits: dict[str, Any],
) -> "FittedRegret":
    """Play the named policies in worlds that fit a log, started from the bounds of that log."""
    from boundit.simulation.fitted.fit_worlds import fit_worlds  # noqa: PLC0415
    from boundit.simulation.fitted.play import play_fitted  # noqa: PLC0415
    from boundit.simulation.policies import OfflineTables, pick_policies  # noqa: PLC0415

    graph = load_graph(drawn)
    files.require_nodes(graph)
    log = files.open().log
    with show_steps() as tell:
        n = fitted or FITTED
        worlds = fit_worlds(graph, query, log, n=n, seed=how.seed, progress=tell, **limits)
    offline = OfflineTables.from_log(graph, query, log, worlds.bounds)
    players = pick_policies(how.names, offline, exact=False)
    with show_steps("runs") as tell:
        return play_fitted(worlds, players, progress=tell, **how.options)


def _play_policies(world: "World", log_points: int | None, how: _Play) -> "Regret":
    """Play the named policies in a world, with bounds from its log, and give their regrets."""
    from boundit.simulation.policies import OfflineTables, pick_policies  # noqa: PLC0415
    from boundit.simulation.simulate import simulate as play  # noqa: PLC0415

    offline = OfflineTables.from_world(world, points=log_points or POINTS, seed=how.seed)
    players = pick_policies(how.names, offline, exact=log_points is None)
    with show_steps("runs") as tell:
        return play(world, players, progress=tell, **how.options)


def _read_feedback(given: Mapping[str, object]) -> "Feedback | None":
    """Make the value that says how rewards come, of those flags of it that were given.

    None where there are none, so that rewards come at once.
    """
    from boundit.simulation.feedback.feedback import Feedback  # noqa: PLC0415

    options: dict[str, Any] = {name: of for name, of in given.items() if of is not None}
    delay = options.get("delay", 0.0)
    if options.get("law", "fixed") == "fixed" and delay == int(delay):
        options["delay"] = int(delay)
    return Feedback(**options) if options.keys() - {"delay"} or delay else None


def read_policy_names(policies: str, some: str) -> list[str]:
    """Read the names of policies in --policies, separated by commas.

    ``some`` are names to write where there are none.
    """
    names = [name for part in policies.split(",") if (name := part.strip())]
    if not names:
        raise click.UsageError(f"--policies names nobody; write {some} or such")
    return names


def _load_world(place: str) -> "World":
    """Make the world of --world, by its name or from its file."""
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
    """Write the message for a --world that is neither a name of ours nor a file."""
    near = get_close_matches(place.partition(":")[0].lower(), WORLDS, n=1)
    there = "there are paper, flipped, flipped:STRENGTH and random:SEED, or name a JSON file"
    hint = f"did you mean {WORLDS[near[0]]!r}?" if near else there
    return f"there is no world {place!r} and no such file; {hint}"
