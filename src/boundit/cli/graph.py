"""What a graph says without data or against it: ``graph``, ``identify`` and ``check``."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import click

from boundit.cli.options import DATA, RUN, command, flags, read_names
from boundit.cli.outputs import notify, print_json, show_steps, write_with_flags
from boundit.cli.question import load_graph, open_log, require_nodes
from boundit.core.names import join_names, sort_names
from boundit.graph.formats import to_record
from boundit.graph.implications import ask_by_name, find_possible_selection, implications
from boundit.graph.read import GraphFormat
from boundit.graph.separation import open_walk

if TYPE_CHECKING:
    from boundit.checks.report import CheckReport
    from boundit.graph.causal_graph import CausalGraph
    from boundit.graph.implications import Independence

MOST_LISTED = 10
"""How many adjustment sets, paths and implications are printed."""


@command(short_help="Show, convert or query a graph.")
@click.argument("source", metavar="GRAPH")
@click.option("--to", type=click.Choice(get_args(GraphFormat)), help="Print it in this format.")
@click.option(
    "--between", metavar="A,B", help="Print the open path between two nodes, or none."
)
@click.option(
    "--given", default="", metavar="C,...", help="With --between: nodes adjusted for."
)
@flags("json")
@click.pass_context
def graph(
    context: click.Context,
    source: str,
    to: GraphFormat | None,
    between: str | None,
    given: str,
    *,
    as_json: bool,
) -> None:
    """Show the nodes, edges, selection and testable implications of a graph, or convert it.

    With --between exits 1 if a path is open.

    \b
    Examples:
      boundit graph 'U -> X -> Y; U -> Y; hidden U; Y -> [S]'
      boundit graph model.dagitty --to dot
      boundit graph 'Talent -> Fame <- Looks' --between Talent,Looks --given Fame
    """
    read = load_graph(source)
    if to is not None:
        click.echo(read.format(to).rstrip("\n"))
    elif between is not None:
        context.exit(_print_path(read, between, given, as_json=as_json))
    elif as_json:
        found = implications(read)
        print_json(
            to_record(read)
            | {
                "components": [sort_names(c) for c in read.components()],
                "selecting": sort_names(read.selecting()),
                "implications": list(map(_write_implication, found)),
            }
        )
    else:
        _print_graph(read)


def _print_path(graph: "CausalGraph", between: str, given: str, *, as_json: bool) -> int:
    """Print an open path between two nodes, or that there is none; give the exit code."""
    ends = [name.strip() for name in between.split(",")]
    if len(ends) != 2 or not all(ends):
        raise click.UsageError(f"--between {between!r} is not two nodes. Write --between A,B.")
    walk = open_walk(graph, ends[:1], ends[1:], given=read_names(given))
    if as_json:
        print_json({"separated": walk is None, "open_path": walk})
    else:
        click.echo("separated" if walk is None else f"open: {' '.join(walk)}")
    return 0 if walk is None else 1


def _print_graph(graph: "CausalGraph") -> None:
    components = ("{" + join_names(c) + "}" for c in graph.components() if len(c) > 1)
    causes = graph.selecting() - {graph.selection}
    selected = f"{graph.selection}, affected by {join_names(causes) or 'nothing'}"
    lines = [
        ("nodes", join_names(graph.observed)),
        ("edges", str(graph)),
        ("confounded", "  ".join(components) or "none: there is no <->"),
        ("selection", selected if graph.selection else "none: every unit is in the log"),
    ]
    for name, text in lines:
        click.echo(f"{name:12}{text}")
    click.echo(_write_implications(implications(graph)))
    if not graph.selection:
        for note in ask_by_name(find_possible_selection(graph), columns=()):
            notify("note", note)


def _write_implications(found: "tuple[Independence, ...]") -> str:
    return _write_list("testable implications", found)


def _write_implication(found: "Independence") -> dict[str, object]:
    given = sort_names(found.given)
    return {"one": found.one, "other": found.other, "given": given, "selected": found.selected}


@command(short_help="Is the effect identified, by which formula and adjustment set?")
@click.argument("source", metavar="GRAPH")
@click.argument("query")
@flags(
    "external",
    "json",
    external={
        "metavar": "NAMES",
        "help": "Variables that external data measure together, with commas; repeatable.",
    },
)
@click.pass_context
def identify(
    context: click.Context, source: str, query: str, external: tuple[str, ...], *, as_json: bool
) -> None:
    """Say whether QUERY is identified by the log, by which formula, and why; no data are needed.

    Lists minimal adjustment sets, causal and biasing paths and testable implications too. Exits
    1 if no formula is found.

    \b
    Examples:
      boundit identify 'X -> M -> Y; X <-> Y' 'Y | do(X)'
      boundit identify graph.dot 'Y | do(X), Z' --external Z,C
    """
    from boundit.estimand.identify import identify as answer  # noqa: PLC0415, keeps --help quick
    from boundit.estimand.notation import to_record as formula_record  # noqa: PLC0415
    from boundit.estimand.query import parse_query  # noqa: PLC0415

    read, asked = load_graph(source), parse_query(query)
    found = answer(read, asked, external=[read_names(part) for part in external])
    causal, biasing = (
        [" ".join(path) for path in listed]
        for listed in (found.causal_paths, found.biasing_paths)
    )
    if as_json:
        formula = found.expression
        print_json(
            {
                "query": str(asked),
                "identified": bool(found),
                "formula": None if formula is None else str(found),
                "latex": None if formula is None else found.latex(),
                "expression": None if formula is None else formula_record(formula),
                "proof": found.proof,
                "steps": [str(step) for step in found.steps],
                "adjustment_sets": list(map(sort_names, found.adjustment_sets)),
                "causal_paths": causal,
                "biasing_paths": biasing,
                "implications": list(map(_write_implication, found.implications)),
            }
        )
        context.exit(0 if found else 1)
    click.echo(f"{asked} = {found}" if found else f"{asked}: {found}")
    click.echo(
        _write_list(
            "minimal adjustment sets",
            (f"{{{join_names(each)}}}" for each in found.adjustment_sets),
        )
    )
    click.echo(_write_list("causal paths", causal))
    click.echo(_write_list("biasing paths", biasing))
    click.echo(_write_implications(found.implications))
    click.echo(_write_list("derivation", found.steps, most=len(found.steps)))
    context.exit(0 if found else 1)


def _write_list(title: str, found: Iterable[object], most: int = MOST_LISTED) -> str:
    lines = [f"\n  {each}" for each in found]
    left = len(lines) - most
    # Longer lists are cut where they are made.
    more = f"\n  and {'at least ' * (len(lines) >= 100)}{left} more" if left > 0 else ""
    return f"{title}:{''.join(lines[:most]) or ' none'}{more}"


@command(short_help="Do the data contradict the graph?")
@click.argument("source", metavar="GRAPH")
@click.argument("log", nargs=-1, required=True)
@flags(*DATA, "level", *RUN, "json")
@click.pass_context
def check(
    context: click.Context,
    /,
    source: str,
    log: tuple[str, ...],
    level: float,
    time_limit: float | None,
    memory_limit: str | None,
    *,
    as_json: bool,
    **data: Any,
) -> None:
    """Test the implications of GRAPH on LOG files; exits 1 if the data contradict any.

    \b
    Examples:
      boundit check graph.txt log.csv
      boundit check 'Age -> Ad -> Click; Click -> [S]' 'logs/*.parquet' --level 0.01
      boundit check large.dot log.parquet --time-limit 60 --memory-limit 2GB
    """
    from boundit.checks.check import check as test  # noqa: PLC0415, keeps --help quick

    read = load_graph(source)
    require_nodes(data["columns"], [read])
    with show_steps() as tell:
        found = test(
            read,
            open_log(log, data),
            level=level,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=tell,
        )
    report = _spell_options(found)
    if as_json:
        print_json(
            {
                "contradicted": not report,
                "verdict": report.verdict(),
                "complete": report.complete,
                "level": report.level,
                "findings": report.rows(),
                "caveats": report.caveats,
            }
        )
    else:
        click.echo(str(report))
    context.exit(0 if report else 1)


def _spell_options(report: "CheckReport") -> "CheckReport":
    """Rewrite a report so that the options it names read as flags."""
    return replace(
        report,
        findings=tuple(replace(f, reason=write_with_flags(f.reason)) for f in report.findings),
        notes=tuple(map(write_with_flags, report.notes)),
    )
