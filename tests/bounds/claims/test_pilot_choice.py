"""Choices: the best that the pilot predicts, and moved by nothing that the rest earns."""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.claims.pilot_choice import PilotChoice, PilotChooser
from boundit.bounds.claims.sum_claims import SumClaims
from tests.bounds.claims.every_log import VALUE, EveryLog, draw_logs, make_pilot
from tests.bounds.claims.logs import Floats
from tests.bounds.claims.worlds import WORLDS


def permute_rewards(every: EveryLog, rng: np.random.Generator) -> EveryLog:
    """Permute the rewards among the rows of every log; all other columns stay."""
    at = every.world.columns.index(VALUE)
    codes = list(every.codes)
    moved = codes[0].copy()
    moved[..., at] = rng.permuted(moved[..., at], axis=1)
    codes[0] = moved
    return replace(every, codes=tuple(codes))


def is_same(one: PilotChoice, other: PilotChoice) -> bool:
    """Tell whether two choices are the same to the last bit."""
    return bool(
        (one.scale == other.scale).all()
        and (one.predicted == other.predicted).all()
        and all((a == b).all() for a, b in zip(one.spread, other.spread, strict=True))
    )


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_rewards_outside_the_pilot_move_no_choice(name: str, numeric: bool) -> None:
    """Scales, kinds, predictions, shares of cells, and in each cell bets or range."""
    world = replace(WORLDS[name], rewards=(0.0, 0.4, 1.0)) if numeric else WORLDS[name]
    rng = np.random.default_rng(0)
    tables = world.draw_tables(rng, 1.0)
    rows = [60] * world.n_sources
    every = draw_logs(world, tables, rows, 5, rng)
    pilot = make_pilot(world, tables, rows, world.draw_tables(rng, 1.0))
    log_error = np.full((1,) * (1 + len(world.axes)), np.log(40))
    found = [
        SumClaims(pilot, each.read_rest(tables))
        for each in (every, permute_rewards(every, rng))
    ]
    for upper in (False, True):
        one, other = (claims.choose(log_error, upper=upper) for claims in found)
        assert is_same(one, other)
        chosen = [find_kinds(claims, one.scale, upper=upper) for claims in found]
        assert (chosen[0] == chosen[1]).all()
    shares = [claims.chooser.branch_shares for claims in found]
    assert all((a == b).all() for a, b in zip(*shares, strict=True))


def find_kinds(claims: SumClaims, scale: Floats, *, upper: bool) -> Floats:
    """Find which cells of the value pay by bets or squares: where what they pay moves.

    A cell that pays by range pays the same whatever its rewards.
    """
    rest = claims.rest
    weights = rest.arrays.weights[-1]
    lam = scale.reshape(scale.shape + (1,) * (weights.ndim - scale.ndim))
    s = lam * weights / np.maximum(rest.last.rows, 1.0) / claims.chooser.branch_shares[-1]
    s = np.where(rest.last.rows > 0, -s if upper else s, 0.0)
    paid = rest.last.pay(s, claims.pilot.last)
    by_range = rest.last.rows * s**2 / 8
    found: Floats = np.where(s == 0, 0.0, paid != by_range).astype(float)
    return found


@pytest.mark.parametrize("name", WORLDS)
def test_scale_is_nearly_the_best_predicted(name: str) -> None:
    world = WORLDS[name]
    rng = np.random.default_rng(1)
    tables = world.draw_tables(rng, 2.0)
    rows = [500] * world.n_sources
    chooser = PilotChooser(make_pilot(world, tables, rows, tables))
    shape = (1,) * (1 + len(world.axes))
    log_error = np.full(shape, np.log(40))
    for upper in (False, True):
        choice = chooser.choose(log_error, upper=upper)
        costs = chooser._costs[upper and len(chooser._costs) > 1]
        tried = []
        for factor in np.exp(np.linspace(-1.5, 1.5, 121)):
            scale = choice.scale * factor
            halves = chooser._halve_costs(costs, choice.spread, upper=upper)
            tried.append(chooser._predict(scale, log_error, halves, upper=upper))
        best = np.min(tried, axis=0) if upper else np.max(tried, axis=0)
        radius = np.abs(best - tables_value(chooser, upper=upper))
        assert (np.abs(choice.predicted - best) <= 0.02 * radius + 1e-9).all()


def tables_value(chooser: PilotChooser, *, upper: bool) -> Floats:
    """Predict an end that pays nothing."""
    zeros = [np.zeros(costs[0].shape) for costs in chooser._costs[0]]
    scale = np.full((1,) * len(chooser.layout.axes), 1e-9)
    return chooser._predict(scale, np.zeros(scale.shape), zeros, upper=upper)
