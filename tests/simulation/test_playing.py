"""Who comes and with what luck: the law of the draws, and what they hang on."""

from threading import Event
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from boundit.bandit.ucb import UCB
from boundit.estimand.query import parse_query
from boundit.simulation.model import Model
from boundit.simulation.playing import Chunk, Stopped
from boundit.simulation.world import World
from boundit.simulation.worlds import paper_world
from tests.simulation.seeds import policy_seed

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy


def test_visitors_are_those_of_the_population_and_luck_is_even() -> None:
    """D-40. P(U1 = 1) is 0.4 among all, and 0.444 among the logged."""
    world = paper_world()
    chunk = Chunk.drawn(world, 0, range(20), 4_000)
    counts = np.bincount(chunk.visitors.ravel(), minlength=4) / chunk.visitors.size

    assert counts == pytest.approx(world.shares, abs=0.006)
    assert world.shares == pytest.approx([0.24, 0.36, 0.16, 0.24])
    assert chunk.luck.mean() == pytest.approx(0.5, abs=0.005)
    joint = np.corrcoef(chunk.visitors.ravel(), chunk.luck.ravel())[0, 1]
    assert abs(joint) < 0.015


def test_a_run_hangs_on_its_number_and_the_seed_alone() -> None:
    world = paper_world()
    many, one = (Chunk.drawn(world, 4, runs, 50) for runs in (range(6), range(3, 4)))

    assert np.array_equal(many.visitors[3], one.visitors[0])
    assert np.array_equal(many.luck[3], one.luck[0])
    assert len(np.unique(many.luck[:, 0])) == 6
    assert not np.array_equal(one.luck, Chunk.drawn(world, 5, range(3, 4), 50).luck)


def test_a_context_nobody_brings_is_never_met() -> None:
    tables = {
        "U": ([], [0.5, 0.0, 0.5]),
        "X": (["U"], [0.5, 0.5, 0.5]),
        "Y": (["X", "U"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]),
    }
    world = World(Model.of(tables), parse_query("Y | do(X), U"))  # type: ignore[arg-type]
    chunk = Chunk.drawn(world, 0, range(2), 500)

    assert world.stage.contexts == ((0,), (2,))
    assert world.stage.means.tolist() == [[0.1, 0.4], [pytest.approx(0.3), 0.6]]
    assert set(chunk.visitors.ravel().tolist()) == {0, 1}
    assert chunk.pulls("UCB", UCB(), Event()).shape == (2, 500)


class Compiled:
    """A policy that plays whole runs, and tells what it was given."""

    def fresh(self, **given: object) -> "Compiled":
        self.given = given
        return self

    def play(self, *given: object) -> np.ndarray:
        self.stage, self.visitors, self.luck, self.seeds = given
        assert isinstance(self.visitors, np.ndarray)
        return np.zeros(self.visitors.shape, dtype=np.int64)


def test_a_policy_that_can_plays_whole_runs() -> None:
    world, policy = paper_world(), Compiled()
    chunk = Chunk.drawn(world, 7, range(2, 5), 30)
    pulls = chunk.pulls("it", cast("Policy", policy), Event())

    assert not pulls.any()
    assert policy.stage is world.stage
    assert policy.visitors is chunk.visitors
    assert policy.luck is chunk.luck
    assert policy.seeds.tolist() == [policy_seed("it", run=r, seed=7) for r in (2, 3, 4)]  # type: ignore[attr-defined]
    assert policy.given["horizon"] == 30


def test_nobody_starts_once_it_is_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        Chunk.drawn(paper_world(), 0, range(1), 5).pulls("UCB", UCB(), stop)
