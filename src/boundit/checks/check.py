"""A graph and a log in; what the log says against the graph out."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from numpy.random import Generator, SeedSequence, default_rng

from boundit.checks.coded_rows import CodedRows
from boundit.checks.counting import count_statements, find_columns
from boundit.checks.evidence import Evidence, find_evidence
from boundit.checks.independence import (
    Calibration,
    TestOutcome,
    correct_by_holm,
    judge_exact_law,
    judge_independence,
)
from boundit.checks.report import CheckReport, Finding, Status, rank_findings
from boundit.checks.strata import stratify
from boundit.counts.errors import TooManyCells
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from boundit.counts.unmarked import find_possible_selection
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import Independence, implications
from boundit.graph.read import require_graph
from boundit.graph.separators import minimal_separator
from boundit.terms.errors import BounditError
from boundit.terms.message import Message, Note, Option
from boundit.terms.names import Nodes, join_names, sort_names

_ONE_SIDED = "In no group of alike rows do both take two values often enough."


class NoLevel(BounditError):
    """A level that is no chance."""

    def __init__(self, found: object) -> None:
        self.found = found
        super().__init__(
            Option("level", found), " is no chance of a false alarm; use 0.05 or such"
        )


def check(
    graph: CausalGraph,
    log: object,
    *,
    level: float = 0.05,
    seed: int = 0,
    told: Callable[[int, int], None] = lambda *_: None,
) -> CheckReport:
    """Test on the log every statement that the graph makes about logged rows.

    Each pair of variables that the graph keeps apart, given others and that the row was logged,
    is tested for association in the log. A contradiction says that the graph is wrong somewhere
    around that pair; silence is worth as much as the ``detectable`` association is small. Users
    call it; the command line too, by ``boundit check``.

    Parameters
    ----------
    graph
        What is assumed.
    log
        Anything ``read_log`` takes; every column in use must hold categories. Statements about
        variables without a column are untestable.
    level
        The chance of any false alarm, over all statements.
    seed
        For the shuffles that stand in for chi-square where counts are small.
    told
        Hears how many of how many statements are done.

    Examples
    --------
    >>> chain = CausalGraph.of(directed=[("Age", "Ad"), ("Ad", "Click")])
    >>> rows = {"Age": [0, 0, 1, 1] * 50, "Ad": [0, 0, 0, 1] * 50, "Click": [0, 0, 1, 1] * 50}
    >>> report = check(chain, rows)
    >>> bool(report), report.findings[0].status
    (False, 'contradicted')
    """
    require_graph(graph)
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise NoLevel(level)
    opened = read_log(log)
    statements, untestable = _restate_in_columns(graph, frozenset(opened.columns))
    streams = dict(zip(statements, SeedSequence(seed).spawn(len(statements)), strict=True))
    runner = _TestRunner(
        level,
        Calibration.for_statements(len(statements), level),
        drop_nulls=opened.nulls == "drop",
        exact=opened.exact,
    )
    tested: list[_TestedStatement] = []
    notes: dict[Note, None] = {}
    for served, table in count_statements(
        opened, statements, graph.selection, find_possible_selection(graph)
    ):
        if isinstance(table, TooManyCells):
            reason = Message(table.message, ".")
            untestable += [Finding(s, "untestable", reason=reason) for s in served]
            continue
        notes |= dict.fromkeys([*table.notes, *_describe_nulls(table, runner)])
        rows = CodedRows.from_table(table)
        for statement in sorted(served, key=_find_place_in_line):
            tested.append(runner.run(statement, rows, default_rng(streams[statement])))
            told(len(tested), len(statements))
    return CheckReport(
        rank_findings(untestable + _correct_findings(tested, level)), level, seed, tuple(notes)
    )


@dataclass(frozen=True, slots=True)
class _TestedStatement:
    """A statement, and what its test on the log came to."""

    statement: Independence
    outcome: TestOutcome | None
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class _TestRunner:
    """How statements are tested."""

    level: float
    calibration: Calibration
    drop_nulls: bool
    exact: bool

    def run(self, statement: Independence, rows: CodedRows, rng: Generator) -> _TestedStatement:
        """Test one independence on its count table, with evidence if it may be contradicted.

        Returns the statement with its outcome (None where no rows can tell) and where the log
        disagrees. Called by ``check`` for each statement that a table serves.
        """
        strata = stratify(rows, statement, drop_nulls=self.drop_nulls)
        outcome = (
            judge_exact_law(strata)
            if self.exact
            else judge_independence(strata, self.calibration, rng)
        )
        if outcome is None or outcome.p > self.level:
            return _TestedStatement(statement, outcome)
        steady = outcome.decisive_answer.pattern == "steady"
        return _TestedStatement(
            statement, outcome, find_evidence(strata, statement, rows, steady=steady)
        )


def _restate_in_columns(
    graph: CausalGraph, columns: Nodes
) -> tuple[list[Independence], list[Finding]]:
    """Restate the graph's independences so that they only name columns of the log.

    Returns those that can be tested, and a finding "untestable" for each of the others. Called
    by ``check`` before anything is counted.
    """
    include = frozenset((graph.selection,)) if graph.selection else frozenset[str]()
    found: list[Independence] = []
    others: list[Finding] = []
    for statement in implications(graph):
        missing = find_columns(statement) - columns
        if missing & statement.given and not {statement.one, statement.other} & missing:
            within = (columns & graph.observed) | include
            instead = minimal_separator(
                graph, statement.one, statement.other, include=include, within=within
            )
            if instead is not None:
                found.append(replace(statement, given=instead - include))
                continue
        if missing:
            reason = f"The log has no column for {join_names(missing)}."
            others.append(Finding(statement, "untestable", reason=reason))
        else:
            found.append(statement)
    return found, others


def _find_place_in_line(statement: Independence) -> tuple[int, list[str]]:
    """Find when a statement is tested: those of few groups first, those of the same in a row.

    Called by ``check``, to sort the statements that a table serves.
    """
    return len(statement.given), sort_names(statement.given)


def _correct_findings(tested: list[_TestedStatement], level: float) -> list[Finding]:
    """Correct the p-values for the number of tests, and give each tested statement its status.

    Called by ``check`` once all statements are tested; it returns the findings of the report.
    """
    findings = [
        Finding(m.statement, "untestable", reason=_ONE_SIDED)
        for m in tested
        if m.outcome is None
    ]
    known = [(m, m.outcome) for m in tested if m.outcome is not None]
    corrected = correct_by_holm([outcome.p for _, outcome in known])
    for (m, outcome), p in zip(known, corrected, strict=True):
        status: Status = "contradicted" if p <= level else "consistent"
        findings.append(
            Finding(
                m.statement,
                status,
                outcome,
                p,
                outcome.find_detectable(level / len(known)),
                outcome.find_detectable(level / len(known), any_pattern=True),
                m.evidence if status == "contradicted" else None,
            )
        )
    return findings


def _describe_nulls(table: CountTable, runner: _TestRunner) -> list[str]:
    """Say in a line for each column how many rows of a count table have a null in it.

    Nothing is said of a log whose nulls are a level or an error. Called by ``check`` for each
    table, for the report's caveats.
    """
    if not runner.drop_nulls:
        return []
    said = []
    for name in table.variables:
        if None in table.levels[name]:
            gone = table.marginalize(name).values[table.find_code(name, None)]
            said.append(
                f"{name} is null in {gone:,.6g} of {table.rows:,.6g} rows, which are left out "
                f"where {name} is tested; being complete may itself be a selection"
            )
    return said
