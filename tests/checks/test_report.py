import json

from boundit.checks.check import check
from boundit.checks.report import CheckReport, Finding, rank_findings
from boundit.graph.implications import Independence
from boundit.graph.read import parse_graph
from boundit.simulation.environments import paper_environment

WRONG = "U1 -> X1 -> I1 -> Y; U2 -> X2; U1 -> Y; I1 <-> Y; I1 -> [S]; Other"


def report() -> CheckReport:
    return check(parse_graph(WRONG), paper_environment().log(6000, seed=1))


def test_findings_come_strongest_contradiction_first() -> None:
    found = report().findings
    statuses = [finding.status for finding in found]
    p = [finding.p for finding in found if finding.p is not None]

    assert statuses == sorted(statuses, key=["contradicted", "consistent", "untestable"].index)
    assert p == sorted(p)
    assert str(found[0].statement) == "X2 _||_ Y | S = 1"


def test_rows_are_flat_and_survive_json() -> None:
    rows = report().rows()

    assert json.loads(json.dumps(rows)) == rows
    assert {row["status"] for row in rows} == {"contradicted", "consistent", "untestable"}
    assert rows[0]["statement"] == "Among logged rows, X2 tells nothing about Y."


def test_the_report_reads_from_top_to_bottom() -> None:
    lines = str(report()).splitlines()

    assert lines[0].endswith(
        "of 9 tested statements contradicted (level 0.05 for all at once, Holm)"
    )
    assert lines[2] == "contradicted: Among logged rows, X2 tells nothing about Y."
    assert lines[3].startswith("  Y = ")
    assert lines[4].startswith("  V = ")
    assert lines[5].startswith("  Can X2 move Y, or Y move X2, or something else move both?")
    assert "  The log has no column for Other." in lines


def test_a_report_without_contradiction_is_true() -> None:
    assert not report()
    assert CheckReport((), 0.05)
    assert CheckReport((), 0.05).verdict() == (
        "the graph cannot be contradicted by this log: every pair stays connected"
    )


def test_nothing_testable_is_said() -> None:
    one = Finding(
        Independence("X", "Y", frozenset(), selected=False), "untestable", reason="No."
    )

    assert CheckReport((one,), 0.05).verdict() == (
        "the log can test none of the graph's statements"
    )
    assert one.numbers() == ""
    assert rank_findings([one]) == (one,)
