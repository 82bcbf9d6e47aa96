"""Whole runs of Algorithm 5, and the parts they share with single rounds."""

from itertools import pairwise

import numpy as np

from boundit.bandit.kernels.arrays import BatchArrays, Floats, Places
from boundit.bandit.oam.allocation import allocate
from boundit.bandit.oam.batch import (
    CAP,
    BatchCandidates,
    add_row,
    find_wanted_pulls,
    play_oam,
    schedule_solution,
)
from boundit.bandit.oam.round import MatchingConstants, compute_width
from tests.bandit.batches import ENVIRONMENT, draw_runs

CONSTANTS = MatchingConstants(400.0, 0.0, 0.02, 0.01, 0.002)
X = np.array([[1.0, *c, *a] for c in ENVIRONMENT.contexts for a in ENVIRONMENT.arms], float)


def make_candidates() -> BatchCandidates:
    n, ends = len(X), np.full(len(X), np.inf)
    target = np.tile(np.arange(4), 4)
    return BatchCandidates(
        X,
        np.arange(0, n + 1, 4),
        -ends,
        ends,
        target,
        ENVIRONMENT.means.reshape(-1),
        np.arange(n).reshape(4, 4),
    )


def make_batch(contexts: Places, uniforms: Floats) -> BatchArrays:
    """Rounds without exploration; what arms earn and where they lie the candidates say."""
    candidates, seeds = make_candidates(), np.zeros(len(contexts), np.uint64)
    kept = candidates.blocks, candidates.means, candidates.places
    return BatchArrays(*kept, contexts, uniforms, seeds, 0.0, candidates.rows)


def test_the_allocation_is_solved_ever_more_rarely() -> None:
    due = [1]
    while due[-1] < 15_000:
        due.append(schedule_solution(due[-1]))

    assert due[:4] == [1, 2, 3, 4]
    assert len(due) < 180
    assert all(b <= 1.05 * a + 1 for a, b in pairwise(due))


def test_the_allocation_is_that_of_the_least_squares_gaps() -> None:
    rng = np.random.default_rng(0)
    rows = X[rng.integers(16, size=500)]
    rewards = rows @ [0.2, 0.3, 0.1, 0.25, 0.2] + 0.1 * rng.normal(size=500)
    gram, moment = np.zeros((5, 5)), np.zeros(5)
    for row, reward in zip(rows, rewards, strict=True):
        add_row(gram, moment, row, reward)
    np.testing.assert_allclose(gram, rows.T @ rows)
    np.testing.assert_allclose(moment, rows.T @ rewards)

    found = find_wanted_pulls(CONSTANTS, gram, moment, X, np.arange(0, 17, 4))

    means = (X @ np.linalg.lstsq(rows, rewards, rcond=None)[0]).reshape(4, 4)
    gaps = (means.max(axis=1, keepdims=True) - means).ravel()
    f = compute_width(400.0, 1 / 400, 5, 0.0, 0.02)
    expected = allocate(X, gaps, width=f, cap=CAP).pulls
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_runs_do_not_know_of_each_other() -> None:
    contexts, uniforms, _ = draw_runs(3, 120)

    together = play_oam(CONSTANTS, make_candidates(), make_batch(contexts, uniforms))

    for run in range(3):
        one = make_batch(contexts[run : run + 1], uniforms[run : run + 1])
        alone = play_oam(CONSTANTS, make_candidates(), one)
        np.testing.assert_array_equal(alone[0], together[run])


def test_it_learns_to_pull_the_best_arms() -> None:
    """Where what arms earn is linear, as the algorithm takes it to be."""
    contexts, uniforms, _ = draw_runs(4, 400)
    means = (X @ [0.1, 0.1, 0.1, 0.4, 0.2]).reshape(4, 4)

    candidates = make_candidates()._replace(means=means.reshape(-1))
    pulls = play_oam(CONSTANTS, candidates, make_batch(contexts, uniforms))

    lost = means.max(axis=1)[contexts] - means[contexts, pulls]
    assert lost[:, 300:].mean() < 0.01
    assert lost[:, :50].mean() > 0.05
