"""The paper end to end: draw, select, bound, compare, play, and judge what it claims."""

from collections.abc import Callable
from dataclasses import dataclass

from boundit.simulation.environments import paper_environment
from boundit.simulation.regret import Regret
from boundit_research.online.pruning import PrunedPairs, count_pruned
from boundit_research.online.study import ROUNDS, RUNS, OnlineStudy, run_online_study
from boundit_research.online.theorem6 import run_theorem6
from boundit_research.paper.claims import JudgedClaim, judge_paper_claims
from boundit_research.paper.offline_bounds import POINTS, OfflineStudy, run_offline_study

TIES = 20_000
"""Runs of Theorem 6's counterexample, each of 200 rounds."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything that was recomputed, and what it says of the paper's claims."""

    offline: OfflineStudy
    online: OnlineStudy
    near_tie: Regret
    pruned: tuple[PrunedPairs, ...]
    claims: tuple[JudgedClaim, ...]
    seed: int


def reproduce_paper(
    *,
    points: int = POINTS,
    runs: int = RUNS,
    rounds: int = ROUNDS,
    seed: int = 0,
    quick: bool = False,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Reproduction:
    """Recompute the paper's tables, studies and claims; the same seed gives the same numbers.

    ``quick`` plays a third of the runs. ``progress`` is called with how far it is.
    """
    offline = run_offline_study(points=points, seed=seed)
    online = run_online_study(
        runs=runs, rounds=rounds, points=points, seed=seed, quick=quick, progress=progress
    )
    near_tie = run_theorem6(runs=TIES // 3 if quick else TIES, seed=seed)
    claims = judge_paper_claims(offline, online, near_tie)
    pruned = count_pruned(paper_environment())
    return Reproduction(offline, online, near_tie, pruned, claims, seed)
