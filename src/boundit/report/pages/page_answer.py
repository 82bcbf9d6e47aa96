"""The answer at the top of a page: what it is, what to use where, how sure, resting on what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from boundit.core.formula import Line

Standing: TypeAlias = Literal["known", "open"]
"""Whether the best arm of a context is known, or stays open."""


@dataclass(frozen=True, slots=True)
class UseGroup:
    """Contexts with the same answer: what to use there, what it may cost, which arms are out.

    ``where`` names the contexts; without any the answer is for everyone.
    """

    standing: Standing
    use: str
    cost: str
    out: str = ""
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What a reader who looks at nothing else must know: a verdict first, all of it in words.

    ``said`` follows the verdict, then ``groups`` and behind a click ``more`` of them; ``basis``
    maps a word or two such as "How sure" to a line.
    """

    verdict: Line
    said: tuple[Line, ...] = ()
    groups: tuple[UseGroup, ...] = ()
    more: tuple[UseGroup, ...] = ()
    basis: Mapping[str, Line] = field(default_factory=dict)


def write_sentence(words: str) -> str:
    """Write a clause of our own as a sentence: a capital at its start, a full stop at its end.

    >>> write_sentence("confidence 0.95"), write_sentence("Nothing is known.")
    ('Confidence 0.95.', 'Nothing is known.')
    """
    return end_sentence(words[:1].upper() + words[1:])


def end_sentence(words: str) -> str:
    """Give words a full stop; how they begin stays, since that may be the name of an arm."""
    return words if words.endswith((".", "?", "!", ":")) else f"{words}."


def write_first(lines: Sequence[str], title: str) -> str:
    """Write the first of some remarks, and where a page has the others.

    >>> write_first(["rows were dropped", "levels were merged"], "What to heed")
    'rows were dropped. 1 more under “What to heed”.'
    """
    more = f" {len(lines) - 1} more under “{title}”." if lines[1:] else ""
    return f"{end_sentence(lines[0])}{more}"
