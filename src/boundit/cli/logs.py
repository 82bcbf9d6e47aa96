"""The log of a command: its files, and the options by which they are read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, TypeVar, cast

import click

if TYPE_CHECKING:
    from boundit.counts.log import Log
    from boundit.counts.tabulate import Nulls

_Command = TypeVar("_Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Files, and how to read them; what is said of a column holds for external tables too."""

    files: tuple[str, ...]
    weight: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    nulls: "Nulls" = "drop"
    exact: bool = False

    def log(self) -> "Log":
        """Open the files."""
        return self._opened(self.files, self.weight, self.columns, self.bins, exact=self.exact)

    def external(self, tables: Iterable[str], weight: str | None = None) -> list["Log"]:
        """Open tables without selection, each by those options whose columns it has.

        ``weight`` is the column for tables that have it; the log's own comes second.
        """
        files = tuple(tables)
        opened = [self._other(file, weight) for file in files]
        if weight is not None and all(log.weight != weight for log in opened):
            where = f"has a column {weight!r}" if files else "is given"
            raise click.UsageError(f"--external-weight: no --external table {where}")
        return opened

    def _other(self, file: str, weight: str | None) -> "Log":
        plain = self._opened((file,), None, {}, {}, exact=False)
        kinds = plain.source.kinds
        weights = [column for column in (weight, self.weight) if column in kinds]
        columns = {node: column for node, column in self.columns.items() if column in kinds}
        numbers = {name for name in kinds if kinds[name].may_be_summed}
        bins = {n: edges for n, edges in self.bins.items() if columns.get(n, n) in numbers}
        if not (weights or columns or bins):
            return plain
        exact = self.exact and bool(weights)
        return self._opened((file,), (*weights, None)[0], columns, bins, exact=exact)

    def _opened(
        self,
        files: tuple[str, ...],
        weight: str | None,
        columns: Mapping[str, str],
        bins: Mapping[str, Sequence[float]],
        *,
        exact: bool,
    ) -> "Log":
        from boundit.counts.read import read_log  # noqa: PLC0415, keeps --help quick

        return read_log(
            list(files),
            weight=weight,
            columns=columns or None,
            bins=bins or None,
            nulls=self.nulls,
            exact=exact,
        )


def log_argument(command: _Command) -> _Command:
    """Give a command its LOG as ``LogFiles``, with the options by which they are read."""

    @wraps(command)
    def reading(
        *arguments: object,
        log: tuple[str, ...],
        weight: str | None,
        columns: Mapping[str, str],
        bins: Mapping[str, Sequence[float]],
        nulls: "Nulls",
        exact: bool,
        **others: object,
    ) -> None:
        rows = LogFiles(log, weight, columns, bins, nulls, exact)
        command(*arguments, log=rows, **others)

    decorated: Callable[..., None] = reading
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return cast("_Command", decorated)


def files_of(logs: Iterable["Log"]) -> list[str]:
    """The files behind opened logs."""
    from boundit.counts.files import FileSource  # noqa: PLC0415, keeps --help quick

    sources = [log.source for log in logs]
    return [path for of in sources if isinstance(of, FileSource) for path in of.paths]


def levels(
    context: click.Context, option: click.Parameter, given: Iterable[str]
) -> dict[str, list[object]]:
    """Read levels as a log would: numbers and true or false as such, anything else as text."""
    return {
        name: [_level(value) for value in values.split(",")]
        for name, values in _pairs(context, option, given).items()
    }


def _columns(
    context: click.Context, option: click.Parameter, given: Iterable[str]
) -> dict[str, str]:
    return _pairs(context, option, given)


def _bins(
    context: click.Context, option: click.Parameter, given: Iterable[str]
) -> dict[str, list[float]]:
    def edge(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            message = f"the edge {text!r} is no number"
            raise click.BadParameter(message, context, option) from None

    pairs = _pairs(context, option, given).items()
    return {name: [edge(text) for text in edges.split(",")] for name, edges in pairs}


def _pairs(
    context: click.Context, option: click.Parameter, given: Iterable[str]
) -> dict[str, str]:
    """Read options of the form NODE=VALUE, each node once."""
    found: dict[str, str] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            message = f"{text!r} is not of the form {option.make_metavar(context)}"
            raise click.BadParameter(message, context, option)
        if name in found:
            message = f"{name!r} is given twice; once is enough"
            raise click.BadParameter(message, context, option)
        found[name] = value
    return found


def _level(text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) and isfinite(found) else text


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
        "--columns",
        multiple=True,
        metavar="NODE=COLUMN",
        callback=_columns,
        help="A column that is called otherwise than its node; repeatable.",
    ),
    click.option(
        "--bins",
        multiple=True,
        metavar="NODE=EDGE,...",
        callback=_bins,
        help="Cut a number into categories, as in Age=18,30,50; repeatable.",
    ),
    click.option(
        "--nulls",
        type=click.Choice(["drop", "level", "refuse"]),
        default="drop",
        show_default=True,
        help="Rows that lack a value: leave them out, take it for a level, or refuse.",
    ),
)
