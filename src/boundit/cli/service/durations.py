"""Lengths of time on the command line: 90, 30m, 12h, 7d."""

import re

import click

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class Duration(click.ParamType[float]):
    """A length of time in seconds, or with a unit: s, m, h or d."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a length of time as seconds, or refuse it; called by click.

        >>> Duration().convert("7d", None, None)
        604800.0
        """
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no length of time; say 90, 30m, 12h or 7d", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


def write_duration(seconds: float) -> str:
    """Write a length of time as ``Duration`` reads it, in the largest unit that is whole.

    >>> write_duration(1209600.0), write_duration(90.0), write_duration(0.5)
    ('14d', '90s', '0.5s')
    """
    for unit in "dhm":
        if seconds and seconds % _UNITS[unit] == 0:
            return f"{seconds / _UNITS[unit]:g}{unit}"
    return f"{seconds:g}s"
