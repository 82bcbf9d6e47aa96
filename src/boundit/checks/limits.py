"""How long a check may take and how much memory, and what is said of statements beyond that."""

from dataclasses import dataclass
from typing import Self

from boundit.core.long_work import TimeBudget, read_time_limit
from boundit.core.message import Message, Option
from boundit.counts.memory import read_memory_limit, write_size


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Seconds for one check, which run from the start, and bytes for its counts."""

    seconds: float | None
    time: TimeBudget
    memory: int

    @classmethod
    def read(cls, time_limit: object, memory_limit: object) -> Self:
        """Read the options ``time_limit`` and ``memory_limit``, and start the clock."""
        seconds = read_time_limit(time_limit)
        limits = cls(seconds, TimeBudget(seconds), read_memory_limit(memory_limit))
        limits.time.count_seconds()
        return limits

    def allot_search(self) -> TimeBudget:
        """Allot time to the search for statements: half of it, so that some can be tested."""
        return TimeBudget(None if self.seconds is None else self.seconds / 2)

    def explain_search(self) -> Message:
        """Say that the search for statements was ended, as a caveat of the report."""
        limit = Option("time_limit", self.seconds)
        return Message(
            limit,
            " ended the search for statements, and some pairs of variables were not looked at; "
            "a higher limit tests more",
        )

    def explain_time(self) -> Message:
        """Say why a statement was not reached in time, as the reason of its finding."""
        limit = Option("time_limit", self.seconds)
        return Message(
            limit, " was over before this was tested; a higher limit, or fewer rows, reach it."
        )

    def explain_memory(self, needed: int) -> Message:
        """Say why a statement's counts did not fit, as the reason of its finding.

        They would take ``needed`` bytes.
        """
        return Message(
            f"Its counts would take about {write_size(needed)}, more than ",
            Option("memory_limit", write_size(self.memory)),
            " allows; a higher limit, or fewer levels of its variables, would do.",
        )
