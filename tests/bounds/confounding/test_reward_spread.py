"""Rewards of more than two values: the spread of those who got an arm, and a band around it."""

import numpy as np
import pytest
from scipy.optimize import linprog

from boundit.bounds import derive
from boundit.bounds.confounding import reward_spread
from boundit.bounds.confounding.reward_spread import RewardSpread, read_term
from boundit.bounds.derive import derive_bounds
from boundit.counts.log import Log
from boundit.counts.named_array import NamedArray
from boundit.counts.read import read_log
from boundit.estimand.language.expression import P, Sum
from boundit.graph.text import parse
from boundit.terms.bound_table import BoundTable

BOW = parse("X -> Y; X <-> Y")
STARS = np.array([1.0, 2.0, 4.0, 5.0])


def make_law(law: np.ndarray, e: float) -> Log:
    """The exact law of two arms with these laws of stars; arm 1 has the chance ``e``."""
    cells = [
        (x, star, chance * p)
        for x, chance in ((0, 1 - e), (1, e))
        for star, p in zip(STARS.tolist(), law[x].tolist(), strict=True)
    ]
    columns = zip(*cells, strict=True)
    return read_log(dict(zip("XYp", map(list, columns), strict=True)), weight="p", exact=True)


def bound(log: object, limit: float, confidence: float | None = None) -> BoundTable:
    return derive_bounds(
        BOW,
        "Y | do(X)",
        log,
        confidence=confidence,
        outcome_range=(0, 6),
        confounding_limit={"X <-> Y": limit},
    )


def test_ends_of_an_exact_law_equal_the_program_over_weights() -> None:
    """The fractional knapsack of Dorn and Guo, by linear programming."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        law, e, limit = rng.dirichlet(np.ones(4), 2), rng.uniform(0.1, 0.9), rng.uniform(1, 5)
        found, others = bound(make_law(law, e), limit)[1, ()], 1 / e - 1
        for sign, end in ((1, found.lower), (-1, found.upper)):
            solved = linprog(
                sign * e * law[1] * STARS,
                A_eq=[law[1]],
                b_eq=[1 / e],
                bounds=[(1 + others / limit, 1 + others * limit)] * 4,
            )
            assert end == pytest.approx(sign * solved.fun, abs=1e-6)


def test_the_spread_tells_more_than_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    log = make_law(np.array([[0.1, 0.4, 0.4, 0.1]] * 2), 0.4)
    spread = bound(log, 2.0)[1, ()].width
    monkeypatch.setattr(derive, "add_spreads", lambda _, plan, *__: plan)

    assert spread < 0.7 * bound(log, 2.0)[1, ()].width


def test_many_values_are_cut_into_bins_whose_ends_stand_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Outside the ends of the values themselves, by no more than a bin."""
    log = make_law(np.array([[0.1, 0.4, 0.4, 0.1]] * 2), 0.4)
    fine = bound(log, 2.0)[1, ()]
    monkeypatch.setattr(reward_spread, "MOST_VALUES", 3)
    monkeypatch.setattr(reward_spread, "BINS", 60)
    coarse = bound(log, 2.0)[1, ()]

    assert fine.lower - 0.1 <= coarse.lower <= fine.lower + 1e-9
    assert fine.upper <= coarse.upper <= fine.upper + 0.1 + 1e-9


def test_finite_logs_hold_the_ends_of_the_law_as_often_as_promised() -> None:
    """Ends with a confidence lie outside those of the law in all but few logs."""
    rng, law, e = np.random.default_rng(1), np.array([[0.1, 0.4, 0.4, 0.1]] * 2), 0.4
    wanted, widths = bound(make_law(law, e), 1.5), []
    for _ in range(12):
        x = (rng.random(2_000) < e).astype(int)
        y = rng.choice(STARS, 2_000, p=law[0])
        found = bound({"X": x.tolist(), "Y": y.tolist()}, 1.5, 0.95)
        for arm in (0, 1):
            assert found[arm, ()].lower <= wanted[arm, ()].lower
            assert found[arm, ()].upper >= wanted[arm, ()].upper
            widths.append(found[arm, ()].width / wanted[arm, ()].width)
    assert np.mean(widths) < 2.6


def test_a_band_moves_mass_to_the_ends_of_the_range_and_unseen_cells_are_free() -> None:
    counts = NamedArray(("X", "Y"), np.array([[0.0, 0.0], [60.0, 40.0]]))
    ends = np.array([0.25, 0.5])
    spread = RewardSpread(counts, "Y", ends, ends, exact=False)
    term = P(frozenset("Y"), frozenset("X"))
    (least, low), (most, high) = spread.find_laws(term, ("X",), 0.05)
    off = np.sqrt(np.log(2 / 0.05) / 200)

    assert low.tolist() == [0.0, 0.25, 0.5]
    assert high.tolist() == [0.25, 0.5, 1.0]
    assert least[1] == pytest.approx([off, 0.6, 0.4 - off])
    assert most[1] == pytest.approx([0.6 - off, 0.4, off])
    assert least[0].tolist() == [1.0, 0.0, 0.0]
    assert most[0].tolist() == [0.0, 0.0, 1.0]
    (plain, _), _ = spread.find_laws(term, ("X",), None)
    assert plain[1].tolist() == [0.0, 0.6, 0.4]


def test_the_truth_lies_below_the_highest_law_and_above_the_lowest() -> None:
    rng, values = np.random.default_rng(2), np.linspace(0, 1, 6)
    term, held = P(frozenset("Y"), frozenset("X")), 0
    for _ in range(200):
        law = rng.dirichlet(np.ones(6))
        counts = NamedArray(("X", "Y"), rng.multinomial(50, law)[None].astype(float))
        spread = RewardSpread(counts, "Y", values, values, exact=False)
        (least, low), (most, high) = spread.find_laws(term, ("X",), 0.1)
        below = [least[0][low <= v].sum() >= law[values <= v].sum() - 1e-9 for v in values]
        above = [most[0][high <= v].sum() <= law[values <= v].sum() + 1e-9 for v in values]
        held += all(below) and all(above)
    assert held >= 180


def test_only_a_plain_law_of_the_reward_is_read() -> None:
    term = P(frozenset("Y"), frozenset("X"))

    assert read_term(term, "Y") is term
    assert read_term(term, "X") is None
    assert read_term(Sum(frozenset("Z"), P(frozenset("YZ"), frozenset("X"))), "Y") is None
