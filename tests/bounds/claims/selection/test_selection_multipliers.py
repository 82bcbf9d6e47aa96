"""Multipliers prove an end for every population that fits, and the best prove the least."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from numpy.random import Generator

from boundit.bounds.claims.selection.selection_cells import SelectionCells, TableCells
from boundit.bounds.claims.selection.selection_multipliers import MultiplierFinder
from boundit.counts.named_array import Floats
from boundit.terms.long_work import FOR_EVER


def fill_kinds(kinds: Floats, order: Sequence[int], low: float, high: float) -> Floats:
    """Give some kinds the greatest weight, in an order, until weighted shares add up to one."""
    weights, left = np.full(len(kinds), low), 1 - low
    for kind in order:
        more = min(left, (high - low) * kinds[kind])
        weights[kind] += more / kinds[kind]
        left -= more
    return weights


def make_cells(rng: Generator, tables: tuple[TableCells, ...] = ()) -> SelectionCells:
    """Draw the shares of a population with three kinds of four cells."""
    shares = rng.dirichlet(np.ones(12)).reshape(3, 4)
    return SelectionCells(shares, 100 * shares, 50.0, tables, 0.5, 2.0)


@pytest.mark.parametrize("seed", range(10))
def test_least_mean_is_that_of_the_worst_weights(seed: int) -> None:
    """The oracle tries every order in which kinds are filled up."""
    rng = np.random.default_rng(seed)
    cells = make_cells(rng)
    worth, there = (
        rng.integers(0, 2, (3, 4)).astype(np.float64),
        np.array([[0.0, 1.0, 1.0, 1.0]] * 3),
    )
    orders = list(permutations(range(3)))
    means = []
    for order in orders:
        masses = cells.shares * there
        masses = masses * fill_kinds(cells.shares.sum(axis=1), order, 0.5, 2.0)[:, None]
        means.append((masses * worth).sum() / masses.sum())
    solved = MultiplierFinder(cells, FOR_EVER).solve(worth, there)
    assert solved is not None
    assert np.isclose(solved[0], min(means), atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_multipliers_prove_what_is_attained(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bare = make_cells(rng)
    index = np.array([[0, 1, 0, 1]] * 3)
    weights = fill_kinds(bare.shares.sum(axis=1), rng.permutation(3).tolist(), 0.5, 2.0)
    masses = bare.shares * weights[:, None]
    share = np.array([masses[index == k].sum() for k in (0, 1)])
    cells = SelectionCells(
        bare.shares, bare.counts, 50.0, (TableCells(share, None, index),), 0.5, 2.0
    )
    value = rng.uniform(-1, 1, size=(3, 4))
    found = MultiplierFinder(cells, FOR_EVER).find(value)
    assert found is not None
    (y,) = found.tables
    left = (cells.shares * (value - found.total - y[index])).sum(axis=1)
    proved = found.total + y @ share + np.minimum(0.5 * left, 2.0 * left).sum()
    attained = (cells.shares * found.weights[:, None] * value).sum()
    if np.abs(y).max() < 8:  # the price at which a table may be missed
        assert np.isclose(proved, attained)
    assert proved <= (masses * value).sum() + 1e-9
