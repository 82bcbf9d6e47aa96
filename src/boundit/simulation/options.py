"""Options of simulations: numbers that are read once, and refused in one line."""

from operator import index

from boundit.core.errors import shorten
from boundit.core.message import Option, Placeholder
from boundit.core.names import unwrap_scalar
from boundit.simulation.errors import InvalidSimulation

LONGEST = 2**31 - 1
"""Most rounds, runs or rounds of delay."""


def refuse(name: str, found: object, expected: str) -> InvalidSimulation:
    """Make the error of an option: what was found, and what to write instead."""
    plain = found is None or isinstance(found, int | float | str)
    shown = Placeholder(shorten(repr(found) if plain else f"<{type(found).__name__}>", 60))
    return InvalidSimulation(Option(name, shown), f" is not valid. Use {expected}.")


def read_whole(name: str, value: object, *, least: int, most: int = LONGEST) -> int:
    """Read a whole number of Python or NumPy; True and False are not numbers."""
    expected = f"a whole number from {least} to {most}"
    if isinstance(value, bool):
        raise refuse(name, value, expected)
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise refuse(name, value, expected) from None
    if not least <= number <= most:
        raise refuse(name, value, expected)
    return number


def read_seed(value: object) -> int:
    """Read a seed, a whole number; None is refused, since results must be reproducible.

    >>> import numpy as np
    >>> read_seed(np.int64(3))
    3
    """
    return read_whole("seed", value, least=0, most=2**128)


def read_number(
    name: str, value: object, expected: str, *, least: float = 0.0, most: float = 1.0
) -> float:
    """Read a number within limits, such as a probability."""
    found = unwrap_scalar(value)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if not number or not least <= found <= most:  # type: ignore[operator]
        raise refuse(name, value, expected)
    return float(found)  # type: ignore[arg-type]
