"""The question of a command: GRAPH QUERY LOG... with the library's options, or a saved table."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from re import compile as compile_pattern
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from boundit.bounds.options import keep_fitting, list_changed, name_flag
from boundit.cli.options import ASSUME, DATA, INFER, RUN, SOURCES, flags, is_path
from boundit.cli.outputs import refuse_overwriting, show_steps, write_with_flags
from boundit.core.errors import GraphError, UnknownNode, UnreadableFile
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import parse_graph, read_graph

if TYPE_CHECKING:
    from boundit.counts.log import Log
    from boundit.results.bound_table import BoundTable

# What a graph has and hardly any path: arrows, braces, blanks, statements.
_SAYS_GRAPH = compile_pattern(r"[-=<>]{2}|[{}\[\];\s]")
_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (*SOURCES, *ASSUME, *INFER, "goal", *RUN)


@dataclass(frozen=True)
class Question:
    """Graph or several, query, log and options as the library takes them, or saved bounds."""

    graph: Any = None
    query: str = ""
    log: "Log | None" = None
    options: Mapping[str, Any] = field(default_factory=dict)
    saved: str = ""
    goal: str | None = None

    def derive(self) -> "BoundTable":
        """Derive the bounds, or load them."""
        if self.saved:
            from boundit.results.bound_table import BoundTable  # noqa: PLC0415, quick --help

            return BoundTable.load(self.saved)
        from boundit.bounds.derive import derive_bounds  # noqa: PLC0415

        with show_steps() as progress:
            return derive_bounds(
                self.graph,
                self.query,
                self.log,
                progress=progress,
                **self.options,
            )


def takes_question(
    *, saved: bool = False, several: bool = False
) -> Callable[[_Command], _Command]:
    """Give a command GRAPH QUERY LOG... and all flags of the library as one ``question``.

    With ``saved`` it takes BOUNDS.json instead, too; with ``several`` GRAPH may be several files
    with commas.
    """

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        def run(*args: Any, **given: Any) -> Any:
            context = click.get_current_context()
            options = {name: given.pop(name) for name in (*DATA, *_OPTIONS)}
            asked = list(given.pop("answer", ()))
            if not asked:
                asked = [given.pop("graph"), given.pop("query"), *given.pop("log")]
            question = _read_question(context, asked, options, saved=saved, several=several)
            return command(*args, question=question, **given)

        found = flags(*DATA, *_OPTIONS)(run)
        if saved:
            metavar = "GRAPH QUERY LOG...|BOUNDS.json"
            found = click.argument("answer", nargs=-1, required=True, metavar=metavar)(found)
        else:
            found = click.argument("log", nargs=-1, required=True)(found)
            found = click.argument("graph")(click.argument("query")(found))
        return cast("_Command", found)

    return decorate


def _read_question(
    context: click.Context,
    asked: Sequence[str],
    options: dict[str, Any],
    *,
    saved: bool,
    several: bool,
) -> Question:
    """Read arguments and flags; files are opened, and no row is read."""
    goal = options["goal"] if _is_given(context, "goal") else None
    if saved and len(asked) == 1:
        for name in options:
            if name != "goal" and _is_given(context, name):
                raise click.UsageError(
                    f"{name_flag(name)} is about a log, and {asked[0]!r} is saved bounds. Give "
                    "GRAPH QUERY LOG instead."
                )
        refuse_overwriting(context, asked)
        return Question(saved=asked[0], goal=goal)
    if len(asked) < 3:
        raise click.UsageError("Give GRAPH QUERY LOG, or saved BOUNDS.json alone.")
    graphs = load_graphs(asked[0]) if several else {asked[0]: load_graph(asked[0])}
    data = {name: options.pop(name) for name in DATA}
    require_nodes(data["columns"], graphs.values(), cluster=options["cluster"])
    external = options["external"] = [
        _open_external(file, data) for file in options["external"]
    ]
    if any(table.weight for table in external):  # the log may have a line for each case
        plain = open_log(asked[2:], {"missing": data["missing"]})
        data["weight"] = data["weight"] if data["weight"] in plain.source.kinds else None
    log = open_log(asked[2:], data)
    paths = [part for part in (asked[0], *graphs) if part != "-" and is_path(part)]
    refuse_overwriting(context, [*paths, *list_files([log, *options["external"]])])
    if data["exact"] and not _is_given(context, "confidence"):
        options["confidence"] = None  # exact probabilities have no sampling error
    graph = graphs if len(graphs) > 1 else next(iter(graphs.values()))
    return Question(graph, asked[1], log, list_changed(options), goal=goal)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def load_graph(source: str) -> CausalGraph:
    """Read a graph from a file, from standard input (``-``) or from the argument itself.

    What is wrong in a file is said with its name, as several files may be given.
    """
    if source == "-":
        try:
            return parse_graph(sys.stdin.read())
        except UnicodeDecodeError as error:
            raise UnreadableFile(
                "standard input", f"byte {error.start} is not UTF-8 text"
            ) from None
    if not source or (_SAYS_GRAPH.search(source) and not is_path(source)):
        return parse_graph(source)
    try:
        return read_graph(source)
    except GraphError as error:
        raise click.UsageError(f"{source}: {write_with_flags(error.message)}") from None


def load_graphs(source: str) -> dict[str, CausalGraph]:
    """Read a graph, or several from existing files with commas between them."""
    parts = source.split(",")
    if len(parts) > 1 and not is_path(source) and all(map(is_path, parts)):
        return {part: load_graph(part) for part in parts}
    return {source: load_graph(source)}


def require_nodes(
    columns: Mapping[str, str], graphs: Iterable[CausalGraph], *, cluster: str | None = None
) -> None:
    """Refuse a --columns that names no node of the graphs.

    The column of the cluster may be renamed too, and one that has the name of a selection node
    and is something else.
    """
    graphs = list(graphs)
    nodes = frozenset[str]().union(*(graph.nodes for graph in graphs))
    moved = {graph.selection for graph in graphs}
    for name, column in columns.items():
        if name not in nodes and name != cluster and column not in moved:
            raise click.UsageError(f"--columns NODE=COLUMN: {UnknownNode(name, nodes)}")


def open_log(files: Iterable[str], data: Mapping[str, Any]) -> "Log":
    """Open the files of a log by the flags for data."""
    from boundit.counts.log import read_log  # noqa: PLC0415, keeps --help quick

    return read_log(list(files), **list_changed(data))


def _open_external(file: str, data: Mapping[str, Any]) -> "Log":
    """Open external data by those flags whose columns it has."""
    try:
        plain = open_log([file], {"missing": data["missing"]})
    except UnreadableFile as error:
        message = f"--external: no table at {error.path!r}: {error.reason}"
        raise click.UsageError(message) from None
    return open_log([file], keep_fitting(data, plain))


def list_files(logs: Iterable["Log"]) -> list[str]:
    """List the paths of all files behind opened logs, so that no output overwrites one."""
    from boundit.counts.files import FileSource  # noqa: PLC0415, keeps --help quick

    sources = [log.source for log in logs]
    return [path for of in sources if isinstance(of, FileSource) for path in of.paths]
