"""What a set of fitted worlds says of itself."""

import json

import pytest

from boundit.simulation.fitted.fit_worlds import fit_worlds
from boundit.simulation.fitted.world_set import FittedWorlds
from boundit.simulation.worlds import flipped_world

MINE = flipped_world()
WORLDS = fit_worlds(MINE.graph, MINE.query, MINE.exact_log(), n=3, confidence=None)


def test_it_is_a_sequence_of_worlds() -> None:
    assert len(WORLDS) == 3
    assert list(WORLDS) == [WORLDS[0], *WORLDS[1:]]


def test_spread_is_the_covered_share_of_the_bounds() -> None:
    key = ((0, 0), (0,))
    means = [world.means()[key] for world in WORLDS]

    assert WORLDS.reached[key] == (min(means), max(means))
    shares = [
        min((most - least) / (bound.upper_estimate - bound.lower_estimate), 1)
        for (least, most), bound in zip(
            WORLDS.reached.values(), WORLDS.bounds.bounds.values(), strict=True
        )
    ]
    assert WORLDS.spread == pytest.approx(sum(shares) / len(shares))


def test_one_world_covers_nothing() -> None:
    assert FittedWorlds(WORLDS.worlds[:1], WORLDS.bounds, 0.01).spread == 0


def test_text_and_record_say_how_near_and_what_was_left_out() -> None:
    left = FittedWorlds(WORLDS.worlds, WORLDS.bounds, 0.01, too_far=2, outside=1)

    assert "left out: 2 further from the log, 1 with a mean outside the bounds" in str(left)
    assert "left out" not in str(WORLDS)
    record = json.loads(json.dumps(WORLDS.record()))
    assert record["tolerance"] == 0.01
    assert record["worlds"][0]["distance"] == WORLDS[0].distance
