"""The log of a command: its files, and the options by which they are read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import click

from boundit.core.errors import UnknownNode

if TYPE_CHECKING:
    from boundit.counts.log import Log
    from boundit.counts.sources import ColumnKind
    from boundit.counts.tabulate import Missing
    from boundit.graph.causal_graph import CausalGraph

_Command = TypeVar("_Command", bound=Callable[..., None])


class OpenedLogs(NamedTuple):
    """A log, its external tables, and the files behind all of them."""

    log: "Log"
    external: list["Log"]
    files: list[str]


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files, and how to read them; what is said of a column holds for external tables too.

    That a policy learned while it wrote the rows is said of the log alone.
    """

    files: tuple[str, ...]
    weight: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    missing: "Missing" = "drop"
    exact: bool = False
    adaptive: bool = False

    def require_nodes(self, *graphs: "CausalGraph", cluster: str | None = None) -> None:
        """Refuse a --columns that names no node of the graphs.

        The column of ``cluster`` may be renamed too, and one that has the name of a selection
        node and is something else.
        """
        nodes = frozenset[str]().union(*(graph.nodes for graph in graphs))
        moved = {graph.selection for graph in graphs}
        for name, column in self.columns.items():
            if name not in nodes and name != cluster and column not in moved:
                raise click.UsageError(f"--columns NODE=COLUMN: {UnknownNode(name, nodes)}")

    def open(
        self, external: Iterable[str] = (), external_weight: str | None = None
    ) -> OpenedLogs:
        """Open the log's files, and every external table by those options whose columns it has.

        Gives both, and the paths behind them. ``external_weight`` is the column of counts for
        tables that have it; the log's own comes second.
        """
        log = _open_log(self)
        tables = [self._open_external(file, external_weight) for file in external]
        if external_weight is not None and all(t.weight != external_weight for t in tables):
            where = f"has a column {external_weight!r}" if tables else "is given"
            raise click.UsageError(f"--external-weight: no --external table {where}")
        return OpenedLogs(log, tables, _list_files([log, *tables]))

    def _open_external(self, file: str, weight: str | None) -> "Log":
        """Open one external table by those options whose columns it has.

        It is opened once to see its columns, and again where options hold.
        """
        from boundit.core.errors import UnreadableFile  # noqa: PLC0415, keeps --help quick

        plain = LogFiles((file,), missing=self.missing)
        try:
            opened = _open_log(plain)
        except UnreadableFile as error:
            message = f"--external: no table at {error.path!r}: {error.reason}"
            raise click.UsageError(message) from None
        fitting = self._keep_fitting_options(plain, opened.source.kinds, weight)
        return opened if fitting == plain else _open_log(fitting)

    def _keep_fitting_options(
        self, plain: "LogFiles", kinds: "Mapping[str, ColumnKind]", weight: str | None
    ) -> "LogFiles":
        """Keep the options of the log whose columns an external table has too."""
        weights = [column for column in (weight, self.weight) if column in kinds]
        columns = {node: column for node, column in self.columns.items() if column in kinds}
        numbers = {name for name, kind in kinds.items() if kind.may_be_summed}
        bins = {n: edges for n, edges in self.bins.items() if columns.get(n, n) in numbers}
        exact = self.exact and bool(weights)
        weight = (*weights, None)[0]
        return replace(plain, weight=weight, columns=columns, bins=bins, exact=exact)


def node_option(
    flag: str,
    *,
    metavar: str,
    read: Callable[[str], object],
    help: str,  # noqa: A002, as click calls it
) -> Callable[[_Command], _Command]:
    """Make a repeatable option NODE=VALUE, whose entries come as one mapping.

    Used for --columns, --bins, --domain and --confounding-limit; ``read`` reads a value, or refuses
    it.
    """

    def entry(text: str) -> tuple[str, object]:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise click.BadParameter(f"{text!r} is not of the form {metavar}")
        return name, read(value)

    return click.option(
        flag, multiple=True, metavar=metavar, type=entry, callback=_gather_entries, help=help
    )


def log_argument(command: _Command) -> _Command:
    """Give a command its LOG argument as ``LogFiles``, with the options by which it is read.

    These are --columns, --bins, --missing, --weight, --exact and --adaptive.
    """

    @wraps(command)
    def run(
        *arguments: object,
        log: tuple[str, ...],
        weight: str | None,
        columns: Mapping[str, str],
        bins: Mapping[str, Sequence[float]],
        missing: "Missing",
        exact: bool,
        adaptive: bool,
        **others: object,
    ) -> None:
        rows = LogFiles(log, weight, columns, bins, missing, exact, adaptive)
        command(*arguments, log=rows, **others)

    decorated: Callable[..., None] = run
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return cast("_Command", decorated)


def log_options(command: _Command) -> _Command:
    """Give a command how its --log is read: --columns, --bins, --missing."""
    for decorate in reversed(_COLUMN_OPTIONS):
        command = decorate(command)
    return command


def data_options(command: _Command) -> _Command:
    """Give a command the options of ``log_argument``, without the argument."""
    for decorate in reversed(_OPTIONS[1:]):
        command = decorate(command)
    return command


def _open_log(asked: LogFiles) -> "Log":
    """Open the files of a log or an external table by the options given for them."""
    from boundit.counts.log import read_log  # noqa: PLC0415, keeps --help quick

    return read_log(
        list(asked.files),
        weight=asked.weight,
        columns=asked.columns or None,
        bins=asked.bins or None,
        missing=asked.missing,
        exact=asked.exact,
        adaptive=asked.adaptive or None,
    )


def read_levels(text: str) -> list[object]:
    """Read a variable's levels, as a log would: numbers, true or false, and text.

    Given to ``node_option`` for --domain.
    """
    return [_read_level(value) for value in text.split(",")]


def _read_level(text: str) -> object:
    """Read one level of a variable: a number, true or false, else text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) and isfinite(found) else text


def _read_edges(text: str) -> list[float]:
    """Read the numbers at which --bins cuts a column into categories.

    Given to ``node_option`` for --bins.
    """
    edges = list[float]()
    for edge in text.split(","):
        try:
            edges.append(float(edge))
        except ValueError:
            message = f"the edge {edge!r} is no number; of a date, log its week or month"
            raise click.BadParameter(message) from None
    return edges


def _gather_entries(
    context: click.Context, option: click.Parameter, given: Iterable[tuple[str, object]]
) -> dict[str, object]:
    """Gather NODE=VALUE entries into a mapping; refuse a node that is given twice."""
    found: dict[str, object] = {}
    for name, value in given:
        if name in found:
            message = f"{name!r} is given twice; once is enough"
            raise click.BadParameter(message, context, option)
        found[name] = value
    return found


def _list_files(logs: Iterable["Log"]) -> list[str]:
    """List the paths of all files behind opened logs, so that no output overwrites one."""
    from boundit.counts.files import FileSource  # noqa: PLC0415, keeps --help quick

    sources = [log.source for log in logs]
    return [path for of in sources if isinstance(of, FileSource) for path in of.paths]


_COLUMN_OPTIONS = (
    node_option(
        "--columns",
        metavar="NODE=COLUMN",
        read=str,
        help="A column that is called otherwise than its node; repeatable.",
    ),
    node_option(
        "--bins",
        metavar="NODE=EDGE,...",
        read=_read_edges,
        help="Cut a number into categories, as in Age=18,30,50; repeatable.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["drop", "level", "error"]),
        default="drop",
        show_default=True,
        help="Rows that lack a value: leave them out, take it for a level, or refuse.",
    ),
)
_OPTIONS = (
    click.argument("log", nargs=-1, required=True),
    click.option(
        "--weight",
        metavar="COLUMN",
        help="The column that says how many rows a row stands for.",
    ),
    click.option(
        "--exact",
        is_flag=True,
        help="The weights are the shares of an exact law, without sampling error.",
    ),
    click.option(
        "--adaptive",
        is_flag=True,
        help="The log was written by a policy that learned meanwhile.",
    ),
    *_COLUMN_OPTIONS,
)
