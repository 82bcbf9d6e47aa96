"""Flags: those of the library's options, and others that several commands share."""

from collections.abc import Callable, Iterable, Mapping
from math import isnan, nan
from pathlib import Path
from typing import Any, TypeVar

import click

from boundit.bounds.options import (
    OPTIONS,
    AssumptionOptions,
    DataOptions,
    Declared,
    InferenceOptions,
    RunOptions,
    SourceOptions,
    list_options,
    name_flag,
)
from boundit.cli.outputs import OutputFile

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, also if it kept what was done."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _list_flagged(options: type) -> tuple[str, ...]:
    return tuple(name for name, of in list_options(options).items() if of.flag)


DATA = _list_flagged(DataOptions)
SOURCES = _list_flagged(SourceOptions)
ASSUME = _list_flagged(AssumptionOptions)
INFER = _list_flagged(InferenceOptions)
RUN = _list_flagged(RunOptions)
OUT = ("out", "report", "plot", "no_counts", "json")
_GROUPS = {
    "Data": DATA,
    "Sources": SOURCES,
    "Assumptions": ASSUME,
    "Inference": INFER,
    "Run": (*RUN, "seed"),
    "Output": (*OUT, "as_json"),
}


class Command(click.Command):
    """A command whose help lists flags by groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write its own flags first, then those of each group."""
        places = {name: title for title, names in _GROUPS.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], **{g: [] for g in _GROUPS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                sections[places.get(str(parameter.name), "Options")].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def command(name: str | None = None, **attributes: Any) -> Callable[..., click.Command]:
    """Make a command of a function; its help lists flags by groups."""
    return click.command(name, cls=Command, **attributes)


class Number(click.FloatRange):
    """A number in a range; text that is none, and ``nan``, are refused alike."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number of an option and refuse ``nan``, which is in no range."""
        try:
            number = float(value)
        except ValueError:
            number = nan
        if isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return float(super().convert(number, param, ctx))


class Value(click.ParamType[object]):
    """The value of an option as the library declares it."""

    name = "value"

    def __init__(self, of: Declared) -> None:
        self.of = of

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Read text; a default is a value already."""
        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=") if self.of.keyed else ("", "", value)
        if self.of.keyed and not (equals and name.strip() and text.strip()):
            self.fail(f"{value!r} is not of the form {self.of.metavar}.", param, ctx)
        try:
            found = self.of.read(text.strip())
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return (name.strip(), found) if self.of.keyed else found


def _gather_entries(
    context: click.Context, option: click.Parameter, given: Iterable[tuple[str, object]]
) -> dict[str, object]:
    """Gather NAME=VALUE entries into a mapping; refuse a name that is given twice."""
    found = dict[str, object]()
    for name, value in given:
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice.", context, option)
        found[name] = value
    return found


def _describe(name: str) -> dict[str, Any]:
    """Describe the flag of an option of the library as click takes it."""
    of = OPTIONS[name]
    if of.default is False or name == "adaptive":
        return {"is_flag": True, "help": of.help}
    if of.keyed or of.repeated:
        said = f"{of.help.removesuffix('.')}; repeatable."
        made = {"multiple": True, "metavar": of.metavar, "help": said}
        return made | ({"type": Value(of), "callback": _gather_entries} if of.keyed else {})
    return {
        "default": of.default,
        "show_default": of.default is not None,
        "nargs": of.words,
        "type": click.Choice(of.choices) if of.choices else Value(of),
        "metavar": of.metavar or None,
        "help": of.help,
    }


SHARED: Mapping[str, dict[str, Any]] = {
    "seed": {
        "type": click.IntRange(0),
        "metavar": "N",
        "default": 0,
        "show_default": True,
        "help": "Seed of random numbers; equal seeds give equal results.",
    },
    "level": {
        "type": Number(0, 1, min_open=True, max_open=True),
        "metavar": "P",
        "default": 0.05,
        "show_default": True,
        "help": "Probability of any false alarm, over all tests.",
    },
    "policy": {
        "metavar": "POLICY",
        "help": "Policy that is compared with --baseline: an arm, a file, 'choice' or 'log'.",
    },
    "baseline": {
        "metavar": "ARM|POLICY",
        "help": "Arm or policy that the others are compared with.",
    },
    "shares": {
        "metavar": "any|log|FILE",
        "help": "Share of each context in averages: any mix; VALUE=SHARE,... for one variable; a "
        "table with a column 'share'; or, for compare, as in the log.",
    },
    "explain": {
        "is_flag": True,
        "help": "Explain every interval: rule, data, derivation, width.",
    },
    "all_rows": {"is_flag": True, "help": "Print all rows, not only the first 30."},
    "out": {
        "type": OutputFile(".json"),
        "metavar": "FILE.json",
        "help": "Save the result, for later commands and for Python.",
    },
    "no_counts": {
        "is_flag": True,
        "help": "Leave counts of rows out of saved files and reports, for privacy.",
    },
    "report": {
        "type": OutputFile(".html"),
        "metavar": "FILE.html",
        "help": "Write a page to send to others.",
    },
    "plot": {
        "type": OutputFile(".png", ".svg"),
        "metavar": "FILE",
        "help": "Draw the result: png or svg.",
    },
    "json": {"is_flag": True, "help": "Print one line of JSON in place of text."},
}
"""Flags that several commands have beside the library's options, with one meaning each."""


def flags(*names: str, **changed: Mapping[str, Any]) -> Callable[[_Command], _Command]:
    """Give a command flags of the library or of ``SHARED``, in this order.

    ``changed`` replaces parts of their description, such as the type of a file.
    """

    def decorate(command: _Command) -> _Command:
        for name in reversed(names):
            said = SHARED[name] if name in SHARED else _describe(name)
            words = [name_flag(name), *(["as_json"] if name == "json" else [])]
            command = click.option(*words, **(dict(said) | dict(changed.get(name, {}))))(
                command
            )
        return command

    return decorate


def is_path(text: str) -> bool:
    """Return True if a command's argument is the path of a file; too long a text is none."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def read_names(text: str) -> frozenset[str]:
    """Read names of variables separated by commas."""
    return frozenset(name for part in text.split(",") if (name := part.strip()))
