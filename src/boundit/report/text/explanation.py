"""The explanation of an interval as parts of a page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from boundit.core.formula import Line, StepRecord
from boundit.report.records import PageLine, PathHighlight
from boundit.results.explanation import Explanation


@dataclass(frozen=True, slots=True)
class ExplanationBlock:
    """Some lines of one kind, as HTML; only numbers and steps are more than one."""

    kind: Literal["text", "head", "claim", "numbers", "steps"]
    lines: tuple[PageLine, ...]


def render_blocks(
    explanation: Explanation,
    draw: Callable[[Line], str],
    highlight: Callable[[StepRecord], PathHighlight | None],
) -> tuple[ExplanationBlock, ...]:
    """Turn the explanation of an interval into blocks of HTML lines for a page.

    ``draw`` writes a line as HTML, ``highlight`` finds what a step lights up in the graph.
    """
    return tuple(
        ExplanationBlock(kind, tuple(render_line(line, draw, highlight) for line in lines))
        for kind, lines in _list_blocks(explanation)
        if lines
    )


def render_line(
    line: Line | StepRecord,
    draw: Callable[[Line], str],
    highlight: Callable[[StepRecord], PathHighlight | None],
) -> PageLine:
    """Turn one line of an explanation into HTML, a step with what it lights up in the graph."""
    if isinstance(line, StepRecord):
        return PageLine(draw(line.line), highlight(line))
    return PageLine(draw(line))


_Kind = Literal["text", "head", "claim", "numbers", "steps"]
_Block = tuple[_Kind, tuple[Line | StepRecord, ...]]
_KINDS: dict[str, _Kind] = {"formula": "claim", "data": "numbers", "derivation": "steps"}


def _list_blocks(found: Explanation) -> Iterator[_Block]:
    """List the parts of an explanation in their order, each with its kind and its lines."""
    yield "text", (found.title,)
    for name, lines in found.list_parts():
        if lines:
            yield "head", (f"{name.capitalize()}:",)
            yield _KINDS.get(name.split(",")[0], "text"), lines
