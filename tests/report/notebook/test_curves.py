from boundit.report.notebook.curves import show_curves
from boundit.report.records import Curve


def test_every_curve_has_a_row_with_its_key() -> None:
    curves = [Curve(name, (1, 2), (0, 1)) for name in ("A<", "B")]
    rows = [("A<", "1"), ("B", "1")]
    shown = show_curves("Regret", curves, ("policy", "mean"), rows, caption="Means.")

    assert shown.count('viewBox="0 0 34 8"') == 2
    assert "<td>A&lt;</td>" in shown
    assert "<title>Regret. Means.</title>" in shown
