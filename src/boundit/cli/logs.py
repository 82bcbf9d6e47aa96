"""The log of a command: its files, and the options by which they are read."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from boundit.counts.log import Log

_Command = TypeVar("_Command", bound=Callable[..., None])


def log_argument(command: _Command) -> _Command:
    """Give a command its LOG, opened by ``--weight``, ``--columns`` and ``--bins``."""
    for decorate in (
        click.option(
            "--bins",
            multiple=True,
            metavar="NODE=EDGE,...",
            help="Cut a number into categories, as in Age=18,30,50; repeatable.",
        ),
        click.option(
            "--columns",
            multiple=True,
            metavar="NODE=COLUMN",
            help="A column that is called otherwise than its node; repeatable.",
        ),
        click.option("--weight", help="The column that says how many rows a row stands for."),
        click.argument("log", nargs=-1, required=True),
    ):
        command = decorate(command)
    return command


def opened(
    log: tuple[str, ...], weight: str | None, columns: tuple[str, ...], bins: tuple[str, ...]
) -> "Log":
    """Open the files by what the options say."""
    from boundit.counts.read import read_log  # noqa: PLC0415, keeps --help quick

    cuts = {name: [_number(edge) for edge in edges] for name, edges in listed(bins).items()}
    return read_log(
        list(log), weight=weight, columns=dict(map(_pair, columns)) or None, bins=cuts or None
    )


def listed(options: tuple[str, ...]) -> dict[str, list[str]]:
    """Read options of the form NODE=VALUE,VALUE."""
    return {name: values.split(",") for name, values in map(_pair, options)}


def levels(options: tuple[str, ...]) -> dict[str, list[object]]:
    """Read levels as a log would: numbers and true or false as such, anything else as text.

    >>> levels(("Age=old,young", "X=0,1"))
    {'Age': ['old', 'young'], 'X': [0, 1]}
    """
    return {
        name: [_level(value) for value in values] for name, values in listed(options).items()
    }


def _pair(option: str) -> tuple[str, str]:
    name, equals, value = option.partition("=")
    if not (name and equals and value):
        raise click.BadParameter(f"{option!r} is not of the form NODE=...")
    return name.strip(), value.strip()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"the edge {text!r} is no number") from None


def _level(text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, int | float) else text
