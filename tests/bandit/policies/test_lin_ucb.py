"""LinUCB-PCB: Lemma 6 as a property, Algorithm 4 against a plain loop that solves."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boundit.bandit.errors import BadOption
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS, CONTEXTS, list_pulls, make, mean, play, table

D = 3
RANGE = (-20.0, 20.0)


@dataclass(frozen=True)
class LinearWorld:
    """Arms with features and coefficients of their own, and right upper ends."""

    features: np.ndarray
    theta: np.ndarray
    slack: np.ndarray

    @property
    def means(self) -> np.ndarray:
        return np.asarray((self.features * self.theta).sum(axis=1))

    @property
    def bounds(self) -> BoundTable:
        uppers = np.minimum(self.means + self.slack, RANGE[1])
        return BoundTable.from_rows(
            [{"Ad": i, "lower": RANGE[0], "upper": u} for i, u in enumerate(uppers)],
            outcome="Y",
            treatments=["Ad"],
            outcome_range=RANGE,
        )


@st.composite
def linear_worlds(draw: st.DrawFn) -> LinearWorld:
    n = draw(st.integers(2, 5))
    numbers = st.floats(-1, 1, width=32)
    return LinearWorld(
        draw(arrays(np.float64, (n, D), elements=numbers)),
        draw(arrays(np.float64, (n, D), elements=numbers)),
        draw(arrays(np.float64, n, elements=st.floats(0, 1, width=32))),
    )


@given(linear_worlds())
def test_an_arm_ruled_out_by_its_bound_is_never_pulled(world: LinearWorld) -> None:
    """Lemma 6. Without noise, alpha = |theta| keeps every index above its mean."""
    policy = LinUCB(
        alpha=float(np.linalg.norm(world.theta, axis=1).max()),
        prior=world.bounds,
        features=lambda _, arm: world.features[int(str(arm[0]))].tolist(),
    )
    for t in range(30):
        decision = policy.decide(id=str(t))
        arm = int(str(decision.arm[0]))
        policy.learn(decision, float(world.means[arm]))

        assert world.bounds[arm, ()].upper >= world.means.max() - 1e-9


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("prior", [None, table(0.15)], ids=["plain", "bounded"])
def test_it_is_algorithm_4(shared: bool, prior: BoundTable | None) -> None:
    """Lines 3-14 with A and b alone and a solve in every round; d = 5."""
    rng, alpha, ridge = np.random.default_rng(2), 0.7, 1.3
    policy = make("LinUCB", prior=prior, alpha=alpha, ridge=ridge, shared=shared)
    keys = {arm: () if shared else arm for arm in ARMS}
    A = {key: ridge * np.eye(5) for key in keys.values()}  # noqa: N806, the paper's letter
    b = {key: np.zeros(5) for key in keys.values()}
    for t in range(150):
        context = CONTEXTS[rng.integers(4)]
        x = {arm: np.array([1.0, *context, *arm]) for arm in ARMS}
        free = {}
        for arm, key in keys.items():
            theta = np.linalg.solve(A[key], b[key])
            width = np.sqrt(x[arm] @ np.linalg.solve(A[key], x[arm]))
            free[arm] = theta @ x[arm] + alpha * width
        cap = {arm: prior[arm, context].upper if prior else np.inf for arm in ARMS}
        index = {arm: min(free[arm], cap[arm]) for arm in ARMS}

        decision = policy.decide(context, id=str(t))

        rivals = [arm for arm in ARMS if index[arm] >= index[decision.arm] - 1e-9]
        assert max(index.values()) == pytest.approx(index[decision.arm], abs=1e-9)
        assert free[decision.arm] >= max(free[arm] for arm in rivals) - 1e-9
        assert decision.index[decision.arm] == pytest.approx(index[decision.arm], abs=1e-9)
        assert decision.features == tuple(x[decision.arm])
        reward = float(rng.random() < mean(decision.arm, context))
        policy.learn(decision, reward)
        key = keys[decision.arm]
        A[key] = A[key] + np.outer(x[decision.arm], x[decision.arm])
        b[key] = b[key] + reward * x[decision.arm]


def test_a_cap_makes_ties_and_the_free_index_settles_them() -> None:
    """D-5: with U = 1 the first indices tie; a bare argmax would follow the order of arms."""
    decision = LinUCB(prior=table(None)).decide((1, 1))

    assert decision.capped == ARMS
    assert set(decision.index.values()) == {1.0}
    assert decision.arm == (1, 1)


def test_text_is_encoded_and_functions_come_back_with_the_state() -> None:
    policy = LinUCB(arms=["new", "old"], context={"Device": ["web", "app"]})
    decision = policy.decide({"Device": "web"})
    assert decision.features == (1.0, 1.0, 1.0)
    assert decision.arm == ("old",)

    def features(context: tuple[object, ...], arm: tuple[object, ...]) -> list[float]:
        return [1.0, float(context == arm)]

    own = LinUCB(arms=["a", "b"], features=features)
    play_once = own.decide("a", id="1")
    own.learn(play_once, 1.0)
    twin = LinUCB.from_state(own.state(), features=features)
    assert twin.decide("b", id="2") == own.decide("b", id="2")


def test_bounds_lower_the_number_of_bad_pulls_here() -> None:
    """Not a theorem (Theorem 6 is false), but what they are for."""
    plain, bounded = (play(make("LinUCB", prior=p), 600) for p in (None, table(0.05)))

    def bad(decisions: list[tuple[Context, Arm]]) -> int:
        best: dict[Context, float] = {c: max(mean(a, c) for a in ARMS) for c in CONTEXTS}
        return sum(mean(a, c) < best[c] for c, a in decisions)

    assert bad(list_pulls(bounded)) < bad(list_pulls(plain))


def test_options_are_judged() -> None:
    with pytest.raises(BadOption, match="alpha must be a number, 0 or more"):
        LinUCB(alpha=-1.0)
