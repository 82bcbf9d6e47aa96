"""A graph and a log in; what the log says against the graph out."""

from collections.abc import Iterator
from dataclasses import dataclass

from boundit.checks.coded_rows import CodedRows
from boundit.checks.counting import Counted, count_statements, find_columns
from boundit.checks.evidence import Evidence, find_evidence, find_exact_evidence
from boundit.checks.independence import (
    TestOutcome,
    correct_by_holm,
    judge_exact_law,
    judge_independence,
)
from boundit.checks.limits import CheckLimits
from boundit.checks.report import CheckReport, Finding, Status, rank_findings
from boundit.checks.strata import stratify
from boundit.core.errors import BounditError
from boundit.core.long_work import Progress, TimeBudget, follow_progress
from boundit.core.message import Message, Note, Option
from boundit.core.names import Nodes, join_names, sort_names
from boundit.core.renamed import refuse_renamed
from boundit.counts.errors import TooManyCells
from boundit.counts.log import read_log
from boundit.counts.table import CountTable
from boundit.counts.unmarked import find_possible_selection
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import Independence, list_apart, state_independence
from boundit.graph.read import GraphLike, require_graph

_ONE_SIDED = "In no group of alike rows do both take two values often enough."


class NoLevel(BounditError):
    """A level that is no chance."""

    def __init__(self, found: object) -> None:
        self.found = found
        super().__init__(
            Option("level", found), " is no chance of a false alarm; use 0.05 or such"
        )


class RowsHangTogether(BounditError):
    """A log whose rows are not independent, as tests of independence need them to be."""

    def __init__(self, label: str) -> None:
        super().__init__(
            f"the rows of {label} were written while a policy learned (",
            Option("adaptive", True),  # noqa: FBT003, a value
            "), and tests of independence hold only for rows that do not hang on earlier ones; "
            "check the graph on a log from before it learned",
        )


@refuse_renamed
def check(
    graph: GraphLike,
    log: object,
    *,
    level: float = 0.05,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress | bool | None = None,
) -> CheckReport:
    """Test on the log every statement that the graph makes about logged rows.

    Each pair of variables that the graph keeps apart, given others and that the row was logged,
    is tested for association in the log. A contradiction says that the graph is wrong somewhere
    around that pair; silence is worth as much as the ``detectable`` association is small.

    Parameters
    ----------
    graph
        What is assumed.
    log
        Anything ``read_log`` takes but an adaptive log, whose rows are not independent; every
        column in use must hold categories. Statements about variables without a column are
        untestable.
    level
        The chance of any false alarm, over all statements.
    time_limit
        How many seconds it may take, half of them for finding the statements. Those that are
        not reached are untestable with that reason, and the others are corrected for them too.
        None is for ever. One pass over the log is not interrupted.
    memory_limit
        How much memory counts may take: a number of bytes, or a text such as "2 GB". None is a
        quarter of the machine's. Statements share fewer passes where it is low, and one that
        does not fit alone is untestable. What the log's own engine takes is not counted.
    progress
        True for a bar on stderr, or a function of (message, done, total).

    Examples
    --------
    >>> chain = CausalGraph.of(directed=[("Age", "Ad"), ("Ad", "Click")])
    >>> rows = {"Age": [0, 0, 1, 1] * 50, "Ad": [0, 0, 0, 1] * 50, "Click": [0, 0, 1, 1] * 50}
    >>> report = check(chain, rows)
    >>> bool(report), report.findings[0].status
    (False, 'contradicted')
    """
    graph = require_graph(graph)
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise NoLevel(level)
    limits = CheckLimits.read(time_limit, memory_limit)
    opened = read_log(log)
    if opened.adaptive:
        raise RowsHangTogether(opened.source.label)
    stated = _restate_in_columns(graph, frozenset(opened.columns), limits.allot_search())
    runner = _TestRunner(
        level,
        limits,
        drop_nulls=opened.missing == "drop",
        exact=opened.exact,
    )
    waiting = dict.fromkeys(stated.testable)
    tested: list[_TestedStatement] = []
    notes: dict[Note, None] = {} if stated.complete else {limits.explain_search(): None}
    with follow_progress(progress) as tell:
        for served, table in count_statements(
            opened,
            stated.testable,
            graph.selection,
            find_possible_selection(graph),
            memory=limits.memory,
            time=limits.time,
        ):
            if isinstance(table, CountTable):
                notes |= dict.fromkeys([*table.notes, *_describe_nulls(table, runner)])
            for found in runner.run_all(served, table, waiting):
                tested.append(found)
                tell("test statements", len(tested), len(stated.testable))
    late = limits.explain_time()
    tested += [_TestedStatement(s, reason=late, unreached=True) for s in waiting]
    findings = [*stated.untestable, *_correct_findings(tested, level)]
    return CheckReport(rank_findings(findings), level, tuple(notes), stated.complete)


@dataclass(frozen=True, slots=True)
class _TestedStatement:
    """A statement, and what its test on the log came to, or why there was none.

    ``unreached`` says that the time was over first.
    """

    statement: Independence
    outcome: TestOutcome | None = None
    evidence: Evidence | None = None
    reason: Note = _ONE_SIDED
    unreached: bool = False


@dataclass(frozen=True, slots=True)
class _TestRunner:
    """How statements are tested."""

    level: float
    limits: CheckLimits
    drop_nulls: bool
    exact: bool

    def run_all(
        self,
        statements: list[Independence],
        table: Counted,
        waiting: dict[Independence, None],
    ) -> Iterator[_TestedStatement]:
        """Test the independences that a table serves, until the time is over.

        Each is taken out of ``waiting``. Where there is no table all are untestable.
        """
        if not isinstance(table, CountTable):
            reason = (
                Message(table.message, ".")
                if isinstance(table, TooManyCells)
                else self.limits.explain_memory(table.size)
            )
            for statement in statements:
                del waiting[statement]
                yield _TestedStatement(statement, reason=reason)
            return
        rows = CodedRows.from_table(table)
        for statement in sorted(statements, key=_find_place_in_line):
            if self.limits.time.is_over():
                return
            del waiting[statement]
            yield self.run(statement, rows)

    def run(self, statement: Independence, rows: CodedRows) -> _TestedStatement:
        """Test one independence on its count table, with evidence if it may be contradicted."""
        strata = stratify(rows, statement, drop_nulls=self.drop_nulls)
        outcome = judge_exact_law(strata) if self.exact else judge_independence(strata)
        if outcome is None or outcome.p > self.level:
            return _TestedStatement(statement, outcome)
        find = find_exact_evidence if self.exact else find_evidence
        return _TestedStatement(statement, outcome, find(strata, statement, rows))


@dataclass(frozen=True, slots=True)
class _StatedIndependences:
    """What a graph says of the columns of a log, and whether that is all it says."""

    testable: list[Independence]
    untestable: list[Finding]
    complete: bool = True


def _restate_in_columns(
    graph: CausalGraph, columns: Nodes, time: TimeBudget
) -> _StatedIndependences:
    """State the graph's independences so that they only name columns of the log.

    Returns those that can be tested, and a finding "untestable" for each of the others, as many
    as are found in time.
    """
    found: list[Independence] = []
    others: list[Finding] = []
    for one, other in list_apart(graph):
        if time.is_over():
            return _StatedIndependences(found, others, complete=False)
        statement = state_independence(graph, one, other)
        if statement is None:
            continue
        missing = find_columns(statement) - columns
        if missing & statement.given and not {one, other} & missing:
            within = columns & graph.observed
            if instead := state_independence(graph, one, other, within=within):
                found.append(instead)
                continue
        if missing:
            reason = f"The log has no column for {join_names(missing)}."
            others.append(Finding(statement, "untestable", reason=reason))
        else:
            found.append(statement)
    return _StatedIndependences(found, others)


def _find_place_in_line(statement: Independence) -> tuple[int, list[str]]:
    """Find when a statement is tested: those of few groups first, those of the same in a row."""
    return len(statement.given), sort_names(statement.given)


def _correct_findings(tested: list[_TestedStatement], level: float) -> list[Finding]:
    """Correct the p-values for the number of tests, and give each tested statement its status.

    Statements that were not reached in time count as tests, since which these are may depend on
    the answers of others.
    """
    findings = [
        Finding(m.statement, "untestable", reason=m.reason) for m in tested if m.outcome is None
    ]
    known = [(m, m.outcome) for m in tested if m.outcome is not None]
    unreached = sum(m.unreached for m in tested)
    corrected = correct_by_holm([*(outcome.p for _, outcome in known), *[1.0] * unreached])
    each = level / max(1, len(corrected))
    for (m, outcome), p in zip(known, corrected, strict=False):
        status: Status = "contradicted" if p <= level else "consistent"
        findings.append(
            Finding(
                m.statement,
                status,
                outcome,
                p,
                outcome.find_detectable(each),
                m.evidence if status == "contradicted" else None,
            )
        )
    return findings


def _describe_nulls(table: CountTable, runner: _TestRunner) -> list[str]:
    """Say in a line for each column how many rows of a count table have a null in it.

    Nothing is said of a log whose nulls are a level or an error.
    """
    if not runner.drop_nulls:
        return []
    said = []
    for name in table.variables:
        if None in table.levels[name]:
            gone = table.marginalize(name).values[table.levels[name].index(None)]
            said.append(
                f"{name} is null in {gone:,.6g} of {table.rows:,.6g} rows, which are left out "
                f"where {name} is tested; being complete may itself be a selection"
            )
    return said
