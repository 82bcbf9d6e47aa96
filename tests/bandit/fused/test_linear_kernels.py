"""Models in compiled code, against fits of all rounds by NumPy."""

import numpy as np
import pytest

from boundit.bandit.fused.beliefs import FusedBeliefs
from boundit.bandit.fused.layout import PRIOR, TAUS
from boundit.bandit.fused.linear_kernels import match_beta
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.variable_encoding import VariableEncoding
from tests.bandit.fused.plain_fused import draw_plan
from tests.bandit.fused.plain_linear import PlainLinear

NUMBER = FeatureEncoding((VariableEncoding(),), ())


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("sizes", [(), (2,), (2, 3)])
def test_cells_taus_and_doubts_are_those_of_plain_fits(
    sizes: tuple[int, ...], share: float
) -> None:
    plan = draw_plan(4, sizes, contexts=5, known=True, rows=30)
    beliefs = FusedBeliefs(plan, (0.0, 1.0), trusting=False, encoding=NUMBER)
    plain = PlainLinear(plan, TAUS, PRIOR, 0.5)
    rng, n = np.random.default_rng(1), plan.n_leaves
    for _ in range(25):
        pair, leaf = int(rng.integers(len(plan.pairs))), int(rng.integers(n))
        reward = float(rng.choice([0.0, 1.0, rng.random()]))
        seen = n == 1 or rng.random() < share
        x = beliefs._find_row(plan.pairs[pair][1], pair)
        beliefs._learn(x, pair, reward, leaf if seen else -1, np.ones(n, np.bool_))
        plain.learn(pair, reward, leaf if seen else None, range(n))
    linear = beliefs.linear
    assert linear is not None
    for pair, (_, context) in enumerate(plan.pairs):
        shown = linear.show(context, np.array([pair], float))
        for leaf in range(n):
            at = shown.cells[pair, leaf]
            for i, tau in enumerate(TAUS):
                by_hand = plain.count_cell(plan.cells[pair][leaf], tau, guesses=True)
                found = shown.wins[i, at], shown.losses[i, at]
                assert found == pytest.approx(by_hand, rel=1e-8)
    assert beliefs.counts.taus[:, 1] == pytest.approx(plain.weights, rel=1e-8)
    if share == 1.0:
        expected = [plain.lb[i] for i in range(len(plan.pairs))]
        assert beliefs.counts.pairs[: len(plan.pairs), 2] == pytest.approx(expected, abs=1e-8)


def test_a_law_has_the_moments_of_its_model_and_stays_inside() -> None:
    a, b = match_beta(0.3, 0.01)
    assert a / (a + b) == pytest.approx(0.3)
    assert a * b / (a + b) ** 2 / (a + b + 1) == pytest.approx(0.01 / 4)
    assert match_beta(0.5, 7.0) == (1.0, 1.0)
    low, high = match_beta(-3.0, 0.1), match_beta(4.0, 0.1)
    assert low == pytest.approx(high[::-1])
    assert low[0] / sum(low) == pytest.approx(1 / 12)
