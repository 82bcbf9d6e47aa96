"""The value's level: means, variances, boxes, and which penalty is paid where."""

import numpy as np
import pytest

from boundit.bounds.claims.last_level import (
    NumericPilot,
    NumericRest,
    ValuedPilot,
    ValuedRest,
    predict_price,
)
from boundit.bounds.claims.penalties import (
    draw_blocks,
    pay_bets,
    pay_range,
    pay_squares,
    spread_squares,
)
from boundit.bounds.confidence import bound_mean, bound_share
from tests.bounds.claims.logs import Floats

VALUES = (np.zeros(()), np.ones(()))


def make_valued(counts: Floats, seed: int = 0) -> ValuedRest:
    """Make a level of counts of failures and successes on the last axis."""
    blocks = draw_blocks(counts, np.random.default_rng(seed))
    parts = tuple((block[..., 0], block[..., 1]) for block in blocks)
    return ValuedRest(parts, (counts[..., 0], counts[..., 1]), VALUES)


def make_numeric(cells: list[list[float]]) -> NumericRest:
    """Make a level of lists of numeric rewards."""
    rows = np.array([float(len(cell)) for cell in cells])
    one = np.array([sum(cell) for cell in cells], dtype=float)
    two = np.array([sum(y * y for y in cell) for cell in cells], dtype=float)
    return NumericRest(rows, one, two, spread_squares(rows, one, two))


def test_means_and_variances() -> None:
    valued = make_valued(np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))
    assert valued.rows.tolist() == [4, 0, 2, 1]
    assert valued.mean.tolist() == [0.25, 0.0, 1.0, 0.0]
    variance = np.var([0, 0, 0, 1], ddof=1)
    assert valued.estimate_spread().tolist() == pytest.approx([variance, 0, 0, 0])
    numeric = make_numeric([[0.1, 0.4, 1.0], [], [0.3]])
    assert numeric.mean.tolist() == pytest.approx([0.5, 0.0, 0.3])
    assert numeric.estimate_spread()[0] == pytest.approx(np.var([0.1, 0.4, 1.0], ddof=1))
    assert numeric.estimate_spread()[1:].tolist() == [0.0, 0.0]


def test_boxes_are_those_of_single_cells() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 5.0]])
    low, high = make_valued(counts).find_boxes(0.1)
    expected = bound_share(counts[:, 1], counts.sum(axis=1), 0.1)
    assert (low == expected[0]).all()
    assert (high == expected[1]).all()
    numeric = make_numeric([[0.1, 0.4, 1.0], [0.3, 0.3]])
    found = numeric.find_boxes(0.1)
    wanted = bound_mean(numeric.sums, numeric.squares, numeric.rows, 0.1)
    assert (np.array(found) == np.array(wanted)).all()


def test_values_that_are_not_0_and_1_have_boxes_of_means() -> None:
    counts = np.array([[30.0, 10.0]])
    halves = ValuedRest((), (counts[:, 0], counts[:, 1]), (np.full((), 0.5), np.ones(())))
    low, high = halves.find_boxes(0.1)
    squares = 30 * 0.25 + 10
    expected = bound_mean(np.array([25.0]), np.array([squares]), np.array([40.0]), 0.1)
    np.testing.assert_allclose([low, high], expected)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bets_are_paid_where_the_pilot_expects_them_to_be_cheaper(sign: float) -> None:
    """Which penalty a cell pays hangs on its rows and the pilot, never on its rewards."""
    rows = np.array([40.0, 40.0, 1.0])
    pilot = ValuedPilot(rows, (np.full(3, 0.95), np.full(3, 0.05)), VALUES)
    scale = sign * np.array([0.5, 30.0, 0.5])
    bets = pilot.predict(rows, scale) < pay_range(rows, scale)
    assert bets.tolist() == [True, False, True]
    for successes in ([0.0, 0.0, 0.0], [40.0, 3.0, 1.0]):
        won = np.array(successes)
        rest = make_valued(np.stack([rows - won, won], axis=-1))
        safe = np.where(bets, scale, 0.0)
        by_bets = pay_bets(rest.blocks, rest.values, safe, pilot.mean)
        expected = np.where(bets, by_bets, pay_range(rows, scale))
        assert (rest.pay(scale, pilot) == expected).all()
    price = predict_price(pilot, rows, scale)
    assert (price <= pay_range(rows, scale)).all()


def test_squares_are_paid_where_a_supposed_variance_makes_them_cheaper() -> None:
    rest = make_numeric([[0.5] * 40, [0.5] * 40, []])
    pilot = NumericPilot(np.full(3, 40.0), 0.01)
    scale = np.array([0.4, 3.0, 0.0])
    paid = rest.pay(scale, pilot)
    assert paid[0] == pytest.approx(float(pay_squares(rest.running[:1], scale[:1])[0]))
    assert paid[1] == pay_range(rest.rows, scale)[1]
    assert paid[2] == 0.0
