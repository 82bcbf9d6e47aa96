"""Penalties against all orders of the rows, and the inequalities they rest on."""

from itertools import permutations, product
from math import log1p

import numpy as np
import pytest

from boundit.bounds.claims.penalties import (
    CAP,
    GUESS_ROWS,
    draw_blocks,
    pay_bets,
    pay_range,
    pay_squares,
    predict_bets,
    spread_squares,
    weigh_squares,
)
from tests.bounds.claims.e_values import SLACK
from tests.bounds.claims.logs import Floats


def cut(rows: tuple[float, ...], values: tuple[float, ...]) -> list[list[Floats]]:
    """Cut rows in their order into blocks of 1, 2, 4 and so on, counted by value."""
    blocks, start, size = list[list[Floats]](), 0, 1
    while start < len(rows):
        block = rows[start : start + size]
        blocks.append([np.array(float(block.count(value))) for value in values])
        start, size = start + size, size * 2
    return blocks


def pay_row_by_row(rows: tuple[float, ...], scale: float, guess: float) -> float:
    """Bet on one row after another; the guess is renewed whenever the rows seen double."""
    paid, mean = 0.0, guess
    for place, row in enumerate(rows):
        if place & (place + 1) == 0:
            mean = (GUESS_ROWS * guess + sum(rows[:place])) / (GUESS_ROWS + place)
        room = CAP / abs(scale)
        y = min(mean, room) if scale > 0 else max(mean, 1 - room)
        u = scale * (row - y)
        paid += u - log1p(u)
    return paid


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.3, 1.0)])
@pytest.mark.parametrize("scale", [0.2, 3.0, -0.4, -2.5])
def test_bets_are_those_of_rows_one_by_one(values: tuple[float, ...], scale: float) -> None:
    arrays = [np.array(value) for value in values]
    for rows in product(values, repeat=5):
        for guess in (0.1, 0.8):
            paid = pay_bets(cut(rows, values), arrays, np.array(scale), np.array(guess))
            assert float(paid) == pytest.approx(pay_row_by_row(rows, scale, guess), abs=1e-12)


@pytest.mark.parametrize("scale", [0.5, 4.0, 30.0, -0.5, -4.0, -30.0])
def test_bets_have_mean_at_most_one(scale: float) -> None:
    """For every law on three values, whatever the guess: orders of rows are their law."""
    values = (0.0, 0.3, 1.0)
    arrays = [np.array(value) for value in values]
    rng = np.random.default_rng(0)
    for law in rng.dirichlet(np.full(3, 0.4), size=6):
        mean = float(law @ values)
        for guess in (0.0, 0.4, 1.0):
            total = 0.0
            for places in product(range(3), repeat=4):
                rows = tuple(values[place] for place in places)
                paid = pay_bets(cut(rows, values), arrays, np.array(scale), np.array(guess))
                chance = float(np.prod(law[list(places)]))
                total += chance * float(np.exp(scale * (sum(rows) - 4 * mean) - paid))
            assert total <= 1 + SLACK


def test_blocks_have_the_law_of_all_orders() -> None:
    """Six rows of three kinds: the first three blocks against all 720 orders."""
    kinds = (0, 0, 0, 1, 1, 2)
    chances = dict[tuple[int, ...], float]()
    for order in permutations(kinds):
        cuts = (order[:1], order[1:3], order[3:])
        key = tuple(part.count(kind) for part in cuts for kind in range(3))
        chances[key] = chances.get(key, 0.0) + 1 / 720
    n = 20_000
    counts = np.broadcast_to([3.0, 2.0, 1.0], (n, 3))
    blocks = draw_blocks(counts, np.random.default_rng(1))
    assert len(blocks) == 3
    assert (np.sum(blocks, axis=0) == counts).all()
    drawn = np.concatenate(blocks, axis=1).astype(int)
    keys, seen = np.unique(drawn, axis=0, return_counts=True)
    found = dict(zip(map(tuple, keys.tolist()), seen / n, strict=True))
    assert found.keys() <= chances.keys()
    for key, chance in chances.items():
        assert abs(found.get(key, 0.0) - chance) < 5 * np.sqrt(chance / n)


def test_blocks_of_cells_of_any_size() -> None:
    counts = np.array([[0.0, 0.0], [0.0, 5.0], [7.0, 0.0], [1.0, 30.0], [2e9, 3.0]])
    blocks = draw_blocks(counts, np.random.default_rng(2))
    assert (np.sum(blocks, axis=0) == counts).all()
    assert all((block >= 0).all() for block in blocks)
    sizes = np.array([block.sum(axis=1) for block in blocks])
    assert sizes[:, 3].tolist() == [1, 2, 4, 8, 16]
    # Too many rows to draw from stay one block.
    assert sizes[0, 4] == 2e9 + 3


def test_squares_are_the_mean_over_all_orders() -> None:
    rng = np.random.default_rng(3)
    cells = [rng.random(size).round(2) for size in (3, 0, 1, 4)]
    rows = np.array([float(len(cell)) for cell in cells])
    sums = np.array([cell.sum() for cell in cells])
    squares = np.array([(cell**2).sum() for cell in cells])
    found = spread_squares(rows, sums, squares)
    seen, total = 0, 0.0
    for place, cell in enumerate(cells):
        first = (total + 0.5) / (seen + 1)
        costs = [
            sum((row - (first + sum(order[:t])) / (1 + t)) ** 2 for t, row in enumerate(order))
            for order in permutations(cell.tolist())
        ]
        assert found[place] == pytest.approx(np.mean(costs), abs=1e-12)
        seen, total = seen + len(cell), total + float(cell.sum())


def test_squares_of_many_rows_by_a_recursion() -> None:
    """Beyond 64 rows harmonic numbers are expanded; one value repeated has simple orders."""
    for n in (63, 64, 65, 1000):
        expected = sum((0.7 - (0.5 + 0.7 * t) / (1 + t)) ** 2 for t in range(n))
        rows = np.array([float(n)])
        found = spread_squares(rows, rows * 0.7, rows * 0.49)
        assert float(found[0]) == pytest.approx(expected, abs=1e-9)


def test_factor_of_squares_is_large_enough() -> None:
    """``1 + u >= exp(u - psi(s) (u / s)**2)`` from ``-s`` on, with equality there."""
    for s in (0.01, 0.3, 0.8, 0.99):
        u = np.linspace(-s, s, 2001)
        factor = weigh_squares(np.full(u.shape, s))
        assert (1 + u >= np.exp(u - factor * (u / s) ** 2) - 1e-12).all()
    assert weigh_squares(np.array([1.0, 5.0])).tolist() == [np.inf, np.inf]


def test_squares_cost_nothing_where_there_are_none() -> None:
    paid = pay_squares(np.array([0.0, 1.0, 1.0]), np.array([2.0, 2.0, -0.5]))
    assert paid[0] == 0
    assert paid[1] == np.inf
    assert paid[2] == pytest.approx(float(weigh_squares(np.array(0.5))))


def test_range_is_hoeffding() -> None:
    assert float(pay_range(np.array(4.0), np.array(-3.0), 2.0)) == pytest.approx(4 * 36 / 8)


def test_prediction_is_infinite_near_ruin() -> None:
    mean, variance = np.array(0.5), np.array(0.25)
    shares, values = (np.array(0.5), np.array(0.5)), (np.zeros(()), np.ones(()))
    price = [
        float(predict_bets(np.array(10.0), shares, values, mean, variance, np.array(s)))
        for s in (0.1, -0.1, 3.0, -3.0)
    ]
    assert price[0] == pytest.approx(price[1])
    assert 10 * 0.25 * 0.01 / 2 < price[0] < 1.2 * 10 * 0.25 * 0.01 / 2
    assert price[2:] == [np.inf, np.inf]
