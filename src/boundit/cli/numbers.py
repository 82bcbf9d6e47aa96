"""Numbers on a command line: what makes no sense is refused with the name of its flag."""

from math import isfinite, isnan

import click


class Number(click.FloatRange):
    """A number in a range; ``nan`` is in none."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Refuse what compares to nothing."""
        number = float(super().convert(value, param, ctx))
        if isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def ends(
    context: click.Context, option: click.Parameter, given: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Refuse two numbers that are no range."""
    if given is None:
        return None
    low, high = given
    if not (isfinite(low) and isfinite(high) and low < high):
        message = f"{low:g} {high:g} is no range; the lower end comes first"
        raise click.BadParameter(message, context, option)
    return low, high


def rate(
    context: click.Context, option: click.Parameter, given: str | None
) -> float | tuple[float, float] | None:
    """Read a chance, or two with a comma between them."""
    if given is None:
        return None
    try:
        numbers = [float(part) for part in given.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not 0 <= numbers[0] <= numbers[-1] <= 1:
        message = f"{given!r} is no rate; write 0.4, or 0.3,0.6 for a range"
        raise click.BadParameter(message, context, option)
    if numbers[-1] == 0:
        message = "at a rate of 0 nobody is logged; give the share of everyone that was"
        raise click.BadParameter(message, context, option)
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
