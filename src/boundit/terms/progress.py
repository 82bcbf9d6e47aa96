"""Who hears how far long work has come."""

from collections.abc import Callable
from typing import TypeAlias

Told: TypeAlias = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and of how much."""


def say_nothing(step: str, done: int, of: int) -> None:
    """Hear of progress, and keep it to oneself.

    Used by ``derive_bounds`` unless somebody wants to hear.
    """
