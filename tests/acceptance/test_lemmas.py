"""The lemmas of the appendix that need a run: 2, 7, 8, 9 and 10, with fixed seeds and margins.

Limits cannot be simulated; for Lemmas 7 and 8 the tests say where the curves stand at a few
horizons, and check the step of the proof that bounds touch.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from boundit.bandit.finite import FiniteEnvironment
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.oam.allocation import SMALLEST_GAP
from boundit.bandit.oam.policy import OAM, Branch, OAMArrays, compute_width, match
from boundit.bandit.ucb import UCB
from boundit.results.bound_table import BoundTable
from boundit.simulation.environments import flipped_environment
from boundit.simulation.policies import OfflineTables
from boundit.simulation.simulate import simulate
from boundit_research.theory import compute_oam_rate, count_ruled_out

if TYPE_CHECKING:
    from boundit.results.bound import Key

NOISE = 0.25
"""The variance proxy of rewards from 0 to 1, for which OAM plays unless told otherwise."""


def make_bounds(*ends: tuple[float, float]) -> BoundTable:
    rows = [{"A": i, "lower": low, "upper": high} for i, (low, high) in enumerate(ends)]
    return BoundTable.from_rows(rows, outcome="Y", treatments=["A"], outcome_range=(0, 1))


def play(
    policy: UCB | OAM, means: Sequence[float], rounds: int, runs: int
) -> tuple[Ints, Floats]:
    """Arms and rewards of whole runs without context, runs x rounds."""
    environment = FiniteEnvironment(
        ((),),
        tuple((i,) for i in range(len(means))),
        np.array([1.0, 0.0]),
        np.array([[[mean, 1.0] for mean in means]]),
        np.array([means]),
    )
    luck = np.random.default_rng(7).random((runs, rounds))
    contexts, seeds = np.zeros((runs, rounds), np.int64), np.zeros(runs, np.uint64)
    fresh = policy.clone(arms=environment.arms, context=(), horizon=rounds)
    pulls = fresh.play(environment, contexts, luck, seeds)
    assert pulls is not None
    return pulls, (luck < np.array(means)[pulls]).astype(np.float64)


def measure_share_outside(
    radius2: Floats, grown: Floats, delta: float, *, with_volume: bool = True
) -> float:
    """The share of runs that ever leave the ellipsoid; runs x rounds."""
    limit = 2 * math.log(1 / delta) + (grown if with_volume else 0.0)
    return float((radius2 > limit).any(axis=1).mean())


def test_the_coefficients_leave_the_ellipsoid_in_at_most_delta_of_the_runs() -> None:
    """Lemma 2, for all rounds at once, with vectors chosen by what was seen before.

    Coefficients are 0, so that the noise alone decides. The promise is not far off: about half
    of delta is used. Without the determinant in the radius it is broken.
    """
    rng, runs, rounds = np.random.default_rng(2), 2_000, 300
    seen, b = np.tile(np.eye(2), (runs, 1, 1)), np.zeros((runs, 2))
    radius2, grown = np.empty((runs, rounds)), np.empty((runs, rounds))
    for t in range(rounds):
        known = np.linalg.inv(seen)
        angle = rng.uniform(0, 2 * math.pi, (runs, 3))
        x = 0.7 * np.stack([np.cos(angle), np.sin(angle)], axis=2)
        spread = np.einsum("rki,rij,rkj->rk", x, known, x)
        index = np.einsum("rki,rij,rj->rk", x, known, b) + np.sqrt(spread)
        row = x[np.arange(runs), index.argmax(axis=1)]
        seen = seen + row[:, :, None] * row[:, None, :]
        b = b + row * rng.normal(size=(runs, 1))
        radius2[:, t] = np.einsum("ri,rij,rj->r", b, np.linalg.inv(seen), b)
        grown[:, t] = np.linalg.slogdet(seen)[1]

    for delta in (0.05, 0.2):
        assert 0.3 * delta < measure_share_outside(radius2, grown, delta) <= delta
        assert measure_share_outside(radius2, grown, delta, with_volume=False) > 2 * delta


class RegretSplit(NamedTuple):
    """What OAM regretted in each run, by branch, and whether an estimate left its band."""

    exploiting: Floats
    exploring: Floats
    off: NDArray[np.bool_]
    share: float
    pulls: Floats


def make_oam(
    n_arms: int, prior: BoundTable | None = None, *, sigma2: float | None = None
) -> OAM:
    """OAM for arms that tell nothing of each other: unit vectors."""
    units = np.eye(n_arms).tolist()
    return OAM(prior=prior, sigma2=sigma2, features=lambda _, arm: units[arm])


def split_regret(
    means: Sequence[float],
    prior: BoundTable | None = None,
    *,
    rounds: int,
    runs: int,
    sigma2: float = NOISE,
) -> RegretSplit:
    """Play unit vectors, and tell by Algorithm 5, line 4, which rounds exploit."""
    n, f = len(means), compute_width(float(rounds), 1 / rounds, len(means), 0.0, sigma2)
    pulls, rewards = play(make_oam(n, prior, sigma2=sigma2), means, rounds, runs)
    pulled = pulls[:, :, None] == np.arange(n)
    # Statistics before each round; the start pulls every arm once (D-32).
    counts = (pulled.cumsum(axis=1) - pulled)[:, n:]
    sums = pulled * rewards[:, :, None]
    found = (sums.cumsum(axis=1) - sums)[:, n:] / counts
    gaps = found.max(axis=2, keepdims=True) - found
    least = np.where(gaps > 1e-5, gaps, np.inf).min(axis=2, keepdims=True)
    exploits = (1 / counts <= np.maximum(gaps, least) ** 2 / f).all(axis=2)
    off = (np.abs(found - np.array(means)) >= np.sqrt(f / counts)).any(axis=(1, 2))
    lost = (max(means) - np.array(means))[pulls]
    exploiting = (lost[:, n:] * exploits).sum(axis=1)
    total = pulled.sum(axis=1).astype(np.float64)
    return RegretSplit(
        exploiting, lost.sum(axis=1) - exploiting, off, float(exploits.mean()), total
    )


def test_exploiting_costs_next_to_nothing_while_estimates_stay_in_their_bands() -> None:
    """Lemma 7: at most 0.1 a run at each horizon, while ever more rounds exploit.

    With a tenth of the noise's variance the estimates leave their bands, and it grows fast.
    """
    means, prior = (0.6, 0.5, 0.3), make_bounds((0.2, 1), (0.2, 0.7), (0.2, 0.55))
    short, long = (split_regret(means, prior, rounds=n, runs=60) for n in (300, 3_000))

    for found in (short, long):
        assert found.off.mean() < 0.1
        assert found.exploiting[~found.off].mean() < 0.1
    assert long.share > 5 * short.share > 0
    rash = [
        split_regret(means, prior, rounds=n, runs=60, sigma2=NOISE / 10) for n in (300, 3_000)
    ]
    assert rash[0].off.mean() > 0.9
    assert rash[1].exploiting.mean() > 3 * rash[0].exploiting.mean() > 3


@cache
def make_arms(n: int) -> OAMArrays:
    """What OAM holds of so many arms that tell nothing of each other, for a horizon of 1,000."""
    units = np.eye(n).tolist()
    policy = OAM(arms=range(n), context=(), horizon=1_000, features=lambda _, arm: units[arm])
    policy.decide()
    arrays: OAMArrays = policy.arrays
    return arrays


def draw_exploiting_round(rng: np.random.Generator, *, drop: bool) -> tuple[bool, bool] | None:
    """Draw a round of Lemma 7's event: whether it pulls the arm of the highest estimate.

    And whether the upper end of the arm pulled lies below the best mean. None if the event does
    not occur. ``drop`` takes arms out whose upper end lies below another's lower end.
    """
    means = rng.random(int(rng.integers(2, 6)))
    lower = means * (1 - rng.random(means.size) ** 2)
    upper = means + (1 - means) * rng.random(means.size) ** 2
    kept = upper >= lower.max() if drop else np.ones(means.size, np.bool_)
    means, lower, upper = means[kept], lower[kept], upper[kept]
    found = rng.normal(means, rng.choice([0.05, 0.2, 0.6]))
    gaps = found.max() - found
    least = gaps[gaps > 0].min(initial=1.0)
    allowed = np.maximum(gaps, least)
    n = means.size
    if n == 1 or (np.abs(found - means) >= allowed).any() or least < SMALLEST_GAP:
        return None
    a = make_arms(n)
    pulls = 1.001 * compute_width(1_000.0, 1e-3, n, 0.0, NOISE) / allowed**2
    a.sums[:n], a.sums[n] = np.diag(pulls), pulls * found
    a.pulls[0], a.bounds[0] = pulls, np.array([lower, upper]).T
    place, branch = match(a, np.eye(n), 0, np.arange(n), a.table[:0])
    assert list(Branch)[branch] == Branch.EXPLOIT
    return place == int(found.argmax()), bool(upper[place] < means.max())


def test_clipping_does_not_change_the_arm_that_is_exploited() -> None:
    """D-42. Lemma 7's proof needs it; it holds once arms that the bounds rule out are gone."""
    rng = np.random.default_rng(0)
    without = [
        r for _ in range(8_000) if (r := draw_exploiting_round(rng, drop=True)) is not None
    ]
    printed = [
        r for _ in range(8_000) if (r := draw_exploiting_round(rng, drop=False)) is not None
    ]

    assert len(without) > 2_000 < len(printed)
    assert all(highest for highest, _ in without)
    assert not all(highest for highest, _ in printed)
    assert any(below for _, below in without)


def measure_rate(means: Sequence[float], prior: BoundTable | None = None) -> float:
    keys: list[Key] = [((i,), ()) for i in range(len(means))]
    units = dict(zip(keys, np.eye(len(means)).tolist(), strict=True))
    return NOISE * compute_oam_rate(units, dict(zip(keys, means, strict=True)), prior)


def test_exploring_costs_the_optimal_value_and_a_little_more() -> None:
    """D-35. Lemma 8 without bounds: 1 to 1.6 times V log(T); the limit is not reached yet.

    Pulls are those the program asks for, to the same margin.
    """
    means = (0.9, 0.5, 0.7)
    for rounds in (1_000, 5_000):
        found = split_regret(means, rounds=rounds, runs=40)
        asked = (
            compute_width(float(rounds), 1 / rounds, 3, 0.0, NOISE)
            / (0.9 - np.array(means[1:])) ** 2
        )

        assert 1 < found.exploring.mean() / (measure_rate(means) * math.log(rounds)) < 1.6
        assert found.exploiting.mean() < 0.01 * found.exploring.mean()
        assert np.all(found.pulls.mean(axis=0)[1:] > 0.9 * asked)
        assert np.all(found.pulls.mean(axis=0)[1:] < 1.6 * asked)


def test_an_arm_below_the_best_mean_is_explored_unless_a_lower_end_tells() -> None:
    """D-43. Lemma 8 with bounds: V is 0, and OAM-PCB pulls the arm as if there were none."""
    means, told, untold = (
        (0.9, 0.5),
        make_bounds((0.7, 1), (0, 0.6)),
        make_bounds((0, 1), (0, 0.6)),
    )
    assert measure_rate(means, untold) == measure_rate(means, told) == 0.0

    for rounds in (1_000, 5_000):
        bounded = split_regret(means, untold, rounds=rounds, runs=40)
        assert bounded.exploring.mean() > measure_rate(means) * math.log(rounds) > 8
        assert np.array_equal(bounded.pulls, split_regret(means, rounds=rounds, runs=40).pulls)
    assert not play(make_oam(2, told), means, 1_000, runs=5)[0].any()


def test_exact_bounds_of_the_flipped_world_leave_oam_as_it_is() -> None:
    """D-43. They halve the pairs with U >= the best mean, and V log(T) from 342 to 85."""
    world = flipped_environment()
    means, exact = world.means(), OfflineTables.from_environment(world, size=2_000).exact
    x = {(arm, context): [1.0, *context, *arm] for arm, context in means}
    plain, bounded = (compute_oam_rate(x, means, b) * math.log(15_000) for b in (None, exact))
    policies = {"OAM": OAM(), "OAM-PCB": OAM(prior=exact)}
    found = simulate(world, policies, rounds=2_000, runs=5)

    assert count_ruled_out(exact, means) == len(means) // 2
    assert plain == pytest.approx(341.9, abs=0.1)
    assert bounded == pytest.approx(85.5, abs=0.1)
    assert np.array_equal(*found.curves)


def compute_index(pulls: Ints, rewards: Floats, arm: int, wide: float) -> Floats:
    """The index of an arm after each of its pulls, runs x rounds; infinite at other rounds."""
    here = pulls == arm
    counts = here.cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        index = (rewards * here).cumsum(axis=1) / counts + wide / np.sqrt(counts)
    return np.where(here, index, np.inf)


@pytest.mark.parametrize("delta", [1 / 1_000**2, 0.1, 0.7])
def test_on_the_good_event_a_worse_arm_is_not_pulled_again(delta: float) -> None:
    """D-37. Lemma 9 run by run: an index falls below the best mean once, and that is all.

    So it is for every u of the event at once. Off the event an arm is pulled that its bound
    rules out.
    """
    means, prior = (0.8, 0.4, 0.5), make_bounds((0.3, 1), (0.1, 0.9), (0.1, 0.6))
    pulls, rewards = play(UCB(delta=delta, sigma=0.5, prior=prior), means, 1_000, runs=400)
    wide = 0.5 * math.sqrt(2 * math.log(1 / delta))
    good = (compute_index(pulls, rewards, 0, wide) > 0.8).all(axis=1)
    often = (compute_index(pulls, rewards, 1, wide) < 0.8).sum(axis=1)

    assert (often[good] <= 1).all()
    assert (pulls[good] != 2).all()
    if delta == 0.1:
        assert 0.8 < good.mean() < 0.9
        assert often[good].any()
    if delta == 0.7:
        assert (pulls[~good] == 2).any()
        assert often[~good].max() > 1


def test_the_printed_count_holds_in_every_run() -> None:
    """Lemma 9 with the u of eq. (45): 3 + 16 log(T) / gap^2, noise of variance proxy 1."""
    pulls, _ = play(UCB(), (0.9, 0.2, 0.3), 2_000, runs=100)

    for arm, gap in ((1, 0.7), (2, 0.6)):
        count = (pulls == arm).sum(axis=1)
        assert 30 < count.max() <= 3 + 16 * math.log(2_000) / gap**2


def measure_failures(rounds: int, delta: float, gap: float, u: int) -> float:
    """How often the good event fails, for normal rewards, whatever is pulled."""
    rng, runs = np.random.default_rng(11), 4_000
    best = rng.normal(size=(runs, rounds)).cumsum(axis=1) / np.arange(1, rounds + 1)
    low = (best + np.sqrt(2 * math.log(1 / delta) / np.arange(1, rounds + 1)) <= 0).any(axis=1)
    worse = rng.normal(-gap, 1 / math.sqrt(u), size=runs)
    return float((low | (worse + math.sqrt(2 * math.log(1 / delta) / u) >= 0)).mean())


def test_the_good_event_fails_as_rarely_as_promised_if_u_is_large_enough() -> None:
    """D-44. Lemma 10 for the smallest u that its proof allows; with u = 1 it does not hold."""
    for rounds, delta, gap, c in (
        (50, 0.002, 2.0, 0.5),
        (50, 0.002, 2.0, 0.25),
        (200, 0.001, 1.0, 0.3),
        (400, 1 / 400**2, 0.8, 0.5),
    ):
        u = math.ceil(2 * math.log(1 / delta) / ((1 - c) * gap) ** 2)
        promised = rounds * delta + math.exp(-u * (c * gap) ** 2 / 2)
        assert u <= rounds
        assert promised < 0.6
        assert measure_failures(rounds, delta, gap, u) <= promised

    assert measure_failures(50, 0.0002, 1.0, u=1) > 0.99 > 50 * 0.0002 + math.exp(-(0.9**2) / 2)
