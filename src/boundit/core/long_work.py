"""Long work: how much time it may take, and who hears how far it has come."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import TypeAlias, final

from boundit.core.errors import OptionError
from boundit.core.message import Option
from boundit.core.names import unwrap_scalar

LONGEST = 1e9
"""Seconds, about thirty years: longer limits mean none."""


def read_time_limit(limit: object) -> float | None:
    """Return the option ``time_limit``, or refuse what is neither seconds nor None."""
    if limit is None:
        return None
    found = unwrap_scalar(limit)
    if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
        return found if found < LONGEST else inf
    raise OptionError(Option("time_limit"), f" must be seconds or None, found {limit!r}")


@final
class TimeBudget:
    """Seconds that start to run when they are first asked for; None is for ever.

    ``limit`` is what the user set, of which they may be a part.
    """

    def __init__(self, seconds: float | None, limit: float | None = None) -> None:
        self._seconds = seconds
        self.limit = seconds if limit is None else limit
        self._end: float | None = None

    def count_seconds(self) -> float | None:
        """Return how many seconds are left, from the first call on; None without a limit."""
        if self._seconds is None:
            return None
        if self._end is None:
            self._end = time.monotonic() + self._seconds
        return max(self._end - time.monotonic(), 0.0)

    def share(self, part: float) -> "TimeBudget":
        """Make a budget of a part of the seconds left, so that time remains for what follows."""
        left = self.count_seconds()
        return FOR_EVER if left is None else TimeBudget(left * part, self.limit)

    def is_over(self) -> bool:
        """Tell whether no seconds are left for a search; bounds found until then hold."""
        return self.count_seconds() == 0.0


FOR_EVER = TimeBudget(None)

Progress: TypeAlias = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and of how much."""
_BAR = 20
"""How many characters a bar has."""


def say_nothing(message: str, done: int, total: int) -> None:
    """Hear of progress, and keep it to oneself."""


@contextmanager
def follow_progress(progress: Progress | bool | None) -> Iterator[Progress]:  # noqa: FBT001
    """Give the function that the option ``progress`` names; True is a bar on stderr.

    The bar is gone once the body of the ``with`` is left.
    """
    width = 0

    def draw(message: str, done: int, total: int) -> None:
        nonlocal width
        bar = "#" * (_BAR * done // total if total else 0)
        line = f"[{bar:<{_BAR}}] {done}/{total} {message}"
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()
        width = len(line)

    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise OptionError(
            Option("progress"),
            f" must be True or a function of (message, done, total), found {progress!r}",
        )
    try:
        yield draw if progress is True else progress or say_nothing
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
