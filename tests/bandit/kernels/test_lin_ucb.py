"""LinUCB's kernel: whole runs against the public interface, one decision against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.kernels.lin_ucb import decide_lin_ucb
from boundit.bandit.kernels.ridge import learn_row
from boundit.bandit.kernels.score_table import FREE_SCORE, LIN_UCB_VERSION, SCORE
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.features import Features
from boundit.bandit.learned.ridge import Ridge, RidgeStack
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from tests.bandit.all_policies import ARMS, CONTEXTS, table
from tests.bandit.environments import BatchCase, batch_cases, play_one_by_one
from tests.bandit.score_tables import make_score_table


def some_features(context: tuple[object, ...], arm: tuple[object, ...]) -> list[float]:
    return [1.0, len(str(context)) - 7.5, float(arm[1] == "x"), float(str(arm[0])) / 3]


@settings(deadline=None, max_examples=40)
@given(batch_cases(), st.booleans(), st.sampled_from([None, some_features]), st.booleans())
def test_whole_runs_pull_what_decide_and_learn_do(
    case: BatchCase, shared: bool, features: Features | None, warm: bool
) -> None:
    """Bit for bit: a single other rounding would case as another pull sooner or later."""
    start = WarmStart(case.bounds, 2.5) if warm and case.bounds else None
    policy = LinUCB(
        alpha=0.4,
        shared=shared,
        floor=not warm,
        features=features,
        warm_start=start,
        **case.options,
    )

    pulls = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)

    assert pulls is not None
    assert pulls.tolist() == play_one_by_one(policy, case).tolist()


@settings(deadline=None, max_examples=15)
@given(batch_cases(runs=3))
def test_runs_do_not_touch_each_other(case: BatchCase) -> None:
    policy = LinUCB(**case.options)
    last = case.contexts[2:], case.uniforms[2:], case.seeds[2:]

    together = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)
    alone = policy.play(case.environment, *last)

    assert together is not None
    assert alone is not None
    assert together[2].tolist() == alone[0].tolist()


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 19),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 3]),
    st.booleans(),
)
def test_one_decision_is_the_best_of_all_scored_in_numpy(
    d: int, n: int, seed: int, digits: int, floor: bool
) -> None:
    """3.10 and the tie rule, with every arm scored by a solve."""
    rng = np.random.default_rng(seed)
    stack = RidgeStack(d)
    grams, moments = [], []
    for _ in range(n):
        slot = stack.push(Ridge.make_untrained(d, 1.0))
        rows, y = rng.integers(0, 3, (rng.integers(0, 5), d)).astype(float), rng.random(4)
        for x, reward in zip(rows, y, strict=False):
            learn_row(stack.models, slot, pad_rows(x), 0, stack.n_features, float(reward))
        grams.append(np.eye(d) + rows.T @ rows)
        moments.append(rows.T @ y[: len(rows)])
    upper = np.sort(rng.random(n).round(digits))[::-1].copy()
    lower = np.minimum(upper, rng.random(n).round(digits))
    x, place = rng.integers(0, 2, (n, d)).astype(float), rng.permutation(n)
    table = make_score_table(np.arange(n) * stack.block, place, lower, upper)

    winner, skipped = decide_lin_ucb(stack.models, pad_rows(x).ravel(), table, d, 0.7, floor)

    expected = [
        row @ np.linalg.solve(A, b) + 0.7 * np.sqrt(row @ np.linalg.solve(A, row))
        for row, A, b in zip(x, grams, moments, strict=True)
    ]
    final = np.minimum(expected, upper)
    if floor:
        final = np.maximum(final, lower)
    looked = n - skipped
    assert table[:looked, FREE_SCORE] == pytest.approx(expected[:looked], abs=1e-9)
    assert table[:looked, SCORE] == pytest.approx(final[:looked], abs=1e-9)
    assert np.isnan(table[looked:, SCORE]).all()
    assert (table[looked:, LIN_UCB_VERSION] == -1).all()
    assert final[winner] == pytest.approx(final.max(), abs=1e-9)
    assert (upper[looked:] < final.max() + 1e-9).all()
    rivals = [i for i in range(n) if final[i] > final.max() - 1e-9]
    assert expected[winner] == pytest.approx(max(expected[i] for i in rivals), abs=1e-9)


def test_what_is_scored_is_not_scored_again() -> None:
    """A score is kept until its model learns: here a wrong one is kept on purpose."""
    stack = RidgeStack(1)
    slot, x = stack.push(Ridge.make_untrained(1, 1.0)), np.array([1.0] + [0.0] * 7)
    table = make_score_table([slot], [0], -np.inf, np.inf)
    table[0, FREE_SCORE], table[0, LIN_UCB_VERSION] = 7.0, 0.0

    for expected in (7.0, 1.0 / 2 + np.sqrt(1 / 2)):
        decide_lin_ucb(stack.models, x, table, 1, 1.0, False)
        assert table[0, FREE_SCORE] == pytest.approx(expected)
        learn_row(stack.models, slot, x, 0, stack.n_features, 1.0)


def test_what_must_be_seen_round_by_round_is_not_played() -> None:
    environment = FiniteEnvironment(CONTEXTS, ARMS, np.full((4, 4), 0.5))
    contexts, uniforms = np.zeros((1, 3), np.int64), np.zeros((1, 3))
    seeds = np.zeros(1, np.uint64)

    def played(policy: LinUCB, environment: FiniteEnvironment = environment) -> object:
        return policy.play(environment, contexts, uniforms, seeds)

    elsewhere = FiniteEnvironment(((0, 7), *CONTEXTS[1:]), ARMS, environment.means)
    text = FiniteEnvironment((("tall", 0), *CONTEXTS[1:]), ARMS, environment.means)
    assert played(LinUCB(prior=table())) is not None
    assert played(LinUCB(prior=table(), watch=True)) is None
    assert played(LinUCB(prior=table()), elsewhere) is None
    assert played(LinUCB(arms=ARMS), text) is None
    assert played(LinUCB()) is None
    assert played(LinUCB(arms=[*ARMS, (7, 7)])) is None
    assert played(LinUCB(arms=ARMS, reward_range=(0, 0.5))) is None
    ragged = LinUCB(arms=ARMS, features=lambda context, _: [1.0] * (1 + sum(context)))  # type: ignore[arg-type]
    assert played(ragged) is None


def test_playing_leaves_the_policy_as_it_was() -> None:
    policy = LinUCB(prior=table(0.2))
    policy.learn(policy.decide((0, 0)), 1.0)
    before = policy.state()
    environment = FiniteEnvironment(CONTEXTS, ARMS, np.full((4, 4), 0.5))

    assert BatchLayout.of(policy.spec, policy.monitor.prior, environment) is not None
    policy.play(
        environment, np.zeros((1, 9), np.int64), np.zeros((1, 9)), np.zeros(1, np.uint64)
    )

    assert policy.state() == before
