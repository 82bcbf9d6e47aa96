import boundit as bd
from boundit.report.pages.bound_page import write_bound_page
from boundit.report.text.small_counts import describe_small_counts

GRAPH = "Age -> Ad -> Click; Age -> Click"


def derive(rare: int) -> bd.BoundTable:
    """Bound a log of two ads whose rarest cell has ``rare`` rows."""
    rows = [{"Age": "old", "Ad": ad, "Click": i % 2} for ad in "AB" for i in range(40)]
    rows += [{"Age": "new", "Ad": "A", "Click": i % 2} for i in range(40)]
    rows += [{"Age": "new", "Ad": "B", "Click": i % 2} for i in range(rare)]
    columns = {name: [row[name] for row in rows] for name in ("Age", "Ad", "Click")}
    return bd.derive_bounds(GRAPH, "Click | do(Ad)", columns)


def test_a_count_below_ten_rows_is_told_on_pages() -> None:
    table = derive(rare=3)

    said = describe_small_counts(table)

    assert said.startswith("Counts of fewer than 10 rows are shown, the smallest of 3 rows:")
    assert said in write_bound_page(table)


def test_nothing_is_said_of_counts_that_are_not_small() -> None:
    assert describe_small_counts(derive(rare=10)) == ""
    assert "fewer than" not in write_bound_page(derive(rare=10))


def test_no_rows_are_nobody() -> None:
    assert describe_small_counts(derive(rare=0)) == ""


def test_a_table_without_counts_shows_none() -> None:
    assert describe_small_counts(derive(rare=3).drop_counts()) == ""
