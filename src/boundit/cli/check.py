"""``boundit check``: whether the log contradicts the graph, before its bounds are used."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from boundit.cli.flags import write_with_flags
from boundit.cli.logs import LogFiles, log_argument
from boundit.cli.numbers import Number
from boundit.cli.options import graph_argument, json_option, memory_limit_option
from boundit.cli.outputs import print_json
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.checks.report import CheckReport
    from boundit.graph.causal_graph import CausalGraph


@click.command(short_help="Ask a log whether it contradicts the graph.")
@graph_argument
@log_argument
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="CHANCE",
    default=0.05,
    show_default=True,
    help="The chance of any false alarm, over all statements.",
)
@click.option(
    "--time-limit",
    type=Number(0),
    metavar="SECONDS",
    help="For finding and testing statements; those not reached are said to be untestable.",
)
@memory_limit_option
@json_option
@click.pass_context
def check(
    context: click.Context,
    graph: "CausalGraph",
    log: LogFiles,
    level: float,
    time_limit: float | None,
    memory_limit: str | None,
    *,
    as_json: bool,
) -> None:
    """Test on LOG files what GRAPH says of logged rows; exit 1 when something contradicts.

    A LOG is a Parquet, CSV, JSON lines or Arrow file, a pattern or a folder, with a column for
    every node that was measured.

    \b
    Examples:
      boundit check graph.txt log.csv
      boundit check 'Age -> Ad -> Click; Click -> [S]' 'logs/*.parquet' --level 0.01
      boundit check large.dot log.parquet --time-limit 60 --memory-limit 2GB
    """
    from boundit.checks.check import check as run  # noqa: PLC0415, keeps --help quick

    log.require_nodes(graph)
    with show_steps() as tell:
        found = run(
            graph,
            log.open().log,
            level=level,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=tell,
        )
    report = _spell_options(found)
    if as_json:
        print_json(_make_check_record(report))
    else:
        click.echo(str(report))
    context.exit(0 if report else 1)


def _spell_options(report: "CheckReport") -> "CheckReport":
    """Rewrite the caveats of a check report so that the options they name read as flags."""
    return replace(
        report,
        findings=tuple(replace(f, reason=write_with_flags(f.reason)) for f in report.findings),
        notes=tuple(map(write_with_flags, report.notes)),
    )


def _make_check_record(report: "CheckReport") -> dict[str, object]:
    """Write a check report as an object for JSON."""
    return {
        "contradicted": not report,
        "verdict": report.verdict(),
        "complete": report.complete,
        "level": report.level,
        "findings": report.rows(),
        "caveats": report.caveats,
    }
