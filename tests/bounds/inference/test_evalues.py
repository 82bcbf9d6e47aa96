"""Means of e-values by all logs of a few rows: at most one, whatever scale and guess."""

from itertools import product

import numpy as np
import pytest

from boundit.bounds.inference.evalues import PilotValues, Totals, Values, kappa
from boundit.counts.named_array import Floats

SCALES = [0.2, 0.7, 0.95, 3.0]


def list_logs(values: Floats, chances: Floats, n: int) -> tuple[Floats, Floats]:
    """All sequences of n rows, and their probabilities."""
    codes = np.array(list(product(range(len(values)), repeat=n)))
    return values[codes], chances[codes].prod(axis=1)


def mean_evalue(
    values: Floats, chance: Floats, mean: float, psi: Floats, scale: float
) -> float:
    deviation = scale * (values - mean).sum(axis=1)
    return float((chance * np.exp(deviation - psi)).sum())


@pytest.mark.parametrize("scale", [*SCALES, *(-s for s in SCALES)])
@pytest.mark.parametrize("guess", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("success", [0.02, 0.5, 0.97])
def test_betting_on_0_1_outcomes(scale: float, guess: float, success: float) -> None:
    values, chance = list_logs(np.array([0.0, 1.0]), np.array([1 - success, success]), 6)
    block = [slice(0, 1), slice(1, 3), slice(3, 6)]
    won = [values[:, part].sum(axis=1) for part in block]
    sizes = [1, 2, 3]
    blocks = [(n - k, k) for n, k in zip(sizes, won, strict=True)]
    counts = 6 - values.sum(axis=1), values.sum(axis=1)
    cells = Values(counts, (np.zeros(()), np.ones(())), lambda: blocks)
    share = np.full((), guess)
    pilot = PilotValues(np.full((), 6.0), (1 - share, share), (np.zeros(()), np.ones(())))

    psi = cells.log_evalue(np.full(len(chance), scale), pilot)

    assert mean_evalue(values, chance, success, psi, scale) <= 1 + 1e-9


@pytest.mark.parametrize("scale", [*SCALES, *(-s for s in SCALES)])
@pytest.mark.parametrize("near_zero", [False, True])
@pytest.mark.parametrize("chances", [(0.9, 0.08, 0.02), (0.1, 0.3, 0.6), (0.01, 0.98, 0.01)])
def test_sums_of_numeric_outcomes(
    scale: float, near_zero: bool, chances: tuple[float, ...]
) -> None:
    grid, p = np.array([0.0, 0.4, 1.0]), np.array(chances)
    values, chance = list_logs(grid, p, 5)
    reach = values.min(axis=1), values.max(axis=1)
    rows = np.full(len(chance), 5.0)
    cells = Totals(
        rows, values.sum(axis=1), (values**2).sum(axis=1), reach, guess=np.full((), 0.3)
    )
    pilot = PilotValues(rows, supposed=np.array(0.01), near_zero=near_zero)

    psi = cells.log_evalue(np.full(len(chance), scale), pilot)

    assert mean_evalue(values, chance, float(grid @ p), psi, scale) <= 1 + 1e-9


def test_kappa_is_no_less_than_what_logarithms_need() -> None:
    for c in (1e-4, 0.3, 0.9, 0.999):
        u = np.linspace(-c, 5, 4_001)
        assert (np.log1p(u) >= u - kappa(np.array(c)) * u**2 - 1e-12).all()
