"""Policies in every world that fits a log."""

import json

import pytest

from boundit.bandit.policies.ucb import UCB
from boundit.simulation.fitted.fit_worlds import fit_worlds
from boundit.simulation.fitted.play import FittedRegret, play_fitted
from boundit.simulation.worlds import flipped_world

MINE = flipped_world()


def test_runs_of_all_worlds_are_pooled_and_the_worst_is_named() -> None:
    worlds = fit_worlds(MINE.graph, MINE.query, MINE.exact_log(), n=2, confidence=None)
    heard: list[tuple[str, int, int]] = []
    played = play_fitted(
        worlds,
        {"UCB": UCB()},
        rounds=20,
        runs=3,
        workers=1,
        progress=lambda *step: heard.append(step),
    )

    assert isinstance(played, FittedRegret)
    assert played.pooled.runs == 6
    assert heard[-1] == ("play runs", 6, 6)
    means = [regret.final("UCB").mean() for regret in played.regrets]
    name, most = played.find_worst("UCB")
    assert most == pytest.approx(max(means))
    assert name in str(played)
    record = json.loads(json.dumps(played.record()))
    assert record["worst"]["UCB"]["world"] == name
    assert [each["runs"] for each in record["worlds"]] == [3, 3]
