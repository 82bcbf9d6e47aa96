"""``boundit identify``: what can be known exactly, and by which steps."""

from typing import TYPE_CHECKING

import click

from boundit.cli.options import graph_argument, json_option, read_names
from boundit.cli.outputs import print_json

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph


@click.command(short_help="Say whether the log determines an effect, and how.")
@graph_argument
@click.argument("query")
@click.option(
    "--external",
    multiple=True,
    metavar="NAMES",
    help="Variables of one table without selection, separated by commas; repeatable.",
)
@click.option("--latex", "as_latex", is_flag=True, help="Print the formula as LaTeX.")
@json_option
@click.pass_context
def identify(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    external: tuple[str, ...],
    *,
    as_latex: bool,
    as_json: bool,
) -> None:
    """Say whether the log determines QUERY, by which formula, and why; exit 1 when not found.

    \b
    Examples:
      boundit identify 'X -> M -> Y; X <-> Y' 'Y | do(X)'
      boundit identify graph.dot 'Y | do(X), Z' --external Z,C
    """
    from boundit.estimand.identify import identify as answer  # noqa: PLC0415, keeps --help quick
    from boundit.estimand.notation import to_record as formula_record  # noqa: PLC0415
    from boundit.estimand.query import parse_query  # noqa: PLC0415

    asked = parse_query(query)
    found = answer(graph, asked, external=[read_names(part) for part in external])
    if as_json:
        print_json(
            {
                "query": str(asked),
                "found": bool(found),
                "formula": None if found.expression is None else str(found),
                "latex": None if found.expression is None else found.latex(),
                "expression": (
                    None if found.expression is None else formula_record(found.expression)
                ),
                "proof": found.proof,
                "steps": [str(step) for step in found.steps],
            }
        )
    elif as_latex:
        click.echo(found.latex())
    else:
        click.echo(f"{asked} = {found}" if found else f"{asked}: {found}")
        for step in found.steps:
            click.echo(f"  {step}")
    context.exit(0 if found else 1)
