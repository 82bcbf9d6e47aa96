"""Policies in every world that fits a log: how they do on all of them, and on the worst."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from boundit.simulation.feedback.feedback import Feedback
from boundit.simulation.fitted.world_set import FittedWorlds
from boundit.simulation.options import PolicySource
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit.terms.long_work import Progress, say_nothing


@dataclass(frozen=True, eq=False)
class FittedRegret:
    """The regret of some policies in each world that fits a log, and in all together."""

    worlds: FittedWorlds
    regrets: tuple[Regret, ...]

    @property
    def pooled(self) -> Regret:
        """The runs of all worlds as those of one simulation, in the order of the worlds.

        Users draw and save it; also read by ``FittedRegret.__str__``.
        """
        first = self.regrets[0]
        curves = np.concatenate([regret.curves for regret in self.regrets], axis=1)
        return Regret(
            first.policies,
            first.at,
            curves,
            f"{len(self.regrets)} worlds that fit the log",
            first.seed,
            first.version,
            first.settings,
        )

    def find_worst(self, policy: str) -> tuple[str, float]:
        """Find the world in which a policy loses most on average, by its name, and how much."""
        means = {regret.world: float(regret.final(policy).mean()) for regret in self.regrets}
        worst = max(means, key=means.__getitem__)
        return worst, means[worst]

    def record(self) -> dict[str, object]:
        """Write what was found as an object for JSON: pooled, of each world, and the worlds.

        Users keep it; ``simulate`` of the command line prints it with --json.
        """
        policies = self.pooled.policies
        worst = {
            name: dict(zip(("world", "mean"), self.find_worst(name), strict=True))
            for name in policies
        }
        return {
            **self.pooled.record(),
            "worst": worst,
            "worlds": [regret.record() for regret in self.regrets],
            "fitted": self.worlds.record(),
        }

    def __str__(self) -> str:
        pooled = self.pooled
        lines = [
            f"  {policy}: {mean:,.1f} in {world}"
            for policy in pooled.policies
            for world, mean in [self.find_worst(policy)]
        ]
        return "\n".join(
            [str(self.worlds), "", str(pooled), "", "mean regret in the worst world:", *lines]
        )


def play_fitted(
    worlds: FittedWorlds,
    policies: Mapping[str, PolicySource],
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    workers: int | None = None,
    observed: bool | float = False,
    feedback: Feedback | None = None,
    progress: Progress = say_nothing,
) -> FittedRegret:
    """Play policies in every world that fits a log, ``runs`` times in each.

    The options are those of ``simulate``; ``progress`` hears how many runs are done in all. A
    Ctrl-C ends it with the runs of the worlds so far.
    """
    found = list[Regret]()
    for i, world in enumerate(worlds):
        regret = simulate(
            world,
            policies,
            rounds=rounds,
            runs=runs,
            seed=seed,
            workers=workers,
            observed=observed,
            feedback=feedback,
            progress=partial(_add_runs, progress, i * runs, runs * len(worlds)),
        )
        found.append(regret)
        if regret.runs < runs:
            break
    return FittedRegret(worlds, tuple(found))


def _add_runs(
    progress: Progress, before: int, total: int, message: str, done: int, _: int
) -> None:
    """Tell how many runs are done in all worlds, when some are in one."""
    progress(message, before + done, total)
