import numpy as np
import pytest

from boundit.bounds.numbers import PlugInNumbers, evaluate_formula
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import NamedArray
from boundit.estimand.language.expression import P, Product, Sum

W, X, Y = (frozenset(name) for name in "WXY")
# P(x, w, y): the cell x=1, w=1 was never logged.
LAW = NamedArray(
    ("X", "W", "Y"),
    np.array([[[0.1, 0.1], [0.1, 0.3]], [[0.3, 0.1], [0.0, 0.0]]]),
)


def test_a_variable_of_which_any_value_will_do_is_averaged_over_what_was_seen() -> None:
    found = evaluate_formula(P(Y, X | W), Evaluator(LAW), ("X", "Y"))

    assert found.axes == ("X", "Y")
    assert found.at({"Y": 1}).values == pytest.approx([0.625, 0.25])
    nowhere = NamedArray(
        ("X", "W", "Y"), np.where(np.arange(2)[:, None, None] == 0, LAW.values, 0)
    )
    assert np.isnan(
        evaluate_formula(P(Y, X | W), Evaluator(nowhere), ("X", "Y")).at({"X": 1}).values
    ).all()


def test_what_was_never_logged_counts_as_0_and_as_1_with_its_weight() -> None:
    """A stratum without the arm leaves open what it weighs, and no more."""
    back_door = Sum(W, Product((P(W), P(Y, X | W))))
    low, high = PlugInNumbers(Evaluator(LAW)).read_ends(back_door, ("X", "Y"))
    assert low[0] == pytest.approx(high[0])
    assert low[0, 1] == pytest.approx(0.6 * 0.5 + 0.4 * 0.75)
    assert (low[1, 1], high[1, 1]) == pytest.approx((0.6 * 0.25, 0.6 * 0.25 + 0.4))
