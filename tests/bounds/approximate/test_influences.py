import numpy as np

from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds, FoundEnd
from boundit.bounds.approximate.influences import Claims, LineInfluence
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.plan import BoundPlan
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

    joint = LineInfluence(counts).find_variances(claim(found))

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

    joint = LineInfluence(counts).find_variances(claim(found)).reshape(found.value.shape)

    spread = np.var(estimates, axis=0, ddof=1)
    assert (np.abs(np.log(joint / spread)) < 0.5).all()
    assert not np.allclose(joint, found.variance.smoothed, rtol=0.05)


def test_a_reward_between_0_and_1_varies_as_its_squares_say() -> None:
    rng = np.random.default_rng(4)
    n = 4_000
    z, x = rng.integers(0, 2, (2, n))
    y = np.round(0.4 + 0.1 * x + 0.1 * rng.random(n), 2)
    table = read_log({"Z": z, "X": x, "Y": y}).count(["Z", "X"], reward="Y")

    found, counts = find(BACK_DOOR, table, declared=(0, 1))

    joint = LineInfluence(counts).find_variances(claim(found))
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
        np.diag(covariance), np.tile(lines.find_variances(claim(found)), 2)
    )
    assert lines.n_lines == 8
