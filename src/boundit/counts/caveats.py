"""What a reader of a table should know of the rows behind it: each a line in its caveats."""

from collections.abc import Mapping
from difflib import get_close_matches

from boundit.counts.levels import Levels
from boundit.terms.errors import shorten
from boundit.terms.message import ANY, SOME, Message, Option

MANY_LEVELS = 32
"""With more levels than this, a whole number is often a measurement, such as an age."""
_MISSING = {"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"}
_MOST_SHOWN = 3


def warn_of_dropped_rows(missing: Mapping[str, int], rows: float) -> tuple[str, ...]:
    """Say how many rows were dropped for a null, by variable, and what that does.

    Being complete may itself be a selection.
    """
    if not missing:
        return ()
    shown = ", ".join(f"{name} ({n:,})" for name, n in missing.items())
    return (
        f"of {rows:,.0f} rows, those with a null were dropped: {shown}; "
        "the numbers speak of complete rows, and being complete may itself be a selection",
    )


def warn_of_averages(reward: str, weight: str) -> tuple[str, ...]:
    """Warn that each weighted reward may be a mean of many rows: their spread is then unknown.

    Returns a line for the caveats of a count table.
    """
    return (
        f"rows stand for many by {weight}, with rewards other than 0 and 1: if "
        f"{reward} holds averages their spread is lost and intervals are too narrow; "
        "count each value of the reward in a row of its own",
    )


def warn_of_many_levels(levels: Mapping[str, Levels]) -> tuple[Message, ...]:
    """Suggest bins for variables that are whole numbers with many levels.

    Returns a line for each.

    >>> print(*warn_of_many_levels({"Age": tuple(range(18, 91)), "Ad": ("A", "B")}))
    Age has 73 levels, each counted by its own rows: if it is a measurement, cut it with bins={'Age': [...]}
    """  # noqa: E501
    known = {name: [v for v in of if v is not None] for name, of in levels.items()}
    return tuple(
        Message(
            f"{name} has {len(of):,} levels, each counted by its own rows: if it is a "
            "measurement, cut it with ",
            Option("bins", {name: [SOME]}),
        )
        for name, of in known.items()
        if len(of) > MANY_LEVELS and all(isinstance(level, int) for level in of)
    )


def warn_of_missing_words(levels: Mapping[str, Levels]) -> tuple[str, ...]:
    """Ask about levels such as 'NA', which other programs write where a value is missing.

    >>> print(*warn_of_missing_words({"Age": ("NA", "old", "young")}))
    Age has the level 'NA': if it says that a value is missing, leave the cell empty
    """
    found = {name: [level for level in of if level in _MISSING] for name, of in levels.items()}
    return tuple(
        f"{name} has the level {missing[0]!r}: if it says that a value is missing, leave the "
        "cell empty"
        for name, missing in found.items()
        if missing
    )


def warn_of_strange_levels(
    name: str, levels: Levels, known: Levels, label: str
) -> tuple[Message, ...]:
    """Ask about levels that an external table has and the log never: slips of writing, perhaps.

    Returns a line for each.

    >>> print(*warn_of_strange_levels("Age", ("old", "yuong"), ("old", "young"), "'survey.csv'"))
    Age is never 'yuong' in the log, only in 'survey.csv': a slip for 'young'? If it is right, declare it with domain=
    """  # noqa: E501
    strange = [level for level in levels if level is not None and level not in known]
    if not strange:
        return ()
    shown = shorten(", ".join(map(repr, strange[:_MOST_SHOWN])))
    more = len(strange) - _MOST_SHOWN
    shown += f" and {more} more" if more > 0 else ""
    texts = {level.casefold(): level for level in known if isinstance(level, str)}
    near = [texts[t] for t in get_close_matches(str(strange[0]).casefold(), texts, n=1)]
    slip = f"a slip for {near[0]!r}? If it is right" if near else "if that is right"
    return (
        Message(
            f"{name} is never {shown} in the log, only in {label}: {slip}, declare it with ",
            Option("domain", ANY),
        ),
    )
