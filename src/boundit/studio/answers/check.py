"""Whether the log contradicts the drawing: what ``boundit check`` says, by edges."""

from msgspec import Struct

from boundit.checks.check import check
from boundit.checks.report import Finding, write_statement
from boundit.core.long_work import Progress
from boundit.studio.answers.bound import CountKeeper
from boundit.studio.ask import AskedProject, write_for_page
from boundit.studio.project import DrawnEdge


class CheckedStatement(Struct, frozen=True):
    """One statement of the graph, and what the log says of it.

    ``edge`` is the missing edge that it speaks of: the two nodes that it keeps apart.
    """

    words: str
    verdict: str
    explanation: str
    p: float | None
    corrected_p: float | None
    strength: float | None
    n: float
    edge: DrawnEdge
    given: tuple[str, ...]


class CheckAnswer(Struct, frozen=True):
    """What the log says of the drawing, the strongest contradiction first."""

    sentence: str
    contradicted: bool
    statements: tuple[CheckedStatement, ...]
    caveats: tuple[str, ...]


def answer_check(asked: AskedProject, _: CountKeeper, progress: Progress) -> CheckAnswer:
    """Ask the log whether it contradicts the drawing.

    A worker finds it in ``ANSWERS`` for the kind "check".
    """
    report = check(
        asked.graph,
        asked.open_log(),
        progress=progress,
    )
    verdict = report.verdict()
    return CheckAnswer(
        f"{verdict[:1].upper()}{verdict[1:]}.",
        not report,
        tuple(map(_describe, report.findings)),
        tuple(map(write_for_page, report.notes)),
    )


def _describe(finding: Finding) -> CheckedStatement:
    stated = finding.statement
    reason = finding.explain() if finding.status != "untestable" else ""
    return CheckedStatement(
        write_statement(stated),
        finding.status,
        reason or write_for_page(finding.reason),
        finding.p,
        finding.corrected,
        finding.strength,
        0 if finding.outcome is None else finding.outcome.rows,
        DrawnEdge(tail=stated.one, head=stated.other),
        tuple(sorted(stated.given)),
    )
