"""What a check found: one finding for each statement, the strongest contradiction first."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal, TypeAlias

from boundit.checks.evidence import Evidence
from boundit.checks.independence import TestOutcome
from boundit.checks.words import write_evidence, write_question, write_silence, write_statement
from boundit.core.frames import FrameKind
from boundit.core.message import Note, format_count
from boundit.core.names import sort_names
from boundit.core.public_names import find_forwarded
from boundit.graph.implications import Independence

Status: TypeAlias = Literal["contradicted", "consistent", "untestable"]
_ORDER: dict[Status, int] = {"contradicted": 0, "consistent": 1, "untestable": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of the graph, and what the log says of it.

    ``corrected`` is the p-value after Holm's correction. ``detectable`` is the weakest
    association, as Cramér's V, that 8 logs of 10 would show if it is alike in all groups.
    ``reason`` says why there was nothing to test.
    """

    statement: Independence
    status: Status
    outcome: TestOutcome | None = None
    corrected: float | None = None
    detectable: float | None = None
    evidence: Evidence | None = None
    reason: Note = ""

    @property
    def strength(self) -> float | None:
        """Cramér's V beyond chance: 0 no association, 1 one variable tells the other.

        None where the statement was not tested.
        """
        return None if self.outcome is None else self.outcome.strength

    @property
    def p(self) -> float | None:
        """The p-value before it is corrected for the number of statements; None if untested."""
        return None if self.outcome is None else self.outcome.p

    def row(self) -> dict[str, object]:
        """Write the finding as a flat dict for a data frame or JSON."""
        tested = self.outcome
        return {
            "one": self.statement.one,
            "other": self.statement.other,
            "given": sort_names(self.statement.given),
            "selected": self.statement.selected,
            "status": self.status,
            "n": 0 if tested is None else tested.rows,
            "groups": 0 if tested is None else tested.groups,
            "statistic": tested and tested.statistic,
            "df": tested and tested.df,
            "p": self.p,
            "corrected_p": self.corrected,
            "strength": self.strength,
            "detectable": None if self.detectable == inf else self.detectable,
            "statement": write_statement(self.statement),
            "explanation": self.explain(),
        }

    def explain(self) -> str:
        """Say in a sentence or two what speaks against the independence, or what could have."""
        exact = self.outcome is not None and self.outcome.exact
        if self.evidence is not None:
            return write_evidence(self.statement, self.evidence, exact=exact)
        if self.outcome is None or self.detectable is None:
            return str(self.reason)
        if exact:
            return "The law is exactly so."
        return write_silence(self.detectable, self.outcome.groups)

    def numbers(self) -> str:
        """Write V, statistic, p-value and rows of the test in one line; empty without a test."""
        found = self.outcome
        if found is None:
            return ""
        if found.exact:
            return f"V = {found.strength:.2g} in an exact law"
        return (
            f"V = {found.strength:.2g}, chi-square {found.statistic:.4g} on {found.df:,} df, "
            f"p = {found.p:.2g}, corrected {self.corrected:.2g}; {format_count(found.rows)} in "
            f"{found.groups:,} group{'' if found.groups == 1 else 's'}"
        )

    def __str__(self) -> str:
        lines = [f"{self.status}: {write_statement(self.statement)}", f"  {self.explain()}"]
        lines += [f"  {numbers}"] if (numbers := self.numbers()) else []
        if self.status == "contradicted":
            lines.append(f"  {write_question(self.statement)}")
        return "\n".join(lines)


@dataclass(frozen=True)
class CheckReport:
    """What the log says of the graph; true when nothing contradicts.

    ``findings`` come strongest contradiction first, then what was consistent, then what could
    not be tested. If the graph is right, the chance that anything is called contradicted is at
    most ``level``. ``notes`` are the caveats, with the options that they name as values. It is
    ``complete`` unless a time limit ended the search for statements.
    """

    findings: tuple[Finding, ...]
    level: float
    notes: tuple[Note, ...] = ()
    complete: bool = True

    def __bool__(self) -> bool:
        return not self.contradictions

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader should know of the rows behind the findings, such as dropped nulls."""
        return tuple(map(str, self.notes))

    @cached_property
    def contradictions(self) -> tuple[Finding, ...]:
        """The findings that speak against the graph."""
        return self._select("contradicted")

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each finding, in the report's order."""
        return [finding.row() for finding in self.findings]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``."""
        return find_forwarded("make_frame")(self.rows(), to)

    def verdict(self) -> str:
        """Say in a line how many independences were tested, and how many the log contradicts."""
        if not self.findings and not self.complete:
            return "the time limit left no time to test any of the graph's statements"
        if not self.findings:
            return "the graph cannot be contradicted by this log: every pair stays connected"
        tested = len(self.findings) - len(self._select("untestable"))
        if not tested:
            return "the log can test none of the graph's statements"
        of = f"{tested} tested statement{'' if tested == 1 else 's'}"
        found = f"{len(self.contradictions) or 'none'} of {of} contradicted"
        return f"{found} (level {self.level:g} for all at once, Holm)"

    def __repr__(self) -> str:
        return f"<CheckReport {self.verdict()}>"

    def _repr_html_(self) -> str:
        """Show the verdict and every finding in a notebook."""
        shown: str = find_forwarded("show_check")(self)
        return shown

    def __str__(self) -> str:
        notes = [f"caveat: {note}" for note in self.caveats]
        return "\n\n".join([self.verdict(), *map(str, self.findings), *notes])

    def _select(self, status: Status) -> tuple[Finding, ...]:
        """Select the findings of one status, such as "untestable"."""
        return tuple(f for f in self.findings if f.status == status)


def rank_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings for a report: contradictions by p-value, then by how far beyond chance."""

    def place(finding: Finding) -> tuple[int, float, float, str]:
        beyond = 0.0
        if finding.outcome is not None:
            beyond = finding.outcome.statistic / max(finding.outcome.df, 1)
        p = 1.0 if finding.p is None else finding.p
        return _ORDER[finding.status], p, -beyond, str(finding.statement)

    return tuple(sorted(findings, key=place))
