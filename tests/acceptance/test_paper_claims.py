"""The paper's claims about conditional effects, its table and its regret, each computed afresh.

Those that hold stand beside those that do not; the latter have entries in
``research/docs/deviations.md``. The bandits here have one constant feature, so that Algorithm 4 is
a few lines of arithmetic and many runs go side by side.
"""

from itertools import permutations

import numpy as np
import pytest

from boundit.counts.formula import evaluate
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.adjustment import write_adjustment
from boundit.estimand.expression import P
from boundit.simulation.environments import make_paper_model
from boundit.simulation.random_models import draw_graph, draw_model
from tests.estimand.truth import recover_sets
from tests.paper import (
    ARM,
    CONTEXT,
    GENERATED,
    LOGGED,
    OUTCOME,
    ROUNDING,
    TABLE_1,
    TABLE_1_ROWS,
    list_rows,
)

EFFECT = make_paper_model().effect(outcomes=OUTCOME, treatments=ARM, context=CONTEXT)
LOG = make_paper_model().log()
CP = evaluate(P(OUTCOME, ARM | CONTEXT), LOG)


def list_column(name: str) -> Floats:
    return np.array([getattr(row, name) for row in TABLE_1])


def read_row(numbers: NamedArray, rows: list[dict[str, int]]) -> Floats:
    """The chance of Y = 1 in each row of the table."""
    ones = numbers.at({"Y": 1})
    return np.array([float(ones.at({v: row[v] for v in ones.axes})) for row in rows])


def measure_distance(some: Floats, others: Floats) -> float:
    return float(np.sqrt(((some - others) ** 2).mean()))


def list_missed(effect: Floats) -> list[int]:
    """The numbers of the rows whose printed bound does not hold the effect."""
    below = effect < list_column("lower") - ROUNDING
    above = effect > list_column("upper") + ROUNDING
    return [int(i) + 1 for i in np.flatnonzero(below | above)]


def test_a_recovered_conditional_effect_is_the_effect() -> None:
    """Eqs. (5) and (6): P_x(y | c) from the selected log, wherever a formula is found."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(60):
        graph = draw_graph(4, rng, directed=0.4, bidirected=0.15, selection=True)
        model = draw_model(graph, rng, levels=(2,))
        y, x, c = (frozenset({v}) for v in ("V1", "V2", "V3"))
        if formula := recover_sets(graph, outcomes=y, treatments=x, context=c).expression:
            effect = model.effect(outcomes=y, treatments=x, context=c)
            assert evaluate(formula, model.log()).measure_gap(effect) < 1e-9
            found += 1
    assert found > 10


def test_one_column_of_the_table_is_what_the_probabilities_imply() -> None:
    """D-4. In the order x1, x2, u1, u2, CP differs from the exact log by sampling alone."""
    exact = read_row(CP, TABLE_1_ROWS)
    cells = LOG.marginalize(ARM | CONTEXT)
    rows = [
        float(cells.at(row)) * GENERATED * make_paper_model().selection_rate()
        for row in TABLE_1_ROWS
    ]

    errors = (list_column("cp") - exact) / np.sqrt(exact * (1 - exact) / rows)

    assert np.abs(errors).max() < 3
    assert measure_distance(list_column("cp"), exact) == pytest.approx(0.026, abs=1e-3)


def test_the_other_columns_do_not_follow_the_context() -> None:
    """D-4. Truth is P(y | x1, x2) to 0.008 and 0.1 from the effect; Biased is not eq. (2)."""
    population = make_paper_model().distribution().marginalize(ARM | OUTCOME).condition_on(ARM)
    logged = LOG.marginalize(ARM | OUTCOME).condition_on(ARM)
    sets = {"covariates": CONTEXT, "treatments": ARM, "outcomes": OUTCOME}
    eq_2 = evaluate(write_adjustment(make_paper_model().graph, **sets), LOG)

    assert measure_distance(list_column("truth"), read_row(population, TABLE_1_ROWS)) < 0.01
    assert measure_distance(list_column("truth"), read_row(EFFECT, TABLE_1_ROWS)) > 0.09
    assert measure_distance(list_column("biased"), read_row(logged, TABLE_1_ROWS)) < 0.02
    assert measure_distance(list_column("biased"), read_row(eq_2, TABLE_1_ROWS)) > 0.05


def test_four_printed_bounds_miss_the_effect() -> None:
    """D-4. All hold the printed Truth; rows 3, 4, 7 and 8 miss what the probabilities imply."""
    assert list_missed(list_column("truth")) == []
    assert list_missed(read_row(EFFECT, TABLE_1_ROWS)) == [3, 4, 7, 8]


def test_no_order_of_the_rows_makes_the_columns_agree() -> None:
    """D-4. Where CP fits to 0.08, four bounds or more miss; where none does, CP is 0.19 off."""
    readings = [list_rows(*names) for names in permutations(("X1", "X2", "U1", "U2"))]
    for rows in readings:
        worst = float(np.abs(list_column("cp") - read_row(CP, rows)).max())
        if worst < 0.15:
            assert len(list_missed(read_row(EFFECT, rows))) >= 4
        if not list_missed(read_row(EFFECT, rows)):
            assert worst > 0.18
    assert any(not list_missed(read_row(EFFECT, rows)) for rows in readings)


def test_fewer_rows_are_logged_than_the_text_says() -> None:
    """D-38. 14,288 of 30,000 are expected; 15,000 would be eight standard errors away."""
    rate = make_paper_model().selection_rate()
    spread = np.sqrt(GENERATED * rate * (1 - rate))

    assert rate * GENERATED == pytest.approx(14_287.5)
    assert (LOGGED - rate * GENERATED) / spread > 8


def make_features(rows: list[dict[str, int]]) -> Floats:
    """Section Online Bandit Learning: the concatenation of context and arm."""
    return np.array([[row[v] for v in ("U1", "U2", "X1", "X2")] for row in rows], dtype=float)


def test_the_example_is_linear_only_with_a_constant_feature() -> None:
    """D-23. At context (0, 0) arm (0, 0) has the zero vector, and the mean 0.254."""
    x, means = make_features(TABLE_1_ROWS), read_row(EFFECT, TABLE_1_ROWS)
    with_one = np.column_stack([np.ones(16), x])

    def misfit(inputs: Floats) -> float:
        theta = np.linalg.lstsq(inputs, means, rcond=None)[0]
        return float(np.abs(inputs @ theta - means).max())

    assert not x[0].any()
    assert means[0] == pytest.approx(0.254167, abs=1e-6)
    assert misfit(with_one) < 1e-12
    assert misfit(x) > 0.254


def test_the_sum_of_squared_widths_passes_its_bound_when_features_are_long() -> None:
    """D-26. Lemma 3 asks for lambda >= max(1, L^2); Algorithm 4 has lambda = 1, and L = 2."""
    longest = make_features(TABLE_1_ROWS)[-1]
    ratio = np.linalg.det(np.eye(4) + np.outer(longest, longest))

    assert np.linalg.norm(longest) == 2
    assert longest @ longest > 2 * np.log(ratio)


def test_the_largest_norm_is_that_of_an_arm_no_valid_bound_rules_out() -> None:
    """D-27. L = 2 comes from the best arm of context (1, 1): Theorem 5 gains nothing here."""
    x, means = make_features(TABLE_1_ROWS), read_row(EFFECT, TABLE_1_ROWS)
    here = [i for i, row in enumerate(TABLE_1_ROWS) if row["U1"] == row["U2"] == 1]

    best = max(here, key=lambda i: means[i])

    assert np.linalg.norm(x[best]) == np.linalg.norm(x, axis=1).max()


def count_pulls(
    means: tuple[float, ...],
    caps: tuple[float, ...],
    *,
    alpha: float,
    rounds: int,
    runs: int = 4_000,
    first_arm_wins_ties: bool = False,
) -> Floats:
    """Run Algorithm 4 with the feature 1; how often each run pulls each arm."""
    rng, every = np.random.default_rng(1), np.arange(runs)
    n, b = np.zeros((2, runs, len(means)))
    for _ in range(rounds):
        luck = rng.random(runs)
        index = b / (1 + n) + alpha / np.sqrt(1 + n)
        capped = np.minimum(index, caps)
        if not first_arm_wins_ties:
            tied = capped == capped.max(axis=1, keepdims=True)
            capped = np.where(tied, index, -np.inf)
        arm = capped.argmax(axis=1)
        n[every, arm] += 1
        b[every, arm] += luck < np.array(means)[arm]
    return n


NO_CAP = float("inf")


def test_ties_at_the_cap_go_to_the_uncapped_index() -> None:
    """D-5. With U = 1 for all, that is LinUCB; with ties by the arms' order it is not."""
    means, loose = (0.05, 0.5, 0.4), (1.0, 1.0, 1.0)
    plain = count_pulls(means, (NO_CAP,) * 3, alpha=2, rounds=50)

    assert np.array_equal(count_pulls(means, loose, alpha=2, rounds=50), plain)
    by_order = count_pulls(means, loose, alpha=2, rounds=50, first_arm_wins_ties=True)
    assert not np.array_equal(by_order, plain)


def test_an_arm_ruled_out_by_its_bound_is_pulled_after_bad_luck() -> None:
    """D-28. Lemma 6: the best arm of mean 0.5 fails once, and the arm capped at 0.4 is next."""
    taken = count_pulls((0.5, 0.3), (1.0, 0.4), alpha=0.5, rounds=2)

    assert taken[:, 1].mean() == pytest.approx(0.5, abs=0.03)
    optimistic = count_pulls((0.5, 0.3), (1.0, 0.4), alpha=3, rounds=2)
    assert not optimistic[:, 1].any()


def test_a_valid_bound_that_rules_an_arm_out_can_raise_the_regret() -> None:
    """D-29. Theorem 6: 4.24 without and 5.06 with the bound 0.4995 on the arm of mean 0.499."""
    means = (0.5, 0.499, 0.05)
    gaps = 0.5 - np.array(means)

    without = count_pulls(means, (NO_CAP, NO_CAP, NO_CAP), alpha=2, rounds=200) @ gaps
    bounded = count_pulls(means, (NO_CAP, 0.4995, NO_CAP), alpha=2, rounds=200) @ gaps

    assert without.mean() == pytest.approx(4.24, abs=0.08)
    assert bounded.mean() == pytest.approx(5.06, abs=0.08)
    rise = bounded - without
    assert rise.mean() > 10 * rise.std() / np.sqrt(rise.size)


def test_constraints_of_arms_that_are_never_pulled_cannot_be_met() -> None:
    """D-33. Theorem 7, unit vectors for arms: without the ruled-out arm nothing measures it."""
    kept, ruled_out = np.eye(3)[:2], np.eye(3)[2]
    allocation = np.array([1e9, 1e9])

    information = kept.T @ np.diag(allocation) @ kept

    assert np.linalg.matrix_rank(information) == 2
    assert not (information @ ruled_out).any()
