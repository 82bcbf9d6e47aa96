import numpy as np
import pytest

from boundit.bounds.approximate.approximate_rules import ApproximateRules
from boundit.bounds.approximate.cross_fit import CrossFit, HalfEnd
from boundit.bounds.numbers import Ends
from boundit.counts.read import read_log
from boundit.counts.table import CountTable
from tests.bounds.approximate.logs import INSTRUMENT, read_evidence

TYPES = np.random.default_rng(2).dirichlet(np.full(16, 1.0))


def draw(n_rows: int, rng: np.random.Generator) -> CountTable:
    """A log of an instrument, drawn by response types of X to Z and of Y to X."""
    z = rng.integers(0, 2, n_rows)
    kind = rng.choice(16, n_rows, p=TYPES)
    x = np.where(z == 1, kind >> 2 & 1, kind >> 3 & 1)
    y = np.where(x == 1, kind & 1, kind >> 1 & 1)
    return read_log({"Z": z, "X": x, "Y": y}).count(["Z", "X"], reward="Y")


def find(table: CountTable) -> tuple[np.ndarray, np.ndarray]:
    evidence = read_evidence(INSTRUMENT, table)
    rules = ApproximateRules(INSTRUMENT, evidence, 0.05)
    found = CrossFit(rules.flat, evidence, 0.05).find((2,))
    ends = [each.join(Ends(np.zeros(2), np.ones(2))) for each in found.values()]
    return np.max([e.lower for e in ends], axis=0), np.min([e.upper for e in ends], axis=0)


@pytest.mark.full
def test_ends_of_a_program_hold_as_often_as_they_should_and_near_the_set() -> None:
    """Both true ends of both arms at once, in most of 60 logs; the set is known at large n."""
    lower, upper = find(draw(4_000_000, np.random.default_rng(0)))
    hits = 0
    for seed in range(60):
        low, high = find(draw(3_000, np.random.default_rng([1, seed])))
        hits += bool(((low <= lower + 0.002) & (high >= upper - 0.002)).all())
        assert (high - low < upper - lower + 0.2).all()

    assert hits >= 60 * 0.95 - 3 * np.sqrt(60 * 0.95 * 0.05)


def test_halves_are_drawn_blindly_and_make_up_the_log() -> None:
    table = draw(2_000, np.random.default_rng(3))
    evidence = read_evidence(INSTRUMENT, table)

    fit = CrossFit({}, evidence, 0.05)

    (one, _), (other, _) = fit.halves
    assert one.table.rows + other.table.rows == 2_000
    assert 800 < one.table.rows < 1_200
    whole = table.sum_rewards(["Z", "X"]).values
    parts = [half.table.sum_rewards(["Z", "X"]).values for half in (one, other)]
    np.testing.assert_array_equal(parts[0] + parts[1], whole)
    # Without selection the log is the population, in each half too.
    assert all(population == (log,) for log, population in fit.halves)


def make_half(value: float, variance: float, freedom: float) -> HalfEnd:
    one = np.ones(1)
    return HalfEnd(one * value, one * variance, one * freedom, 10 * one, 9 * one, one, 0 * one)


def test_halves_are_averaged_as_independent_estimates() -> None:
    found = HalfEnd.average([make_half(0.2, 0.04, 30.0), make_half(0.4, 0.04, 30.0)])

    assert np.isclose(found.value, 0.3)
    assert np.isclose(found.variance, 0.02)
    assert np.isclose(found.freedom, 60.0)
    assert found.is_trusted.tolist() == [True]


def test_each_row_takes_the_rule_that_the_other_half_chose() -> None:
    ends = [make_half(0.2, 0.04, 30.0), make_half(0.4, 0.01, 20.0)]

    assert HalfEnd.choose(ends, np.array([1])).value.tolist() == [0.4]
    assert HalfEnd.choose(ends, np.array([0])).value.tolist() == [0.2]
