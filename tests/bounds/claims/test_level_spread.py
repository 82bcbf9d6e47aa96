"""Bounds of a level's spread: too small no more often than their statements may fail.

On few rows, with large errors, so that the statements say something.
"""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.claims.last_level import ValuedRest
from boundit.bounds.claims.level_spread import SpreadBoxes, may_use_total
from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_claims import SPREAD_SHARE, SumClaims
from boundit.bounds.claims.sum_layout import LevelNames, lay_out
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import NamedArray
from tests.bounds.claims.every_log import (
    World,
    draw_logs,
    find_spread,
    list_every_log,
    make_pilot,
)
from tests.bounds.claims.worlds import WORLDS

NAMES = [name for name in WORLDS if name != "worst at a fixed value"]
ONE_LEVEL = ("back door", "three strata", "context", "external", "drawn together")
FIXED = "fixed with the reward"


@pytest.mark.parametrize("name", WORLDS)
def test_total_variance_is_for_one_level_alone(name: str) -> None:
    world = WORLDS[name]
    rng = np.random.default_rng(0)
    tables = world.draw_tables(rng, 1.0)
    rest = draw_logs(world, tables, [5] * world.n_sources, 2, rng).read_rest(tables)
    assert may_use_total(rest.arrays) == (name in (*ONE_LEVEL, "exact external", FIXED))


def choose_rows(world: World) -> list[int]:
    return [2 if world.n_sources > 1 else 3 if len(world.columns) > 3 else 4] * world.n_sources


@pytest.mark.parametrize("rewards", [(0.0, 1.0), (0.0, 0.4, 1.0)])
@pytest.mark.parametrize("name", [*ONE_LEVEL, FIXED])
def test_total_variance(name: str, rewards: tuple[float, ...]) -> None:
    world = replace(WORLDS[name], rewards=rewards)
    rng = np.random.default_rng(1)
    shape = (1,) * (1 + len(world.axes))
    for concentration in (0.3, 1.0):
        tables = world.draw_tables(rng, concentration)
        rows = [each - (len(rewards) > 2) for each in choose_rows(world)]
        every = list_every_log(world, tables, rows, least=1e-4)
        rest = every.read_rest(tables)
        claims = SumClaims(make_pilot(world, tables, rows, tables), rest)
        truth = find_spread(every, rest, tables, 0)
        seen = rest.arrays.find_rows(0) > 0
        for error in (0.05, 0.2):
            # Each of the four statements may fail with this chance.
            log_error = np.full(shape, np.log(1 / error) - np.log(4 / SPREAD_SHARE))
            for scale in (1.0, 5.0):
                factor = np.full(shape, scale)
                paid = claims._pay_last(factor, upper=False)
                bound = claims._bound_total(factor, paid, log_error, upper=False)
                wrong = (bound < truth - 1e-12) & seen
                chance = np.tensordot(every.probability, wrong, axes=(0, 0))
                assert chance.max() <= 4 * error


@pytest.mark.parametrize("rewards", [(0.0, 1.0), (0.0, 0.4, 1.0)])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("upper", [False, True])
def test_boxes(name: str, rewards: tuple[float, ...], upper: bool) -> None:
    world = replace(WORLDS[name], rewards=rewards)
    rng = np.random.default_rng(2)
    shape = (1,) * (1 + len(world.axes))
    n_levels = len(world.levels) - 1
    said = 0.0
    for concentration, n in ((0.3, 6), (1.0, 60), (0.5, 600)):
        tables = world.draw_tables(rng, concentration)
        every = draw_logs(world, tables, [n] * world.n_sources, 150, rng)
        rest = every.read_rest(tables)
        for error in (0.02, 0.1):
            boxes = SpreadBoxes.of(rest.arrays, rest.last, np.full(shape, np.log(1 / error)))
            missed = np.zeros((every.n_logs, *shape[1:]), dtype=bool)
            for place in range(n_levels):
                if world.levels[place].source in world.exact:
                    continue
                bound = boxes.bound(rest.arrays, place, upper=upper)
                truth = find_spread(every, rest, tables, place, upper=upper)
                used = (rest.arrays.weights[place] > 0) & (rest.arrays.find_rows(place) > 0)
                wrong = (bound < truth - 1e-12) & used
                over = tuple(range(1 + len(world.axes), wrong.ndim))
                missed = missed | wrong.any(axis=over)
                said = max(said, float((1 - bound).max()))
            assert missed.mean(axis=0).max() <= (1 + 2 * n_levels) * error
    assert said > 0.5 or world.exact


def test_what_is_least_need_not_be_so_at_shares_revealed_before() -> None:
    """``sum_a P(a) min_b sum_c P(c) m(a, b, c)`` with few rows of c, revealed before a.

    For a = 0 the first b is truly the least, .49 beside .5, but not at the shares of c: what
    follows a = 0 is then .686, and nothing may say that it is .5.
    """
    names = [("c", "", 1), ("a", "", 0), ("", "a b c", 1)]
    levels = [LevelNames(frozenset(of), frozenset(g.split()), d) for of, g, d in names]
    layout = lay_out(levels, (), ("b",))
    none = NamedArray((), np.array(10.0)), NamedArray((), np.array(4e6))
    shares = np.array([3.0, 7.0]), np.array([2e6, 2e6])
    drawn = [
        LevelNumbers(rows, NamedArray((name,), counts))
        for rows, name, counts in zip(none, "ca", shares, strict=True)
    ]
    settings = ArraySettings({"a": 2, "b": 2, "c": 2}, Workspace.make_default())
    arrays = SumArrays.from_numbers(layout, drawn, settings)
    means = np.full((2, 2, 2), 0.5)
    means[0, 0] = [0.0, 0.98]
    counts = 5e5 * (1 - means), 5e5 * means
    last = ValuedRest((), counts, (np.zeros(()), np.ones(())))
    boxes = SpreadBoxes.of(arrays, last, np.full((), np.log(50)))
    truth = ((0.686 - 0.5) / 2) ** 2
    assert float(boxes.bound(arrays, 1, upper=False)) >= truth
