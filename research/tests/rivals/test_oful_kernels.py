"""Ridge models of R-OFUL; whole decisions are held against a plain form in test_policy."""

import numpy as np
import pytest

from boundit_research.rivals.columns import FEATURES, INDEX, LOWER, NOISE, UPPER
from boundit_research.rivals.oful_kernels import decide_r_oful, learn_r_oful, make_untrained


def test_a_model_is_the_ridge_estimate_its_inverse_and_determinant() -> None:
    rng = np.random.default_rng(0)
    models, d = make_untrained(2, 3), 3
    gram, moments = np.eye(d), np.zeros(d)
    for _ in range(30):
        block, reward = np.zeros((2, FEATURES + d)), float(rng.random() < 0.4)
        x = block[1, FEATURES:] = rng.normal(size=d)
        learn_r_oful(block, models, 1, reward)
        gram, moments = gram + np.outer(x, x), moments + reward * x

    assert models[1, 0] == pytest.approx(np.linalg.slogdet(gram)[1])
    assert models[1, 1 : 1 + d] == pytest.approx(np.linalg.solve(gram, moments))
    assert models[1, 1 + d :].reshape(d, d) == pytest.approx(np.linalg.inv(gram))
    assert np.array_equal(models[0], make_untrained(1, d)[0])


def test_indices_keep_their_upper_ends() -> None:
    block = np.zeros((3, FEATURES + 1))
    block[:, FEATURES], block[:, NOISE] = 1.0, 0.5
    block[:, LOWER], block[:, UPPER] = [0.0, 0.4, 0.0], [0.3, 0.5, 0.8]

    assert decide_r_oful(block, make_untrained(3, 1), 1.0) == 2
    assert np.isnan(block[0, INDEX])
    assert block[1:, INDEX].tolist() == [0.5, 0.8]
