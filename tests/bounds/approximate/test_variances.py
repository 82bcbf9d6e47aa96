import numpy as np

from boundit.bounds.approximate.flat_rule import flatten_rule
from boundit.bounds.approximate.formula_ends import FormulaEnds
from boundit.bounds.approximate.variances import Variance, find_level_variance
from tests.bounds.approximate.logs import BACK_DOOR, Strata, read_counts, read_evidence


def test_a_back_door_has_the_variance_of_aipw() -> None:
    """The plug-in variance of the efficient influence function, written out by hand."""
    strata = Strata(5)
    table = strata.draw(20_000, np.random.default_rng(1))
    counts = read_counts(read_evidence(BACK_DOOR, table))
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None

    found = FormulaEnds(flat, counts, 0.01).find(upper=False)

    n = table.marginalize(["Z", "X"]).values
    mean = table.sum_rewards(["Z", "X"]).values / n
    share = n.sum(axis=1) / n.sum()
    effect = share @ mean
    within = (share[:, None] ** 2 * mean * (1 - mean) / n).sum(axis=0)
    between = (share[:, None] * (mean - effect) ** 2).sum(axis=0) / n.sum()
    plain = found.variance.smoothed - found.variance.cushion
    np.testing.assert_allclose(plain, within + between, rtol=1e-9)
    np.testing.assert_allclose(found.value, effect)
    np.testing.assert_allclose(plain * n.sum(), strata.variance, rtol=0.1)
    assert (found.variance.freedom > 1_000).all()


def test_both_ends_of_a_known_formula_vary_alike() -> None:
    counts = read_counts(
        read_evidence(BACK_DOOR, Strata(3).draw(500, np.random.default_rng(2)))
    )
    flat = flatten_rule(BACK_DOOR.rules[0].rule, counts.levels)
    assert flat is not None
    finder = FormulaEnds(flat, counts, 0.01)

    low, high = (finder.find(upper=upper) for upper in (False, True))

    np.testing.assert_allclose(low.value, 1 - high.value)
    np.testing.assert_allclose(low.variance.smoothed, high.variance.smoothed)
    parts = [find_level_variance(each, counts.read(each.term)) for each in low.derivatives]
    again = Variance.of(parts, low.value.shape)
    np.testing.assert_allclose(again.smoothed, low.variance.smoothed)
