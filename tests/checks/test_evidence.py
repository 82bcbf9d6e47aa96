import pytest

from boundit.checks.coded_rows import CodedRows
from boundit.checks.evidence import find_evidence
from boundit.counts.read import read_log
from boundit.graph.implications import Independence
from tests.checks.groups import lay_out

ROWS = CodedRows.from_table(
    read_log({"X": ["a", "b"], "Y": [0, 1], "Z": ["u", "v"]}).count(["X", "Y", "Z"])
)
STATEMENT = Independence("X", "Y", frozenset("Z"), selected=False)


def test_the_plainest_disagreement_is_shown_with_its_group() -> None:
    strata = lay_out([[[50, 50], [50, 50]], [[10, 90], [60, 40]]])
    found = find_evidence(strata, STATEMENT, ROWS, steady=False)

    assert found.where == (("Z", "v"),)
    assert (found.one, found.other, found.rows) == ("a", 0, 100)
    assert [found.share, found.expected] == pytest.approx([0.1, 0.35])


def test_a_steady_one_is_shown_over_all_groups() -> None:
    strata = lay_out([[[30, 70], [60, 40]], [[20, 80], [50, 50]]])
    found = find_evidence(strata, STATEMENT, ROWS, steady=True)

    assert (found.where, found.pooled, found.rows) == ((), True, 200)
    assert (found.one, found.other) == ("a", 0)
    assert [found.share, found.expected] == pytest.approx([0.25, 0.4])


def test_one_row_in_a_rare_cell_does_not_outshout_many() -> None:
    strata = lay_out([[[1, 0], [0, 99]], [[40, 60], [70, 30]]])

    assert find_evidence(strata, STATEMENT, ROWS, steady=False).where == (("Z", "v"),)
