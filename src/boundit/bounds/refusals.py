"""Rules that memory or time had no room for, and how a table's caveats name them."""

from collections.abc import Iterable, Iterator
from typing import Final

from boundit.counts.errors import TooLarge
from boundit.terms.errors import OutOfTime
from boundit.terms.message import Message, Note, Option

LIMITS: Final = (TooLarge, OutOfTime, MemoryError)
"""What is raised where memory or time do not suffice; who meets it does without."""
_SHOWN = 3  # of rules too large, how many get a caveat each


def note_refused(refused: dict[str, BaseException]) -> Iterator[Note]:
    """Yield the caveats on rules that were left out, by name, and on what would help."""
    yield from _note_large(refused)
    if late := [name for name, error in refused.items() if isinstance(error, OutOfTime)]:
        yield note_late(late)


def _note_large(refused: dict[str, BaseException]) -> Iterator[Note]:
    """Yield a caveat for each of the first rules that memory had no room for, and one for more."""
    large = {name: e for name, e in refused.items() if not isinstance(e, OutOfTime)}
    for name, error in [*large.items()][:_SHOWN]:
        why = error.message if isinstance(error, TooLarge) else "memory ran out"
        yield Message(f"the rule {name!r} was left out: ", why)
    if others := [*large][_SHOWN:]:
        yield Message(f"so were {name_rules(others)}; ", Option("memory_limit"), " is too low")


def note_late(names: Iterable[str]) -> Note:
    """Write the caveat that names rules for which no time was left."""
    return Message(
        f"{name_rules(names)} had no time left; the other rules hold; raise ",
        Option("time_limit"),
        " or lower ",
        Option("max_condition"),
    )


def name_rules(names: Iterable[str], most: int = 3) -> str:
    """Write the names of rules in quotes, the first few and how many more there are.

    >>> name_rules(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    listed = list(names)
    shown = ", ".join(map(repr, listed[:most]))
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"
