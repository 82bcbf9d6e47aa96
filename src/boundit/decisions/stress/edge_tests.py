"""Which missing edges the log itself could have refuted, and how weak an edge it would see."""

from dataclasses import dataclass
from math import isinf

from boundit.bounds.request import BoundRequest
from boundit.checks.check import check
from boundit.checks.report import Finding, Status
from boundit.core.errors import BounditError
from boundit.core.long_work import TimeBudget
from boundit.core.message import Message, Note
from boundit.graph.causal_graph import CausalGraph

CHECKING = 0.2
"""Which part of the time the tests of missing edges may take."""


@dataclass(frozen=True, slots=True)
class EdgeTest:
    """What ``check`` found for two variables that the graph does not join.

    ``detectable`` is the weakest association (Cramér's V) that 8 logs of 10 of this size would
    show if it is alike in all groups, None if none would; ``words`` is the finding in a line.
    """

    statement: str
    status: Status
    p: float | None
    strength: float | None
    detectable: float | None
    words: str

    @classmethod
    def of(cls, finding: Finding) -> "EdgeTest":
        """Make the test of a missing edge from a finding of ``check``."""
        least = finding.detectable
        return cls(
            str(finding.statement),
            finding.status,
            finding.corrected,
            finding.strength,
            None if least is None or isinf(least) else least,
            finding.explain(),
        )

    @property
    def mark(self) -> str:
        """The finding in a few words, with the power of the test."""
        if self.status == "untestable":
            return "cannot be tested"
        if self.status == "contradicted":
            return "the log speaks for it"
        if self.detectable is None:
            return "absence tested, without power"
        return f"absence tested, V >= {self.detectable:.2g} would be seen"


def find_tests(
    graph: CausalGraph, request: BoundRequest, budget: TimeBudget, level: float
) -> tuple[dict[frozenset[str], EdgeTest], tuple[Note, ...]]:
    """Test on the log every pair of variables that the graph keeps apart, by ``check``.

    Gives the tests by the two variables, and notes on what could not be tested.
    """
    left = budget.count_seconds()
    seconds = None if left is None else left * CHECKING
    try:
        report = check(
            graph,
            request.log,
            level=level,
            time_limit=seconds,
            memory_limit=request.memory_limit,
        )
    except BounditError as error:
        note = Message("no missing edge was tested on the log: ", error.message)
        return {}, (note,)
    found = {
        frozenset((f.statement.one, f.statement.other)): EdgeTest.of(f) for f in report.findings
    }
    return found, report.notes
