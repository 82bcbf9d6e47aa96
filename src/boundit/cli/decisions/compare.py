"""``boundit compare``: whether one policy is surely better than another, by bounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.cli.decisions.policy_files import read_contexts, read_policy
from boundit.cli.options import DATA, RUN, Number, command, flags, is_path
from boundit.cli.outputs import print_json, refuse_overwriting, show_steps, write_answer
from boundit.cli.question import load_graph, open_log

if TYPE_CHECKING:
    from boundit.counts.log import Log
    from boundit.decisions.compare.estimate import Estimator
    from boundit.results.bound_table import BoundTable


@command(short_help="Better, worse or inconclusive?")
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
@flags(*DATA)
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
@flags(
    "external",
    "selection_rate",
    "selection_limit",
    "confidence",
    *RUN,
    "report",
    "json",
    confidence={"default": 0.99},
)
@click.pass_context
def compare(
    context: click.Context,
    /,
    bounds: str,
    new: str,
    old: str,
    contexts: str | None,
    log: tuple[str, ...],
    graph: str | None,
    propensity: str | None,
    estimator: "Estimator",
    least_propensity: float | None,
    confidence: float | None,
    external: tuple[str, ...],
    selection_rate: float | tuple[float, float] | None,
    selection_limit: float | None,
    time_limit: float | None,
    memory_limit: str | None,
    report: Path | None,
    *,
    as_json: bool,
    **data: Any,
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
    with show_steps() as tell:
        if log:
            tell("what the log did", 0, 1)
        found = ask(
            table,
            read_policy(new, table),
            read_policy(old, table),
            contexts=None if contexts is None else read_contexts(contexts, table),
            log=_open_log(log, data, table) if log else None,
            graph=None if graph is None else load_graph(graph),
            propensity=propensity,
            estimator=estimator,
            least_propensity=least_propensity,
            confidence=confidence,
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


def _open_log(files: tuple[str, ...], data: dict[str, Any], table: "BoundTable") -> "Log":
    """Open the rows of --log, cut into the bins of the bounds where these have some."""
    opened = open_log(files, data)
    bins = {name: edges for name, edges in table.bins.items() if name in opened.columns}
    return open_log(files, data | {"bins": {**data["bins"], **bins}}) if bins else opened
