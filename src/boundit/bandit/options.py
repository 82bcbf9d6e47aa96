"""Options that are numbers: read at the door, refused in one line."""

import math

from boundit.bandit.errors import BadOption


def read_positive(name: str, value: float) -> float:
    """Check that an option such as ``sigma`` is a number above 0; gives it back."""
    return _read_number(name, value, "a number above 0", above=0.0)


def read_not_negative(name: str, value: float) -> float:
    """Check that an option such as ``alpha`` is a number, 0 or more."""
    return _read_number(name, value, "a number, 0 or more", above=-math.ulp(0.0))


def read_chance(name: str, value: float) -> float:
    """Check that an option is a number strictly between 0 and 1."""
    if read_positive(name, value) >= 1:
        raise BadOption(name, "a chance between 0 and 1", value)
    return float(value)


def read_share(name: str, value: float) -> float:
    """Check that an option such as ``explore`` is a number from 0 to 1."""
    if read_not_negative(name, value) > 1:
        raise BadOption(name, "a chance from 0 to 1", value)
    return float(value)


def read_flag(name: str, value: bool) -> bool:  # noqa: FBT001, it is the value to judge
    """Check that an option such as ``floor`` is True or False."""
    if not isinstance(value, bool):
        raise BadOption(name, "True or False", value)
    return value


def read_horizon(horizon: int | None) -> int | None:
    """Check that a horizon is a whole number of rounds, or None for not yet known."""
    if horizon is None:
        return None
    if not isinstance(horizon, int) or isinstance(horizon, bool) or horizon < 1:
        raise BadOption("horizon", "a whole number of rounds, 1 or more", horizon)
    return horizon


def read_whole_number(name: str, value: int) -> int:
    """Check that an option such as a seed is a whole number, 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadOption(name, "a whole number, 0 or more", value)
    return value


def read_seed(value: int | None) -> int | None:
    """Check that a seed is a whole number, or None for a random one."""
    return None if value is None else read_whole_number("seed", value)


def _read_number(name: str, value: float, expected: str, *, above: float) -> float:
    """Check that an option is a finite number above another, or raise ``BadOption``."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadOption(name, expected, value)
    if not (math.isfinite(value) and value > above):
        raise BadOption(name, expected, value)
    return float(value)
