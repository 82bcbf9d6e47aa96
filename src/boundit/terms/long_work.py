"""Long work: how much time it may take, and who hears how far it has come."""

import time
from collections.abc import Callable
from math import inf
from typing import TypeAlias, final

from boundit.terms.errors import InvalidLimit
from boundit.terms.message import Option
from boundit.terms.scalars import unwrap_scalar

LONGEST = 1e9
"""Seconds, about thirty years: whoever allows more sets no limit, and need not fit a float."""


def read_time_limit(limit: object) -> float | None:
    """Return the option ``time_limit``, or refuse what is neither seconds nor None.

    Called by ``check_limits`` for bounds and by ``CheckLimits.read`` for checks, before any
    work is done.
    """
    if limit is None:
        return None
    found = unwrap_scalar(limit)
    if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0:
        return found if found < LONGEST else inf
    raise InvalidLimit(Option("time_limit"), f" must be seconds or None, found {limit!r}")


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
        """Return how many seconds are left, from the first call on; None without a limit.

        Called by ``ArmProgram.find_ends``, ``Expectation.solve_greatest`` and others before
        each linear program.
        """
        if self._seconds is None:
            return None
        if self._end is None:
            self._end = time.monotonic() + self._seconds
        return max(self._end - time.monotonic(), 0.0)

    def share(self, part: float) -> "TimeBudget":
        """Make a budget of a part of the seconds left, so that time remains for what follows.

        Called by ``plan_request`` for the search for rules.
        """
        left = self.count_seconds()
        return FOR_EVER if left is None else TimeBudget(left * part, self.limit)

    def is_over(self) -> bool:
        """Tell whether no seconds are left for a search; bounds found until then hold.

        Called by ``ChainSearch.find_chains`` before each set of variables and by
        ``_prepare_rules`` before each rule.
        """
        return self.count_seconds() == 0.0


FOR_EVER = TimeBudget(None)

Told: TypeAlias = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and of how much."""


def say_nothing(step: str, done: int, of: int) -> None:
    """Hear of progress, and keep it to oneself.

    Used by ``derive_bounds`` unless somebody wants to hear.
    """
