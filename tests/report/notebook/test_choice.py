import boundit as bd
from tests.report.notebook.examples import make_odd_bounds


def test_a_context_is_a_row_with_the_arm_and_its_regret() -> None:
    shown = make_odd_bounds().choose()._repr_html_()

    assert shown.count("<tr") == 1 + 2
    assert "In words (2)" in shown
    assert "<script>" not in shown


def test_a_draw_names_its_probabilities() -> None:
    table = bd.BoundTable.from_rows(
        [{"Ad": "A", "lower": 0, "upper": 1}, {"Ad": "B", "lower": 0, "upper": 1}],
        outcome="Y",
        treatments="Ad",
        outcome_range=(0, 1),
    )
    assert (
        "A with probability 0.5; B with probability 0.5"
        in table.choose(randomize=True)._repr_html_()
    )
