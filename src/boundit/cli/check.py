"""``boundit check``: whether the log contradicts the graph, before its bounds are used."""

from typing import TYPE_CHECKING

import click

from boundit.cli.logs import log_argument, opened
from boundit.cli.options import graph_argument, json_option, show
from boundit.cli.progress import progress

if TYPE_CHECKING:
    from boundit.checks.report import CheckReport
    from boundit.graph.causal_graph import CausalGraph


@click.command()
@graph_argument
@log_argument
@click.option(
    "--level",
    default=0.05,
    show_default=True,
    help="The chance of any false alarm, over all statements.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="For shuffles of small counts.",
)
@json_option
@click.pass_context
def check(
    context: click.Context,
    graph: "CausalGraph",
    log: tuple[str, ...],
    level: float,
    weight: str | None,
    columns: tuple[str, ...],
    bins: tuple[str, ...],
    seed: int,
    *,
    as_json: bool,
) -> None:
    """Test on LOG files what GRAPH says of logged rows; exit 1 when something contradicts.

    \b
    Examples:
      boundit check graph.txt log.csv
      boundit check 'Age -> Ad -> Click; Click -> [S]' 'logs/*.parquet' --level 0.01
    """
    from boundit.checks.check import check as run  # noqa: PLC0415, keeps --help quick

    with progress("statements") as told:
        rows = opened(log, weight, columns, bins)
        report = run(graph, rows, level=level, seed=seed, told=told)
    if as_json:
        show(_record(report))
    else:
        click.echo(str(report))
    context.exit(0 if report else 1)


def _record(report: "CheckReport") -> dict[str, object]:
    return {
        "contradicted": not report,
        "verdict": report.verdict(),
        "level": report.level,
        "seed": report.seed,
        "findings": report.rows(),
        "caveats": report.caveats,
    }
