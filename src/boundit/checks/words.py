"""Statements, evidence and verdicts in the words of someone who knows the field."""

from math import isinf

from boundit.checks.evidence import Evidence
from boundit.core.message import format_count
from boundit.core.names import sort_names
from boundit.graph.implications import Independence

MEDIUM = 0.3
"""Cohen's medium effect: a test that can miss it says little."""


def write_statement(statement: Independence) -> str:
    """Write an independence as an English sentence that can be agreed with or not.

    >>> print(write_statement(Independence("Ad", "Income", frozenset({"Age"}), selected=True)))
    Among logged rows with the same Age, Ad tells nothing about Income.
    """
    rows = "logged rows" if statement.selected else "rows"
    alike = f" with the same {_join_names(statement.given)}" if statement.given else ""
    return f"Among {rows}{alike}, {statement.one} tells nothing about {statement.other}."


def write_question(statement: Independence) -> str:
    """Ask what would make an independence false; whoever says yes should change the graph.

    >>> print(write_question(Independence("Ad", "Fee", frozenset({"Age"}), selected=False)))
    Can Ad move Fee, or Fee move Ad, or something else move both, other than by way of Age?
    """
    one, other = statement.one, statement.other
    aside = f", other than by way of {_join_names(statement.given)}" if statement.given else ""
    logging = " Or do both have a say in which rows are logged?" if statement.selected else ""
    return (
        f"Can {one} move {other}, or {other} move {one}, "
        f"or something else move both{aside}?{logging}"
    )


def write_evidence(statement: Independence, evidence: Evidence, *, exact: bool = False) -> str:
    """Write where the log contradicts an independence: shares of rows, expected and seen.

    An ``exact`` law has no rows to count.
    """
    if evidence.where:
        place = ", ".join(f"{name} = {level}" for name, level in evidence.where)
        head = f"Where {place}: "
    else:
        head = "Over all groups: " if evidence.pooled else ""
    those = "rows" if exact else format_count(evidence.rows)
    return (
        f"{head}{statement.other} = {evidence.other} in {evidence.share:.1%} of the "
        f"{those} with {statement.one} = {evidence.one}; "
        f"if {statement.one} told nothing it would be {evidence.expected:.1%}."
    )


def write_silence(detectable: float, groups: int) -> str:
    """Write how weak an association, as Cramér's V, a test without a finding could have found.

    >>> print(write_silence(0.05, groups=1))
    An association of V = 0.05 would be found in 8 logs of 10.
    >>> print(write_silence(float("inf"), groups=2))
    This says little: even a perfect association could go unnoticed.
    """
    if isinf(detectable):
        return "This says little: even a perfect association could go unnoticed."
    little = "This says little: only an" if detectable > MEDIUM else "An"
    alike = ", if it is alike in all groups" if groups > 1 else ""
    return (
        f"{little} association of V = {detectable:.2g} would be found in 8 logs of 10{alike}."
    )


def _join_names(names: frozenset[str]) -> str:
    """Join variables as in a sentence: "A, B and C"."""
    *rest, last = sort_names(names)
    return f"{', '.join(rest)} and {last}" if rest else last
