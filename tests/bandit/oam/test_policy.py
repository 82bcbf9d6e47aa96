"""OAM and OAM-PCB as policies (Algorithm 5)."""

import json
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest

from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.oam.policy import OAM
from boundit.bandit.oam.round import Branch, MatchingConstants, set_horizon
from boundit.bandit.policy import Policy
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable
from tests.bandit import all_policies
from tests.bandit.batches import ENVIRONMENT, assert_plays_alike, draw_runs

MEANS: Mapping[Key, float] = {
    ((arm,), (age,)): 0.2 + 0.5 * (arm == "B") + 0.1 * age for arm in "AB" for age in (0, 1)
}
BEST: Mapping[Context, float] = {(age,): 0.7 + 0.1 * age for age in (0, 1)}


def table(half_width: float, means: Mapping[Key, float] = MEANS) -> BoundTable:
    rows = [
        {
            "Arm": arm[0],
            "Age": at[0],
            "lower": max(0.0, mean - half_width),
            "upper": min(1.0, mean + half_width),
        }
        for (arm, at), mean in means.items()
    ]
    return BoundTable.from_rows(
        rows, outcome="Y", treatments=["Arm"], context=["Age"], outcome_range=(0, 1)
    )


def played(
    policy: OAM, rounds: int, seed: int = 0, names: str | None = None
) -> tuple[list[Arm], Counter[Branch], float]:
    """Which arms were pulled, how often each branch was taken, and the regret."""
    rng = np.random.default_rng(seed)
    arms, branches, regret = [], Counter[Branch](), 0.0
    for t in range(rounds):
        context = (int(rng.integers(2)),)
        decision = policy.decide(context, id=names and f"{names} {t}")
        branches[Branch(decision.branch or "")] += 1
        mean = MEANS[decision.arm, context]
        policy.learn(decision, float(rng.random() < mean))
        arms.append(decision.arm)
        regret += BEST[context] - mean
    return arms, branches, regret


def test_it_is_a_policy() -> None:
    assert isinstance(OAM(arms=["A", "B"]), Policy)


def test_every_branch_is_taken_and_in_the_end_it_exploits() -> None:
    """Lines 4 to 25, after a start of as many rounds as there are features (D-32)."""
    policy = OAM(arms=["A", "B"], context={"Age": (0, 1)}, horizon=600)

    _, branches, regret = played(policy, 600)

    assert branches[Branch.START] == 3
    assert set(branches) == set(Branch)
    assert branches[Branch.EXPLOIT] > 300
    assert regret < 0.25 * 600 * 0.5
    explored = (Branch.WASTED, Branch.FORCED, Branch.UNWASTED)
    assert policy.statistics.explorations == sum(branches[b] for b in explored)


@pytest.mark.parametrize("half_width", [None, 1.0, 0.15, 0.03])
@pytest.mark.parametrize("epsilon", [0.01, None])
def test_whole_runs_are_those_of_single_calls(
    half_width: float | None, epsilon: float | None
) -> None:
    prior = None if half_width is None else all_policies.table(half_width)
    policy = OAM(horizon=300, epsilon=epsilon, sigma2=0.02, prior=prior)

    assert_plays_alike(policy.fresh(arms=all_policies.ARMS, context=["U1", "U2"]))


def test_an_environment_whose_features_are_refused_is_not_played_in_batches() -> None:
    def own(_: Context, arm: Arm) -> list[float]:
        return [1.0] * (1 + (arm == (1, 1)))

    policy = OAM(horizon=9, arms=all_policies.ARMS, context=["U1", "U2"], features=own)

    assert policy.play(ENVIRONMENT, *draw_runs(1, 3)) is None
    assert (
        OAM(horizon=9, prior=all_policies.table(), watch=True).play(
            ENVIRONMENT, *draw_runs(1, 3)
        )
        is None
    )


def test_a_reward_counts_for_the_branch_its_decision_took() -> None:
    """Line 11: s(t) counts rounds that explored when they were decided, however late."""
    policy = OAM(arms=["A", "B"], context={"Age": (0, 1)}, horizon=600, sigma2=0.05)
    played(policy, 5)
    early = policy.decide((0,))
    assert early.branch in (Branch.WASTED, Branch.FORCED, Branch.UNWASTED)
    # Rewards as different as can be tell the arms apart soon.
    while (decision := policy.decide((0,))).branch != Branch.EXPLOIT:
        policy.learn(decision, float(decision.arm == ("B",)))
    before = policy.statistics.explorations

    policy.learn(early, 1.0)
    assert policy.statistics.explorations == before + 1
    # One that does not say is judged as the policy stands.
    policy.learn(all_policies.change(policy.decide((0,)), branch=None, id="silent"), 1.0)
    assert policy.statistics.explorations == before + 1


def test_bounds_that_say_nothing_change_no_pull() -> None:
    options = {"context": {"Age": (0, 1)}, "arms": ["A", "B"]}
    plain = OAM(horizon=200, **options)  # type: ignore[arg-type]

    assert played(plain, 200)[0] == played(OAM(horizon=200, prior=table(1.0)), 200)[0]


def test_an_arm_below_the_lower_end_of_another_is_never_pulled() -> None:
    """D-34: not by force, not for its share, not at the start."""
    policy = OAM(horizon=100, prior=table(0.2))

    arms, branches, regret = played(policy, 100)

    assert set(arms) == {("B",)}
    assert regret == 0.0
    assert branches[Branch.START] == 2  # the kept arms span two directions
    assert all(arm == ("B",) for _, arm in policy.statistics.allocation)


def test_a_decision_names_what_the_prior_did() -> None:
    policy = OAM(horizon=400, prior=table(0.26))
    played(policy, 400)

    decision = policy.decide((0,))

    assert decision.branch == Branch.EXPLOIT
    assert decision.arm == ("B",)
    assert set(decision.index) == {("A",), ("B",)}
    assert OAM(horizon=100, prior=table(0.1)).decide((0,)).skipped == 1


def test_deciding_twice_changes_nothing_and_a_repeated_reward_neither() -> None:
    policy = OAM(arms=["A", "B"], context=["Age"], horizon=100)
    played(policy, 30)
    before = policy.state()

    decision = policy.decide((1,), id="x")
    assert policy.decide((1,), id="x") == decision
    assert policy.state() == before
    policy.learn(decision, 1.0)
    once = policy.state()
    policy.learn(decision, 1.0)
    assert policy.state() == once


def test_a_restored_policy_goes_on_bit_for_bit() -> None:
    policy = OAM(arms=["A", "B"], context=["Age"], horizon=300, epsilon=None, c=0.5)
    played(policy, 100)

    again = OAM.from_state(json.loads(json.dumps(policy.state())))

    one, two = played(policy, 60, seed=1), played(again, 60, seed=1)
    assert one == two
    numbers = [p.state()["statistics"] for p in (policy, again)]
    assert numbers[0] == numbers[1]


def test_features_of_ones_own_must_be_given_again() -> None:
    def own(context: Context, arm: Arm) -> list[float]:
        return [float(arm == ("A",)), float(arm == ("B",)), float(context == (1,))]

    policy = OAM(arms=["A", "B"], horizon=50, features=own)
    played(policy, 20)

    again = OAM.from_state(policy.state(), features=own)
    assert played(policy, 20, seed=1)[0] == played(again, 20, seed=1)[0]
    with pytest.raises(DamagedState, match="features= must be given again"):
        OAM.from_state(policy.state())


def test_two_parted_policies_merge_into_what_one_would_know() -> None:
    start = OAM(arms=["A", "B"], context=["Age"], horizon=200)
    played(start, 40)
    one, two = OAM.from_state(start.state()), OAM.from_state(start.state())
    played(one, 20, seed=1, names="one")
    played(two, 30, seed=2, names="two")

    merged = one.merged(two, since=start)

    assert merged.n_learned == 90
    total = sum(p.statistics.rows[0] for p in (one, two) if p.statistics.rows)
    assert start.statistics.rows is not None
    assert merged.statistics.rows is not None
    assert merged.statistics.rows[0] == pytest.approx(total - start.statistics.rows[0])
    assert merged.statistics.rows[1].shape == (3,)
    merged.learn(merged.decide((0,)), 1.0)


def test_a_fresh_policy_takes_the_horizon_it_lacks() -> None:
    unbound = OAM(arms=["A", "B"], context=["Age"])

    bound = unbound.fresh(horizon=50)

    assert bound.decide((0,)).branch == Branch.START
    assert OAM(horizon=9, arms=["A"]).fresh(horizon=50).state()["options"]["horizon"] == 9


def test_other_bounds_take_effect_at_once() -> None:
    policy = OAM(horizon=100, prior=table(1.0))
    played(policy, 20)

    policy.refresh(table(0.2))

    assert set(played(policy, 20, seed=1)[0]) == {("B",)}
    assert policy.refutation is None


def test_rewards_of_another_range_are_played_alike() -> None:
    """Widths and the floor on gaps scale with the range."""
    rng = np.random.default_rng(3)
    unit = OAM(arms=["A", "B"], horizon=150)
    cents = OAM(arms=["A", "B"], horizon=150, reward_range=(0, 128))
    for _ in range(150):
        one, two = unit.decide(), cents.decide()
        assert one.arm == two.arm
        reward = float(rng.random() < (0.4 if one.arm == ("A",) else 0.6))
        unit.learn(one, reward)
        cents.learn(two, 128 * reward)


@pytest.mark.parametrize(
    "options", [{"c": -1}, {"sigma2": 0}, {"epsilon": -0.1}, {"features": 3}, {"horizon": 0}]
)
def test_options_that_make_no_policy_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(BadOption):
        OAM(arms=["A"], **options)  # type: ignore[arg-type]


def test_without_a_horizon_it_plays_for_any_time() -> None:
    """Twice the rounds so far, up to a power of two and at least 1,024."""
    policy = OAM(arms=["A", "B"], context=["Age"])

    found = [
        set_horizon(MatchingConstants(given, 0.0, 0.2, 0.1, 0.1), n).horizon
        for given, n in ((0.0, 0), (0.0, 511), (0.0, 512), (0.0, 5000), (9.0, 5000))
    ]

    assert found == [1024.0, 1024.0, 2048.0, 16384.0, 9.0]
    assert policy.decide((0,)).branch == "start"
    assert policy.fresh(horizon=7).state()["options"]["horizon"] == 7


def test_whole_runs_without_a_horizon_are_those_of_single_calls() -> None:
    assert_plays_alike(OAM(prior=all_policies.table(0.2), sigma2=0.001), runs=1, rounds=620)
