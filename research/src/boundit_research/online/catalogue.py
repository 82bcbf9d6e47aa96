"""The online studies by name, each with the size at which its numbers are reported."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.regret import Regret
from boundit_research.online.ceilings import run_ceiling_study
from boundit_research.online.logs import Progress
from boundit_research.online.monitor import run_monitor_study
from boundit_research.online.study import play_world
from boundit_research.online.suite import run_suite_study
from boundit_research.online.theorem6 import run_theorem6

STUDIES: Mapping[str, tuple[Callable[..., Any], int, int]] = {
    "paper": (partial(play_world, paper_environment(), few=500), 2_000, 15_000),
    "flip": (partial(play_world, flipped_environment(), few=500), 2_000, 15_000),
    "suite": (run_suite_study, 1_000, 5_000),
    "monitor": (run_monitor_study, 30, 6_000),
    "theorem6": (run_theorem6, 200_000, 200),
    "ceilings": (run_ceiling_study, 100, 15_000),
}
"""How each study is played, how often, and how many rounds."""


def run_study(
    name: str,
    *,
    runs: int | None = None,
    rounds: int | None = None,
    seed: int = 0,
    progress: Progress = lambda _, __: None,
) -> tuple[Any, Regret | None]:
    """Run a study of ``STUDIES`` by name, at its own size by default.

    Gives what it found, which has a text and a ``record``, and its regret curves if there are any.
    """
    play, usual, long = STUDIES[name]
    found = play(runs=runs or usual, rounds=rounds or long, seed=seed, progress=progress)
    return found, found if isinstance(found, Regret) else getattr(found, "regret", None)
