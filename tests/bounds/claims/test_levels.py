"""Sums whose weights are estimated too: all levels in one exponent."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.bounds.claims.e_values import FACTORS, SLACK, LevelPayer, find_e_values
from tests.bounds.claims.forms import (
    make_back_door,
    make_back_door_in_context,
    make_front_door,
    make_joint_share,
    make_two_step,
)
from tests.bounds.claims.levels import Estimate, Level, LevelForm, estimate
from tests.bounds.claims.logs import (
    Floats,
    Law,
    Logs,
    draw_hard_laws,
    list_logs,
    pair_logs,
)
from tests.bounds.claims.penalties import (
    Payer,
    bet,
    pay_hoeffding,
    pay_range,
    pay_spread,
    pay_squares,
)

FORMS = {
    "back door": (make_back_door(), "zxy", 5, 6),
    "three strata": (make_back_door(strata=3), "zxy", 4, 2),
    "front door": (make_front_door(), "xmy", 5, 6),
    "joint share": (make_joint_share(), "zxy", 5, 6),
    "context": (make_back_door_in_context(), "czxy", 4, 1),
    "two-step": (make_two_step(), "zxwvy", 3, 1),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("payer", [bet(0.5), bet(0.1, renew=False), pay_range, pay_squares])
def test_mean_e_value(name: str, payer: Payer) -> None:
    form, columns, rows, draws = FORMS[name]
    for law in draw_hard_laws(columns, [form.sizes[c] for c in columns], draws=draws):
        logs = list_logs(law, rows)
        found = estimate(form, law, [logs] * len(form.levels), other="least")
        for factor in FACTORS:
            for pay in (pay_hoeffding, pay_spread):
                e_values = find_e_values(found, factor, payer, pay)
                assert logs.mean(e_values) <= 1 + SLACK


def find_worst(form: LevelForm, columns: str, rows: int, other: str) -> float:
    """Find the greatest mean e-value over laws and scales, paid by Hoeffding."""
    worst = 0.0
    for law in draw_hard_laws(columns, [form.sizes[c] for c in columns]):
        logs = list_logs(law, rows)
        found = estimate(form, law, [logs] * len(form.levels), other=other)
        for factor in FACTORS:
            mean = logs.mean(find_e_values(found, factor, pay_range))
            worst = max(worst, mean)
    return worst


def test_even_shares_in_holes_break() -> None:
    """A hole before the last level, filled evenly: the front door at an arm never seen."""
    assert find_worst(make_front_door(), "xmy", 4, "even") > 1.25
    assert find_worst(make_front_door(), "xmy", 4, "least") <= 1 + SLACK


def test_smallest_hole() -> None:
    """One row suffices: arm 0 was seen, ``M`` given arm 1 is guessed evenly, truth says 0."""
    form = make_front_door()
    law = Law(
        ("x", "m", "y"),
        (
            np.array([0.9, 0.1]),
            np.array([[0.0, 1.0], [1.0, 0.0]]),
            np.array([[[1.0, 0.0], [0.0, 1.0]]] * 2),
        ),
    )
    logs = list_logs(law, 1)
    means = [
        logs.mean(find_e_values(estimate(form, law, [logs] * 3, other=other), 1.0, pay_range))
        for other in ("even", "least")
    ]
    assert means[0] > 1.02
    assert means[1] <= 1


def test_least_end_over_holes() -> None:
    """Who does not know which value is least takes the least end: no more than the true one."""
    form = make_front_door()
    for law in draw_hard_laws("xmy", (2, 2, 2)):
        logs = list_logs(law, 5)
        found = estimate(form, law, [logs] * 3)
        empty = np.broadcast_to(found.rows[1][:, None] == 0, found.shares[1].shape)
        for factor in FACTORS:
            ends = []
            for value in range(2):
                point = np.eye(2)[value][None, :, None]
                shares = (found.shares[0], np.where(empty, point, found.shares[1]))
                guess = replace(found, shares=(*shares, found.shares[2]))
                ends.append(find_e_values(guess, factor, pay_squares))
            assert logs.mean(np.minimum(*ends)) <= 1 + SLACK


def test_range_read_off_later_shares_breaks() -> None:
    """A factor at a fixed value counts 1 in the range of levels before it, not its share.

    ``sum_z P(z) P(x | z) m``: the share of the arm is known only after ``Z`` was paid for.
    """
    form = make_joint_share()
    copied = Law(
        ("z", "x", "y"), (np.array([0.5, 0.5]), np.eye(2), np.array([[[0.0, 1.0]] * 2] * 2))
    )
    logs = list_logs(copied, 1)
    found = estimate(form, copied, [logs] * 3)

    def pay_share(found: Estimate, place: int, factor: float) -> Floats:
        if place:
            return pay_spread(found, place, factor)
        most: Floats = found.shares[1][:, 1].max(axis=1)
        return pay_hoeffding(found, 0, factor) * most**2

    assert logs.mean(find_e_values(found, 0.9, bet(1.0), pay_share)) > 1.01
    assert logs.mean(find_e_values(found, 0.9, bet(1.0), pay_hoeffding)) <= 1


TWO_SUMS = LevelForm(
    (Level("z"), Level("c"), Level("y", ("z", "c"))), {}, dict.fromkeys("zcy", 2)
)
"""``sum_z,c P(z) P(c) E[Y | z, c]``: fits the order only where Z and C are independent."""


def make_two_columns(copy: float) -> Law:
    """Make a law in which ``c`` copies ``z`` with some probability, and both earn 1."""
    p = np.array([0.3, 0.7])
    tied = copy * np.eye(2) + (1 - copy) * p
    reward = np.zeros((2, 2, 2))
    reward[..., 0] = 1
    reward[1, 1] = 0, 1
    return Law(("z", "c", "y"), (p, tied, reward))


@pytest.mark.parametrize(("pay", "least"), [(pay_spread, 1.2), (pay_hoeffding, 1.02)])
def test_order_condition(pay: LevelPayer, least: float) -> None:
    """Without independence of what was revealed, errors of levels add up and nothing holds.

    Not even ranges are wide enough: the product of shares of the same rows is biased.
    """
    means = []
    for copy in (0.0, 1.0):
        law = make_two_columns(copy)
        logs = list_logs(law, 6)
        found = estimate(TWO_SUMS, law, [logs] * 3)
        payer = bet(1.0, worth=1e9)
        every = [logs.mean(find_e_values(found, f, payer, pay)) for f in FACTORS]
        means.append(max(every))
    assert means[0] <= 1 + SLACK
    assert means[1] > least


def test_fold_restores_the_order() -> None:
    """A level that breaks the order holds again when read off rows of its own."""
    law = make_two_columns(1.0)
    first, second = pair_logs(list_logs(law, 4), list_logs(law, 3))
    found = estimate(TWO_SUMS, law, [first, second, first])
    for factor in FACTORS:
        for payer in (bet(1.0, worth=1e9), pay_squares):
            e_values = find_e_values(found, factor, payer, pay_spread)
            assert first.mean(e_values) <= 1 + SLACK


def test_external_table_comes_first() -> None:
    """Weights of an independent table: a level before all others, with rows of its own."""
    form = make_back_door()
    laws = draw_hard_laws("zxy", (2, 2, 2), draws=3)
    for law, other in pairwise(laws):
        log = Law(law.names, (other.tables[0], *law.tables[1:]))
        census, logs = pair_logs(list_logs(law, 2), list_logs(log, 4))
        found = estimate(form, law, [census, logs])
        for factor in FACTORS:
            for pay in (pay_hoeffding, pay_spread):
                for payer in (bet(0.3), pay_range, pay_squares):
                    e_values = find_e_values(found, factor, payer, pay)
                    assert logs.mean(e_values) <= 1 + SLACK


def test_census_of_the_same_units() -> None:
    """Weights off a census that holds the log's rows too: fine where its column comes first."""
    form = make_back_door()
    for law in draw_hard_laws("zxy", (2, 2, 2), draws=3):
        others, logs = pair_logs(list_logs(law, 2), list_logs(law, 3))
        census = Logs(logs.names, others.counts + logs.counts, logs.probability)
        found = estimate(form, law, [census, logs])
        for factor in FACTORS:
            for payer in (bet(0.3), pay_range, pay_squares):
                e_values = find_e_values(found, factor, payer, pay_spread)
                assert logs.mean(e_values) <= 1 + SLACK


@pytest.mark.parametrize("name", FORMS)
def test_upper_end(name: str) -> None:
    """Upwards the same: holes at 1, the reward's deviations below its mean.

    Not by ``1 - theta`` of the reward ``1 - Y``: weights need not add up to 1.
    """
    form, columns, rows, _ = FORMS[name]
    for law in draw_hard_laws(columns, [form.sizes[c] for c in columns], draws=1):
        logs = list_logs(law, rows)
        found = estimate(form, law, [logs] * len(form.levels), hole=1.0, other="greatest")
        theta = form.find_theta(law)
        for factor in FACTORS:
            cost = sum(
                (pay_spread(found, place, factor) for place in range(len(form.levels) - 1)),
                start=np.zeros(1),
            )
            e_values = pay_range(found, factor) * np.exp(factor * (theta - found.theta) - cost)
            assert logs.mean(e_values) <= 1 + SLACK


def test_two_step_on_four_rows() -> None:
    form = make_two_step()
    for law in draw_hard_laws("zxwvy", [2] * 5, draws=1)[1:4:2]:
        logs = list_logs(law, 4)
        found = estimate(form, law, [logs] * 3, other="least")
        for factor in (1.0, 4.0):
            for payer in (bet(0.5), pay_squares):
                e_values = find_e_values(found, factor, payer, pay_spread)
                assert logs.mean(e_values) <= 1 + SLACK


def test_scale_may_hang_on_rows_of_the_context() -> None:
    """What is revealed before the first level may choose the scale: here the context's rows."""
    form = make_back_door_in_context()
    for law in draw_hard_laws("czxy", [2] * 4, draws=1):
        logs = list_logs(law, 4)
        found = estimate(form, law, [logs] * 2, other="least")
        group = logs.count("c")[:, 1].astype(int)
        for factor in FACTORS:
            e_values = find_e_values(found, factor, pay_squares)
            parts = np.bincount(group, logs.probability * e_values)
            assert (parts <= np.bincount(group, logs.probability) * (1 + SLACK)).all()
