"""What would narrow bounds: a ranked list of steps, as text, page and record."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from boundit.core.errors import shorten
from boundit.core.frames import FrameKind
from boundit.core.message import Option
from boundit.decisions.pages import make_page
from boundit.report.frame import make_frame
from boundit.report.page import Page
from boundit.results.text import align_columns

StepKind: TypeAlias = Literal["rate", "table", "edge", "rows", "trial"]
_SORTS: tuple[tuple[StepKind, ...], ...] = (("rate", "edge"), ("table", "rows"), ("trial",))
_HEAD = ("width", "step", "how", "note")


@dataclass(frozen=True, slots=True)
class Step:
    """Something that could be learned or collected, and the mean width of the bounds then.

    ``width`` is what is expected, from ``lower`` to ``upper`` where it depends on what will be
    found. ``option`` is the option that takes it, or None where there is only an
    ``action``. The effect is identified then by ``formula`` if there is one, so that the width
    is sampling error. ``basis`` says how the width was computed.
    """

    kind: StepKind
    what: str
    width: float
    lower: float
    upper: float
    action: str
    basis: str
    option: Option | None = None
    formula: str = ""
    variables: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """From which width to which it may turn out; empty if it is one number."""
        one = self.upper - self.lower < 0.005
        return "" if one else f"{self.lower:.2f} to {self.upper:.2f}"

    def write_how(self, spell: Callable[[Option], str] = str) -> str:
        """Write the option that takes it, as an interface spells it, or what to do."""
        return self.action if self.option is None else spell(self.option)

    @property
    def note(self) -> str:
        """The range of the width, and whether the effect is identified then."""
        known = "the effect is then identified" if self.formula else ""
        return "; ".join(filter(None, (self.range, known)))

    def record(self) -> dict[str, object]:
        """Write the step as an object for JSON."""
        return {
            "kind": self.kind,
            "step": self.what,
            "width": self.width,
            "lower": self.lower,
            "upper": self.upper,
            "option": None if self.option is None else self.option.name,
            "how": self.write_how(),
            "action": self.action,
            "formula": self.formula,
            "variables": list(self.variables),
            "basis": self.basis,
        }


@dataclass(frozen=True, slots=True)
class SuggestReport:
    """What would narrow the bounds of a log, the narrowest first.

    ``width`` is the mean width of the bounds now, ``limit`` what would be left of it with
    infinitely many rows. ``useless`` are steps that were tried and narrow nothing, ``notes``
    what was not tried, and why. ``formula`` is that of the effect if it is identified already.
    """

    query: str
    width: float
    limit: float
    steps: tuple[Step, ...]
    useless: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float | None = None
    formula: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer, a sentence each."""
        best = "Nothing that was tried would narrow the bounds."
        if self.steps:
            first = self.steps[0]
            best = f"They would be narrowest, {first.width:.3f}, with {first.what}."
        wide = f"The mean width of the bounds is {self.width:.3f}"
        if self.confidence is not None:
            wide += f"; {self.limit:.3f} would remain with infinite data"
        known = ("The effect is identified already.",) if self.formula else ()
        return (f"{wide}.", *known, best)

    @property
    def summary(self) -> str:
        """The answer in words."""
        return " ".join(self.sentences)

    def pick(self) -> tuple[Step, ...]:
        """The best step of each sort: knowledge, data, experiment."""
        found = (next((s for s in self.steps if s.kind in sort), None) for sort in _SORTS)
        return tuple(sorted(filter(None, found), key=lambda step: -step.width))

    def write_help(self, spell: Callable[[Option], str] = str) -> list[str]:
        """Write what would help most, a line for each sort of step; nothing where nothing does."""
        if not self.steps:
            return []
        head = f"What would help (mean width of the bounds, now {self.width:.2f}"
        more = f'; "boundit suggest" lists {len(self.steps)} options):'
        return [f"{head}{more}", *_write_steps(self.pick(), spell)]

    def rows(self) -> list[dict[str, object]]:
        """Write the steps as a list of mappings, for a data frame."""
        kept = ("kind", "step", "width", "lower", "upper", "how", "formula")
        return [{name: step.record()[name] for name in kept} for step in self.steps]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the report as an object for JSON."""
        return {
            "summary": self.summary,
            "query": self.query,
            "width": self.width,
            "limit": self.limit,
            "confidence": self.confidence,
            "formula": self.formula,
            "steps": [step.record() for step in self.steps],
            "useless": list(self.useless),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<SuggestReport {shorten(self.summary, 200)}>"

    def __str__(self) -> str:
        return self.format()

    def format(self, spell: Callable[[Option], str] = str) -> str:
        """Write the report as text, options as an interface spells them."""
        lines = [f"What would narrow the bounds on {self.query}", "", *self.sentences]
        if self.steps:
            lines += ["", *_write_steps(self.steps, spell)]
        lines += [""] if self.useless or self.notes else []
        lines += [f"no gain: {'; '.join(self.useless)}"] if self.useless else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return self.page().write_snippet()

    def page(self, spell: Callable[[Option], str] = str) -> Page:
        """Make the page of the report."""
        rows = [
            (f"{s.width:.3f}", s.what, s.write_how(spell), "; ".join(_list_notes(s)))
            for s in self.steps
        ]
        return make_page(
            f"What would narrow the bounds on {self.query}",
            self.sentences,
            [("Steps", _HEAD, rows, "Mean width over all arms and contexts.")],
            self.confidence,
            caveats=self.notes,
            notes={"No gain": self.useless},
        )


def _list_notes(step: Step) -> Iterator[str]:
    yield from filter(None, (step.range, step.basis))
    if step.formula:
        yield f"the effect is then identified: {step.formula}"


def _write_steps(steps: Sequence[Step], spell: Callable[[Option], str]) -> Iterable[str]:
    columns = [
        [f"{step.width:.2f}" for step in steps],
        [step.what for step in steps],
        [step.write_how(spell) for step in steps],
        [step.note and f"({step.note})" for step in steps],
    ]
    _, *lines = align_columns([""] * 4, columns).split("\n")
    return (f"  {line}" for line in lines)
