"""``boundit graph``: look at a graph, convert it, ask it questions."""

from typing import TYPE_CHECKING, get_args

import click

from boundit.cli.options import graph_argument, json_option, read_names
from boundit.cli.outputs import notify, print_json
from boundit.core.names import join_names, sort_names
from boundit.counts.unmarked import ask_by_name, find_possible_selection
from boundit.graph.formats import to_record
from boundit.graph.implications import implications as testable
from boundit.graph.read import GraphFormat, format_graph
from boundit.graph.separation import open_walk

if TYPE_CHECKING:
    from boundit.graph.causal_graph import CausalGraph


@click.group()
def graph() -> None:
    """Look at a graph, convert it, ask it what it separates."""


@graph.command("show")
@graph_argument
@json_option
def show_graph(graph: "CausalGraph", *, as_json: bool) -> None:
    """Check a graph and show what it assumes.

    \b
    Example: boundit graph show 'U -> X -> Y; U -> Y; hidden U; Y -> [S]'
    """
    components = [sort_names(c) for c in graph.components()]
    if as_json:
        print_json(
            to_record(graph)
            | {"components": components, "selecting": sort_names(graph.selecting())}
        )
        return
    click.echo(f"graph         {graph}")
    click.echo(f"observed      {join_names(graph.observed)}")
    click.echo(f"c-components  {'  '.join('{' + ', '.join(c) + '}' for c in components)}")
    if graph.selection:
        causes = graph.selecting() - {graph.selection}
        click.echo(
            f"selection     {graph.selection}, steered by {join_names(causes) or 'nothing'}"
        )
    else:
        click.echo("selection     none: the log is taken for the population")
        for note in ask_by_name(find_possible_selection(graph), columns=()):
            notify("note", note)


@graph.command(short_help="Write a graph in another format.")
@graph_argument
@click.option(
    "--to",
    type=click.Choice(get_args(GraphFormat)),
    default="text",
    show_default=True,
    help="The format.",
)
def convert(graph: "CausalGraph", to: GraphFormat) -> None:
    """Write a graph in another format; hidden nodes are projected away.

    \b
    Example: boundit graph convert model.dagitty --to dot
    """
    click.echo(format_graph(graph, to).rstrip("\n"))


@graph.command(short_help="Say whether some variables separate others.")
@graph_argument
@click.argument("one")
@click.argument("other")
@click.option(
    "--given", default="", metavar="NAME,...", help="What is known, separated by commas."
)
@json_option
@click.pass_context
def separate(
    context: click.Context,
    graph: "CausalGraph",
    one: str,
    other: str,
    given: str,
    *,
    as_json: bool,
) -> None:
    """Say whether what is given separates ONE from OTHER; exit 1 with the open walk when not.

    ONE and OTHER are names, separated by commas where there are several.

    \b
    Example: boundit graph separate 'Talent -> Fame <- Looks' Talent Looks --given Fame
    """
    walk = open_walk(graph, read_names(one), read_names(other), given=read_names(given))
    if as_json:
        print_json({"separated": walk is None, "open_walk": walk})
    else:
        click.echo("separated" if walk is None else f"open: {' '.join(walk)}")
    context.exit(0 if walk is None else 1)


@graph.command()
@graph_argument
@json_option
def implications(graph: "CausalGraph", *, as_json: bool) -> None:
    """List what the log must show if the graph is right.

    One independence for each pair that some set separates; all others follow from them. Given
    the selection node where there is one, since the log shows nothing else.

    \b
    Example: boundit graph implications 'Age -> Ad -> Click; Click -> [S]'
    """
    found = testable(graph)
    if as_json:
        print_json(
            [
                {
                    "one": i.one,
                    "other": i.other,
                    "given": sort_names(i.given),
                    "selected": i.selected,
                }
                for i in found
            ]
        )
    else:
        click.echo("\n".join(map(str, found)) or "nothing: every pair stays connected")
