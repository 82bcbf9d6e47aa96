import boundit as bd


def test_a_formula_is_drawn_and_its_steps_fold() -> None:
    found = bd.identify("X -> M -> Y; X <-> Y", "Y | do(X)")
    shown = found._repr_html_()

    assert shown.count("<munder>") == 2
    assert f"Steps ({len(found.steps)})" in shown
    assert "Identified" in shown


def test_without_a_formula_it_says_why() -> None:
    shown = bd.identify("X -> Y; X <-> Y", "Y | do(X)")._repr_html_()

    assert "Not identified: ID and IDC are complete" in shown
    assert 'class="large"' not in shown
