import pytest

import boundit as bd
from tests.report.notebook.examples import make_odd_bounds, make_results


def test_every_interval_is_drawn_and_in_numbers() -> None:
    bounds = make_results()["bounds"]
    assert isinstance(bounds, bd.BoundTable)
    shown = bounds._repr_html_()

    assert shown.count('class="bar"') == len(bounds.bounds)
    for bound in bounds.bounds.values():
        assert f">{bound.lower:.3f}</td>" in shown
        assert f">{bound.upper:.3f}</td>" in shown
    assert "Bounds on E[Y | do(X1, X2), U]" in shown
    assert "exact at confidence 0.95, all rows at once" in shown


def test_arms_that_are_out_are_named_and_names_escaped() -> None:
    shown = make_odd_bounds()._repr_html_()

    assert "surely less than &lt;b&gt;B" in shown
    assert "<script>" not in shown
    assert "logged rows" not in shown


@pytest.mark.parametrize("arms", [3, 1000])
def test_a_large_table_shows_some_and_says_how_many(arms: int) -> None:
    rows = [{"X": x, "C": c, "lower": 0, "upper": 1} for x in range(arms) for c in range(300)]
    table = bd.BoundTable.from_rows(
        rows, outcome="Y", treatments="X", context="C", outcome_range=(0, 1)
    )
    shown = table._repr_html_()

    assert f"Shown are 30 of {300 * arms:,} rows; bounds.frame() has all." in shown
    assert len(shown) < 25_000
    assert "nothing is known" in shown


def test_a_table_without_rows_says_so() -> None:
    table = bd.BoundTable.from_rows([], outcome="Y", treatments="X", outcome_range=(0, 1))

    assert "It has no rows." in table._repr_html_()
