"""LinUCB_CP and LinUCB_Biased: LinUCB that believes some estimates before it starts."""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS, CONTEXTS, compute_reward, mean, play, table

POINTS = table(0.0)
COUNTED = replace(
    POINTS,
    bounds={k: replace(b, n=1 + i % 4) for i, (k, b) in enumerate(POINTS.bounds.items())},
)
SPEC = BanditSpec.of(prior=POINTS, arms=None, context=None, reward_range=None)


@pytest.mark.parametrize("shared", [False, True])
def test_a_pseudo_row_is_worth_one_reward_of_that_size(shared: bool) -> None:
    warm = LinUCB(prior=table(None), shared=shared, warm_start=WarmStart(POINTS, rows=3))
    taught = LinUCB(prior=table(None), shared=shared)
    encoding = FeatureEncoding.of(SPEC)
    for arm in ARMS:
        for context in CONTEXTS:
            x = tuple(encoding.encode(context, arm).tolist())
            for i in range(3):
                told = Decision(f"{arm} {context} {i}", arm, context, x, {})
                taught.learn(told, mean(arm, context))

    for context in CONTEXTS:
        one, two = warm.decide(context), taught.decide(context)
        assert one.arm == two.arm
        assert one.index == pytest.approx(two.index)


def test_full_counts_weigh_each_cell_by_its_rows() -> None:
    model = WarmStart(COUNTED, "counts").start(FeatureEncoding.of(SPEC), (1, 1), 5, 1.0)

    rows = [bound.n for (arm, _), bound in COUNTED.bounds.items() if arm == (1, 1)]
    assert model.A[0, 0] == 1 + sum(rows)


def test_cells_without_a_point_are_left_out() -> None:
    unknown = WarmStart(table(0.1), 5).start(FeatureEncoding.of(SPEC), None, 5, 2.0)

    np.testing.assert_array_equal(unknown.A, 2 * np.eye(5))


def test_it_comes_back_with_the_state_and_counts_once_when_merged() -> None:
    policy = LinUCB(prior=table(None), warm_start=WarmStart(POINTS, 10))
    one, two = policy.fresh(), policy.fresh()
    for i, decision in enumerate(play(policy, 40)):
        (one, two)[i % 2].learn(decision, compute_reward(decision))

    merged = one.merged(two)

    assert LinUCB.from_state(policy.state()).state() == policy.state()
    for arm in ARMS:
        whole = policy.statistics.get_model(arm, 5)
        np.testing.assert_allclose(merged.statistics.get_model(arm, 5).A, whole.A, atol=1e-9)
        np.testing.assert_allclose(merged.statistics.get_model(arm, 5).b, whole.b, atol=1e-9)


@pytest.mark.parametrize(
    ("estimates", "rows", "line"),
    [
        (POINTS, 0, "rows must be a number above 0"),
        (POINTS, "all", "rows must be a number above 0"),
        ({}, 1, "estimates must be a BoundTable of points"),
    ],
)
def test_what_is_no_start_is_refused(estimates: BoundTable, rows: float, line: str) -> None:
    with pytest.raises(BadOption, match=line):
        WarmStart(estimates, rows)
