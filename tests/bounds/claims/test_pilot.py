"""Who chooses does not speak: a pilot drawn blindly may choose the scale and the guesses."""

from collections.abc import Callable
from math import comb

import numpy as np
import pytest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.claims.pilot import choose_chance, make_streams, split_sources
from tests.bounds.claims.e_values import FACTORS, SLACK, find_e_values
from tests.bounds.claims.forms import make_back_door
from tests.bounds.claims.levels import Estimate, estimate
from tests.bounds.claims.logs import (
    Floats,
    Law,
    Logs,
    draw_hard_laws,
    list_counts,
    list_logs,
    pair_logs,
)
from tests.bounds.claims.penalties import Payer, bet, pay_hoeffding, pay_range, pay_squares
from tests.bounds.claims.tables import make_bare, make_binary, make_numeric

FORM = make_back_door()
Chooser = Callable[[Floats], tuple[float, float]]
"""Chooses the scale and the first guess from a pilot's counts."""


def choose_least_radius(pilot: Floats) -> tuple[float, float]:
    """Choose the scale by the variance that smoothed pilot counts predict, and the mean."""
    smooth = pilot + 0.25
    arm = smooth[:, 1]
    mean = arm[:, 1] / arm.sum(axis=1)
    weight = smooth.sum(axis=(1, 2)) / smooth.sum()
    spread = float((weight**2 * mean * (1 - mean) / (2 * arm.sum(axis=1))).sum())
    return float(np.sqrt(2 / (spread + 1 / 16))), float(weight @ mean)


def choose_anyhow(pilot: Floats) -> tuple[float, float]:
    """Choose by a number that the pilot seeds."""
    rng = np.random.default_rng(pilot.astype(int).ravel())
    return float(rng.choice(FACTORS)), float(rng.uniform())


def average_over_pilots(
    law: Law, rows: int, size: int, choose: Chooser, *, rest: bool
) -> float:
    """Average e-values over logs and pilots drawn from them without replacement.

    With ``rest`` the other rows speak, otherwise all.
    """
    logs = list_logs(law, rows)
    total = 0.0
    for flat in list_counts(8, size):
        pilot = flat.reshape(2, 2, 2).astype(float)
        holds = (logs.counts >= pilot).all(axis=(1, 2, 3))
        if not holds.any():
            continue
        counts = logs.counts[holds]
        ways = np.vectorize(comb)(counts.astype(int), pilot.astype(int)).prod(axis=(1, 2, 3))
        chance = logs.probability[holds] * ways / comb(rows, size)
        speaking = Logs(logs.names, counts - pilot if rest else counts, chance)
        factor, guess = choose(pilot)
        found = estimate(FORM, law, [speaking] * 2)
        total += speaking.mean(find_e_values(found, factor, bet(guess)))
    return total


@pytest.mark.parametrize("choose", [choose_least_radius, choose_anyhow])
def test_pilot_leaves_e_values(choose: Chooser) -> None:
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=1):
        assert average_over_pilots(law, 5, 2, choose, rest=True) <= 1 + SLACK


def average_over_looked(law: Law, choose: Chooser) -> float:
    """Average e-values over logs of three rows and two more, which choose and then speak.

    The strata's shares are those of the three rows, the means those of all five.
    """
    rest, looked = pair_logs(list_logs(law, 3), list_logs(law, 2))
    every = Logs(rest.names, rest.counts + looked.counts, rest.probability)
    chosen = np.array([choose(counts) for counts in looked.counts])
    total = 0.0
    for factor, guess in {(float(f), float(g)) for f, g in chosen}:
        same = (chosen == (factor, guess)).all(axis=1)
        first, last = (
            Logs(one.names, one.counts[same], one.probability[same]) for one in (rest, every)
        )
        found = estimate(FORM, law, [first, last])
        total += last.mean(find_e_values(found, factor, bet(guess)))
    return total


def choose_by_columns(looked: Floats) -> tuple[float, float]:
    """Choose by a number that strata and arms seed."""
    return choose_anyhow(looked.sum(axis=-1))


def test_columns_of_rows_whose_rewards_speak_may_choose() -> None:
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=2):
        assert average_over_looked(law, choose_by_columns) <= 1 + SLACK


def test_rewards_of_rows_that_were_looked_at_may_not_choose() -> None:
    def choose_by_reward(looked: Floats) -> tuple[float, float]:
        return (3.0 if looked[..., 1].sum() == 2 else 0.1), 0.5

    assert average_over_looked(make_one_cell_law(0.5), choose_by_reward) > 1.03


def test_columns_that_the_value_is_not_given_may_not_choose() -> None:
    """A column that tells of the reward beyond stratum and arm chooses as the reward does."""
    copied = make_one_cell_law(0.5)

    def choose_by_copy(looked: Floats) -> tuple[float, float]:
        copies = looked[..., 1].sum()  # of a column that is always the reward's
        return (3.0 if copies == 2 else 0.1), 0.5

    assert average_over_looked(copied, choose_by_copy) > 1.03
    log = make_binary(("Z", "X", "W"), np.full((2, 2, 2, 2), 40.0))
    split = split_sources(log, ()).log.look_at(frozenset("ZX"), 0.2, np.random.default_rng(0))
    assert split.looked is not None
    assert split.looked.names == frozenset("ZX")
    # Of rows that were looked at W is not known, so that the pilot's alone are counted.
    names = frozenset("ZXW")
    assert (split.count_columns(names).values == split.pilot.marginalize(names).values).all()
    more = split.count_columns(frozenset("Z")).values
    assert more.sum() == split.looked.values.sum() + split.pilot.table.rows
    assert split.looked.values.sum() > 0


def test_looked_at_rows_leave_their_fold_and_speak() -> None:
    counts = draw_counts(np.random.default_rng(7), 2_000)
    split = split_sources(make_binary(NAMES, counts), ()).log
    looked = split.look_at(frozenset(NAMES), 0.1, np.random.default_rng(1))
    assert looked.looked is not None
    left = count(looked.folds[0]).sum(axis=-1)
    assert (left + looked.looked.align(NAMES) == count(split.folds[0]).sum(axis=-1)).all()
    assert looked.rewarded == split.rewarded
    assert looked.undrawn is split.rewarded[0]
    assert split.undrawn is split.folds[0]
    whole = split.look_at(frozenset(NAMES), 1.0, np.random.default_rng(1))
    assert whole.folds == split.folds


def make_one_cell_law(mean: float) -> Law:
    """Make a law with one stratum and one arm."""
    rewards = np.broadcast_to([1 - mean, mean], (2, 2, 2)).copy()
    return Law(("z", "x", "y"), (np.array([1.0, 0.0]), np.array([[0.0, 1.0]] * 2), rewards))


def test_pilot_that_speaks_again_breaks() -> None:
    def choose_by_reward(pilot: Floats) -> tuple[float, float]:
        return (3.0 if pilot[..., 1].sum() == 2 else 0.1), 0.5

    law = make_one_cell_law(0.5)
    assert average_over_pilots(law, 5, 2, choose_by_reward, rest=True) <= 1 + SLACK
    assert average_over_pilots(law, 5, 2, choose_by_reward, rest=False) > 1.08


def pay_nothing(found: Estimate, _place: int, _factor: float) -> Floats:
    """Pay nothing where there is one stratum."""
    return np.zeros(len(found.rows[-1]))


@pytest.mark.parametrize("payer", [bet(0.5), pay_range, pay_squares])
def test_scale_by_rewards_breaks(payer: Payer) -> None:
    """The scale that fits the variance of the very rewards it weighs, ``sqrt(2 L / V)``."""
    law = make_one_cell_law(0.35)
    logs = list_logs(law, 6)
    found = estimate(FORM, law, [logs] * 2)
    ones = found.hits[1][:, 1, 0, 1]
    mean = (ones + 0.25) / 6.5
    scales = np.sqrt(2 * 0.7 * 6 / (mean * (1 - mean)))
    every = np.stack([find_e_values(found, float(s), payer, pay_nothing) for s in scales])
    assert (every @ logs.probability <= 1 + SLACK).all()
    assert logs.mean(np.diagonal(every)) > 1.1


def test_scale_by_counts_of_first_levels_breaks() -> None:
    """With two levels the counts of ``given`` are random too: they may not choose the scale."""
    reward = np.zeros((2, 2, 2))
    reward[0, :, 0] = reward[1, :, 1] = 1
    law = Law(("z", "x", "y"), (np.full(2, 0.5), np.array([[0.0, 1.0]] * 2), reward))
    logs = list_logs(law, 4)
    found = estimate(FORM, law, [logs] * 2)
    by_factor = [
        find_e_values(found, f, bet(1.0, worth=1e9), pay_hoeffding) for f in (0.1, 1.0)
    ]
    many = found.shares[0][:, 1] > 0.5
    assert logs.mean(np.where(many, by_factor[1], by_factor[0])) > 1.02


NAMES = ("Z", "X")


def draw_counts(rng: np.random.Generator, rows: int) -> Floats:
    """Draw counts of two strata, two arms and the rewards, all alike."""
    return rng.multinomial(rows, np.full(8, 1 / 8)).reshape(2, 2, 2).astype(float)


def count(source: BinaryReward) -> Floats:
    """Count a source by everything it has."""
    names = (*NAMES, "Y") if source.outcome else NAMES
    return source.marginalize(source.names).align(names)


@pytest.mark.parametrize("rows", [30, 300])
def test_rest_is_not_biased_over_logs(rows: int) -> None:
    """One stream for all logs left a mean off by .3 of its standard error."""
    rng = np.random.default_rng(0)
    off = list[Floats]()
    for _ in range(800):
        split = split_sources(make_binary(NAMES, draw_counts(rng, rows)), ()).log
        rest, pilot = count(split.folds[0]), count(split.pilot)
        kept = 1 - choose_chance(rows)
        off.append(np.stack([rest - kept * rows / 8, pilot - (1 - kept) * rows / 8]))
    moved = np.array(off)
    z = moved.mean(axis=0) / (moved.std(axis=0) / np.sqrt(len(moved)))
    assert np.abs(z).max() < 4.5


def test_bets_are_drawn_anew_for_every_log() -> None:
    """A fixed stream would put a success first in every log with some share of them."""
    rng = np.random.default_rng(1)
    firsts = [
        make_streams([make_binary(NAMES, draw_counts(rng, 40))], 2)[1].random()
        for _ in range(400)
    ]
    assert abs(np.mean(firsts) - 0.5) < 4.5 * np.sqrt(1 / 12 / 400)


def test_same_log_is_drawn_alike() -> None:
    counts = draw_counts(np.random.default_rng(2), 500)
    one, two = (split_sources(make_binary(NAMES, counts), (), n_folds=2) for _ in range(2))
    assert (count(one.log.pilot) == count(two.log.pilot)).all()
    assert (count(one.log.folds[1]) == count(two.log.folds[1])).all()
    total = count(one.log.pilot) + sum(count(fold) for fold in one.log.folds)
    assert (total == counts).all()
    assert one.log.rewarded == one.log.folds


def test_rewards_do_not_move_a_numeric_pilot() -> None:
    """All numeric rewards speak: they must have no say in which rows are the pilot's."""
    rng = np.random.default_rng(3)
    rewards = np.array([0.0, 0.3, 1.0])
    counts = rng.multinomial(90, np.full(12, 1 / 12)).reshape(2, 2, 3).astype(float)
    log = make_numeric(NAMES, counts, rewards)
    other = make_numeric(NAMES, counts[..., ::-1], rewards)
    pilots = [split_sources(source, ()).log.pilot for source in (log, other)]
    assert (count(pilots[0]) == count(pilots[1])).all()
    assert pilots[0].outcome is None


def test_exact_law_is_not_split() -> None:
    law = make_bare(("Z",), np.array([0.25, 0.75]), exact=True)
    log = make_binary(NAMES, draw_counts(np.random.default_rng(4), 50))
    split = split_sources(log, [law, log])
    assert split.population[0].is_exact
    assert split.population[0].pilot is law
    # Without selection the log is the population too, and is drawn once.
    assert split.population[1] is split.log
