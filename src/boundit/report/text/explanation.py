"""The explanation of an interval, from the text that a table gives to parts of a page."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

_LISTS = frozenset({"steps", "numbers"})


@dataclass(frozen=True, slots=True)
class ExplanationBlock:
    """Some lines of one kind, as HTML: text, head, claim, numbers or steps."""

    kind: str
    lines: tuple[str, ...]


def blocks(text: str, typeset: Callable[[str], str]) -> tuple[ExplanationBlock, ...]:
    r"""Tell the kinds of lines apart by how far they are set in.

    >>> for block in blocks("It is so.\n\nCaveats:\n  - it may rain\n  - or snow", str):
    ...     print(block.kind, block.lines)
    text ('It is so.',)
    head ('Caveats:',)
    steps ('it may rain', 'or snow')
    """
    found = list[ExplanationBlock]()
    lines = [line for line in text.splitlines() if line.strip()]
    for kind, some in groupby(lines, _kind):
        shown = [typeset(line.strip().removeprefix("- ")) for line in some]
        parts = [tuple(shown)] if kind in _LISTS else [(line,) for line in shown]
        found += [ExplanationBlock(kind, part) for part in parts]
    return tuple(found)


def _kind(line: str) -> str:
    inner = line.lstrip()
    inset = len(line) - len(inner)
    if inset and inner.startswith("- "):
        return "steps"
    if inner.endswith(":"):
        return "head"
    return "text" if inset == 0 else "claim" if inset <= 2 else "numbers"
