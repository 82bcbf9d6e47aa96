"""Linear Thompson sampling: the law of the draws, apart and together."""

from collections import Counter
from typing import cast

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption
from boundit.bandit.policies.lin_ts import LinTS
from boundit.bandit.serialization import seal_state
from boundit.terms.bound_table import BoundTable
from boundit.terms.errors import BounditError
from tests.bandit.all_policies import ARMS, play, share_parts, table
from tests.bandit.batches import assert_plays_alike


def learned(*, prior: BoundTable | None, scale: float = 0.5) -> LinTS:
    options = {"prior": prior} if prior else {"arms": ARMS, "context": ["U1", "U2"]}
    policy = LinTS(scale=scale, propensities=False, **options)
    play(policy, 60)
    return policy


def draws(base: LinTS, runs: int, *, propensities: bool = False) -> list[Decision]:
    found = []
    for seed in range(runs):
        policy = LinTS(scale=0.5, seed=seed, propensities=propensities)
        share_parts(policy, base)
        found.append(policy.decide((1, 0)))
    return found


def test_draws_have_the_mean_and_covariance_of_the_belief() -> None:
    base = learned(prior=None)
    rows = np.array([base.statistics.encoding.encode((1, 0), arm) for arm in ARMS])
    models = [base.statistics.get_model(arm, 5) for arm in ARMS]

    found = np.array([[d.index[arm] for arm in ARMS] for d in draws(base, 1500)])

    expected = [x @ model.theta for model, x in zip(models, rows, strict=True)]
    np.testing.assert_allclose(found.mean(axis=0), expected, atol=0.04)
    cov = np.diag([0.25 * x @ m.inverse @ x for m, x in zip(models, rows, strict=True)])
    np.testing.assert_allclose(np.cov(found.T), cov, atol=0.02)


def test_every_draw_lies_inside_its_bound() -> None:
    bounds = table(0.05)
    policy = LinTS(prior=bounds, propensities=False)

    for decision in play(policy, 150):
        for arm, draw in decision.index.items():
            assert draw in bounds[arm, decision.context]


@pytest.mark.parametrize("prior", [None, table(0.2)], ids=["plain", "bounded"])
def test_arms_are_chosen_with_their_propensity(prior: BoundTable | None) -> None:
    base, runs = learned(prior=prior), 400
    found = draws(base, runs, propensities=True)
    counts: Counter[tuple[object, ...]] = Counter()
    stated: dict[tuple[object, ...], list[float]] = {}
    for decision in found:
        arm = decision.arm
        counts[arm] += 1
        stated.setdefault(arm, []).append(decision.propensity or 0.0)
    for arm, chances in stated.items():
        chance = float(np.mean(chances))
        spread = np.sqrt(max(chance * (1 - chance), 0.01) / runs)
        assert abs(counts[arm] / runs - chance) < 4 * spread


@pytest.mark.parametrize("prior", [None, table(None), table(0.15), table(0.03)])
def test_whole_runs_are_those_of_single_calls(prior: BoundTable | None) -> None:
    options = {"prior": prior} if prior else {"arms": ARMS, "context": ["U1", "U2"]}

    policy = LinTS(seed=4, scale=0.4, propensities=False, **options)

    assert_plays_alike(policy)


def test_a_bound_that_cuts_nothing_off_changes_no_draw() -> None:
    """Where no free draw leaves [0, 1], bounded and unbounded draw alike; else within it."""
    plain, cut = (learned(prior=p, scale=0.0) for p in (None, table(None)))
    kept = 0
    for one, two in zip(draws(plain, 60), draws(cut, 60), strict=True):
        for arm, draw in one.index.items():
            if 0 <= draw <= 1 and arm in two.index:
                kept += 1
                assert two.index[arm] == draw
            else:
                assert (arm in two.capped) == (draw > 1 and arm in two.index)
    assert kept > 60


def test_a_zero_vector_is_no_trouble() -> None:
    policy = LinTS(arms=[0, 1], features=lambda _, arm: [float(str(arm[0]))])
    assert policy.decide().index[0,] == 0.0


def test_a_model_that_all_arms_share_is_refused_also_of_a_saved_state() -> None:
    """What it stated as propensities were shares of draws, off by factors where small."""
    state = LinTS(arms=ARMS, context=["U1", "U2"]).state()
    head = ("format", "version", "policy", "checksum")
    body = {name: value for name, value in state.items() if name not in head}
    options = {**cast("dict[str, object]", body["options"]), "shared": True}
    saved = seal_state("LinTS", {**body, "options": options})

    with pytest.raises(BadOption, match=r"^shared must be False for LinTS, .*LinUCB.*$"):
        LinTS(arms=ARMS, context=["U1", "U2"], shared=True)
    with pytest.raises(BounditError, match=r"^[^\n]*shared must be False for LinTS[^\n]*$"):
        LinTS.from_state(saved)
