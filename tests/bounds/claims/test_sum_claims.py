"""Claims as the package pays them: e-values and misses over every log of a few rows."""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

from boundit.bounds.claims.level_spread import SpreadBoxes
from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.sum_claims import SumClaims
from tests.bounds.claims.e_values import SLACK
from tests.bounds.claims.every_log import (
    EveryLog,
    Tables,
    World,
    draw_logs,
    find_e_values,
    find_spread,
    list_every_log,
    make_pilot,
)
from tests.bounds.claims.logs import Floats
from tests.bounds.claims.worlds import WORLDS

NUMERIC = (0.0, 0.4, 1.0)
MOST_LOGS = 1500


def choose_rows(world: World, tables: Tables) -> list[int]:
    """Choose how many rows each source has, so that not too many logs are listed."""
    sampled = [source for source in range(world.n_sources) if source not in world.exact]
    cells = prod(int((world.find_read(source, tables) > 1e-9).sum()) for source in sampled)
    rows = 6
    while cells**rows > MOST_LOGS and rows > 2:
        rows -= 1
    return [rows if source in sampled else 0 for source in range(world.n_sources)]


def draw_cases(name: str, *, numeric: bool) -> list[tuple[World, Tables, Tables]]:
    """Draw laws of a world, skew ones too, and what a pilot may believe instead."""
    world = replace(WORLDS[name], rewards=NUMERIC) if numeric else WORLDS[name]
    rng = np.random.default_rng(len(name))
    return [
        (world, world.draw_tables(rng, concentration), world.draw_tables(rng, 0.7))
        for concentration in (0.2, 0.6, 2.0)
    ]


def fix_scale(world: World, scale: float, *, spread: bool) -> PilotChoice:
    """Fix the scale of all rows, and whether levels pay by their spread."""
    shape = (1,) * (1 + len(world.axes))
    may = [
        level.source not in world.exact and not {*level.of.split()} & {*world.worst}
        for level in world.levels[:-1]
    ]
    kinds = tuple(np.full(shape, spread and each) for each in may)
    return PilotChoice(np.full(shape, scale), kinds, np.zeros(shape))


def average(every: EveryLog, values: Floats) -> Floats:
    """Average over logs a number that each log and arm has."""
    whole = np.broadcast_to(values, (every.n_logs, *values.shape[1:]))
    return np.tensordot(every.probability, whole, axes=(0, 0))


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_means_of_e_values(name: str, numeric: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most one, whatever the law, the pilot's belief, the scale and the side.

    Where a level pays by spread, it is the true one: bounds of it have error of their own.
    """
    for world, tables, guesses in draw_cases(name, numeric=numeric):
        rows = choose_rows(world, tables)
        every = list_every_log(world, tables, rows, least=1e-9)
        rest = every.read_rest(tables)
        claims = SumClaims(make_pilot(world, tables, rows, guesses), rest)
        claims._total = False
        may = fix_scale(world, 1.0, spread=True).spread
        for upper in (False, True):
            spreads = [
                find_spread(every, rest, tables, i, upper=upper) if each.any() else np.zeros(())
                for i, each in enumerate(may)
            ]
            monkeypatch.setattr(
                SpreadBoxes, "bound", lambda _boxes, _arrays, i, s=spreads, **_side: s[i]
            )
            truth = world.find_truth(tables, upper=upper)[None]
            for scale, spread in product((1.0, 3.0, 8.0), (False, True)):
                choice = fix_scale(world, scale, spread=spread)
                found = find_e_values(claims, choice, truth, upper=upper)
                assert average(every, found).max() <= 1 + SLACK


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("name", WORLDS)
def test_ends_miss_seldom(name: str, numeric: bool) -> None:
    """Whole claims, with the scale and the kinds that a pilot with any belief would choose."""
    for world, tables, guesses in draw_cases(name, numeric=numeric):
        rows = choose_rows(world, tables)
        every = list_every_log(world, tables, rows, least=1e-9)
        claims = SumClaims(make_pilot(world, tables, rows, guesses), every.read_rest(tables))
        for error in (0.01, 0.1, 0.3, 0.6):
            log_error = np.full((1,) * (1 + len(world.axes)), np.log(1 / error))
            for upper in (False, True):
                truth = world.find_truth(tables, upper=upper)[None]
                chosen = claims.choose(log_error, upper=upper)
                tried = [
                    chosen,
                    *(fix_scale(world, s, spread=True) for s in (2.0, 6.0)),
                ]
                for choice in tried:
                    end = claims.bound(choice, log_error, upper=upper)
                    missed = end < truth - 1e-12 if upper else end > truth + 1e-12
                    assert average(every, missed.astype(float)).max() <= error


@pytest.mark.parametrize(
    "name", ["back door", "front door", "shared cells", "shared cells of a level", "folds"]
)
def test_ends_say_something(name: str) -> None:
    """Means of e-values are at most one for claims that say nothing, too."""
    world = WORLDS[name]
    rng = np.random.default_rng(5)
    tables = world.draw_tables(rng, 2.0)
    rows = [3000] * world.n_sources
    every = draw_logs(world, tables, rows, 20, rng)
    claims = SumClaims(make_pilot(world, tables, rows, tables), every.read_rest(tables))
    log_error = np.full((1,) * (1 + len(world.axes)), np.log(40))
    for upper in (False, True):
        truth = world.find_truth(tables, upper=upper)[None]
        end = claims.bound(claims.choose(log_error, upper=upper), log_error, upper=upper)
        assert np.abs(end - truth).max() < 0.2
        assert ((end >= truth) if upper else (end <= truth)).mean() > 0.9
