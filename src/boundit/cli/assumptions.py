"""Options of several commands that say what is known besides the log, and how sure to be."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from boundit.cli.logs import node_option
from boundit.cli.numbers import Number, RangeOfNumbers, read_limit, read_rate

_Command = TypeVar("_Command", bound=Callable[..., Any])


def external_option(command: _Command) -> _Command:
    """Give a command its --external option. Decorates every command that bounds a log."""
    return click.option(
        "--external",
        multiple=True,
        metavar="FILE",
        help="A table without selection; repeatable.",
    )(command)


def outcome_range_option(command: _Command) -> _Command:
    """Give a command its --outcome-range option. Decorates every command that bounds a log."""
    return click.option(
        "--outcome-range",
        type=RangeOfNumbers(),
        metavar="LOW HIGH",
        help="What the reward can be; only a 0/1 reward needs none.",
    )(command)


def selection_rate_option(command: _Command) -> _Command:
    """Give a command its --selection-rate option. Decorates every command that bounds a log."""
    return click.option(
        "--selection-rate",
        type=read_rate,
        metavar="RATE[,RATE]",
        help="Which share of everyone was logged: a number, or a range such as 0.3,0.6.",
    )(command)


def selection_limit_option(command: _Command) -> _Command:
    """Give a command its --selection-limit option.

    Decorates ``bound``, ``breakdown`` and ``compare``.
    """
    return click.option(
        "--selection-limit",
        type=Number(1),
        metavar="G",
        help="No kind of row was logged more than G times as often as the average, "
        "or as seldom.",
    )(command)


def confounding_limit_option(command: _Command) -> _Command:
    """Give a command its --confounding-limit option. Decorates ``bound`` and ``breakdown``."""
    return node_option(
        "--confounding-limit",
        metavar="'X <-> Y=LIMIT'",
        read=read_limit,
        help="The unseen cause in an edge moves the odds of a treatment by at most this "
        "factor; repeatable.",
    )(command)


class _Confidence(Number):
    """A probability, or ``none`` for plug-in estimates."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read a probability or none."""
        return None if value == "none" else super().convert(value, param, ctx)


def confidence_option(command: _Command) -> _Command:
    """Give a command its --confidence option. Decorates every command that bounds a log."""
    return click.option(
        "--confidence",
        type=_Confidence(0, 1, min_open=True, max_open=True),
        metavar="P|none",
        default=0.95,
        show_default=True,
        help="The chance that every interval of the table holds.",
    )(command)


def inference_option(command: _Command) -> _Command:
    """Give a command its --inference option. Decorates ``bound``, ``breakdown``."""
    return click.option(
        "--inference",
        type=click.Choice(["exact", "approximate"]),
        default="exact",
        show_default=True,
        help="The confidence holds whatever the size of the log, or nearly and on large ones.",
    )(command)


def goal_option(command: _Command) -> _Command:
    """Give a command its --goal option. Decorates ``bound`` and ``decide``."""
    return click.option(
        "--goal",
        type=click.Choice(["max", "min"]),
        default="max",
        show_default=True,
        help="Whether a greater or a smaller outcome is better.",
    )(command)


def plug_in_option(command: _Command) -> _Command:
    """Give a command its --plug-in option. Decorates every command with a confidence."""
    return click.option("--plug-in", is_flag=True, help="Neglect sampling error instead.")(
        command
    )


def choose_confidence(
    context: click.Context, confidence: float | None, *, plug_in: bool, exact: bool
) -> float | None:
    """Choose the confidence of bounds: as asked, or None for an exact law and for --plug-in."""
    given = [
        name
        for name in ("confidence", "inference")
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if plug_in and given:
        raise click.UsageError(f"--plug-in neglects sampling error; leave out --{given[0]}")
    return None if plug_in or (exact and "confidence" not in given) else confidence
