"""Ratios of sums on every log of a few rows: an end misses no more often than its error.

All logs are rows of one table, so that the claims on all of them are made at once.
"""

from collections.abc import Sequence
from math import log

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.claims import ratio_claims
from boundit.bounds.claims.penalties import draw_blocks
from boundit.bounds.claims.ratio_claims import N_STEPS, RatioClaims
from boundit.bounds.claims.read_ratio import (
    THRESHOLD,
    UNKNOWN,
    CountedPilot,
    CountedRest,
    RatioPilot,
    RatioRest,
    SummedPilot,
    SummedRest,
)
from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_layout import LevelNames, lay_out
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import NamedArray
from tests.bounds.claims.logs import Floats, Law, Logs, draw_hard_laws, list_logs

ORDERS = 3
"""In how many random orders the rows of every log are bet on."""


def make_arrays(shares: Floats, rows: float | Floats, n_logs: int, *, split: bool) -> SumArrays:
    """Make the levels before the last of ``w, x, y``: ``P(w)``, and ``P(x | w)`` if ``split``.

    ``shares`` are counts by log, ``w`` and ``x``, times what makes ``rows`` of them.
    """
    counts = shares * rows
    levels = [LevelNames(frozenset("w"), frozenset(("log",)))]
    numbers = [
        LevelNumbers(
            NamedArray(("log",), counts.sum((1, 2))), NamedArray(("log", "w"), counts.sum(2))
        )
    ]
    axes = ("log", THRESHOLD)
    if split:
        levels.append(LevelNames(frozenset(), frozenset(("log", "w"))))
        one = NamedArray(("log", "w"), counts[:, :, 1])
        numbers.append(LevelNumbers(NamedArray(("log", "w"), counts.sum(2)), one))
    levels.append(LevelNames(frozenset(), frozenset(("log", "w"))))
    sizes = {"log": n_logs, "w": 2, THRESHOLD: 1}
    settings = ArraySettings(sizes, Workspace.make_default())
    return SumArrays.from_numbers(lay_out(levels, axes), numbers, settings)


def tell_pilot(law: Law, values: Floats | None, *, split: bool) -> RatioPilot:
    """Make a pilot that knows the law, as if the rest had four rows."""
    joint = law.joint[None] + 1e-6
    joint = joint / joint.sum((1, 2, 3), keepdims=True)
    arrays = make_arrays(joint.sum(3), 4.0, 1, split=split)
    below = joint[:, :, 1].sum(2) if split else joint.sum((2, 3))
    rows, chosen = 4.0 * below[:, None], joint[:, :, 1] / below[..., None]
    if values is not None:
        share = chosen.sum(2)[:, None]
        middle = np.full((1, 1), 0.5)
        return RatioPilot(arrays, SummedPilot(rows, share, 0.1), middle, UNKNOWN)
    lost, won = (chosen[:, None, :, y] for y in (0, 1))
    top, whole = (part.sum((1, 2))[:, None] for part in (joint[:, :, 1, 1:], joint[:, :, 1]))
    last = CountedPilot(rows, (lost, won, 1 - lost - won))
    return RatioPilot(arrays, last, top / whole, 100.0)


def read_rest(logs: Logs, values: Floats | None, *, split: bool) -> RatioRest:
    """Read the ratio ``sum_w P(w) P(x, y | w) / sum_w P(w) P(x | w)`` at the arm 1."""
    counts = logs.counts
    n_logs = len(counts)
    arrays = make_arrays(counts.sum(3), 1.0, n_logs, split=split)
    kept = counts[:, :, 1:] if split else counts
    mass = arrays.weights[-1].sum(axis=2)
    if split:
        lost = np.where(arrays.find_rows(1) > 0, 0.0, arrays.weights[1])
        mass = mass + lost.sum(axis=2)
    if values is not None:
        arm = counts[:, None, :, 1]
        last = SummedRest(kept.sum((2, 3))[:, None], arm.sum(-1), arm @ values, arm @ values**2)
        return RatioRest(arrays, last, mass)
    flat = kept.reshape(n_logs, 2, -1)

    def part(block: Floats) -> tuple[Floats, ...]:
        rows, lost, won = (block.sum(-1), block[..., -2], block[..., -1])
        return tuple(each[:, None] for each in (lost, won, rows - lost - won))

    blocks = draw_blocks(flat, np.random.default_rng(4))
    return RatioRest(arrays, CountedRest(tuple(map(part, blocks)), part(flat)), mass)


def repeat(logs: Logs, times: int) -> Logs:
    """List every log so many times, each with its part of the probability."""
    return Logs(
        logs.names,
        np.tile(logs.counts, (times, 1, 1, 1)),
        np.tile(logs.probability, times) / times,
    )


def find_truth(law: Law, values: Floats) -> float:
    """Find the ratio at the arm 1: any where the arm is never taken."""
    arm = law.joint[:, 1]
    return float((arm @ values).sum() / max(arm.sum(), 1e-300))


def find_ends(
    law: Law, rows: int, log_error: float, values: Floats | None, *, split: bool
) -> tuple[Sequence[Floats], Floats]:
    """Find both ends on every log, and the logs' probabilities."""
    logs = repeat(list_logs(law, rows), 1 if values is not None else ORDERS)
    pilot = tell_pilot(law, values, split=split)
    claims = RatioClaims(pilot, read_rest(logs, values, split=split), by_range=split)
    error = np.full(1, log_error)
    ends = [
        claims.bound(claims.choose(error, upper=upper), error, upper=upper)
        for upper in (False, True)
    ]
    return ends, logs.probability


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("numeric", [False, True])
def test_ends_hold_on_every_log(
    numeric: bool, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thresholds tried in order miss once at most, merged levels or not, numeric or not."""
    for name in ("N_STEPS", "FINE_STEPS", "LEAST_STEPS"):
        monkeypatch.setattr(ratio_claims, name, 24)
    values = np.array([0.0, 0.5, 1.0]) if numeric else None
    known = np.array([0.0, 1.0]) if values is None else values
    informed = 0
    for law in draw_hard_laws("wxy", (2, 2, len(known)), draws=1):
        truth = find_truth(law, known)
        for a in (0.2, 0.5, 0.8):
            (low, high), chance = find_ends(law, 4, log(1 / a), values, split=split)
            informed += int((low > 0).any()) + int((high < 1).any())
            assert chance @ (low > truth + 1e-9) <= a + 1e-9
            assert chance @ (high < truth - 1e-9) <= a + 1e-9
    assert informed


def draw_napkin(rows: int, arm: float, seed: int) -> tuple[dict[str, Floats], Floats]:
    """Draw a log of the napkin whose arm 1 has a chance of about ``arm``."""
    rng = np.random.default_rng(seed)
    hidden, other = rng.integers(2, size=(2, rows))
    w = rng.random(rows) < 0.3 + 0.3 * hidden + 0.2 * other
    r = rng.random(rows) < 0.4 + 0.2 * w
    x = rng.random(rows) < arm * (0.6 + 0.4 * r + 0.4 * hidden)
    y = rng.random(rows) < 0.2 + 0.4 * x + 0.2 * other
    columns = {"W": w, "R": r, "X": x, "Y": y}
    truth = np.array([0.3, 0.7])
    return {name: column.astype(int) for name, column in columns.items()}, truth


NAPKIN = "W -> R -> X -> Y; W <-> X; W <-> Y"


def test_ratio_is_far_narrower_than_boxes() -> None:
    """At 5,000 rows the napkin's interval is not one of worst cases of each cell."""
    columns, truth = draw_napkin(5_000, 0.5, 3)
    table = bd.derive_bounds(
        bd.parse_graph(NAPKIN),
        bd.parse_query("Y | do(X)"),
        bd.read_log(columns),
        confidence=0.95,
    )
    for bound, mean in zip(table.bounds.values(), truth, strict=True):
        assert bound.lower < mean < bound.upper
        assert bound.upper - bound.lower < 0.2


def test_numeric_rewards_have_ratios_too() -> None:
    """Rewards between 0 and 1 are bounded from their sums and squares."""
    columns, truth = draw_napkin(5_000, 0.5, 3)
    columns["Y"] = 0.2 + 0.6 * columns["Y"]
    columns["Y"][::2] += 0.1
    table = bd.derive_bounds(
        bd.parse_graph(NAPKIN),
        bd.parse_query("Y | do(X)"),
        bd.read_log(columns),
        outcome_range=(0, 1),
        confidence=0.95,
    )
    for bound, mean in zip(table.bounds.values(), truth, strict=True):
        assert bound.lower < 0.25 + 0.6 * mean < bound.upper
        assert bound.upper - bound.lower < 0.25


@pytest.mark.parametrize("arm", [0.0, 0.002, 0.02])
def test_a_bottom_near_zero_holds(arm: float) -> None:
    """An arm that is hardly ever taken has wide ends, which still hold."""
    for seed in range(15):
        columns, truth = draw_napkin(400, arm, seed)
        columns["X"][0] = 1 if not columns["X"].any() else columns["X"][0]
        table = bd.derive_bounds(
            bd.parse_graph(NAPKIN),
            bd.parse_query("Y | do(X)"),
            bd.read_log(columns),
            confidence=0.95,
        )
        lower, upper = (
            list(table.bounds.values())[1].lower,
            list(table.bounds.values())[1].upper,
        )
        assert arm == 0 or lower <= truth[1] <= upper
        assert upper - lower > 0.3


def test_steps_are_chosen_on_the_pilot_alone() -> None:
    """Other rewards of the rest move no threshold and no scale."""
    law = draw_hard_laws("wxy", (2, 2, 2), draws=1)[-1]
    logs = list_logs(law, 4)
    pilot = tell_pilot(law, None, split=False)
    turned = Logs(logs.names, logs.counts[..., ::-1], logs.probability)
    error = np.full(1, log(20))
    one, other = (
        RatioClaims(pilot, read_rest(each, None, split=False), by_range=False).choose(
            error, upper=False
        )
        for each in (logs, turned)
    )
    assert one.steps.shape[-1] == N_STEPS
    np.testing.assert_array_equal(one.steps, other.steps)
    np.testing.assert_array_equal(one.scale, other.scale)
    assert (np.diff(one.steps, axis=-1) >= 0).all()
