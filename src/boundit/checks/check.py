"""Test on a log what a causal graph implies of logged rows."""

from collections.abc import Iterator
from typing import TypeAlias

from boundit.checks.counting import count_statements, find_columns
from boundit.checks.independence import (
    CodedRows,
    Evidence,
    IndependenceTest,
    correct_by_holm,
    find_evidence,
    judge_independence,
)
from boundit.checks.report import CheckReport, Finding, Status, rank_findings
from boundit.core.errors import DataError, OptionError
from boundit.core.long_work import Progress, TimeBudget, follow_progress, read_time_limit
from boundit.core.message import Message, Note, Option
from boundit.core.names import join_names, sort_names
from boundit.core.public_names import refuse_renamed
from boundit.counts.log import Log, read_log
from boundit.counts.memory import read_memory_limit
from boundit.counts.table import CountTable
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import (
    Independence,
    find_possible_selection,
    list_apart,
    state_independence,
)
from boundit.graph.read import GraphLike, require_graph

_ONE_SIDED = "In no group of alike rows do both take two values often enough."


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
    """Test on the log every independence that the graph implies for logged rows.

    Each pair of variables that the graph separates, given others and that the row was logged, is
    tested for association in the log. A contradiction says that the graph is wrong somewhere
    around that pair; no contradiction is worth as much as the ``detectable`` association is
    small.

    Parameters
    ----------
    graph
        What is assumed.
    log
        Anything ``read_log`` takes but an adaptive log, whose rows are not independent; every
        column in use must hold categories. Implications about variables without a column are
        untestable.
    level
        The probability of any false alarm, over all implications.
    time_limit
        How many seconds it may take, half of them for finding the implications. Those that are
        not reached are untestable with that reason, and the others are corrected for them too.
        None is for ever. One pass over the log is not interrupted.
    memory_limit
        How much memory counts may take: a number of bytes, or a text such as "2 GB". None is a
        quarter of the machine's. Implications share fewer passes where it is low, and one that
        does not fit alone is untestable. What the log's own engine takes is not counted.
    progress
        True for a bar on stderr, or a function of (message, done, total).

    Returns
    -------
    CheckReport
        True if nothing contradicts the graph; a finding for each implication.

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
        said = " is not a probability of a false alarm; use 0.05 or such"
        raise OptionError(Option("level", level), said)
    seconds, memory = read_time_limit(time_limit), read_memory_limit(memory_limit)
    time = TimeBudget(seconds)
    time.count_seconds()
    opened = read_log(log)
    if opened.adaptive:
        raise DataError(
            f"the rows of {opened.source.label} were written while a policy learned (",
            Option("adaptive", True),  # noqa: FBT003, a value
            "), and tests need rows that do not depend on earlier ones; check the graph on a "
            "log from before it learned",
        )
    limit = Option("time_limit", seconds)
    testable, findings, complete = _list_implied(graph, opened, time.share(0.5))
    notes = dict[Note, None]()
    if not complete:
        said = (
            " ended the search for implications, and some pairs of variables were not looked at; "
            "a higher limit tests more"
        )
        notes[Message(limit, said)] = None
    waiting, tested = dict.fromkeys(testable), list[_Tested]()
    with follow_progress(progress) as tell:
        for served, table in count_statements(
            opened,
            testable,
            graph.selection,
            find_possible_selection(graph),
            memory=memory,
            time=time,
        ):
            if isinstance(table, CountTable):
                notes |= dict.fromkeys([*table.notes, *_describe_nulls(table, opened)])
                found = _run_tests(served, table, opened, level, time)
            else:
                found = ((each, None, None, table) for each in served)
            for each in found:
                del waiting[each[0]]
                tested.append(each)
                tell("test implications", len(tested), len(testable))
    late = " was over before this was tested; a higher limit, or fewer rows, reach it."
    for statement in waiting:
        findings.append(Finding(statement, "untestable", reason=Message(limit, late)))
    findings += _correct(tested, level, len(waiting))
    return CheckReport(rank_findings(findings), level, tuple(notes), complete)


_Tested: TypeAlias = tuple[Independence, IndependenceTest | None, Evidence | None, Note]
"""An implication, what its test came to, what contradicts it, or why there was no test."""


def _list_implied(
    graph: CausalGraph, log: Log, time: TimeBudget
) -> tuple[list[Independence], list[Finding], bool]:
    """State what the graph implies of columns: to test, untestable, and whether that is all."""
    columns = frozenset(log.columns)
    found, others = list[Independence](), list[Finding]()
    for one, other in list_apart(graph):
        if time.is_over():
            return found, others, False
        statement = state_independence(graph, one, other)
        if statement is None:
            continue
        missing = find_columns(statement) - columns
        if missing and not {one, other} & missing:
            within = columns & graph.observed
            if instead := state_independence(graph, one, other, within=within):
                statement, missing = instead, frozenset()
        if missing:
            reason = f"The log has no column for {join_names(missing)}."
            others.append(Finding(statement, "untestable", reason=reason))
        else:
            found.append(statement)
    return found, others, True


def _run_tests(
    statements: list[Independence],
    table: CountTable,
    log: Log,
    level: float,
    time: TimeBudget,
) -> Iterator[_Tested]:
    """Test the independences that a table serves, until the time is over; fewest given first."""
    rows = CodedRows.from_table(table)
    for each in sorted(statements, key=lambda s: (len(s.given), sort_names(s.given))):
        if time.is_over():
            return
        strata = rows.stratify(each, drop_nulls=log.missing == "drop")
        outcome = judge_independence(strata, exact=log.exact)
        evidence = None
        if outcome is not None and outcome.p <= level:
            evidence = find_evidence(strata, each, rows, exact=log.exact)
        yield each, outcome, evidence, _ONE_SIDED


def _correct(tested: list[_Tested], level: float, unreached: int) -> Iterator[Finding]:
    """Correct p-values for the number of tests, and give each tested independence its status.

    Those that were not reached in time count as tests, since which these are may depend on the
    answers of others.
    """
    p_values = [outcome.p for _, outcome, _, _ in tested if outcome is not None]
    corrected = correct_by_holm(p_values + [1.0] * unreached)
    each, left = level / max(1, len(corrected)), iter(corrected)
    for statement, outcome, evidence, reason in tested:
        if outcome is None:
            yield Finding(statement, "untestable", reason=reason)
            continue
        p = next(left)
        status: Status = "contradicted" if p <= level else "consistent"
        shown = evidence if p <= level else None
        least = outcome.find_detectable(each)
        yield Finding(statement, status, outcome, p, least, shown)


def _describe_nulls(table: CountTable, log: Log) -> Iterator[str]:
    """Say for each column how many rows of a log that drops nulls have one in it."""
    for name in table.variables if log.missing == "drop" else ():
        if None in table.levels[name]:
            gone = table.marginalize(name).values[table.levels[name].index(None)]
            yield (
                f"{name} is null in {gone:,.6g} of {table.rows:,.6g} rows, which are left out "
                f"where {name} is tested; being complete may itself be a selection"
            )
