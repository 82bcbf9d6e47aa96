import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.rules.chain import Chain, ChainLink, KnownFormula
from boundit.bounds.rules.chain_ends import bracket, least, seen_cells
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import NamedArray
from boundit.estimand.language.expression import P

W, X, Y, Z = (frozenset(name) for name in "WXYZ")
# P(x, w, y): the cell x=1, w=1 was never logged.
LAW = NamedArray(
    ("X", "W", "Y"),
    np.array([[[0.1, 0.1], [0.1, 0.3]], [[0.3, 0.1], [0.0, 0.0]]]),
)
REWARD = KnownFormula(P(Y, X | W), ())
WEIGHTS = KnownFormula(P(W, X), ())


def numbers() -> PlugInNumbers:
    return PlugInNumbers(Evaluator(LAW, [LAW]))


def test_unknown_weights_leave_the_least_and_the_greatest() -> None:
    """A cell never logged counts as anything from 0 to 1."""
    found = bracket(Chain((ChainLink("W", None),), REWARD), numbers(), outcome="Y", axes=("X",))

    assert found.lower == pytest.approx([0.5, 0.0])
    assert found.upper == pytest.approx([0.75, 1.0])


def test_known_weights_give_the_expectation_and_a_cell_of_no_weight_costs_nothing() -> None:
    found = bracket(
        Chain((ChainLink("W", WEIGHTS),), REWARD), numbers(), outcome="Y", axes=("X",)
    )

    assert found.lower == pytest.approx([4 / 6, 0.25])
    assert found.upper == pytest.approx([4 / 6, 0.25])


def test_weights_that_are_undefined_fall_back_to_the_worst() -> None:
    law = NamedArray(("X", "Y"), np.array([[0.4, 0.6], [0.0, 0.0]]))
    never = PlugInNumbers(Evaluator(law, [law]))
    found = bracket(Chain((), KnownFormula(P(Y, X), ())), never, outcome="Y", axes=("X",))

    assert found.lower.tolist() == [0.6, 0.0]
    assert found.upper.tolist() == [0.6, 1.0]


@given(st.data())
def test_the_least_expectation_is_that_of_the_linear_program(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 4))
    share = st.floats(0, 1)
    rows = st.lists(share, min_size=n, max_size=n)
    one, other, values = (np.array(data.draw(rows)) for _ in range(3))
    low, high = np.minimum(one, other), np.maximum(one, other)
    if low.sum() > 1 or high.sum() < 1:
        return
    peer = linprog(
        values, A_eq=np.ones((1, n)), b_eq=[1], bounds=list(zip(low, high, strict=True))
    )

    assert float(least(low, high, values)) == pytest.approx(peer.fun, abs=1e-7)


def test_bounds_without_a_law_between_them_still_give_an_average() -> None:
    """Plug-in weights that do not sum to one, as inconsistent tables can give."""
    values = np.array([0.2, 0.8])

    assert 0.2 <= least(np.array([0.7, 0.7]), np.array([0.7, 0.7]), values) <= 0.8
    assert 0.2 <= least(np.array([0.1, 0.1]), np.array([0.1, 0.1]), values) <= 0.8


def test_the_cells_behind_a_row_are_listed_with_their_levels() -> None:
    chain = Chain((ChainLink("W", None),), REWARD)
    cells = seen_cells(chain, Evaluator(LAW), "Y", ("X",), (1,))

    assert [levels for levels, _ in cells] == [{"W": 0}, {"W": 1}]
    assert cells[0][1] == pytest.approx(0.25)
    assert np.isnan(cells[1][1])
