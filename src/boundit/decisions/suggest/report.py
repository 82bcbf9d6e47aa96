"""What would narrow bounds, ranked: finished words and numbers."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from boundit.core.codec import encode
from boundit.core.errors import shorten
from boundit.core.frames import FrameKind
from boundit.core.public_names import find_forwarded
from boundit.report.frame import make_frame

Kind: TypeAlias = Literal["selection rate", "external table", "edge", "rows", "trial"]
"""What sort of thing would have to be had."""
NARROWER = 0.01
"""Which part of the width something must take away to be called a gain."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing that somebody could get or learn, and how wide bounds would then be.

    ``width`` is the expected mean width over all arms and contexts; ``least`` and ``most`` are
    the widths over the values that the thing may turn out to have. ``exact`` says that the
    effect can then be recovered, by ``formula``: what width remains is sampling error.
    ``basis`` is what the width was computed from.
    """

    kind: Kind
    what: str
    width: float
    least: float
    most: float
    cost: str
    basis: str
    exact: bool = False
    formula: str = ""
    variables: tuple[str, ...] = ()

    @property
    def span(self) -> str:
        """From where to where the width may turn out, as text; nothing where it is one number."""
        one = self.most - self.least < 5e-4
        return "" if one else f"{self.least:.3f} to {self.most:.3f}"

    def __str__(self) -> str:
        span = f" ({self.span})" if self.span else ""
        lines = [f"{self.width:.3f}{span}  {self.what}"]
        lines += [f"    the effect is then recoverable: {self.formula}"] if self.exact else []
        return "\n".join([*lines, f"    cost: {self.cost}", f"    {self.basis}"])


@dataclass(frozen=True, slots=True)
class SuggestReport:
    """What would narrow the bounds of a log, the narrowest first.

    ``width`` is today's mean width over all arms and contexts, and ``endless`` what would be
    left of it if the log had endless rows. ``formula`` is that of the effect where it is
    recoverable already, so that all of the width is sampling error. ``useless`` are things
    that were tried and do not narrow them, and ``notes`` what was not tried, and why.
    """

    width: float
    endless: float
    suggestions: tuple[Suggestion, ...]
    useless: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float | None = None
    formula: str = ""

    @property
    def summary(self) -> str:
        """The answer in a few sentences."""
        return " ".join((*self.today, self.verdict))

    @property
    def today(self) -> tuple[str, ...]:
        """How wide the bounds are as they are, a sentence each."""
        sure = "plug-in ends" if self.confidence is None else f"confidence {self.confidence:g}"
        wide = (
            f"The bounds are {self.width:.3f} wide on average ({sure}); {self.endless:.3f} "
            "would stay with endless rows."
        )
        if not self.formula:
            return (wide,)
        return wide, f"The effect is recoverable already: {self.formula}."

    @property
    def verdict(self) -> str:
        """What would narrow the bounds most, in a sentence."""
        if not self.suggestions:
            return "Nothing that was tried would narrow the bounds."
        return self._name_narrowest()

    def _name_narrowest(self) -> str:
        """Name what would narrow bounds most; beside an edge ruled out, what can be measured."""
        best = self.suggestions[0]
        said = f"The bounds would narrow most, to {best.width:.3f}, by {best.what}"
        other = next((each for each in self.suggestions if each.kind != "edge"), best)
        if other is not best:
            said += f"; of what can be measured, to {other.width:.3f}, by {other.what}"
        return f"{said}."

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each suggestion, in the report's order."""
        return [
            {
                "kind": each.kind,
                "what": each.what,
                "width": each.width,
                "least": each.least,
                "most": each.most,
                "gain": self.width - each.width,
                "exact": each.exact,
                "variables": ", ".join(each.variables),
                "cost": each.cost,
            }
            for each in self.suggestions
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the whole report as an object for JSON."""
        found: dict[str, object] = encode(self)
        return {"summary": self.summary} | found

    def __repr__(self) -> str:
        return f"<SuggestReport {shorten(self.summary, 200)}>"

    def _repr_html_(self) -> str:
        """Show what would narrow the bounds in a notebook, the narrowest first."""
        shown: str = find_forwarded("make_suggest_page")(self).write_snippet()
        return shown

    def __str__(self) -> str:
        lines = [self.summary]
        if self.suggestions:
            lines += ["", "expected mean width, and what would give it:", ""]
            lines += [str(each) for each in self.suggestions]
        if self.useless:
            lines += ["", f"tried, and of no use: {'; '.join(self.useless)}"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
