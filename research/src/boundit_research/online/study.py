"""The paper's online experiment, and the same where bias flips the best arm.

Every policy plays without bounds and with two kinds of them: those of endless logging (exact)
and those of a drawn log, which hold with confidence 0.95. LinUCB also starts from the two
biased estimates of that log, which count for 1, 10, 100 rows a cell or for as many as the log
has. OAM, which solves a program again and again, plays fewer runs: the first ones of the rest.
So do the policies that start from a log of their own in each run, ours among them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boundit.simulation.environment import Environment
from boundit.simulation.environments import flipped_environment, paper_environment
from boundit.simulation.policies import KINDS, PCB, OfflineTables, make_policies
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.simulation.summary import Line
from boundit_research.online.logs import Progress, RunLogs, make_sources, require_all_runs
from boundit_research.online.worlds import Assumed

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

ROUNDS, RUNS, OAM_RUNS, OWN_LOG_RUNS = 15_000, 100, 20, 100
LOGGED = f"{PCB} (log)"
"""What the name of a policy gets when its bounds come from a drawn log."""
ALL = tuple(kind for kind in KINDS if kind != "OAM")
OWN_LOGS = ("LinUCB", f"LinUCB{PCB}", "Fused")
"""Who plays with a log for each run; LinUCB takes nothing from it."""
BLIND = "Fused, rewards alone"
"""How Fused is called where it is told nothing but rewards."""


@dataclass(frozen=True, slots=True)
class WorldRegret:
    """One world: the regret of all policies but OAM, and of OAM beside LinUCB.

    ``own_logs`` are LinUCB, LinUCB-PCB and Fused where every run starts from its own log.
    """

    regret: Regret
    oam: Regret
    own_logs: Regret

    def compare(self, policy: str, than: str) -> Line:
        """Compute how much less one policy regrets than another at the end, with its interval."""
        found = self.regret if policy in self.regret.policies else self.oam
        return found.only(than, policy).summary()[1]

    def record(self) -> dict[str, object]:
        """Write the regrets of all policies, OAM and those with own logs, as a JSON object."""
        return {
            "regret": self.regret.record(),
            "oam": self.oam.record(),
            "own_logs": self.own_logs.record(),
        }

    def __str__(self) -> str:
        return f"{self.regret}\n\n{self.oam}\n\na log for each run; {self.own_logs}"


@dataclass(frozen=True, slots=True)
class OnlineStudy:
    """The paper's world and a flipped one, and the points of the logs they started from."""

    paper: WorldRegret
    flip: WorldRegret
    points: int
    seed: int

    def __str__(self) -> str:
        return f"{self.paper}\n\n{self.flip}"


def run_online_study(
    *,
    runs: int = RUNS,
    rounds: int = ROUNDS,
    oam_runs: int = OAM_RUNS,
    points: int = 30_000,
    seed: int = 0,
    quick: bool = False,
    progress: Progress = lambda _, __: None,
) -> OnlineStudy:
    """Play every policy in the paper's world and in a world where bias flips the best arm.

    The small form of what ``boundit study paper`` and ``flip`` play: bounds of a
    drawn log are given to LinUCB, UCB and OAM alone. ``quick`` plays a third of the runs.
    """
    some, few = (max(2, n // 3) if quick else n for n in (runs, min(oam_runs, runs)))
    own = min(some, OWN_LOG_RUNS)
    each = some + few + 2 * own

    def play(world: Environment, before: int) -> WorldRegret:
        return play_world(
            world,
            runs=some,
            oam_runs=few,
            own_log_runs=own,
            rounds=rounds,
            points=points,
            seed=seed,
            logged=("LinUCB", "UCB"),
            progress=lambda done, of: progress(before + done, 2 * of),
        )

    return OnlineStudy(
        play(paper_environment(), 0), play(flipped_environment(), each), points, seed
    )


def play_world(
    world: Environment,
    *,
    runs: int,
    oam_runs: int = OAM_RUNS,
    own_log_runs: int = OWN_LOG_RUNS,
    few: int | None = None,
    rounds: int = ROUNDS,
    points: int = 30_000,
    seed: int = 0,
    logged: Sequence[str] = ALL,
    progress: Progress = lambda _, __: None,
) -> WorldRegret:
    """Play all policies in one world with exact bounds and without; give their regrets.

    Those in ``logged`` also play with bounds of a drawn log. With ``few``, at most so many runs
    have OAM and logs of their own.
    """
    if few is not None:
        oam_runs = own_log_runs = min(runs, few)
    offline = OfflineTables.from_environment(world, size=points, seed=seed)
    of = runs + oam_runs + 2 * own_log_runs
    exact, both = {PCB: offline.exact}, {PCB: offline.exact, LOGGED: offline.logged}
    policies: dict[str, Policy] = {}
    for kind in ALL:
        policies |= make_policies([kind], both if kind in logged else exact, {})
    estimates = {"CP": offline.cp, "Biased": offline.biased}
    regret = require_all_runs(
        simulate(
            world,
            policies | make_policies([], {}, estimates),
            rounds=rounds,
            runs=runs,
            seed=seed,
            progress=lambda _, done, __: progress(done, of),
        ),
        runs,
    )
    oam = require_all_runs(
        simulate(
            world,
            make_policies(["LinUCB"], {}, {}) | make_policies(["OAM"], both, {}),
            rounds=rounds,
            runs=oam_runs,
            seed=seed,
            progress=lambda _, done, __: progress(runs + done, of),
        ),
        oam_runs,
    )
    own_logs = _play_own_logs(
        RunLogs(Assumed.right(world), points, seed),
        own_log_runs,
        rounds,
        lambda done: progress(runs + oam_runs + done, of),
    )
    return WorldRegret(regret, oam, own_logs)


def _play_own_logs(
    logs: RunLogs, runs: int, rounds: int, progress: Callable[[int], None]
) -> Regret:
    """Play LinUCB-PCB and Fused with a log for each run, Fused also without observations.

    Visitors and luck are those of the other simulations with this seed.
    """

    def play(names: tuple[str, ...], before: int, *, observed: float) -> Regret:
        found = simulate(
            logs.assumed.environment,
            make_sources(names, logs),
            rounds=rounds,
            runs=runs,
            seed=logs.seed,
            observed=observed,
            progress=lambda _, done, __: progress(before + done),
        )
        return require_all_runs(found, runs)

    seeing, blind = play(OWN_LOGS, 0, observed=1.0), play(OWN_LOGS[-1:], runs, observed=0.0)
    curves = np.concatenate([seeing.curves, blind.curves])
    return replace(seeing, policies=(*seeing.policies, BLIND), curves=curves)
