from dataclasses import replace

import numpy as np

from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds, FoundEnd
from boundit.bounds.approximate.influences import Claims, LineInfluence
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.plan import BoundPlan
from boundit.counts.clusters import ClusterLines
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from tests.bounds.approximate.logs import (
    BACK_DOOR,
    NAPKIN,
    Strata,
    read_counts,
    read_evidence,
)


def find(
    plan: BoundPlan, table: CountTable, declared: tuple[float, float] | None = None
) -> tuple[FoundEnd, TermCounter]:
    counts = read_counts(read_evidence(plan, table, declared=declared))
    flat = flatten_rule(plan.rules[0].rule, counts.levels)
    assert flat is not None
    return FormulaEnds(flat, counts, 0.01).find(upper=False), counts


def claim(found: FoundEnd) -> Claims:
    places = np.argwhere(np.ones(found.value.shape, dtype=bool))
    return Claims(found.derivatives, found.rows, places)


def test_uncorrelated_levels_have_the_variance_of_their_lines() -> None:
    found, counts = find(BACK_DOOR, Strata(4).draw(5_000, np.random.default_rng(3)))

    joint, _ = LineInfluence(counts).find_variances(claim(found))

    np.testing.assert_allclose(
        joint, found.variance.smoothed - found.variance.cushion, rtol=1e-9
    )


def draw_napkin(n: int, seed: int) -> CountTable:
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 2, (2, n))
    w = (rng.random(n) < 0.3 + 0.2 * u + 0.2 * v).astype(int)
    z = (rng.random(n) < 0.3 + 0.4 * w).astype(int)
    x = (rng.random(n) < 0.2 + 0.3 * z + 0.3 * u).astype(int)
    y = (rng.random(n) < 0.2 + 0.3 * x + 0.3 * v).astype(int)
    return read_log({"W": w, "Z": z, "X": x, "Y": y}).count(["W", "Z", "X"], reward="Y")


def test_terms_above_and_below_a_line_move_together() -> None:
    """The spread of a ratio over many logs is that of its joint influence function."""
    estimates = [find(NAPKIN, draw_napkin(2_000, seed))[0].value for seed in range(150)]
    found, counts = find(NAPKIN, draw_napkin(2_000, 999))

    joint, _ = LineInfluence(counts).find_variances(claim(found))
    joint = joint.reshape(found.value.shape)

    spread = np.var(estimates, axis=0, ddof=1)
    assert (np.abs(np.log(joint / spread)) < 0.5).all()
    assert np.allclose(joint, found.variance.smoothed, rtol=0.05)


def test_a_reward_between_0_and_1_varies_as_its_squares_say() -> None:
    rng = np.random.default_rng(4)
    n = 4_000
    z, x = rng.integers(0, 2, (2, n))
    y = np.round(0.4 + 0.1 * x + 0.1 * rng.random(n), 2)
    table = read_log({"Z": z, "X": x, "Y": y}).count(["Z", "X"], reward="Y")

    found, counts = find(BACK_DOOR, table, declared=(0, 1))

    joint, _ = LineInfluence(counts).find_variances(claim(found))
    expected = [y[x == arm].var() / (x == arm).sum() for arm in (0, 1)]
    np.testing.assert_allclose(joint, expected, rtol=0.02)
    plain = found.variance.smoothed - found.variance.cushion
    np.testing.assert_allclose(plain, expected, rtol=0.02)


def test_covariance_of_ends_is_symmetric_and_has_the_variances() -> None:
    found, counts = find(BACK_DOOR, Strata(4).draw(800, np.random.default_rng(5)))
    lines = LineInfluence(counts)

    covariance = lines.find_covariance([claim(found), claim(found)])

    np.testing.assert_allclose(covariance, covariance.T)
    np.testing.assert_allclose(
        np.diag(covariance), np.tile(lines.find_variances(claim(found))[0], 2)
    )
    assert lines.n_lines == 8


def count_clusters(n_clusters: int, seed: int) -> tuple[CountTable, CountTable]:
    """A log with alike rewards of a user, counted by user, and as if rows were alone."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(n_clusters), 5)
    z, x = rng.integers(0, 2, (2, len(user)))
    taste = rng.random(n_clusters)[user]
    y = (rng.random(len(user)) < 0.8 * (taste < 0.5) + 0.1).astype(int)
    log = read_log({"U": user, "Z": z, "X": x, "Y": y})
    columns = ["Z", "X"]
    return log.count(columns, reward="Y", cluster="U"), log.count(columns, reward="Y")


def test_rows_of_a_cluster_are_added_up_before_they_are_squared() -> None:
    """The spread over many logs of users is wider than independent rows would have it."""
    estimates = [find(BACK_DOOR, count_clusters(400, seed)[1])[0].value for seed in range(150)]
    clustered, alone = count_clusters(400, 999)
    found, counts = find(BACK_DOOR, clustered)
    lines = LineInfluence(counts)

    robust, freedom = lines.find_variances(claim(found))

    spread = np.var(estimates, axis=0, ddof=1)
    naive, _ = LineInfluence(find(BACK_DOOR, alone)[1]).find_variances(claim(found))
    assert lines.is_clustered
    assert (np.abs(np.log(robust / spread)) < 0.4).all()
    assert (robust > 1.5 * naive).all()
    assert ((freedom > 20) & (freedom < 400)).all()


def test_clusters_of_one_row_are_rows() -> None:
    table = Strata(3).draw(300, np.random.default_rng(8))
    lines = np.repeat(np.arange(len(table.n)), table.n.astype(int))
    assert table.sums is not None
    sums = np.concatenate(
        [np.arange(n) < wins for n, wins in zip(table.n, table.sums, strict=True)]
    ).astype(float)
    ones = np.ones(len(lines))
    alone = ClusterLines("id", len(lines), np.arange(len(lines)), lines, ones, sums)
    found, counts = find(BACK_DOOR, table)
    clustered = find(BACK_DOOR, replace(table, clusters=alone))[1]

    robust, _ = LineInfluence(clustered).find_variances(claim(found))

    rows, _ = LineInfluence(counts).find_variances(claim(found))
    np.testing.assert_allclose(robust, rows * 300 / 299)
