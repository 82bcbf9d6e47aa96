"""Capital that nobody can expect to grow: means over every log of a few rows."""

from itertools import combinations
from math import exp, factorial, inf
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import Generator

from boundit.bounds.claims.selection.selection_bets import (
    SelectionBets,
    choose_scale,
    mend_totals,
    weigh_cells,
)
from boundit.bounds.claims.selection.selection_cells import SelectionCells, TableCells
from boundit.counts.named_array import Floats

N_ROWS, N_TABLE = 4, 3


class Trial(NamedTuple):
    """Bets at the edge of the hypothesis, the law of rows, and that of a table's rows."""

    bets: SelectionBets
    law: Floats
    of_table: Floats | None


def list_counts(rows: int, cells: int) -> list[Floats]:
    """List every way in which so many rows can fall into some cells."""
    found = []
    for bars in combinations(range(rows + cells - 1), cells - 1):
        edges = np.array([-1, *bars, rows + cells - 1])
        found.append(np.diff(edges) - 1.0)
    return found


def find_chance(counts: Floats, law: Floats) -> float:
    """Find the chance of counts under a law."""
    parts = [p**k / factorial(int(k)) for p, k in zip(law.ravel(), counts.ravel(), strict=True)]
    return float(factorial(int(counts.sum())) * np.prod(parts))


def draw_weights(rng: Generator, kinds: Floats, low: float, high: float) -> Floats:
    """Draw weights of kinds at their limits, so that weighted shares add up to one."""
    weights, left = np.full(len(kinds), low), 1 - low
    for kind in rng.permutation(len(kinds)):
        more = min(left, (min(high, 50.0) - low) * kinds[kind])
        weights[kind] += more / kinds[kind]
        left -= more
    return weights if left < 1e-9 else np.ones(len(kinds))


def draw_trial(rng: Generator, *, limited: bool, table: bool) -> Trial:
    """Draw a law, weights at their limits, and any multipliers; the threshold is the truth."""
    low = 1 / float(rng.choice([1.3, 2.0, 4.0]))
    high, shape = (1 / low, (2, 2)) if limited else (inf, (4, 1))
    law = rng.dirichlet(np.full(4, rng.choice([0.3, 1.0, 5.0]))).reshape(shape)
    masses = law * draw_weights(rng, law.sum(axis=1), low, high)[:, None]
    worth = rng.integers(0, 2, shape) * 1.0
    there = np.ones(shape) if rng.random() < 0.5 else np.array([0.0, 1.0] * 2).reshape(shape)
    truth = (masses * there * worth).sum() / max((masses * there).sum(), 1e-300)
    steps = np.array([truth, min(truth + 0.2, 1.0)])
    value = (worth - steps[:, None, None]) * there
    index = np.array([0, 1, 1, 0]).reshape(shape)
    of_table = np.array([masses[index == k].sum() for k in (0, 1)]) if table else None
    tables: tuple[TableCells, ...] = ()
    if table:
        tables = (TableCells(rng.dirichlet([2.0, 2.0]), np.array([1.0, N_TABLE - 1]), index),)
    guessed = rng.dirichlet(np.ones(4)).reshape(shape)
    counts = np.array([N_ROWS, 0.0, 0.0, 0.0]).reshape(shape)
    cells = SelectionCells(guessed, counts, 3.0, tables, low, high)
    y = tuple(np.tile(0.7 * rng.normal(size=2), (2, 1)) for _ in tables)
    totals = 0.7 * rng.normal(size=(2 if limited else 1, 2))
    if not limited:
        totals = mend_totals(cells, value, totals[0], y)[None]
    due = float(rng.uniform(0.5, 6))
    scale = np.stack([choose_scale(cells, value, total, y, due) for total in totals])
    tabled = tuple(np.stack([each] * len(totals)) for each in y)
    return Trial(SelectionBets(cells, steps, value, totals, tabled, scale), law, of_table)


def list_logs(trial: Trial) -> list[tuple[float, Floats, tuple[Floats, ...]]]:
    """List every log with its table and their chance."""
    tables: list[tuple[float, tuple[Floats, ...]]] = [(1.0, ())]
    if trial.of_table is not None:
        of_table = trial.of_table
        tables = [(find_chance(k, of_table), (k,)) for k in list_counts(N_TABLE, 2)]
    return [
        (find_chance(counts, trial.law) * chance, counts.reshape(trial.law.shape), rows)
        for counts in list_counts(N_ROWS, 4)
        for chance, rows in tables
    ]


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_capital_has_a_mean_of_at_most_one(seed: int, limited: bool, table: bool) -> None:
    """At every law, whatever the weights of kinds and the multipliers are."""
    rng = np.random.default_rng([seed, limited, table])
    trial = draw_trial(rng, limited=limited, table=table)
    bets = trial.bets
    for i in range(len(bets.total)):
        alone = SelectionBets(
            bets.cells,
            bets.steps,
            bets.value,
            bets.total[i : i + 1],
            tuple(each[i : i + 1] for each in bets.tables),
            bets.scale[i : i + 1],
        )
        assert alone.log_parts == 0
        mean = sum(
            chance * np.exp(alone.count_log(rows, tables))
            for chance, rows, tables in list_logs(trial)
        )
        assert (np.asarray(mean) <= 1 + 1e-9).all()


@pytest.mark.parametrize("error", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_a_mean_chosen_late_of_two_capitals_holds(seed: int, error: float) -> None:
    trial = draw_trial(np.random.default_rng(seed), limited=True, table=True)
    due = error + trial.bets.log_parts
    passed = sum(
        chance * (trial.bets.count_log(rows, tables) > due)
        for chance, rows, tables in list_logs(trial)
    )
    assert (np.asarray(passed) <= exp(-error) + 1e-12).all()


def test_nothing_left_is_negative_without_a_limit() -> None:
    bets = draw_trial(np.random.default_rng(3), limited=False, table=True).bets
    left, _ = weigh_cells(bets.cells, bets.value, bets.total[0], (bets.tables[0][0],))
    assert left.min() >= -1e-12
