"""Shares of contexts."""

import numpy as np
import pytest
from scipy.optimize import linprog

import boundit as bd
from boundit.core.errors import OutsideDomain
from boundit.decisions.shares import BadShares, Shares, is_sample, read_shares
from boundit.results.bound_table import BoundTable
from tests.decisions.tables import make_table

TABLE = make_table()


def sample(n: np.ndarray, error: float, *, adaptive: bool = False) -> Shares:
    """Shares of contexts 0, 1, ... that a sample with these counts gives."""
    k = len(n)
    rows = [{"X": 0, "C": c, "lower": 0, "upper": 1} for c in range(k)]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=["X"], context=["C"], outcome_range=(0, 1)
    )
    log = bd.read_log({"C": np.repeat(np.arange(k), n).tolist()}, adaptive=adaptive)
    return read_shares(log, table, error=error)


def test_given_weights_are_divided_by_their_sum() -> None:
    found = read_shares({0: 1, (1,): 3}, TABLE, error=0)
    assert found.largest([0.0, 1.0]) == pytest.approx(0.75)
    assert not is_sample({0: 1, 1: 3}, TABLE)


def test_a_context_without_a_share_does_not_count() -> None:
    found = read_shares({0: 1}, TABLE, error=0)
    assert found.contexts == ((0,),)
    assert "1 contexts of the bounds have no share" in found.sentence


def test_whatever_they_are_is_the_worst_context() -> None:
    found = read_shares("any", TABLE, error=0)
    assert found.largest([0.2, -0.1]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({0: -1, 1: 2}, "share of"),
        ({0: 0, 1: 0}, "All shares are 0"),
        ({0: 1, (0,): 1}, "two shares"),
        ({0: float("inf"), 1: 1}, "share of"),
        (3, "does not say how common"),
    ],
)
def test_what_is_no_share_is_refused(given: object, said: str) -> None:
    with pytest.raises(BadShares, match=said):
        read_shares(given, TABLE, error=0)


def test_contexts_that_the_bounds_lack_are_refused() -> None:
    with pytest.raises(OutsideDomain):
        read_shares({0: 1, 7: 1}, TABLE, error=0)
    with pytest.raises(OutsideDomain):
        read_shares({"C": [0, 7]}, TABLE, error=0.1)


def test_a_sample_is_counted_with_its_error() -> None:
    rows = {"C": [0] * 30 + [1] * 70}
    assert is_sample(rows, TABLE)
    found = read_shares(rows, TABLE, error=0.05)
    assert 0.7 < found.largest([0.0, 1.0]) < 0.9
    plain = read_shares(rows, TABLE, error=0)
    assert plain.largest([0.0, 1.0]) == pytest.approx(0.7)
    law = bd.read_log({"C": [0, 1], "w": [0.3, 0.7]}, weight="w", exact=True)
    assert not is_sample(law, TABLE)
    assert read_shares(law, TABLE, error=0.05).largest([0.0, 1.0]) == pytest.approx(0.7)


def test_the_box_of_shares_is_filled_as_a_program_would() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        k = int(rng.integers(2, 7))
        n = rng.multinomial(int(rng.integers(20, 2_000)), rng.dirichlet(np.ones(k)))
        found = sample(n, 0.1, adaptive=True)
        f = rng.normal(size=k)
        box = list(zip(found.lowers, found.uppers, strict=True))
        best = linprog(-f, A_eq=np.ones((1, k)), b_eq=[1], bounds=box)
        assert found.largest(f.tolist()) == pytest.approx(-best.fun, abs=1e-9)


def test_both_bounds_of_a_sample_hold_and_the_better_counts() -> None:
    """A program over both regions is no greater, and either alone is no less."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        k = int(rng.integers(2, 9))
        found = sample(rng.multinomial(500, rng.dirichlet(np.ones(k))), 0.1)
        f = rng.normal(size=k)
        # p = shown + up - down, with up and down adding up to the distance at most.
        bounds = [(0, None)] * (2 * k)
        down = np.hstack([-np.eye(k), np.eye(k)])
        best = linprog(
            np.concatenate([-f, f]),
            A_ub=np.vstack([down, np.ones((1, 2 * k))]),
            b_ub=[*found.estimate, found.distance],
            A_eq=np.hstack([np.ones((1, k)), -np.ones((1, k))]),
            b_eq=[0],
            bounds=bounds,
        )
        within = float(found.estimate @ f) - best.fun
        box = linprog(
            -f,
            A_eq=np.ones((1, k)),
            b_eq=[1],
            bounds=list(zip(found.lowers, found.uppers, strict=True)),
        )
        assert found.largest(f.tolist()) == pytest.approx(min(within, -box.fun), abs=1e-9)


def test_shares_of_samples_miss_no_more_often_than_they_say() -> None:
    """The worst function is chosen by the sample itself, as bounds of the same rows may be."""
    rng = np.random.default_rng(2)
    missed, n, shares = 0, 400, np.array([0.5, 0.3, 0.15, 0.05])
    for _ in range(300):
        counts = rng.multinomial(n, shares)
        found = sample(counts, 0.1)
        f = np.sign(shares - counts / n)
        missed += found.largest(f.tolist()) < float(shares @ f)
    assert missed <= 30


def test_a_single_context_has_all_visitors() -> None:
    found = sample(np.array([10]), 0.1)
    assert found.largest([0.4]) == pytest.approx(0.4)
