"""One world that fits a log."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.counts.log import Log
from boundit.simulation.fitted.fitter import FIRM, WorldFitter
from boundit.simulation.worlds import flipped_world

MINE = flipped_world()


def make_fitter(log: Log, confidence: float | None) -> WorldFitter:
    bounds = derive_bounds(MINE.graph, MINE.query, log, confidence=confidence)
    counts = log.count(sorted(MINE.graph.observed - {"Y"}), reward="Y")
    return WorldFitter.of(MINE.graph, MINE.query, counts, bounds)


def test_of_an_exact_law_the_world_has_that_law_of_logged_rows() -> None:
    fitter = make_fitter(MINE.exact_log(), None)
    world = fitter.fit(np.random.default_rng(0), "mine")

    axes = fitter.design.axes[: fitter.law.ndim]
    found = world.model.log().align(axes)
    assert found == pytest.approx(MINE.model.log().align(axes), abs=1e-3)
    assert world.distance == pytest.approx(np.abs(found - fitter.law).sum() / 2)
    assert fitter.tolerance == FIRM


def test_a_known_selection_rate_is_kept_where_it_can_be() -> None:
    fitter = make_fitter(MINE.exact_log(), None)
    world = fitter.fit(np.random.default_rng(1), "mine", (0.05, 0.06))

    assert 0.05 <= world.selection_rate <= 0.06
    assert world.selection_rate == pytest.approx(world.model.selection_rate())


def test_the_tolerance_is_twice_what_chance_does_and_a_hundredth() -> None:
    """Mean total variation between a log of n rows and its own law, by drawing such logs."""
    fitter = make_fitter(MINE.log(20_000, seed=1), 0.95)
    rng = np.random.default_rng(2)
    law = fitter.law.ravel()
    drawn = rng.multinomial(int(fitter.rows), law, size=400) / fitter.rows

    chance = np.abs(drawn - law).sum(axis=1).mean() / 2
    assert fitter.tolerance == pytest.approx(FIRM + 2 * chance, rel=0.05)


def test_starts_are_drawn_anew() -> None:
    fitter = make_fitter(MINE.exact_log(), None)
    one, other = (fitter.draw_start(np.random.default_rng(i)) for i in range(2))

    assert one.shape == (fitter.design.size,)
    assert np.abs(one - other).max() > 0.1
