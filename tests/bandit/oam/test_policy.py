"""OAM and OAM-PCB as policies (Algorithm 5): against plain NumPy, and by what they promise."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from boundit.bandit.errors import BadFeatures, BadOption, DamagedState
from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.oam.policy import OAM, Branch, compute_width
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable
from tests.bandit.oam.plain_oam import PlainOAM

AGES, ARMS = ((0,), (1,)), (("A",), ("B",), ("C",))
MEANS: Mapping[Key, float] = {
    ((arm,), (age,)): 0.2 + 0.4 * (arm == "B") + 0.1 * (arm == "C") + 0.1 * age
    for arm in "ABC"
    for age in (0, 1)
}


def table(half_width: float) -> BoundTable:
    rows = [
        {
            "Arm": arm[0],
            "Age": age[0],
            "lower": max(0.0, mean - half_width),
            "upper": min(1.0, mean + half_width),
        }
        for (arm, age), mean in MEANS.items()
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["Arm"], context=["Age"], outcome_range=(0, 1)
    )


def make(half_width: float | None = None, **options: Any) -> OAM:
    if half_width is not None:
        return OAM(table(half_width), **options)
    return OAM(arms=["A", "B", "C"], context={"Age": (0, 1)}, **options)


def play(policy: OAM, rounds: int, seed: int = 0, prefix: str = "") -> list[tuple[Any, ...]]:
    """Context, arm and branch of every round."""
    rng, found = np.random.default_rng(seed), []
    for t in range(rounds):
        age = int(rng.integers(2))
        decision = policy.decide(age, id=f"{prefix}{t}")
        found.append((age, decision.arm, decision.branch))
        mean = MEANS.get((decision.arm_values, (age,)), 0.5)
        policy.learn(decision, float(rng.random() < mean))
    return found


def encode(context: Context, arm: Arm) -> list[float]:
    return [1.0, float(context[0]), float(arm == ("B",)), float(arm == ("C",))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("half_width", "options"),
    [
        (None, {"horizon": 300, "sigma2": 0.02}),
        (None, {"epsilon": None, "c": 0.5, "sigma2": 0.05}),
        (0.22, {"horizon": 300, "sigma2": 0.02}),
        (0.3, {"sigma2": 0.01, "epsilon": 0.2}),
    ],
)
def test_every_round_is_that_of_plain_numpy(
    half_width: float | None, options: dict[str, Any]
) -> None:
    """Branch, arm and scores of Algorithm 5, written anew with NumPy's inverse and sorts."""
    rng, policy, met = np.random.default_rng(3), make(half_width, **options), set[str]()
    bounds = policy.prior.table.bounds if policy.prior.table else {}
    ends = {key: (bound.lower, bound.upper) for key, bound in bounds.items()}
    given = {"horizon": None, **options}
    plain = PlainOAM(ARMS, encode, bounds=ends, **given)
    for t in range(250):
        context = AGES[rng.integers(2)]

        decision = policy.decide(context[0], id=str(t))

        branch, index, free = plain.choose(context)
        met.add(branch)
        assert decision.branch == branch
        assert list(decision.scores) == [arm for (arm,) in index]
        found = [decision.scores[arm] for (arm,) in index]
        np.testing.assert_allclose(found, list(index.values()), rtol=2e-5, atol=1e-6)
        played = decision.arm_values
        best = max(index.values())
        assert index[played] == pytest.approx(best, rel=2e-5, abs=1e-6)
        ties = [arm for arm, one in index.items() if one == best]
        if played in ties:  # the higher before bounds, up to rounding
            assert free[played] == pytest.approx(max(free[arm] for arm in ties), rel=1e-5)
        reward = float(rng.random() < MEANS[played, context])
        policy.learn(decision, reward)
        plain.learn(context, played, reward, decision.branch)
    assert len(met) >= 3


def test_every_branch_is_taken_and_in_the_end_it_exploits() -> None:
    """Lines 4 to 25, after a start of as many rounds as there are features (D-32)."""
    rounds = play(make(horizon=900, sigma2=0.1), 900)

    branches = Counter(branch for *_, branch in rounds)
    assert branches[Branch.START] == 4
    assert set(branches) == set(Branch)
    assert [branch for *_, branch in rounds[-100:]].count(Branch.EXPLOIT) > 80
    assert all(arm == "B" for _, arm, branch in rounds[600:] if branch == Branch.EXPLOIT)


def test_the_width_is_the_printed_formula() -> None:
    """After eq. (17); log(1/delta) with delta = 1/n is log n."""
    n, d = 1000, 4
    printed = 2 * (1 + 1 / np.log(n)) * np.log(n) + 3 * d * np.log(d * np.log(n))

    assert compute_width(1000.0, 1 / n, d, 3.0, 0.25) == pytest.approx(printed / 4)
    assert compute_width(1.0, 1.0, 1, 0.0, 0.25) == 0.0


def environment() -> FiniteEnvironment:
    means = np.array([[MEANS[arm, age] for arm in ARMS] for age in AGES])
    ends = np.stack([means, np.ones_like(means)], axis=-1)
    return FiniteEnvironment(AGES, ARMS, np.array([1.0, 0.0]), ends, means)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("half_width", "options"),
    [
        (None, {"sigma2": 0.001}),
        (0.15, {"horizon": 600, "epsilon": None}),
        (0.3, {"horizon": 600, "sigma2": 0.02, "explore": 0.2}),
    ],
)
def test_whole_runs_are_those_of_single_calls(
    half_width: float | None,
    options: dict[str, Any],
    late: bool,
) -> None:
    """Also where rewards come late: a reward counts for the branch its own round took."""
    rng, policy, rounds = np.random.default_rng(1), make(half_width, **options), 600
    contexts, uniforms = rng.integers(2, size=(1, rounds)), rng.random((1, rounds))
    comes = np.arange(rounds) + (rng.integers(40, size=rounds) if late else 0)
    order = np.argsort(comes, kind="stable")
    due = np.searchsorted(comes[order], np.arange(rounds), side="right")
    arrivals = (order[None], due[None], np.full((1, rounds), np.nan)) if late else None
    seeds = np.array([7], np.uint64)

    found = policy.play(environment(), contexts, uniforms, seeds, None, arrivals)

    alone, decisions, came, expected = policy.clone(seed=7), [], 0, []
    for t in range(rounds):
        decisions.append(alone.decide(AGES[contexts[0, t]], id=str(t)))
        expected.append(ARMS.index(decisions[-1].arm_values))
        for s in order[came : due[t]].tolist():
            mean = MEANS[decisions[s].arm_values, AGES[contexts[0, s]]]
            alone.learn(decisions[s], float(uniforms[0, s] < mean))
        came = int(due[t])
    assert found is not None
    assert found[0].tolist() == expected


def test_a_reward_counts_for_the_branch_its_decision_took() -> None:
    """Line 11: s(t) counts rounds that explored when they were decided, however late."""
    policy = make(horizon=600, sigma2=0.05)
    play(policy, 6)
    early = policy.decide(0)
    assert early.branch in (Branch.WASTED, Branch.FORCED, Branch.UNWASTED)
    # Rewards as different as can be tell the arms apart soon.
    while (decision := policy.decide(0)).branch != Branch.EXPLOIT:
        policy.learn(decision, float(decision.arm == "B"))
    state = json.loads(json.dumps(policy.state()))

    def count(late: Any) -> float:
        again = OAM.from_state(state)
        again.learn(late, 1.0)
        return float(again.arrays.progress[0] - policy.arrays.progress[0])

    assert count(early) == 1
    assert count(decision) == 0
    assert count(policy.adopt(0, "A", id="another's")) == 0


def test_bounds_that_say_nothing_change_no_pull() -> None:
    assert play(make(horizon=200), 200) == play(make(1.0, horizon=200), 200)


def test_an_arm_below_the_lower_bound_of_another_is_never_pulled() -> None:
    """D-34: not by force, not for its share, not at the start."""
    policy = make(0.12, horizon=100)

    rounds = play(policy, 100)

    assert {arm for _, arm, _ in rounds} == {"B"}
    assert [branch for *_, branch in rounds].count(Branch.START) == 2  # two directions are left
    assert set(policy.decide(0).scores) == {"B"}
    assert policy.decide(0).propensities == {"A": 0, "B": 1, "C": 0}


def test_deciding_changes_nothing_and_a_repeated_reward_counts_once() -> None:
    policy = make(horizon=100)
    play(policy, 30)
    before = policy.state()

    decision = policy.decide(1, id="x")
    assert policy.decide(1, id="x") == decision
    assert policy.state() == before
    policy.learn(decision, 1.0)
    once = policy.state()
    policy.learn(decision, 1.0)
    assert policy.state() == once


@pytest.mark.parametrize("half_width", [None, 0.25])
def test_a_restored_policy_goes_on_bit_for_bit(half_width: float | None) -> None:
    policy = make(half_width, horizon=300, epsilon=None, c=0.5)
    play(policy, 100)

    again = OAM.from_state(json.loads(json.dumps(policy.state())))

    assert play(policy, 60, 1, "more") == play(again, 60, 1, "more")
    assert policy.state() == again.state()


def test_a_users_features_are_given_again_and_have_one_length() -> None:
    def own(age: object, arm: object) -> list[float]:
        return [float(arm == "A"), float(arm != "A"), float(age == 1)]

    policy = OAM(arms=["A", "B"], context=["Age"], horizon=50, features=own)
    play(policy, 20)

    again = OAM.from_state(policy.state(), features=own)
    assert play(policy, 20, 1, "more") == play(again, 20, 1, "more")
    with pytest.raises(DamagedState, match="give its function again, features="):
        OAM.from_state(policy.state())
    uneven = OAM(arms=["A", "B"], features=lambda _, arm: [1.0] * (1 + (arm == "B")))
    with pytest.raises(BadFeatures, match="are 2 numbers"):
        uneven.decide()


def test_policies_that_parted_merge_into_what_one_would_know() -> None:
    start = make(horizon=200)
    play(start, 40)
    one, two = OAM.from_state(start.state()), OAM.from_state(start.state())
    both = OAM.from_state(start.state())
    for part, seed, name in ((one, 1, "one"), (two, 2, "two")):
        rng = np.random.default_rng(seed)
        for t in range(25):
            decision = part.decide(int(rng.integers(2)), id=f"{name} {t}")
            reward = float(rng.random() < 0.5)
            part.learn(decision, reward)
            both.learn(decision, reward)

    merged = one.merge(two, since=start)

    assert merged.n_learned == 90
    for name in OAM.additive[:-1]:
        added, expected = getattr(merged.arrays, name), getattr(both.arrays, name)
        np.testing.assert_allclose(added, expected, atol=1e-9)
    while merged.decide(0).branch == Branch.EXPLOIT:
        merged.learn(merged.decide(0), 1.0)
    merged.learn(merged.decide(0), 1.0)  # an exploration: the allocation is worked out
    assert np.isfinite(list(merged.decide(0).scores.values())).all()


def test_other_bounds_take_effect_at_once() -> None:
    policy = make(1.0, horizon=100)
    play(policy, 20)

    policy.refresh(table(0.12))

    assert {arm for _, arm, _ in play(policy, 20, 1, "after")} == {"B"}


def test_a_refresh_with_further_levels_keeps_what_was_learned() -> None:
    policy = make(1.0, horizon=400)
    play(policy, 200)
    rows = [*table(1.0).rows(), {"Arm": "0", "Age": 0, "lower": 0.0, "upper": 1.0}]
    rows += [{"Arm": "0", "Age": 1, "lower": 0.0, "upper": 1.0}]
    wider = BoundTable.from_rows(
        rows, outcome="Y", treatments=["Arm"], context=["Age"], outcome_range=(0, 1)
    )

    policy.refresh(wider)

    first = policy.decide(0)
    assert (first.branch, first.arm) == (Branch.START, "0")  # nothing tells anything of it
    policy.learn(first, 0.0)
    assert all(branch != Branch.START for *_, branch in play(policy, 20, 1, "after"))


def test_rewards_of_another_range_and_another_direction_are_played_alike() -> None:
    """Widths and the smallest gap scale with the range; a low reward may be the good one."""
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"arms": ["A", "B"], "horizon": 150}
    unit, cents = OAM(**options), OAM(reward_range=(0, 128), **options)
    costs = OAM(goal="min", **options)
    for t in range(150):
        decisions = [policy.decide(id=str(t)) for policy in (unit, cents, costs)]
        assert len({decision.arm for decision in decisions}) == 1
        reward = float(rng.random() < (0.4 if decisions[0].arm == "A" else 0.6))
        unit.learn(decisions[0], reward)
        cents.learn(decisions[1], 128 * reward)
        costs.learn(decisions[2], 1.0 - reward)


@pytest.mark.parametrize(
    "options", [{"c": -1}, {"sigma2": 0}, {"epsilon": -0.1}, {"features": 3}, {"horizon": 0}]
)
def test_options_that_make_no_policy_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        OAM(arms=["A"], **options)
