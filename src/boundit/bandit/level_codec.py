"""Arms and contexts as JSON has them, types kept."""

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

from boundit.terms.bound import Arm
from boundit.terms.codec import decode, encode

Record: TypeAlias = dict[str, Any]
"""What JSON calls an object: text to anything JSON has."""


def spelled_values(values: Iterable[object]) -> list[object]:
    """Spell an arm or a context.

    >>> spelled_values(("A", 1, True))
    ['A', 1, True]
    """
    found: list[object] = encode(tuple(values), Arm)
    return found


def read_values(record: Iterable[object]) -> tuple[object, ...]:
    """Read an arm or a context back."""
    found: tuple[object, ...] = decode(Arm, record)
    return found


def spelled_number(number: float) -> float | str:
    """Spell a number; JSON has no infinity of its own.

    >>> spelled_number(0.5), spelled_number(float("inf"))
    (0.5, 'inf')
    """
    return float(number) if math.isfinite(number) else str(float(number))
