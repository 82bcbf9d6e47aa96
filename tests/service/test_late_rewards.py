"""Under late rewards with a window, the service plays what the simulator plays, pull by pull.

The simulator's counterpart of a window is a reward that comes when it closes: ``delay`` and
``window`` of as many rounds, the default in place of what was lost.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import numpy as np
import pytest

import boundit as bd
from boundit.service.config import PolicyConfig
from boundit.service.store.base import Store
from boundit.service.store.sqlite import SqliteStore
from boundit.simulation.block import RunBlock
from tests.service.kit import SetClock, run_engine, save
from tests.service.late_rewards import NEVER, Heard, play_service

ROUNDS, WINDOW, LOST = 150, 20, 0.2
KINDS = {"TS": bd.TS, "LinUCB": bd.LinUCB, "Fused": bd.Fused}


@pytest.fixture(scope="module")
def world() -> bd.Environment:
    return bd.simulation.paper_environment()


@pytest.fixture(scope="module")
def bounds(world: bd.Environment) -> bd.BoundTable:
    return bd.derive_bounds(world.graph, world.query, world.log(3_000, seed=0))


@pytest.mark.parametrize("kind", list(KINDS))
def test_with_a_window_every_pull_is_that_of_the_simulator(
    kind: str,
    world: bd.Environment,
    bounds: bd.BoundTable,
    open_store: Callable[[], Store],
    clock: SetClock,
) -> None:
    feedback = bd.Feedback(delay=WINDOW, window=WINDOW, missing=LOST, default_reward=0.0)
    chunk = RunBlock(world, 5, range(1), ROUNDS, feedback=feedback)
    assert chunk._arrivals is not None
    simulated = chunk.play(kind, KINDS[kind](prior=bounds), Event())[0]
    rng = np.random.default_rng(1)
    lost = ~np.isnan(chunk._arrivals.defaults[0])
    # Who is lost is told too late, or never; the others come at any time before it closes.
    soon = rng.integers(0, WINDOW, ROUNDS, endpoint=True)
    late = np.where(rng.random(ROUNDS) < 0.5, WINDOW + 5, NEVER)
    heard = Heard(np.where(lost, late, soon).tolist(), [NEVER] * ROUNDS)
    config = PolicyConfig(
        name="p",
        kind=kind,  # type: ignore[arg-type]
        bounds=save(bounds),
        arms=[list(arm) for arm in world.finite.arms],  # type: ignore[arg-type]
        seed=int(chunk._derive_seeds(kind)[0]),
        window=WINDOW + 1,
        default_reward=0.0,
    )
    with run_engine(open_store(), config) as engine:
        played = play_service(engine, clock, "p", chunk, 0, heard)
        report = engine.replay("p", decisions=True)

    assert played.pulls.tolist() == simulated.tolist()
    assert len(set(simulated.tolist())) > 1
    assert played.statuses["pending"] > 0
    assert played.statuses["late"] > 0
    assert report.agrees


def test_learned_at_once_what_comes_sooner_counts_more(
    world: bd.Environment, tmp_path: Path
) -> None:
    """Half of the rewards are successes; with failures 100 rounds late, most of those known."""
    chunk = RunBlock(world, 5, range(1), ROUNDS)
    heard = Heard([0] * ROUNDS, [100] * ROUNDS)
    common = {
        "kind": "UCB",
        "arms": [list(arm) for arm in world.finite.arms],
        "context": ["U1", "U2"],
        "reward_range": (0, 1),
        "seed": 1,
    }
    rates = dict[str, float]()
    for name, options in (
        ("at once", {"learn": "immediately"}),
        ("window", {"window": 101, "default_reward": 0.0}),
    ):
        clock = SetClock()
        config = PolicyConfig(name=name.replace(" ", "-"), **common, **options)  # type: ignore[arg-type]
        with run_engine(SqliteStore(tmp_path / config.name, clock=clock), config) as engine:
            played = play_service(engine, clock, config.name, chunk, 0, heard, look_at=[ROUNDS])
        number, total = played.learned[ROUNDS]
        rates[name] = total / number
    truth = float(world.finite.means.max(axis=1) @ world.shares)

    assert rates["window"] < truth + 0.1
    assert rates["at once"] > truth + 0.15
