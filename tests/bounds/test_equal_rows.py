"""Rows whose means are equal by the do-calculus have one interval, the best of all of them."""

import numpy as np
import pytest
from numpy.random import default_rng

import boundit as bd
from boundit.simulation.random_models import draw_model
from tests.bounds.core import make_run
from tests.bounds.exact import as_log, ends, questions


@pytest.mark.parametrize(
    ("n", "seed", "zeros"),
    [
        (60, 31, 0.0),
        (30, 32, 0.3),
        pytest.param(1_500, 33, 0.0, marks=pytest.mark.full),
        pytest.param(1_500, 34, 0.3, marks=pytest.mark.full),
    ],
)
def test_means_along_equal_axes_are_one_number_and_are_not_missed(
    n: int, seed: int, zeros: float
) -> None:
    tried = 0
    for asked in questions(n, seed, zeros=zeros):
        axes, _ = make_run(asked.model, asked.query).numbers.evidence.lightened
        if not axes:
            continue
        tried += 1
        truth = asked.truth()
        there = ~np.isnan(truth)  # the context happens
        least = np.where(there, truth, np.inf).min(axis=axes)
        most = np.where(there, truth, -np.inf).max(axis=axes)
        assert (most - least <= 1e-9).all(), asked.query
        low, high = ends(asked.bounds(), truth.shape)
        assert (low[there] <= truth[there] + 1e-7).all(), asked.query
        assert (high[there] >= truth[there] - 1e-7).all(), asked.query
    assert tried > n // 10


def test_an_instrument_as_context_has_the_best_of_natural_bounds() -> None:
    """Manski's intersection: P(Y=1, X=x | z) at most, and 1 - P(Y=0, X=x | z) at least."""
    model = draw_model(bd.parse_graph("Z -> X -> Y; X <-> Y"), default_rng(4), levels=(2,))
    log = as_log(model.log())
    table = bd.derive_bounds(model.graph, "Y | do(X), Z", log, confidence=None)
    share = model.log().condition_on(("Z",)).align(("Z", "X", "Y"))
    for x in (0, 1):
        low, high = share[:, x, 1].max(), (1 - share[:, x, 0]).min()
        for z in (0, 1):
            row = table.bounds[(x,), (z,)]
            assert row.lower >= low - 1e-9
            assert row.upper <= high + 1e-9
            assert row.lower == pytest.approx(table.bounds[(x,), (0,)].lower)
    steps = (str(step) for record in table.rules.values() for step in record.steps)
    assert any("condition Z may be dropped" in step for step in steps)
