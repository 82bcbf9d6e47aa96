"""What a check found: one finding for each implication, the strongest contradiction first."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal, TypeAlias

from boundit.checks.independence import Evidence, IndependenceTest
from boundit.core.frames import FrameKind
from boundit.core.message import Note, format_count
from boundit.core.names import join_names, sort_names
from boundit.core.public_names import find_forwarded
from boundit.graph.implications import Independence

Status: TypeAlias = Literal["contradicted", "consistent", "untestable"]
_ORDER: dict[Status, int] = {"contradicted": 0, "consistent": 1, "untestable": 2}
MEDIUM = 0.3
"""Cohen's medium effect: a test that can miss it says little."""


def write_statement(statement: Independence) -> str:
    """Write an independence as an English sentence that can be agreed with or not.

    >>> print(write_statement(Independence("Ad", "Income", frozenset({"Age"}), selected=True)))
    Ad and Income are independent among logged rows with the same Age.
    """
    rows = "logged rows" if statement.selected else "rows"
    alike = f" with the same {join_names(statement.given)}" if statement.given else ""
    return f"{statement.one} and {statement.other} are independent among {rows}{alike}."


@dataclass(frozen=True, slots=True)
class Finding:
    """An implication of the graph, and what the log says of it.

    ``corrected`` is the p-value after Holm's correction. ``detectable`` is the weakest
    association, as Cramér's V, that 8 logs of 10 would show if it is alike in all groups.
    ``reason`` says why there was nothing to test.
    """

    statement: Independence
    status: Status
    outcome: IndependenceTest | None = None
    corrected: float | None = None
    detectable: float | None = None
    evidence: Evidence | None = None
    reason: Note = ""

    @property
    def strength(self) -> float | None:
        """Cramér's V beyond sampling error: 0 independent, 1 one variable determines the other.

        None where the implication was not tested.
        """
        return None if self.outcome is None else self.outcome.strength

    @property
    def p(self) -> float | None:
        """The p-value before it is corrected for the number of tests; None if untested."""
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
        """Say in a sentence or two what contradicts the independence, or what could have."""
        said, seen, tested = self.statement, self.evidence, self.outcome
        if tested is None or self.detectable is None:
            return str(self.reason)
        if seen is not None:
            place = ", ".join(f"{name} = {level}" for name, level in seen.where)
            head = f"Where {place}: " if place else "Over all groups: " if seen.pooled else ""
            rows = "rows" if tested.exact else format_count(seen.rows)
            return (
                f"{head}{said.other} = {seen.other} in {seen.share:.1%} of the {rows} with "
                f"{said.one} = {seen.one}; under independence it would be {seen.expected:.1%}."
            )
        if tested.exact:
            return "The distribution is exactly so."
        if self.detectable == inf:
            return "This says little: even a perfect association could go unnoticed."
        little = "This says little: only an" if self.detectable > MEDIUM else "An"
        alike = ", if it is alike in all groups" if tested.groups > 1 else ""
        size = f"{self.detectable:.2g}"
        return f"{little} association of V = {size} would be found in 8 logs of 10{alike}."

    def ask(self) -> str:
        """Ask what would make the independence false; who says yes should change the graph."""
        one, other = self.statement.one, self.statement.other
        given = self.statement.given
        aside = f", other than by way of {join_names(given)}" if given else ""
        logging = ""
        if self.statement.selected:
            logging = " Or do both affect which rows were logged?"
        return (
            f"Can {one} affect {other}, or {other} affect {one}, or have they an unmeasured "
            f"common cause{aside}?{logging}"
        )

    def numbers(self) -> str:
        """Write V, statistic, p-value and rows of the test in one line; empty without a test."""
        found = self.outcome
        if found is None:
            return ""
        if found.exact:
            return f"V = {found.strength:.2g} in an exact distribution"
        return (
            f"V = {found.strength:.2g}, chi-square {found.statistic:.4g} on {found.df:,} df, "
            f"p = {found.p:.2g}, corrected {self.corrected:.2g}; {format_count(found.rows)} in "
            f"{found.groups:,} group{'' if found.groups == 1 else 's'}"
        )

    def __str__(self) -> str:
        lines = [f"{self.status}: {write_statement(self.statement)}", f"  {self.explain()}"]
        lines += [f"  {numbers}"] if (numbers := self.numbers()) else []
        lines += [f"  {self.ask()}"] if self.status == "contradicted" else []
        return "\n".join(lines)


@dataclass(frozen=True)
class CheckReport:
    """What the log says of the graph; true when nothing contradicts.

    ``findings`` come strongest contradiction first, then what was consistent, then what could
    not be tested. If the graph is right, the probability that anything is called contradicted is
    at most ``level``. ``notes`` are the caveats, with the options that they name as values. It is
    ``complete`` unless a time limit ended the search for implications.
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
        """The findings that contradict the graph."""
        return tuple(f for f in self.findings if f.status == "contradicted")

    def rows(self) -> list[dict[str, object]]:
        """Write one flat dict for each finding, in the report's order."""
        return [finding.row() for finding in self.findings]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``."""
        return find_forwarded("make_frame")(self.rows(), to)

    def verdict(self) -> str:
        """Say in a line how many implications were tested, and how many the log contradicts."""
        if not self.findings and not self.complete:
            return "the time limit left no time to test any of the graph's implications"
        if not self.findings:
            return "the graph cannot be contradicted by this log: every pair stays connected"
        tested = sum(f.status != "untestable" for f in self.findings)
        if not tested:
            return "the log can test none of the graph's implications"
        of = f"{tested} tested implication{'' if tested == 1 else 's'}"
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


def rank_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings: contradictions by p-value, then by how far they exceed sampling error."""

    def place(finding: Finding) -> tuple[int, float, float, str]:
        beyond = 0.0
        if finding.outcome is not None:
            beyond = finding.outcome.statistic / max(finding.outcome.df, 1)
        p = 1.0 if finding.p is None else finding.p
        return _ORDER[finding.status], p, -beyond, str(finding.statement)

    return tuple(sorted(findings, key=place))
