import boundit as bd

ROWS = {"Age": [0, 0, 1, 1] * 50, "Ad": [0, 0, 0, 1] * 50, "Click": [0, 0, 1, 1] * 50}


def test_every_statement_has_a_row_and_the_verdict_comes_first() -> None:
    report = bd.check("Age -> Ad -> Click", ROWS)
    shown = report._repr_html_()

    assert "1 of 1 tested implication contradicted" in shown
    assert shown.count('<td class="short">') + shown.count("<td data-head") >= 2
    assert ">contradicted</td>" in shown


def test_a_check_without_statements_has_no_table() -> None:
    shown = bd.check("Age -> Ad; Ad -> Click; Age -> Click", ROWS)._repr_html_()

    assert "cannot be contradicted" in shown
    assert "<table" not in shown
