"""Rules that exceeded memory or time, and how a table's caveats name them."""

from collections.abc import Iterable, Iterator
from typing import Final

from boundit.core.errors import OutOfTime
from boundit.core.message import Caveat, Option
from boundit.counts.errors import TooLarge

LIMITS: Final = (TooLarge, OutOfTime, MemoryError)
"""What is raised where memory or time do not suffice; who meets it does without."""
_SHOWN = 3  # of rules too large, how many get a caveat each


def note_refused(refused: dict[str, BaseException]) -> Iterator[Caveat]:
    """Yield the caveats on rules that were left out, by name, and on what would help."""
    large = {name: e for name, e in refused.items() if not isinstance(e, OutOfTime)}
    for name, error in [*large.items()][:_SHOWN]:
        why = error.message if isinstance(error, TooLarge) else "memory ran out"
        yield Caveat(f"the rule {name!r}: ", why, kind="skipped", code="memory-limit")
    if others := [*large][_SHOWN:]:
        limit = Option("memory_limit")
        yield Caveat(
            f"{name_rules(others)}: ", limit, " is too low", kind="skipped", code="memory-limit"
        )
    if late := [name for name, error in refused.items() if isinstance(error, OutOfTime)]:
        yield note_late(late)


def note_late(names: Iterable[str]) -> Caveat:
    """Write the caveat that names rules for which no time was left."""
    return Caveat(
        f"{name_rules(names)}, because ",
        Option("time_limit"),
        " was reached. The intervals are valid, but may be wider than necessary. Raise ",
        Option("time_limit"),
        ".",
        kind="skipped",
        code="time-limit",
    )


def name_rules(names: Iterable[str], most: int = 3) -> str:
    """Write the names of rules in quotes, the first few and how many more there are.

    >>> name_rules(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    listed = list(names)
    shown = ", ".join(map(repr, listed[:most]))
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"
