"""B-TS: draws inside the bounds, arms as often as they are believed best."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from research.benchmarks.propensities import cover_means
from scipy import stats

from boundit.bandit.errors import BadOption
from boundit.bandit.kernels.rng import branch_stream, hash_id, open_stream, wrap_seed
from boundit.bandit.kernels.truncated_draws import draw_truncated_beta
from boundit.bandit.policies.ts import TS
from boundit.terms.bound_table import BoundTable
from tests.bandit.all_policies import ARMS, CONTEXTS, play, share_parts, table
from tests.bandit.batches import ENVIRONMENT, assert_plays_alike, draw_runs
from tests.bandit.plain_laws import CutBeta
from tests.bandit.policies.test_ucb import one_table


def test_every_draw_lies_inside_its_bound() -> None:
    policy = TS(prior=table(0.05), seed=3)

    for decision in play(policy, 200):
        for arm, draw in decision.index.items():
            assert draw in policy.monitor.prior.table[arm, decision.context]  # type: ignore[index]


def expected_draw(wins: float, losses: float, *, seed: int, name: str) -> float:
    """The draw of the first arm, from the kernels themselves."""
    word = np.uint64(open_stream(wrap_seed(seed), hash_id(name)))
    return draw_truncated_beta(wins, losses, 0.0, 1.0, np.uint64(branch_stream(word, 0)))[0]


def test_a_draw_is_one_of_the_beta_belief_on_the_rewards_scale() -> None:
    """Three rewards of 5, 1 and -3 in [-3, 5] are successes of 1, 0.5 and 0."""
    policy = TS(arms=[0], reward_range=(-3, 5), seed=6)
    for i, reward in enumerate((5.0, 1.0, -3.0)):
        policy.learn(policy.decide(id=str(i)), reward)

    decision = policy.decide()
    assert decision.index[0,] == -3 + 8 * expected_draw(1.5, 1.5, seed=6, name=decision.id)
    policy.learn(decision, 5.0)
    drawn = policy.decide(id="9").index[0,]
    assert drawn == -3 + 8 * expected_draw(2.5, 1.5, seed=6, name="9")


def test_draws_over_many_seeds_have_the_law_of_the_belief() -> None:
    """B-TS: Beta(3, 2) cut to [0.3, 0.55]; a draw is capped as often as it lies above."""
    base = TS(prior=one_table([(0.3, 0.55), (0.0, 1.0)], (0, 1)))
    for i, reward in enumerate((1.0, 1.0, 0.0)):
        base.learn(base.decide(arms=[0], id=str(i)), reward)
    draws, capped = [], 0
    for seed in range(2000):
        policy = TS(seed=seed, propensities=False)
        share_parts(policy, base)
        decision = policy.decide(arms=[0])
        draws.append(decision.index[0,])
        capped += decision.capped == ((0,),)

    assert stats.kstest(draws, CutBeta(3, 2, 0.3, 0.55).share_below).pvalue > 1e-3
    above = float(stats.beta(3, 2).sf(0.55))
    assert abs(capped / 2000 - above) < 4 * np.sqrt(above * (1 - above) / 2000)


@pytest.mark.parametrize("prior", [None, table(None), table(0.15), table(0.03)])
def test_whole_runs_are_those_of_single_calls(prior: BoundTable | None) -> None:
    options = {"prior": prior} if prior else {"arms": ARMS, "context": ["U1", "U2"]}

    assert_plays_alike(TS(seed=4, propensities=False, **options))


def test_a_watched_policy_and_a_strange_environment_are_not_played_in_batches() -> None:
    runs = draw_runs(1, 3)

    assert TS(prior=table(0.1), watch=True).play(ENVIRONMENT, *runs) is None
    assert TS(arms=["other"]).play(ENVIRONMENT, *runs) is None
    assert TS(arms=ARMS, context=["Age"]).play(ENVIRONMENT, *runs) is None


@pytest.mark.parametrize(("prior", "reward_range"), [
    (None, None), (one_table([(0.2, 0.6), (0.1, 0.5), (0.0, 1.0)], (0, 1)), None),
    (None, (-3.0, 5.0)),
])  # fmt: skip
def test_arms_are_chosen_with_their_propensity(
    prior: BoundTable | None, reward_range: tuple[float, float] | None
) -> None:
    """Over many seeds each arm is played as often as the decisions say."""
    base = TS(arms=[0, 1, 2], prior=prior, reward_range=reward_range)
    for i, (arm, reward) in enumerate([(0, 1.0), (0, 0.0), (1, 1.0), (2, 0.0)]):
        base.learn(base.decide(arms=[arm], id=str(i)), reward)
    stated: dict[tuple[object, ...], float] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    runs = 800
    for seed in range(runs):
        policy = TS(seed=seed)
        share_parts(policy, base)
        decision = policy.decide()
        counts[decision.arm] += 1
        stated[decision.arm] = decision.propensity or 0.0

    assert sum(stated.values()) == pytest.approx(1, abs=1e-3)
    for played, chance in stated.items():
        spread = np.sqrt(chance * (1 - chance) / runs)
        assert abs(counts[played] / runs - chance) < 4 * spread


def test_an_arm_whose_upper_end_lies_below_another_is_never_played() -> None:
    policy = TS(prior=one_table([(0.0, 0.3), (0.4, 0.9)], (0, 1)), seed=1)

    for i in range(50):
        decision = policy.decide(id=str(i))
        policy.learn(decision, 0.0)
        assert decision.arm == (1,)
        assert decision.propensity == 1.0


def test_a_retry_gives_the_same_arm_until_something_is_learned() -> None:
    policy = TS(arms=range(5), context=["U1", "U2"], seed=9)
    draws = set()
    for i in range(20):
        one, two = policy.decide((0, 0), id="x"), policy.decide((0, 0), id="x")
        assert one == two
        draws.add(one.index[one.arm])
        policy.learn(policy.decide(CONTEXTS[i % 4]), 1.0)
    # What is learned of another context changes nothing here.
    assert 1 < len(draws) <= 6


@pytest.mark.parametrize("seed", [None, 0])
def test_visitors_are_drawn_for_independently_while_no_reward_comes(seed: int | None) -> None:
    """One context, nothing learned in between: arms come as often as they are logged to."""
    policy = TS(arms=[0, 1, 2], seed=seed)
    for i, (arm, reward) in enumerate([(0, 1.0), (1, 0.0), (2, 1.0)]):
        policy.learn(policy.decide(arms=[arm], id=f"first {i}"), reward)
    found = [policy.decide() for _ in range(1000)]

    counts = Counter(decision.arm for decision in found)
    for drawn, chance in {d.arm: d.propensity or 0.0 for d in found}.items():
        assert abs(counts[drawn] / 1000 - chance) < 4 * np.sqrt(chance * (1 - chance) / 1000)
    same = np.mean([one.arm == two.arm for one, two in pairwise(found)])
    expected = sum((n / 1000) ** 2 for n in counts.values())
    assert abs(same - expected) < 4 * np.sqrt(expected * (1 - expected) / 1000)


def test_intervals_from_logged_propensities_cover_though_rewards_come_late() -> None:
    """Twenty logs of three arms: 60 intervals of 95 %, of which 50 miss but once in 10,000."""
    covered = [cover_means(seed, explore=0.3, visitors=800, late=400) for seed in range(20)]

    assert np.sum(covered) >= 50


def test_without_propensities_there_are_none() -> None:
    assert TS(arms=[0, 1], propensities=False).decide().propensity is None
    with pytest.raises(BadOption, match="seed must be a whole number"):
        TS(seed=-1)
