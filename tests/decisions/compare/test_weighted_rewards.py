"""Weighted rewards: their means by hand, and lower ends that hold whatever the law is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from boundit.bounds.reward import OutsideRange
from boundit.core.errors import OptionError
from boundit.counts.log import read_log
from boundit.decisions.compare.policies import ReadPolicy, read_side
from boundit.decisions.compare.weighted_rewards import (
    BadPropensity,
    PropensityRows,
    RewardModel,
    WeightedRewards,
    aim_bets,
    bound_mean_below,
    count_propensity_rows,
    learn_means,
    shrink_model,
    spread_bets,
    weigh_rewards,
)
from boundit.results.bound_table import BoundTable

N_ARMS, N_CONTEXTS = 3, 2


def make_law(rng: np.random.Generator) -> tuple[PropensityRows, np.ndarray, np.ndarray]:
    """An exact law of contexts, arms and 0/1 rewards; its means and shares."""
    shares = rng.dirichlet(np.ones(N_CONTEXTS))
    propensities = rng.dirichlet(np.ones(N_ARMS), size=N_CONTEXTS)
    means = rng.random((N_CONTEXTS, N_ARMS))
    c, a, y = (at.ravel() for at in np.indices((N_CONTEXTS, N_ARMS, 2)))
    n = shares[c] * propensities[c, a] * np.where(y == 1, means[c, a], 1 - means[c, a])
    rows = PropensityRows(
        tuple((i,) for i in range(N_CONTEXTS)),
        tuple((i,) for i in range(N_ARMS)),
        c,
        a,
        y.astype(float),
        propensities[c, a],
        n,
        exact=True,
        adaptive=False,
    )
    return rows, means, shares


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("modelled", [False, True])
def test_the_mean_of_weighted_rewards_is_the_difference_of_values(
    seed: int, *, modelled: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows, means, shares = make_law(rng)
    new, old = (rng.dirichlet(np.ones(N_ARMS), size=N_CONTEXTS) for _ in range(2))
    above = below = None
    if modelled:  # a wrong model changes the spread, and not the mean
        least = np.full((N_CONTEXTS, N_ARMS), rows.propensities.min())
        model = RewardModel(rng.random((N_CONTEXTS, N_ARMS)), least)
        above, below = (shrink_model(d, model, 1_000) for d in (new - old, old - new))
    truth = float((shares[:, None] * (new - old) * means).sum())
    found = weigh_rewards(rows, new - old, baseline=above)
    assert found.mean == pytest.approx(truth)
    assert (found.numbers >= 0).all()
    turned = weigh_rewards(rows, old - new, baseline=below)
    assert turned.mean == pytest.approx(-truth)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_log_did_is_added_or_taken_off(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, means, shares = make_law(rng)
    policy = rng.dirichlet(np.ones(N_ARMS), size=N_CONTEXTS)
    value = float((shares[:, None] * policy * means).sum())
    earned = float(rows.n @ rows.rewards)
    assert weigh_rewards(rows, policy, logged=-1).mean == pytest.approx(value - earned)
    assert weigh_rewards(rows, -policy, logged=1).mean == pytest.approx(earned - value)


def test_numbers_stay_above_zero_however_small_propensities_are() -> None:
    rng = np.random.default_rng(3)
    rows, _, _ = make_law(rng)
    tiny = replace(rows, propensities=np.full_like(rows.propensities, 1e-9))
    new, old = (rng.dirichlet(np.ones(N_ARMS), size=N_CONTEXTS) for _ in range(2))
    plain = weigh_rewards(tiny, new - old)
    weights = (new - old)[tiny.contexts, tiny.arms] / 1e-9
    f = np.where(new < old, 1.0, 0.0)
    base = ((new - old) * f).sum(axis=1)
    raw = weights * (tiny.rewards - f[tiny.contexts, tiny.arms]) + base[tiny.contexts]
    assert (raw + plain.shift >= -1e-12).all()
    assert plain.shift <= 1


def test_policies_that_agree_vary_nowhere() -> None:
    rows, _, _ = make_law(np.random.default_rng(4))
    found = weigh_rewards(rows, np.zeros((N_CONTEXTS, N_ARMS)))
    assert found.mean == 0
    assert np.ptp(found.numbers) == 0


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize(
    ("numbers", "chances"),
    [
        ([0.0, 1.0], [0.7, 0.3]),
        ([0.0, 40.0], [0.99, 0.01]),
        ([0.9, 1.1], [0.5, 0.5]),
        ([0.0, 1.0, 500.0], [0.5, 0.499, 0.001]),
    ],
)
def test_lower_ends_miss_no_more_often_than_they_say(
    numbers: list[float], chances: list[float], *, adaptive: bool
) -> None:
    rng = np.random.default_rng(5)
    x, p = np.array(numbers), np.array(chances)
    bets = spread_bets(300, 0.1, adaptive=adaptive)
    missed = sum(
        bound_mean_below(x, rng.multinomial(300, p).astype(float), 0.1, bets) > x @ p
        for _ in range(100)
    )
    assert missed <= 20  # of 10 at most on average


def test_the_lower_end_is_where_the_bets_have_won_enough() -> None:
    x, n = np.array([0.0, 0.5, 3.0]), np.array([50.0, 30.0, 20.0])
    bets = spread_bets(100, 0.05, adaptive=False)
    low = bound_mean_below(x, n, 0.05, bets)
    shares = np.minimum(0.98, np.sqrt(2 * np.log(20) / 100) * 2.0 ** np.arange(-4, 6))
    won = [(n * np.log(1 - s + s * x / low)).sum() for s in shares]
    assert logsumexp(won) - np.log(10) == pytest.approx(np.log(20))
    assert bound_mean_below(np.zeros(2), np.ones(2), 0.05, bets) == 0


def test_a_pilot_aims_bets_and_narrows_intervals() -> None:
    x, n = np.array([0.0, 1.0]), np.array([50_000.0, 50_000.0])
    pilot = WeightedRewards(x, n / 100, 0.0)
    radius = 1.96 * 0.5 / np.sqrt(100_000)
    aimed, spread = (
        (0.5 - bound_mean_below(x, n, 0.025, bets)) / radius
        for bets in (aim_bets(pilot, 1e5, 0.025), spread_bets(1e5, 0.025, adaptive=False))
    )
    assert 1.3 < aimed < 1.5 < spread < 1.8


def test_a_pilot_that_shows_nothing_leaves_bets_spread() -> None:
    nothing = WeightedRewards(np.zeros(2), np.ones(2), 0.0)
    empty = WeightedRewards(np.ones(2), np.zeros(2), 0.0)
    for pilot in (nothing, empty):
        assert len(aim_bets(pilot, 100, 0.05).shares) == 10


def test_aimed_bets_miss_no_more_often_than_they_say() -> None:
    rng = np.random.default_rng(8)
    x, p = np.array([0.0, 2.0, 10.0]), np.array([0.7, 0.27, 0.03])
    missed = 0
    for _ in range(100):
        pilot = WeightedRewards(x, rng.multinomial(50, p).astype(float), 0.0)
        bets = aim_bets(pilot, 400, 0.1)
        missed += bound_mean_below(x, rng.multinomial(400, p).astype(float), 0.1, bets) > x @ p
    assert missed <= 20  # of 10 at most on average


def test_means_are_learned_and_drawn_towards_their_arm() -> None:
    rows, means, _ = make_law(np.random.default_rng(6))
    many = replace(rows, n=rows.n * 1e9)
    assert learn_means(many) == pytest.approx(means, abs=1e-4)
    none = replace(rows, n=rows.n * 0)
    assert learn_means(none) == pytest.approx(0.5)


def test_rows_are_split_without_losing_any() -> None:
    rows, _, _ = make_law(np.random.default_rng(7))
    many = replace(rows, n=np.rint(rows.n * 10_000))
    pilot, rest = many.split(np.random.default_rng(0), 0.25)
    assert (pilot.n + rest.n == many.n).all()
    assert pilot.total == pytest.approx(2_500, abs=200)


TABLE = BoundTable.from_rows(
    [{"X": x, "lower": 0, "upper": 10} for x in ("a", "b")],
    outcome="Y",
    treatments=["X"],
    outcome_range=(0, 10),
)


def test_rows_are_read_with_their_propensities() -> None:
    log = read_log({"X": ["a", "b", "b"], "Y": [0, 5, 10], "p": [0.25, 0.75, 0.75]})
    rows = count_propensity_rows(log, TABLE, "p")
    assert sorted(rows.rewards.tolist()) == [0, 0.5, 1]
    assert rows.total == 3
    given = read_side({"a": 0.25, "b": 0.75}, TABLE, [()], "policy")
    assert isinstance(given, ReadPolicy)
    same = count_propensity_rows(log, TABLE, given)
    assert sorted(same.propensities.tolist()) == [0.25, 0.75, 0.75]


@pytest.mark.parametrize(
    ("column", "said"),
    [([0.5, 0.0], "has 0; a propensity"), ([0.5, 1.5], "has 1.5"), (["x", "y"], "no numbers")],
)
def test_propensities_that_cannot_be_are_refused(column: list[object], said: str) -> None:
    log = read_log({"X": ["a", "b"], "Y": [0, 5], "p": column})
    with pytest.raises(BadPropensity, match=said):
        count_propensity_rows(log, TABLE, "p")


def test_an_arm_that_the_given_propensities_rule_out_is_refused() -> None:
    log = read_log({"X": ["a", "b"], "Y": [0, 5]})
    given = read_side("a", TABLE, [()], "policy")
    assert isinstance(given, ReadPolicy)
    with pytest.raises(BadPropensity, match="rule out"):
        count_propensity_rows(log, TABLE, given)


def test_rewards_outside_their_range_and_doubled_names_are_refused() -> None:
    log = read_log({"X": ["a", "b"], "Y": [0, 50], "p": [0.5, 0.5]})
    with pytest.raises(OutsideRange):
        count_propensity_rows(log, TABLE, "p")
    with pytest.raises(OptionError, match="variable of the question"):
        count_propensity_rows(log, TABLE, "Y")
