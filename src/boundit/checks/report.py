"""What a check found: one finding for each statement, the strongest contradiction first."""

from dataclasses import dataclass
from functools import cached_property
from math import isinf
from typing import Any, Literal, TypeAlias

from boundit.checks.evidence import Evidence
from boundit.checks.independence import TestOutcome
from boundit.checks.words import write_evidence, write_question, write_silence, write_statement
from boundit.graph.implications import Independence
from boundit.terms.explanation import format_count
from boundit.terms.message import Note
from boundit.terms.names import sort_names
from boundit.terms.public_names import find_forwarded
from boundit.terms.saving.frames import FrameKind

Status: TypeAlias = Literal["contradicted", "consistent", "untestable"]
_SHAPES = {"any": "of any shape", "steady": "alike in all groups"}
_ORDER: dict[Status, int] = {"contradicted": 0, "consistent": 1, "untestable": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of the graph, and what the log says of it.

    ``corrected`` is the p-value after Holm's correction. ``detectable`` is the weakest
    association, as Cramér's V, that 8 logs of 10 would show if it is alike in all groups, and
    ``detectable_any`` if it is not. ``reason`` says why there was nothing to test.
    """

    statement: Independence
    status: Status
    outcome: TestOutcome | None = None
    corrected: float | None = None
    detectable: float | None = None
    detectable_any: float | None = None
    evidence: Evidence | None = None
    reason: Note = ""

    @property
    def strength(self) -> float | None:
        """Cramér's V beyond chance: 0 no association, 1 one variable tells the other.

        None where the statement was not tested. Users read it; also read by ``Finding.row`` and
        ``Finding.numbers``.
        """
        return (
            None
            if self.outcome is None
            else self.outcome.decisive_answer.statistic.find_strength()
        )

    @property
    def p(self) -> float | None:
        """The p-value before it is corrected for the number of statements; None if untested.

        Users read it; also read by ``Finding.row`` and ``rank_findings``.
        """
        return None if self.outcome is None else self.outcome.p

    def row(self) -> dict[str, object]:
        """Write the finding as a flat dict for a data frame or JSON.

        Users call it; also called by ``CheckReport.rows``.
        """
        answer = None if self.outcome is None else self.outcome.decisive_answer
        return {
            "one": self.statement.one,
            "other": self.statement.other,
            "given": sort_names(self.statement.given),
            "selected": self.statement.selected,
            "status": self.status,
            "n": 0 if self.outcome is None else self.outcome.rows,
            "groups": 0 if self.outcome is None else self.outcome.groups,
            "pattern": answer and answer.pattern,
            "statistic": answer and answer.statistic.value,
            "df": answer and answer.statistic.df,
            "draws": answer and answer.draws,
            "p": self.p,
            "corrected_p": self.corrected,
            "strength": self.strength,
            "detectable": _drop_infinity(self.detectable),
            "detectable_any": _drop_infinity(self.detectable_any),
            "statement": write_statement(self.statement),
            "explanation": self.explain(),
        }

    def explain(self) -> str:
        """Say in a sentence or two what speaks against the independence, or what could have.

        Users call it; also called by ``Finding.row`` and ``Finding.__str__``.
        """
        if self.evidence is not None:
            return write_evidence(self.statement, self.evidence, exact=self._is_exact)
        if self.outcome is None or self.detectable is None or self.detectable_any is None:
            return str(self.reason)
        if self._is_exact:
            return "The law is exactly so."
        return write_silence(self.detectable, self.detectable_any)

    def numbers(self) -> str:
        """Write V, statistic, p-value and rows of the test in one line; empty without a test.

        Users call it; also called by ``Finding.__str__``.
        """
        if self.outcome is None:
            return ""
        answer = self.outcome.decisive_answer
        if self._is_exact:
            return f"V = {self.strength:.2g} in an exact law"
        how = f", {answer.draws:,} shuffles" if answer.draws else ""
        return (
            f"V = {self.strength:.2g}, chi-square {answer.statistic.value:.4g} on "
            f"{answer.statistic.df:,} df ({_SHAPES[answer.pattern]}{how}), p = {self.p:.2g}, "
            f"corrected {self.corrected:.2g}; {format_count(self.outcome.rows)} in "
            f"{self.outcome.groups:,} group{'' if self.outcome.groups == 1 else 's'}"
        )

    @property
    def _is_exact(self) -> bool:
        """Whether the log is an exact law, which leaves nothing to chance.

        Read by ``Finding.explain`` and ``Finding.numbers``, which then speak of no p-value.
        """
        return self.outcome is not None and self.outcome.decisive_answer.pattern == "exact"

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
    seed: int
    notes: tuple[Note, ...] = ()
    complete: bool = True

    def __bool__(self) -> bool:
        return not self.contradictions

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader should know of the rows behind the findings, such as dropped nulls.

        Users read it; also read by ``CheckReport.__str__`` and by ``_make_check_record`` of the
        command line.
        """
        return tuple(map(str, self.notes))

    @cached_property
    def contradictions(self) -> tuple[Finding, ...]:
        """The findings that speak against the graph.

        Users read it; also read by ``CheckReport.__bool__`` and ``CheckReport.verdict``.
        """
        return self._select("contradicted")

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each finding, in the report's order.

        Users make a data frame of them; also called by ``_make_check_record`` of the command
        line.
        """
        return [finding.row() for finding in self.findings]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return find_forwarded("make_frame")(self.rows(), to)

    def verdict(self) -> str:
        """Say in a line how many independences were tested, and how many the log contradicts.

        Users call it; also called by ``CheckReport.__str__``, and for ``--json`` by
        ``_make_check_record``.
        """
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
        """Select the findings of one status, such as "untestable".

        Called by ``CheckReport.verdict`` and ``CheckReport.contradictions``.
        """
        return tuple(f for f in self.findings if f.status == status)


def rank_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings for a report: contradictions by p-value, then by how far beyond chance.

    Called by ``check`` at its end.
    """

    def place(finding: Finding) -> tuple[int, float, float, str]:
        beyond = 0.0
        if finding.outcome is not None:
            statistic = finding.outcome.decisive_answer.statistic
            beyond = statistic.value / max(statistic.df, 1)
        p = 1.0 if finding.p is None else finding.p
        return _ORDER[finding.status], p, -beyond, str(finding.statement)

    return tuple(sorted(findings, key=place))


def _drop_infinity(number: float | None) -> float | None:
    """Return a number, but None for infinity, which JSON cannot hold.

    Called by ``Finding.row``.
    """
    return None if number is None or isinf(number) else number
