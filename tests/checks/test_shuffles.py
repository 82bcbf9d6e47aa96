from itertools import product
from math import comb

import numpy as np
import pytest

from boundit.checks.association import PooledGroups, measure_any_association
from boundit.checks.shuffles import ENOUGH, count_cells, draw_tables, find_chances
from tests.checks.groups import lay_out


def test_shuffled_tables_have_the_margins_of_the_log() -> None:
    counts = np.random.default_rng(0).poisson(2.0, size=(6, 3, 4)) + 1
    tables = draw_tables(PooledGroups(lay_out(counts)), 50, np.random.default_rng(1))

    assert tables.shape == (50, 6, 3, 4)
    assert (tables >= 0).all()
    assert (tables.sum(axis=2) == counts.sum(axis=1)).all()
    assert (tables.sum(axis=3) == counts.sum(axis=2)).all()


def test_shuffles_have_the_exact_mean_and_variance_of_the_statistics() -> None:
    """The mean of both statistics is their degrees of freedom; margin 4 standard errors."""
    counts = np.random.default_rng(2).poisson(2.0, size=(5, 3, 3)) + 1
    total = PooledGroups(lay_out(counts))
    tables = draw_tables(total, 20_000, np.random.default_rng(3))
    steady = total.measure_deviation(tables.sum(axis=1))
    anyhow = [measure_any_association(lay_out(t)).value for t in tables[:2000]]

    assert steady.mean() == pytest.approx(total.df, abs=4 * steady.std() / 141)
    assert np.mean(anyhow) == pytest.approx(20, abs=4 * float(np.std(anyhow)) / 44)


def enumerate_shuffles(tables: list[list[list[int]]]) -> tuple[float, float]:
    """P of any and of steady association over all tables of 2 x 2 with these margins."""
    counts = np.array(tables)
    total = PooledGroups(lay_out(counts))
    seen = (
        measure_any_association(total.strata).value,
        float(total.measure_deviation(total.counts)),
    )
    rows, columns, n = counts.sum(2), counts.sum(1), counts.sum((1, 2))
    ranges = [
        range(max(0, r[0] + c[0] - m), min(r[0], c[0]) + 1)
        for r, c, m in zip(rows, columns, n, strict=True)
    ]
    p = [0.0, 0.0]
    for firsts in product(*ranges):
        weight, drawn = 1.0, []
        for a, r, c, m in zip(firsts, rows, columns, n, strict=True):
            weight *= (
                comb(int(c[0]), a) * comb(int(c[1]), int(r[0] - a)) / comb(int(m), int(r[0]))
            )
            drawn.append([[a, r[0] - a], [c[0] - a, r[1] - c[0] + a]])
        table = np.array(drawn, dtype=float)
        n_minus_1 = sum(
            (m - 1) * ((t**2 / np.outer(r, c)).sum() - 1)
            for t, r, c, m in zip(table, rows, columns, n, strict=True)
        )
        p[0] += weight * (n_minus_1 >= seen[0] - 1e-9)
        p[1] += weight * (float(total.measure_deviation(table.sum(axis=0))) >= seen[1] - 1e-9)
    return p[0], p[1]


@pytest.mark.parametrize(
    "tables",
    [
        [[[3, 1], [0, 4]], [[2, 2], [1, 3]]],
        [[[5, 1], [1, 2]], [[1, 3], [3, 1]], [[2, 1], [1, 2]]],
        [[[1, 6], [4, 2]], [[0, 3], [2, 1]]],
    ],
)
def test_shuffles_approach_full_enumeration(tables: list[list[list[int]]]) -> None:
    """With 40,000 shuffles that are never stopped, within 4 standard errors."""
    exact = enumerate_shuffles(tables)
    total = PooledGroups(lay_out(tables))
    drawn = draw_tables(total, 40_000, np.random.default_rng(0))
    seen = float(total.measure_deviation(total.counts))
    found = (total.measure_deviation(drawn.sum(axis=1)) >= seen - 1e-9).mean()
    stopped = find_chances(total, 40_000, np.random.default_rng(1))

    assert found == pytest.approx(exact[1], abs=4 * np.sqrt(exact[1] / 40_000))
    for chance, p in zip(stopped, exact, strict=True):
        assert chance.p == pytest.approx(p, rel=4 / np.sqrt(ENOUGH))


def test_drawing_stops_once_chance_explains_what_was_seen() -> None:
    total = PooledGroups(lay_out([[[4, 4], [4, 4]], [[3, 3], [3, 3]]]))

    chance, steady = find_chances(total, 10**6, np.random.default_rng(0))

    assert chance.draws == steady.draws == ENOUGH
    assert chance.p == 1


def test_without_early_stopping_p_counts_the_log_among_the_shuffles() -> None:
    total = PooledGroups(lay_out([[[15, 0], [0, 15]]]))

    (chance,) = find_chances(total, 999, np.random.default_rng(0))

    assert (chance.p, chance.draws) == (0.001, 999)


def test_a_seed_fixes_the_answer() -> None:
    total = PooledGroups(lay_out([[[5, 2], [2, 4]], [[1, 3], [3, 4]]]))

    one, other = (find_chances(total, 500, np.random.default_rng(7)) for _ in range(2))

    assert one == other


def test_the_cost_counts_free_cells() -> None:
    assert count_cells(PooledGroups(lay_out(np.ones((6, 3, 4))))) == 6 * 2 * 3
