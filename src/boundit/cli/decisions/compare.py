"""``boundit compare``: whether one policy is surely better than another, by bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from boundit.cli.assumptions import (
    external_option,
    plug_in_option,
    selection_limit_option,
    selection_rate_option,
)
from boundit.cli.decisions.policy_files import read_contexts, read_policy
from boundit.cli.logs import LogFiles, log_options
from boundit.cli.numbers import Number
from boundit.cli.options import (
    is_path,
    json_option,
    load_graph,
    memory_limit_option,
    report_option,
)
from boundit.cli.outputs import print_json, refuse_overwriting, write_answer
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.counts.log import Log
    from boundit.counts.tabulate import Missing
    from boundit.decisions.compare.estimate import Estimator
    from boundit.results.bound_table import BoundTable


@click.command(short_help="Tell whether the mean of one policy is surely higher.")
@click.argument("bounds", metavar="BOUNDS.json")
@click.argument("new")
@click.argument("old")
@click.option(
    "--contexts",
    metavar="FILE|any|log",
    help="How often contexts come: a table with a column 'share', a log of visitors, the rows "
    "of --log, or whatever they are.",
)
@click.option("--log", multiple=True, metavar="FILE", help="The rows of the log; repeatable.")
@log_options
@click.option("--weight", metavar="COLUMN", help="How many rows a row of --log stands for.")
@click.option("--exact", is_flag=True, help="The weights are the shares of an exact law.")
@click.option("--adaptive", is_flag=True, help="A policy learned while it wrote the log.")
@click.option("--graph", metavar="GRAPH", help="The graph of the log: a file, or its text.")
@click.option(
    "--propensity",
    metavar="COLUMN",
    help="The chance that the log's policy gave to the arm of the row.",
)
@click.option(
    "--estimator",
    type=click.Choice(["ips", "dr"]),
    default="ips",
    show_default=True,
    help="With --propensity: inverse propensities, or doubly robust.",
)
@click.option(
    "--least-propensity",
    type=Number(0, 1, min_open=True),
    metavar="CHANCE",
    help="With --estimator dr: no propensity can lie below.",
)
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="CHANCE",
    default=0.99,
    show_default=True,
    help="The chance that all holds which is read beside the bounds.",
)
@plug_in_option
@external_option
@selection_rate_option
@selection_limit_option
@click.option("--time-limit", type=Number(0), metavar="SECONDS", help="For what the log did.")
@memory_limit_option
@report_option
@json_option
@click.pass_context
def compare(
    context: click.Context,
    bounds: str,
    new: str,
    old: str,
    contexts: str | None,
    log: tuple[str, ...],
    columns: Mapping[str, str],
    bins: Mapping[str, Sequence[float]],
    missing: "Missing",
    weight: str | None,
    graph: str | None,
    propensity: str | None,
    estimator: "Estimator",
    least_propensity: float | None,
    confidence: float,
    external: tuple[str, ...],
    selection_rate: float | tuple[float, float] | None,
    selection_limit: float | None,
    time_limit: float | None,
    memory_limit: str | None,
    report: Path | None,
    *,
    exact: bool,
    adaptive: bool,
    plug_in: bool,
    as_json: bool,
) -> None:
    """Bound how much more the policy NEW earns than OLD, by a table that 'bound --out' wrote.

    A policy is an arm ('A', or 'A,1' for two treatments); a CSV or JSON file with the columns
    of contexts and arms, and 'chance' where an arm is not always chosen; the state of a
    policy; 'choice', what the bounds choose; 'log', what the log did (with --log and --graph);
    or a measured value with its error, and the confidence of that ('0.33+-0.02@0.99').

    Exits 1 unless NEW is surely better.

    \b
    Examples:
      boundit compare bounds.json B A
      boundit compare bounds.json B A --report out.html
      boundit compare bounds.json B 0.33+-0.02@0.99
      boundit compare bounds.json new.csv old.csv --contexts shares.csv
      boundit compare bounds.json B log --log log.csv --graph graph.txt
      boundit compare bounds.json new.json log --log log.csv --graph graph.txt --propensity p
    """
    from boundit.decisions.compare.compare import compare as ask  # noqa: PLC0415, keeps --help quick
    from boundit.decisions.compare.page import make_comparison_page  # noqa: PLC0415
    from boundit.results.bound_table import BoundTable  # noqa: PLC0415

    named = filter(None, (bounds, new, old, contexts, graph, *log, *external))
    refuse_overwriting(context, filter(is_path, named))
    table = BoundTable.load(bounds)
    files = LogFiles(log, weight, columns, bins, missing, exact, adaptive)
    with show_steps() as tell:
        if log:
            tell("what the log did", 0, 1)
        found = ask(
            table,
            read_policy(new, table),
            read_policy(old, table),
            contexts=None if contexts is None else read_contexts(contexts, table),
            log=_open_log(files, table) if log else None,
            graph=None if graph is None else load_graph(graph),
            propensity=propensity,
            estimator=estimator,
            least_propensity=least_propensity,
            confidence=None if plug_in else confidence,
            external=list(external),
            selection_rate=selection_rate,
            selection_limit=selection_limit,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    if report is not None:
        write_answer(report, make_comparison_page(found))
    if as_json:
        print_json(found.record() | {"rows": found.rows()})
    else:
        click.echo(str(found))
    context.exit(0 if found else 1)


def _open_log(files: LogFiles, table: "BoundTable") -> "Log":
    """Open the rows of --log, cut into the bins of the bounds where these have some."""
    opened = files.open().log
    bins = {name: edges for name, edges in table.bins.items() if name in opened.columns}
    if not bins:
        return opened
    return replace(files, bins={**files.bins, **bins}).open().log
