from boundit_research.paper.printed_table import PRINTED


def test_the_printed_table_has_sixteen_rows_of_intervals() -> None:
    assert len(PRINTED) == 16
    assert all(0 < row.lower < row.upper < 1 for row in PRINTED)
    assert PRINTED[0] == (0.313, 0.364, 0.246, 0.385, 0.283)
