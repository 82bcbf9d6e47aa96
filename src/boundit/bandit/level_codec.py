"""Arms and contexts as JSON has them, types kept."""

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

from boundit.terms import bound_file

Record: TypeAlias = dict[str, Any]
"""What JSON calls an object: text to anything JSON has."""


def spelled_values(values: Iterable[object]) -> list[object]:
    """Spell an arm or a context.

    >>> spelled_values(("A", 1, True))
    ['A', 1, True]
    """
    return [bound_file.encode_level(value) for value in values]


def read_values(record: Iterable[object]) -> tuple[object, ...]:
    """Read an arm or a context back."""
    return tuple(map(bound_file.decode_level, record))


def spelled_number(number: float) -> float | str:
    """Spell a number; JSON has no infinity of its own.

    >>> spelled_number(0.5), spelled_number(float("inf"))
    (0.5, 'inf')
    """
    return float(number) if math.isfinite(number) else str(float(number))
