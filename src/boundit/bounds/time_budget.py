"""How much time a search or the programs of one table may take."""

import time
from typing import final


@final
class TimeBudget:
    """Seconds that start to run when they are first asked for; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def count_seconds(self) -> float | None:
        """Tell how many seconds are left; None when there is no limit.

        Called by ``ArmProgram.find_ends`` and others before each linear program.
        """
        if self._seconds is None:
            return None
        if self._end is None:
            self._end = time.monotonic() + self._seconds
        return max(self._end - time.monotonic(), 0.0)

    def is_over(self) -> bool:
        """Tell whether no time is left; what was found until then holds.

        Called by ``ChainSearch.find_chains`` before each set of variables.
        """
        return self.count_seconds() == 0.0


FOR_EVER = TimeBudget(None)
