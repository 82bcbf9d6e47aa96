"""``boundit simulate``: regret of policies with and without the log."""

import logging
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.bounds.options import list_changed
from boundit.cli.options import DATA, INTERRUPTED, RUN, command, flags, is_path
from boundit.cli.outputs import (
    OutputFile,
    notify_written,
    print_json,
    refuse_overwriting,
    show_steps,
)
from boundit.cli.question import load_graph, open_log, require_nodes

if TYPE_CHECKING:
    from boundit.simulation.environment import Environment

POLICIES = "LinUCB,Fused,LinUCB-PCB,UCB,UCB-PCB"
RUNS, ROUNDS, SIZE = 10, 2_000, 30_000
FITTED = 5
"""Number of environments that are fitted to a log."""
LEAST_POINTS, MOST_POINTS = 500, 10_000_000
"""How short and how long a log that is drawn may be."""
ENVIRONMENTS = {"paper": "paper", "flipped": "flipped", "random": "random:7"}
FEEDBACK: Mapping[str, type] = {
    "delay": float,
    "distribution": str,
    "window": int,
    "missing": float,
    "default_reward": float,
    "batch": int,
    "observed": float,
}
"""What --feedback sets; ``observed`` is the share of rounds with auxiliary variables."""


@command(short_help="Regret of policies with and without the log.")
@click.argument("asked", nargs=-1, metavar="[GRAPH QUERY LOG...]")
@flags(*DATA, "outcome_range")
@click.option(
    "--environment",
    "place",
    default="paper",
    show_default=True,
    metavar="NAME",
    help="Without a log: paper, flipped, flipped:STRENGTH, random:SEED, or a JSON file.",
)
@click.option(
    "--policies",
    default=POLICIES,
    show_default=True,
    metavar="NAME,...",
    help="Policies to simulate; the others are compared with the first.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    metavar="N",
    default=ROUNDS,
    show_default=True,
    help="Rounds of a run.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    metavar="N",
    default=RUNS,
    show_default=True,
    help="Runs in each environment.",
)
@click.option(
    "--feedback",
    metavar="KEY=VALUE,...",
    help="Delayed and missing rewards: delay, distribution (fixed, geometric), window, missing, "
    "default_reward, batch; and observed, the share of rounds with auxiliary variables.",
)
@click.option(
    "--log-size",
    type=click.IntRange(LEAST_POINTS, MOST_POINTS),
    metavar="N",
    help="Bounds from a log of N rows at 95% confidence; by default without sampling error, and "
    f"Fused from a log of {SIZE:,}.",
)
@flags(
    *RUN,
    "seed",
    "out",
    "plot",
    "json",
    out={"type": OutputFile(".npz"), "metavar": "FILE.npz", "help": "Save every run."},
)
@click.pass_context
def simulate(
    context: click.Context,
    /,
    asked: tuple[str, ...],
    place: str,
    policies: str,
    rounds: int,
    runs: int,
    feedback: str | None,
    log_size: int | None,
    seed: int,
    out: Path | None,
    plot: Path | None,
    *,
    outcome_range: tuple[float, float] | None,
    time_limit: float | None,
    memory_limit: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Simulate policies and compare their regret.

    With GRAPH QUERY LOG, in environments that fit the log: models drawn from those that log and
    graph allow, spread over the bounds. Policies start from the bounds of that log.

    All policies meet the same contexts and random numbers. Ctrl-C keeps the runs that are done.
    Policies: Fused, which is recommended and pools the logged rows, and Fused-trusting, the same
    without doubt of them; UCB, LinUCB, LinUCB-shared, TS, LinTS and OAM; each of these with the
    suffix -PCB starts from bounds. LinUCB_CP-N and LinUCB_Biased-N start from biased estimates
    that count as N rows: 1, 10, 100 or counts.

    \b
    Examples:
      boundit simulate --rounds 15000 --runs 100
      boundit simulate --log-size 30000 --feedback observed=1 --policies LinUCB,Fused
      boundit simulate --environment flipped --policies LinUCB,LinUCB-PCB,LinUCB_CP-100
      boundit simulate --environment random:7 --runs 50 --plot regret.png --out regret.npz
      boundit simulate --environment shop.json --log-size 20000 --json
      boundit simulate --feedback delay=200,distribution=geometric,window=500,batch=100
      boundit simulate graph.txt 'Click | do(Ad), Age' log.csv
    """
    # The answer says what was left out; a warning would say it twice.
    logging.getLogger("boundit").addHandler(logging.NullHandler())
    _check_log_options(context, asked)
    refuse_overwriting(context, [place, *asked])
    names = read_policy_names(policies, POLICIES)
    from boundit.simulation.policies import OfflineTables, pick_policies  # noqa: PLC0415
    from boundit.simulation.simulate import simulate as play  # noqa: PLC0415

    how = _read_feedback(feedback)
    environments: Any
    if asked:
        from boundit.simulation.fit import fit_environments  # noqa: PLC0415

        graph, query = load_graph(asked[0]), asked[1]
        require_nodes(data["columns"], [graph])
        log = open_log(asked[2:], data)
        limits = {"time_limit": time_limit, "memory_limit": memory_limit}
        options = list_changed(limits | {"outcome_range": outcome_range})
        if data["exact"]:
            options["confidence"] = None
        with show_steps() as tell:
            environments = fit_environments(
                graph, query, log, n=FITTED, seed=seed, progress=tell, **options
            )
        offline = OfflineTables.from_log(graph, query, log, environments.bounds)
        click.echo(f"{environments}\n", err=as_json)
    else:
        environments = _load_environment(place)
        size = log_size or SIZE
        offline = OfflineTables.from_environment(environments, size=size, seed=seed)
    players = pick_policies(names, offline, exact=not asked and log_size is None)
    with show_steps("runs") as tell:
        found = play(
            environments,
            players,
            rounds=rounds,
            runs=runs,
            seed=seed,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=tell,
            **how,
        )
    if out is not None:
        found.save(out)
        notify_written(out)
    if plot is not None:
        found.plot(plot)
        notify_written(plot)
    print_json(found.record()) if as_json else click.echo(str(found))
    if found.runs < (wanted := runs * (len(environments) if asked else 1)):
        click.echo(f"interrupted after {found.runs:,} of {wanted:,} runs", err=True)
        if time_limit is None:
            context.exit(INTERRUPTED)


def _check_log_options(context: click.Context, asked: tuple[str, ...]) -> None:
    """Refuse a graph without query and log, and options that go with the other form."""
    if asked and len(asked) < 3:
        raise click.UsageError("Give GRAPH QUERY LOG, as for 'boundit bound', or none of them.")
    for parameter in context.command.params:
        clashing = parameter.name in (
            ("place", "log_size") if asked else (*DATA, "outcome_range")
        )
        given = context.get_parameter_source(str(parameter.name))
        if clashing and given is ParameterSource.COMMANDLINE:
            how = "cannot be combined with a log" if asked else "needs GRAPH QUERY LOG"
            raise click.UsageError(f"{parameter.opts[0]} {how}.")


def _read_feedback(text: str | None) -> dict[str, Any]:
    """Read --feedback as the options ``feedback`` and ``observed`` of ``simulate``."""
    from boundit.simulation.feedback import Feedback  # noqa: PLC0415

    given = dict[str, Any]()
    for part in (text or "").split(",") if text else ():
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in FEEDBACK:
            near = get_close_matches(key, FEEDBACK, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Keys: {', '.join(FEEDBACK)}."
            raise click.BadParameter(f"unknown key {key!r}. {hint}", param_hint="'--feedback'")
        try:
            given[key] = FEEDBACK[key](value)
        except ValueError:
            message = f"{key}={value!r} is not a number"
            raise click.BadParameter(message, param_hint="'--feedback'") from None
    observed = given.pop("observed", 0.0)
    delay = given.get("delay", 0.0)
    if given.get("distribution", "fixed") == "fixed" and delay == int(delay):
        given["delay"] = int(delay)
    made: Feedback | None = Feedback(**given) if given.keys() - {"delay"} or delay else None
    return {"feedback": made, "observed": observed}


def read_policy_names(policies: str, some: str) -> list[str]:
    """Read the names of policies in --policies; ``some`` is what to write instead of none."""
    names = [name for part in policies.split(",") if (name := part.strip())]
    if not names:
        raise click.UsageError(f"--policies is empty. Write for example {some}.")
    return names


def _load_environment(place: str) -> "Environment":
    """Make the environment of --environment, by its name or from its file."""
    from boundit.simulation import environments  # noqa: PLC0415, keeps --help quick
    from boundit.simulation.environment import read_environment  # noqa: PLC0415

    hint = "'--environment'"
    kind, _, number = place.partition(":")
    try:
        match kind, number:
            case "paper", "":
                return environments.paper_environment()
            case "flipped", _:
                return environments.flipped_environment(float(number or 1))
            case "random", number if number:
                return environments.random_environment(int(number))
    except ValueError:
        message = f"{number!r} is not a number. Write flipped:0.9 or random:7."
        raise click.BadParameter(message, param_hint=hint) from None
    if is_path(place):
        return read_environment(place)
    near = get_close_matches(kind.lower(), ENVIRONMENTS, n=1)
    known = "There are paper, flipped, flipped:STRENGTH, random:SEED and JSON files."
    said = f"Did you mean {ENVIRONMENTS[near[0]]!r}?" if near else known
    message = f"{place!r} is not an environment. {said}"
    raise click.BadParameter(message, param_hint=hint)
