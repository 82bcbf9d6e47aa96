"""Words that must fit: shortened, broken into lines, and still different."""

from collections.abc import Sequence

from boundit.report.text.lettering import estimate_width

_MOST_LINES = 2


def cut_to_width(text: str, width: float, size: float) -> str:
    """Shorten text that would run wider than ``width`` pixels; its start stays.

    >>> cut_to_width("neighbourhood", 60, 10), cut_to_width("Age", 60, 10)
    ('neighbou…', 'Age')
    """
    if estimate_width(text, size) <= width:
        return text
    kept = len(text)
    while kept and estimate_width(text[:kept] + "…", size) > width:
        kept -= 1
    return f"{text[:kept].rstrip()}…"


def cut_middle(text: str, width: float, size: float) -> str:
    """Shorten text that would run too wide in its middle; its start and its end stay.

    >>> cut_middle("last_purchase_2019", 90, 10)
    'last_pu…e_2019'
    """
    if estimate_width(text, size) <= width:
        return text
    kept = len(text) - 1
    while kept > 1 and estimate_width(_drop_middle(text, kept), size) > width:
        kept -= 1
    return _drop_middle(text, kept)


def shorten_distinctly(names: Sequence[str], width: float, size: float) -> tuple[str, ...]:
    """Shorten names to a width so that no two become alike, by a number if need be.

    >>> shorten_distinctly(["a long name: red", "a long name: blue"], 60, 10)
    ('a lon…red', 'a lon…blue')
    """
    for shorten in (cut_to_width, cut_middle):
        short = tuple(shorten(name, width, size) for name in names)
        if len(set(short)) == len(set(names)):
            return short
    return tuple(
        cut_to_width(f"{i}: {name}", width, size) for i, name in enumerate(names, start=1)
    )


def wrap_words(text: str, width: float, size: float) -> tuple[str, ...]:
    """Break text at blanks into lines that fit; a word too wide for a line is shortened.

    >>> wrap_words("time of day", 50, 10)
    ('time of', 'day')
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if estimate_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_to_width(word, width, size))
    return tuple(filter(None, lines)) or ("",)


def wrap_headings(names: Sequence[str], width: float, size: float) -> tuple[str, ...]:
    r"""Break the headings of panels into at most two lines.

    What is longer lacks its middle and has its number.

    >>> wrap_headings(["Age=older", "Age=younger, Town=a rather long name"], 90, 10)
    ('Age=older\n', '2: Age=younger,\nTown=a…name')
    """
    found = list[str]()
    for i, name in enumerate(names, start=1):
        lines = wrap_words(name, width, size)
        if len(lines) > _MOST_LINES or any(line.endswith("…") for line in lines):
            lines = wrap_words(f"{i}: {name}", width, size)
            rest = " ".join(lines[_MOST_LINES - 1 :])
            lines = (*lines[: _MOST_LINES - 1], cut_middle(rest, width, size))
        found.append("\n".join(lines))
    most = max((heading.count("\n") for heading in found), default=0)
    # Equally many lines, so that panels below them are equally high.
    return tuple(heading + "\n" * (most - heading.count("\n")) for heading in found)


def _drop_middle(text: str, kept: int) -> str:
    """Keep ``kept`` letters of a text, from its start and its end, with an ellipsis between."""
    tail = kept // 2
    return f"{text[: kept - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"
