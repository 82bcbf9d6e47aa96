import pytest

from boundit.checks.coded_rows import CodedRows
from boundit.checks.evidence import find_evidence, find_exact_evidence
from boundit.counts.log import read_log
from boundit.graph.implications import Independence
from tests.checks.groups import lay_out

ROWS = CodedRows.from_table(
    read_log({"X": ["a", "b"], "Y": [0, 1], "Z": ["u", "v"]}).count(["X", "Y", "Z"])
)
STATEMENT = Independence("X", "Y", frozenset("Z"), selected=False)


def test_it_is_shown_over_all_groups() -> None:
    strata = lay_out([[[30, 70], [60, 40]], [[20, 80], [50, 50]]])
    found = find_evidence(strata, STATEMENT, ROWS)

    assert (found.where, found.pooled, found.rows) == ((), True, 200)
    assert (found.one, found.other) == ("a", 0)
    assert [found.share, found.expected] == pytest.approx([0.25, 0.4])


def test_of_an_exact_law_it_is_shown_in_its_group() -> None:
    strata = lay_out([[[0.125, 0.125], [0.125, 0.125]], [[0.05, 0.2], [0.15, 0.1]]])
    found = find_exact_evidence(strata, STATEMENT, ROWS)

    assert found.where == (("Z", "v"),)
    assert (found.one, found.other) == ("a", 0)
    assert [found.share, found.expected] == pytest.approx([0.2, 0.4])
