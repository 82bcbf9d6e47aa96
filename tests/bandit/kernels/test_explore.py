"""The floor of exploration in whole runs, against single calls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bandit.all_policies import ARMS, NAMES, POLICIES_WITH_OPTIONS, make, table
from tests.bandit.batches import ENVIRONMENT, draw_runs
from tests.bandit.environments import BatchCase, batch_cases, play_one_by_one


@pytest.mark.parametrize("name", NAMES)
def test_whole_runs_that_explore_pull_what_decide_and_learn_do(name: str) -> None:
    """Arms that bounds or contrasts rule out are explored too."""
    kind, needed = POLICIES_WITH_OPTIONS[name]

    @settings(deadline=None, max_examples=8)
    @given(batch_cases(rounds=40), st.sampled_from([0.1, 0.5, 1.0]))
    def hold(case: BatchCase, explore: float) -> None:
        policy = kind(**needed, **case.options, explore=explore)
        pulls = policy.play(case.environment, case.contexts, case.uniforms, case.seeds)
        assert pulls is not None
        assert pulls.tolist() == play_one_by_one(policy, case).tolist()

    hold()


@pytest.mark.parametrize("name", NAMES)
def test_the_share_of_rounds_that_explore_is_the_one_asked_for(name: str) -> None:
    """Bounds that leave one arm: all others are played to explore alone, and alike."""
    contexts, uniforms, seeds = draw_runs(4, 500)

    pulls = make(name, prior=table(0.001), explore=0.4).play(
        ENVIRONMENT, contexts, uniforms, seeds
    )

    counts = np.bincount((pulls - ENVIRONMENT.means.argmax(axis=1)[contexts]).ravel() % 4)
    spread = 4 * np.sqrt(2000 * 0.1 * 0.9)
    assert len(ARMS) == 4
    assert np.abs(counts[1:] - 200).max() < spread
