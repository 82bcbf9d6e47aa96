from boundit.decisions.sensitivity import Sensitivity
from tests.report.notebook.examples import make_results


def test_each_arm_and_context_has_its_band_and_both_ends() -> None:
    curve = make_results()["sensitivity"]
    assert isinstance(curve, Sensitivity)
    shown = curve._repr_html_()

    assert shown.count('class="band"') == len(curve.tables[0].bounds)
    assert "limits 1.5 to 6" in shown
    assert "Bounds against a limit on selection" in shown
    first = next(iter(curve.tables[-1].bounds.values()))
    assert f"{first.lower:.3f} to {first.upper:.3f}" in shown


def test_limits_that_are_all_refuted_leave_words() -> None:
    shown = Sensitivity("selection", (), (), (1.1,))._repr_html_()

    assert "The data contradict the limits 1.1." in shown
    assert "<table" not in shown
