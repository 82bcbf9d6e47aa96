import json
from math import inf

from boundit.checks.check import check
from boundit.checks.independence import Evidence, IndependenceTest
from boundit.checks.report import CheckReport, Finding, rank_findings, write_statement
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
    assert rows[0]["statement"] == "X2 and Y are independent among logged rows."


def test_the_report_reads_from_top_to_bottom() -> None:
    lines = str(report()).splitlines()

    assert lines[0].endswith(
        "of 9 tested implications contradicted (level 0.05 for all at once, Holm)"
    )
    assert lines[2] == "contradicted: X2 and Y are independent among logged rows."
    assert lines[3].startswith("  Y = ")
    assert lines[4].startswith("  V = ")
    assert lines[5].startswith(
        "  Can X2 affect Y, or Y affect X2, or have they an unmeasured common cause?"
    )
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
        "the log can test none of the graph's implications"
    )
    assert one.numbers() == ""
    assert rank_findings([one]) == (one,)


THREE = frozenset({"Age", "Day", "Region"})
AD = Independence("Ad", "Income", THREE, selected=True)
TESTED = IndependenceTest(9.0, 1, 0.003, 900.0, 40.0, 900.0, 3)


def explain(said: Independence, detectable: float, evidence: Evidence | None = None) -> str:
    return Finding(said, "consistent", TESTED, 0.1, detectable, evidence).explain()


def test_an_independence_reads_as_a_sentence_and_as_a_question() -> None:
    assert write_statement(AD) == (
        "Ad and Income are independent among logged rows with the same Age, Day, Region."
    )
    assert Finding(AD, "contradicted").ask() == (
        "Can Ad affect Income, or Income affect Ad, or have they an unmeasured common cause, "
        "other than by way of Age, Day, Region? Or do both affect which rows were logged?"
    )


def test_what_contradicts_is_shown_as_shares_of_rows() -> None:
    pooled = Evidence("yes", "high", 0.512, 0.485, 1234.0, pooled=True)
    inside = Evidence(1, 0, 0.2, 0.4, 50.0, (("Age", 3),))

    assert explain(AD, 0.1, pooled) == (
        "Over all groups: Income = high in 51.2% of the 1,234 rows with Ad = yes; "
        "under independence it would be 48.5%."
    )
    assert explain(AD, 0.1, inside).startswith(
        "Where Age = 3: Income = 0 in 20.0% of the 50 rows"
    )


def test_a_test_says_what_it_could_have_found() -> None:
    assert explain(AD, 0.05) == (
        "An association of V = 0.05 would be found in 8 logs of 10, if it is alike in all groups."
    )
    assert explain(AD, 0.45).startswith("This says little: only an association of V = 0.45")
    assert explain(AD, inf).startswith("This says little: even a perfect association")
