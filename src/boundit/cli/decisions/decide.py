"""``boundit decide``: which arm, or which lottery over arms, to use in each context."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.cli.bound import bound, make_request
from boundit.cli.flags import spell_caveats
from boundit.cli.logs import LogFiles
from boundit.cli.numbers import Number
from boundit.cli.options import json_option, load_graph, report_option
from boundit.cli.outputs import notify, print_json, write_answer
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.bounds.request import BoundRequest
    from boundit.graph.causal_graph import CausalGraph
    from boundit.results.bound_table import BoundTable

_ANSWERS = ("explained", "as_json", "no_counts")


def _is_asked(parameter: click.Parameter) -> bool:
    """Tell whether an option of ``bound`` says how bounds are derived, not where they go."""
    written = isinstance(parameter.type, click.Path)
    return (
        isinstance(parameter, click.Option) and not written and parameter.name not in _ANSWERS
    )


def bound_options(command: click.Command) -> click.Command:
    """Give a command every option of ``bound`` that says how bounds are derived from a log.

    Decorates ``decide`` and ``stress``.
    """
    command.params += filter(_is_asked, bound.params)
    return command


@bound_options
@click.command(short_help="Choose an arm or a lottery in every context.")
@click.argument("source", metavar="BOUNDS.json|GRAPH")
@click.argument("query", required=False)
@click.argument("log", nargs=-1)
@click.option(
    "--rule",
    type=click.Choice(["minimax-regret", "maximin", "optimism"]),
    default="minimax-regret",
    show_default=True,
    help="Fall least short of the highest mean at worst, be sure of most, or weigh the ends.",
)
@click.option(
    "--optimism",
    type=Number(0, 1),
    metavar="H",
    help="With --rule optimism: 0 looks at lower ends alone, 1 at upper ends.",
)
@click.option(
    "--rival",
    "rivals",
    multiple=True,
    metavar="GRAPH",
    help="Another graph that may be the right one instead: what is promised holds if any of "
    "them is; repeatable.",
)
@click.option("--single", is_flag=True, help="One arm in each context, and no lottery.")
@report_option
@json_option
@click.pass_context
def decide(
    context: click.Context,
    /,
    source: str,
    query: str | None,
    log: tuple[str, ...],
    rule: str,
    optimism: float | None,
    rivals: tuple[str, ...],
    report: Path | None,
    *,
    single: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Choose an arm, or a lottery over arms, for every context, and say what it may cost.

    BOUNDS.json is a table that 'boundit bound --out' or bounds.save wrote. Or give GRAPH, QUERY
    and LOG files as to 'boundit bound', with its options.

    The regret is how much less than the best arm is earned, at worst. That of a lottery is its
    mean over the draw.

    \b
    Examples:
      boundit decide bounds.json
      boundit decide bounds.json --rule maximin --json
      boundit decide graph.txt 'Click | do(Ad), Age' log.csv --single
      boundit decide graph.txt 'Click | do(Ad), Age' log.csv --rival other.txt
      boundit decide bounds.json --report out.html
    """
    if query is not None:
        table = _derive_table(context, (source, *rivals), query, log, asked)
    elif rivals:
        raise click.UsageError("--rival is another graph for a log; give GRAPH QUERY LOG")
    else:
        table = _load_table(context, source)
    choice = table.choose(
        rule,  # type: ignore[arg-type]
        optimism=optimism,
        lottery=not single,
        goal=asked["goal"] if _is_given(context, "goal") else None,
    )
    if report is not None:
        from boundit.decisions.choose.page import make_choice_page  # noqa: PLC0415, as above

        write_answer(report, make_choice_page(choice, table.caveats))
    if as_json:
        print_json({"sure": choice.sure, **choice.record(), "caveats": table.caveats})
        return
    click.echo(str(choice))
    for note in table.caveats:
        notify(note.kind, note.text)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _load_table(context: click.Context, path: str) -> "BoundTable":
    """Load a saved table; refuse options that only a log can use."""
    from boundit.results.bound_table import BoundTable  # noqa: PLC0415, keeps --help quick

    for option in filter(_is_asked, bound.params):
        if option.name != "goal" and _is_given(context, str(option.name)):
            raise click.UsageError(
                f"{option.opts[0]} is about a log, and {path!r} is a table that was bounded "
                "already; give GRAPH QUERY LOG instead"
            )
    return BoundTable.load(path)


def _derive_table(
    context: click.Context,
    sources: tuple[str, ...],
    query: str,
    files: tuple[str, ...],
    asked: dict[str, Any],
) -> "BoundTable":
    """Bound what is asked of a log, as ``boundit bound`` does, if any of some graphs is right."""
    from boundit.bounds.derive import derive_candidates, derive_table  # noqa: PLC0415

    graphs = {source: load_graph(source) for source in sources}
    asked = asked | {"rivals": tuple(graphs.values())}
    request = read_asked(context, graphs[sources[0]], query, files, asked)
    with show_steps() as tell:
        if len(graphs) > 1:
            table = derive_candidates(request, graphs, tell)
        else:
            table = derive_table(request, {}, tell)
    return spell_caveats(table)


def read_asked(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    files: tuple[str, ...],
    asked: dict[str, Any],
) -> "BoundRequest":
    """Read the request of a command that has the options of ``bound``."""
    names = {field.name for field in fields(LogFiles)}
    log = LogFiles(files, **{name: asked[name] for name in names & asked.keys()})
    if not files:
        raise click.UsageError("a query needs the LOG files that answer it")
    options = {name: value for name, value in asked.items() if name not in names}
    return make_request(context, graph, query, log, **options)
