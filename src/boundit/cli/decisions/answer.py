"""ANSWER of the command line: a saved table of bounds, or a graph, a query and logs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from boundit.cli.bound import bound, make_request
from boundit.cli.flags import spell_caveats
from boundit.cli.logs import LogFiles
from boundit.cli.options import load_graph
from boundit.cli.progress import show_steps

if TYPE_CHECKING:
    from boundit.bounds.request import BoundRequest
    from boundit.graph.causal_graph import CausalGraph
    from boundit.results.bound_table import BoundTable

_ANSWERS = ("explained", "as_json", "no_counts")


@dataclass(frozen=True)
class Answer:
    """A table of bounds, and the request that it was derived from, if it was."""

    table: "BoundTable"
    request: "BoundRequest | None" = None


def _is_asked(parameter: click.Parameter) -> bool:
    written = isinstance(parameter.type, click.Path)
    return (
        isinstance(parameter, click.Option) and not written and parameter.name not in _ANSWERS
    )


def bound_options(command: click.Command) -> click.Command:
    """Give a command every option of ``bound`` that says how bounds are derived from a log."""
    command.params += filter(_is_asked, bound.params)
    return command


def is_given(context: click.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def read_answer(
    context: click.Context, sources: tuple[str, ...], asked: Mapping[str, Any]
) -> Answer:
    """Load BOUNDS.json, or derive the bounds of GRAPH QUERY LOG..."""
    if len(sources) == 1:
        return Answer(_load_table(context, sources[0]))
    if len(sources) < 3:
        raise click.UsageError("Give a saved BOUNDS.json, or GRAPH QUERY LOG.")
    from boundit.bounds.derive import derive_candidates, derive_table  # noqa: PLC0415

    first, query, *files = sources
    names = first.split(",")
    several = len(names) > 1 and all(Path(name).is_file() for name in names)
    graphs = {name: load_graph(name) for name in (names if several else [first])}
    graph, *others = graphs.values()
    request = read_asked(
        context, graph, query, tuple(files), {**asked, "rivals": (graph, *others)}
    )
    with show_steps() as tell:
        if others:
            table = derive_candidates(request, graphs, tell)
        else:
            table = derive_table(request, {}, tell)
    return Answer(spell_caveats(table), request)


def _load_table(context: click.Context, path: str) -> "BoundTable":
    from boundit.results.bound_table import BoundTable  # noqa: PLC0415, keeps --help quick

    for option in filter(_is_asked, bound.params):
        if option.name != "goal" and is_given(context, str(option.name)):
            raise click.UsageError(
                f"{option.opts[0]} is about a log, and {path!r} is a saved table. Give GRAPH "
                "QUERY LOG instead."
            )
    return BoundTable.load(path)


def read_asked(
    context: click.Context,
    graph: "CausalGraph",
    query: str,
    files: tuple[str, ...],
    asked: Mapping[str, Any],
) -> "BoundRequest":
    """Read the request of a command that has the options of ``bound``."""
    names = {field.name for field in fields(LogFiles)}
    log = LogFiles(files, **{name: asked[name] for name in names & asked.keys()})
    if not files:
        raise click.UsageError("Give the LOG files that answer the query.")
    options = {name: value for name, value in asked.items() if name not in names}
    return make_request(context, graph, query, log, **options)


def read_costs(texts: tuple[str, ...], table: "BoundTable") -> dict[object, float] | None:
    """Read ``--cost ARM=COST``, repeated."""
    from boundit.cli.decisions.policy_files import read_arm  # noqa: PLC0415

    found = dict[object, float]()
    for text in texts:
        arm, _, cost = text.rpartition("=")
        try:
            found[read_arm(arm, table)] = float(cost)
        except ValueError:
            message = f"--cost {text!r} has no number. Write it as ARM=COST, as in 'B=0.1'."
            raise click.UsageError(message) from None
    return found or None
