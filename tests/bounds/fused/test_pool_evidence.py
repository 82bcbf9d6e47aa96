"""Rows that deny a pool: how often they do wrongly, and that they do where they should."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.bounds.fused.pool_evidence import find_denied, weigh_split
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.world import World
from boundit.terms.fused_plan import FusedPlan


def draw_counts(rng: np.random.Generator, chances: np.ndarray, n: int) -> np.ndarray:
    """Rows for all places of some axes, with the chance of a success in each."""
    wins = rng.binomial(n, chances)
    return np.stack([n - wins, wins], axis=-1).astype(float)


@pytest.mark.parametrize("n", [5, 40, 2_000])
def test_a_right_pool_is_seldom_denied(n: int) -> None:
    rng = np.random.default_rng(n)
    chances = np.broadcast_to(rng.uniform(size=(3, 1, 1)), (3, 4, 2))
    wrong = sum(find_denied(draw_counts(rng, chances, n), 1) != () for _ in range(400))
    assert wrong <= 8


def test_evidence_is_how_much_likelier_rows_are_on_average() -> None:
    """Six rows of one level and four of another, by the integrals of their likelihoods."""
    p = (np.arange(200_000) + 0.5) / 200_000
    one, other = p**2 * (1 - p) ** 4, p**3 * (1 - p)
    by_hand = one.mean() * other.mean() / (one * other).mean()
    counts = np.array([[[4.0, 2.0], [1.0, 3.0]]])
    assert weigh_split(counts, [0], [1]) == pytest.approx(np.log(by_hand))


def test_an_axis_that_matters_is_found_and_others_stay_pooled() -> None:
    rng = np.random.default_rng(0)
    chances = np.broadcast_to(np.array([0.3, 0.5]).reshape(1, 1, 2), (2, 3, 2))
    assert find_denied(draw_counts(rng, chances, 300), 1) == (2,)


def test_axes_that_matter_only_together_are_found() -> None:
    rng = np.random.default_rng(0)
    chances = np.array([[[0.2, 0.8], [0.8, 0.2]]])
    assert find_denied(draw_counts(rng, chances, 300), 1) == (1, 2)


def test_a_plan_does_not_pool_arms_that_differ_in_the_log() -> None:
    """The assumed graph denies X -> Y: its cells would give all arms one mean."""
    model = Model.of(
        {
            "X": ([], [0.3, 0.3, 0.4]),
            "W": (["X"], [0.3, 0.5, 0.6]),
            "Y": (["X", "W"], [[0.2, 0.4], [0.5, 0.6], [0.3, 0.8]]),
            "S": (["W"], [0.3, 0.8]),
        },
        selection="S",
    )
    world = World(model, parse_query("Y | do(X)"))
    wrong = parse("X -> W -> Y; W -> [S]")

    assumed = derive_bounds(wrong, world.query, world.log(4_000, seed=1)).pooling
    right = derive_bounds(world.graph, world.query, world.log(4_000, seed=1)).pooling

    assert isinstance(assumed, FusedPlan)
    assert isinstance(right, FusedPlan)
    assert (assumed.cells, assumed.n, assumed.sums) == (right.cells, right.n, right.sums)
    assert "deny that P(Y | do(W)) does not depend on X" in assumed.reasons[-1]
    assert not any("deny" in reason for reason in right.reasons)
    assert (assumed.n_ways, right.n_ways) == (2, 1)
