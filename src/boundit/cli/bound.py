"""``boundit bound``: from a graph, a question and a log to intervals with reasons."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boundit.cli.assumptions import (
    choose_confidence,
    confidence_option,
    confounding_limit_option,
    external_option,
    goal_option,
    inference_option,
    outcome_range_option,
    plug_in_option,
    selection_limit_option,
    selection_rate_option,
)
from boundit.cli.flags import spell_caveats, write_with_flags
from boundit.cli.logs import LogFiles, log_argument, node_option, read_levels
from boundit.cli.numbers import Number
from boundit.cli.options import graph_argument, json_option, memory_limit_option, report_option
from boundit.cli.outputs import (
    OutputFile,
    notify,
    notify_written,
    print_json,
    refuse_overwriting,
    spell_command,
)
from boundit.cli.progress import show_steps
from boundit.cli.sensitivity_plot import choose_edge, derive_ladders, draw_ladders
from boundit.core.errors import BounditError
from boundit.core.names import ADAPTIVE_COLUMN

if TYPE_CHECKING:
    from boundit.bounds.count import KeptCounts
    from boundit.bounds.request import BoundRequest
    from boundit.graph.causal_graph import CausalGraph
    from boundit.report.records import Ladder
    from boundit.results.bound_table import BoundTable
    from boundit.results.choice import Choice

MOST_CHOSEN = 10_000
"""For how many contexts a page says what to use; that takes about a second for 5,000."""


@click.command(short_help="Bound what every arm would earn in every context.")
@graph_argument
@click.argument("query")
@log_argument
@external_option
@click.option(
    "--external-weight",
    metavar="COLUMN",
    help="How many rows a row stands for, in external tables that have the column; "
    "else --weight, where they have that.",
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
@confounding_limit_option
@click.option(
    "--profile",
    type=click.Choice(["sound", "paper"]),
    default="sound",
    show_default=True,
    help="Everything that holds, or the printed method, which can miss the truth.",
)
@confidence_option
@inference_option
@click.option(
    "--models",
    type=click.Choice(["boosting", "forest", "linear"]),
    help="With --inference approximate: predict rewards and arms where covariates are too many "
    "to count, or numbers. Needs the extra ml.",
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="A column whose rows belong together, as those of one user.",
)
@plug_in_option
@goal_option
@click.option(
    "--max-condition",
    type=click.IntRange(0),
    metavar="N",
    default=3,
    show_default=True,
    help="How many variables a rule may condition on.",
)
@click.option(
    "--time-limit",
    type=Number(0),
    metavar="SECONDS",
    help="For everything; what is found until then holds, and caveats say what is missing.",
)
@memory_limit_option
@click.option("--explain", "explained", is_flag=True, help="Explain every interval.")
@click.option(
    "--out",
    type=OutputFile(".json"),
    metavar="FILE.json",
    help="Save the table, for bd.BoundTable.load.",
)
@click.option(
    "--no-counts",
    is_flag=True,
    help="With --out or --report: leave all counts of rows out of the file, to keep them "
    "private.",
)
@report_option
@click.option(
    "--sensitivity-plot",
    type=OutputFile(".png", ".svg"),
    metavar="FILE",
    help="Draw the bounds against the limit G: png or svg.",
)
@click.option(
    "--confounding-plot",
    type=OutputFile(".png", ".svg"),
    metavar="FILE",
    help="Draw the bounds against the limit on hidden confounding: png or svg.",
)
@json_option
@click.pass_context
def bound(
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
    confounding_limit: Mapping[str, float],
    profile: str,
    confidence: float,
    inference: str,
    models: str | None,
    cluster: str | None,
    goal: str,
    max_condition: int,
    time_limit: float | None,
    memory_limit: str | None,
    out: Path | None,
    report: Path | None,
    sensitivity_plot: Path | None,
    confounding_plot: Path | None,
    *,
    plug_in: bool,
    explained: bool,
    no_counts: bool,
    as_json: bool,
) -> None:
    """Bound what every arm of QUERY would earn in every context, from LOG files.

    QUERY reads 'REWARD | do(ARM), CONTEXT'. A LOG is a Parquet, CSV, JSON lines or
    Arrow file, a pattern or a folder, with a column for every node that was measured.
    --columns, --bins, --missing and --weight hold for external tables too, where they have the
    columns.

    \b
    Examples:
      boundit bound graph.txt 'Click | do(Ad), Age' log.csv
      boundit bound graph.dot 'Y | do(X1, X2), U' 'logs/*.parquet' --explain --out bounds.json
      boundit bound graph.txt 'Click | do(Ad)' log.csv --selection-rate 0.3 --report out.html
      boundit bound graph.txt 'Click | do(Ad)' counts.csv --weight n --external census.csv
      boundit bound graph.txt 'Click | do(Ad)' log.csv --sensitivity-plot limits.svg
      boundit bound graph.txt 'Click | do(Ad)' log.csv --confounding-limit 'Ad <-> Click=1.5'
    """
    from boundit.bounds.derive import derive_table  # noqa: PLC0415, keeps --help quick

    request = make_request(
        context,
        graph,
        query,
        log,
        external=external,
        external_weight=external_weight,
        confidence=confidence,
        plug_in=plug_in,
        profile=profile,
        inference=inference,
        models=models,
        selection_rate=selection_rate,
        selection_limit=selection_limit,
        outcome_range=outcome_range,
        domain=domain,
        max_condition=max_condition,
        time_limit=time_limit,
        memory_limit=memory_limit,
        cluster=cluster,
        confounding_limit=confounding_limit,
        goal=goal,
    )
    kept: KeptCounts = {}
    with show_steps() as tell:
        table = derive_table(request, kept, tell)
    if out is not None:
        table.save(out, counts=not no_counts)
        notify_written(out)
    table = spell_caveats(table)
    ladders: tuple[Ladder, ...] = ()
    if sensitivity_plot is not None:
        ladders += _draw_limits(request, kept, sensitivity_plot)
    if confounding_plot is not None:
        ladders += _draw_limits(request, kept, confounding_plot, choose_edge(request))
    if report is not None:
        shared = table.drop_counts() if no_counts else table
        _write_report(report, shared, graph, query, ladders)
        notify_written(report)
    _print_table(table, explained=explained, as_json=as_json)


def _draw_limits(
    request: "BoundRequest", kept: "KeptCounts", path: Path, edge: str = ""
) -> "tuple[Ladder, ...]":
    """Draw bounds against limits on selection, or on an ``edge``; give what was drawn."""
    ladders = derive_ladders(request, kept, edge=edge)
    draw_ladders(ladders, path)
    notify_written(path)
    return ladders


def make_request(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    log: LogFiles,
    *,
    external: tuple[str, ...],
    external_weight: str | None,
    confidence: float,
    plug_in: bool,
    rivals: "Iterable[CausalGraph]" = (),
    **options: Any,
) -> "BoundRequest":
    """Open the log and its external tables, and read what is asked with all options.

    Columns may be named after nodes of ``rivals`` too, other graphs for the same log.
    """
    from boundit.bounds.request import read_request  # noqa: PLC0415, keeps --help quick

    log.require_nodes(graph, *rivals, cluster=options["cluster"])
    models = options["models"] is not None
    if models:
        _refuse_beside_models(log, plug_in=plug_in)
    read = log.open(external, external_weight)
    if models and any(opened.adaptive for opened in (read.log, *read.external)):
        raise click.UsageError(
            f"the column {ADAPTIVE_COLUMN!r} says that a learning policy wrote the log, and "
            "--models does not go with such a log; leave out --models"
        )
    refuse_overwriting(context, read.files)
    chance = choose_confidence(context, confidence, plug_in=plug_in, exact=log.exact)
    return read_request(
        graph, query, read.log, confidence=chance, external=read.external, **options
    )


def _refuse_beside_models(log: LogFiles, *, plug_in: bool) -> None:
    """Refuse flags that --models never goes with, whatever else is given.

    The library would first ask for --inference approximate, which these do not go with either.
    """
    clashing = {"--plug-in": plug_in, "--adaptive": log.adaptive, "--exact": log.exact}
    for flag, given in clashing.items():
        if given:
            message = f"--models does not go with {flag}; leave out one of them"
            raise click.UsageError(message)


def _write_report(
    path: Path,
    table: "BoundTable",
    graph: "CausalGraph",
    query: str,
    ladders: "tuple[Ladder, ...]",
) -> None:
    """Write the HTML page of a bound table, with the command that repeats it."""
    from boundit.core.files import write_page  # noqa: PLC0415
    from boundit.report.pages.bound_page import write_bound_page  # noqa: PLC0415

    page = write_bound_page(
        table,
        graph=graph,
        query=query,
        command=spell_command(),
        ladders=ladders,
        choice=_choose_for_page(table),
    )
    write_page(path, page)


def _choose_for_page(table: "BoundTable") -> "Choice | None":
    """Choose what to use in each context; None where that takes long or makes no sense.

    A table that contradicts itself is shown all the same.
    """
    if len(table.contexts) > MOST_CHOSEN:
        return None
    try:
        return table.choose()
    except BounditError as error:
        notify("note", str(write_with_flags(error.message)))
        return None


def _print_table(table: "BoundTable", *, explained: bool, as_json: bool) -> None:
    """Print the bound table, with --explain the reasons for every row, or either as JSON."""
    from boundit.results.text import write_bounds  # noqa: PLC0415, keeps --help quick

    reasons = [str(table.explain(*key)) for key in table.bounds] if explained else []
    if as_json:
        answer = {
            "rows": _write_rows(table),
            "caveats": table.caveats,
            "profile": table.profile,
            "confidence": table.confidence,
            "goal": table.goal,
            "inference": table.inference,
            "summary": table.summary(),
            "confounding_limit": dict(table.confounding_limit),
            "pooling": str(table.pooling).splitlines(),
        }
        answer |= {"models": table.models} if table.models else {}
        print_json(answer | ({"explanations": reasons} if explained else {}))
    elif explained:
        click.echo("\n".join(reasons))
    else:
        click.echo(write_bounds(table, caveats=False))  # they follow on stderr
        for note in table.caveats:
            notify(note.kind, note.text)


def _write_rows(table: "BoundTable") -> list[dict[str, object]]:
    """Write the rows of a bound table for JSON, with dates and times as text.

    Where it is known why chance widens a row as it does, that is part of it.
    """
    from boundit.core.codec import encode  # noqa: PLC0415, keeps --help quick

    plain = int | float | str | None
    rows: list[dict[str, object]] = [
        {name: v if isinstance(v, plain) else str(v) for name, v in row.items()}
        for row in table.rows()
    ]
    for row, bound in zip(rows, table.bounds.values(), strict=True):
        if bound.sampling is not None:
            row["sampling"] = encode(bound.sampling)
    return rows
