"""Numbers on a command line: what makes no sense is refused with the name of its flag."""

from math import isfinite, isnan, nan
from typing import Any

import click


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
            self.fail(f"{value!r} is no number", param, ctx)
        return float(super().convert(number, param, ctx))


class RangeOfNumbers(click.Tuple):
    """Two finite numbers, the lower first."""

    def __init__(self) -> None:
        super().__init__([float, float])

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Read the two ends of a range; refuse infinite ones, and a lower end above the upper."""
        low, high = super().convert(value, param, ctx)
        if not (isfinite(low) and isfinite(high) and low < high):
            self.fail(f"{low:g} {high:g} is no range; the lower end comes first", param, ctx)
        return low, high


def read_rate(text: str) -> float | tuple[float, float]:
    """Read a selection rate above 0, or a range of it as two numbers with a comma between."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not 0 <= numbers[0] <= numbers[-1] <= 1:
        raise click.BadParameter(f"{text!r} is no rate; write 0.4, or 0.3,0.6 for a range")
    if numbers[-1] == 0:
        message = "at a rate of 0 nobody is logged; give the share of everyone that was"
        raise click.BadParameter(message)
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def read_limit(text: str) -> float:
    """Read a limit on hidden confounding, a number of at least 1.

    Given to ``node_option`` for --confounding-limit.
    """
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not (isfinite(limit) and limit >= 1):
        raise click.BadParameter(f"{text!r} is no limit; write a number from 1 on")
    return limit


LEAST_POINTS, MOST_POINTS = 500, 10_000_000
"""How short and how long a log that is drawn may be."""
