"""``boundit suggest``: what would narrow the bounds of a log, and by how much."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.assumptions import (
    choose_confidence,
    confidence_option,
    external_option,
    inference_option,
    outcome_range_option,
    plug_in_option,
    selection_limit_option,
    selection_rate_option,
)
from boundit.cli.logs import LogFiles, log_argument, node_option, read_levels
from boundit.cli.numbers import Number
from boundit.cli.options import (
    graph_argument,
    json_option,
    memory_limit_option,
    report_option,
    seed_option,
)
from boundit.cli.outputs import print_json, refuse_overwriting, write_answer
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph


@click.command(short_help="Say what would narrow the bounds of a log.")
@graph_argument
@click.argument("query")
@log_argument
@external_option
@click.option(
    "--external-weight",
    metavar="COLUMN",
    help="How many rows a row stands for, in external tables that have the column.",
)
@node_option(
    "--domain",
    metavar="NODE=LEVEL,...",
    read=read_levels,
    help="Levels beyond those logged; repeatable.",
)
@outcome_range_option
@selection_rate_option
@selection_limit_option
@confidence_option
@inference_option
@plug_in_option
@click.option(
    "--worlds",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="From how many worlds that fit the log the contents of tables are taken.",
)
@click.option(
    "--trial",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    metavar="ROUNDS",
    help="How many rounds of each arm in each context a randomised trial would have.",
)
@click.option(
    "--time-limit",
    type=Number(0),
    metavar="SECONDS",
    help="For everything; notes say what was not tried.",
)
@memory_limit_option
@seed_option
@report_option
@json_option
@click.pass_context
def suggest(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    log: LogFiles,
    external: tuple[str, ...],
    external_weight: str | None,
    domain: Mapping[str, Sequence[object]],
    outcome_range: tuple[float, float] | None,
    selection_rate: float | tuple[float, float] | None,
    selection_limit: float | None,
    confidence: float,
    inference: str,
    worlds: int,
    trial: int,
    time_limit: float | None,
    memory_limit: str | None,
    seed: int,
    report: Path | None,
    *,
    plug_in: bool,
    as_json: bool,
) -> None:
    """Say what would narrow the bounds of QUERY, ranked by how wide they would be then.

    Tried are the selection rate, tables of everyone (the smallest that make the effect
    recoverable first), knowing that an edge is not there, four times the rows, and a randomised
    trial.

    \b
    Examples:
      boundit suggest graph.txt 'Click | do(Ad), Age' log.csv
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --trial 500 --time-limit 60 --json
      boundit suggest graph.txt 'Click | do(Ad)' log.csv --report out.html
    """
    from boundit.decisions.suggest.page import make_suggest_page  # noqa: PLC0415
    from boundit.decisions.suggest.suggest import suggest as ask  # noqa: PLC0415

    log.require_nodes(graph)
    read = log.open(external, external_weight)
    refuse_overwriting(context, read.files)
    chance = choose_confidence(context, confidence, plug_in=plug_in, exact=log.exact)
    with show_steps() as tell:
        found = ask(
            graph,
            query,
            read.log,
            confidence=chance,
            external=read.external,
            inference=inference,  # type: ignore[arg-type]
            selection_rate=selection_rate,
            selection_limit=selection_limit,
            outcome_range=outcome_range,
            domain=domain,
            worlds=worlds,
            trial=trial,
            seed=seed,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=tell,
        )
    if report is not None:
        write_answer(report, make_suggest_page(found, query))
    print_json(found.record()) if as_json else click.echo(str(found))
