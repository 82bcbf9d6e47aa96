"""What a simulation found: cumulative regret, run by run, at a few rounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadOption
from boundit.report.figures.canvas import save_figure
from boundit.report.figures.curves import draw_curves
from boundit.report.records import Curve
from boundit.simulation import regret_file
from boundit.simulation.errors import DamagedResult
from boundit.simulation.intervals import Correction, Floats
from boundit.simulation.summary import (
    Band,
    Line,
    format_lines,
    format_runs,
    summarize_curves,
    summarize_final,
)
from boundit.terms.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Regret:
    """Cumulative regret of some policies at some rounds, run by run.

    ``curves`` has an axis for the policies, one for the runs and one for the rounds ``at``
    which regret was kept. ``settings`` describes the world and the policies in plain records.
    """

    policies: tuple[str, ...]
    at: NDArray[np.int64]
    curves: Floats
    world: str
    seed: int
    version: str
    settings: Mapping[str, object]

    @property
    def runs(self) -> int:
        """How many runs were finished."""
        return int(self.curves.shape[1])

    @property
    def rounds(self) -> int:
        """How long each run was."""
        return int(self.at[-1])

    def final(self, policy: str) -> Floats:
        """The final regret of one policy in every run, in an order that all policies share."""
        return self.curves[self._find_policy(policy), :, -1]

    def summary(self, *, correction: Correction = "none") -> tuple[Line, ...]:
        """Final regret of each policy, and paired differences from the first.

        A ``correction`` lets all differences be read at once: ``"bonferroni"``, or ``"holm"``,
        whose p-values are lower and whose intervals are Bonferroni's.
        """
        if correction not in ("none", "bonferroni", "holm"):
            raise BadOption("correction", "'none', 'bonferroni' or 'holm'", correction)
        return summarize_final(self.policies, self.curves[:, :, -1], correction)

    def bands(self) -> tuple[Band, ...]:
        """The curve of each policy with pointwise bands, and its paired difference."""
        return summarize_curves(self.policies, self.at, self.curves)

    def only(self, first: str, *others: str) -> "Regret":
        """The same runs for some of the policies, compared with another ``first``."""
        policies = (first, *others)
        places = [self._find_policy(policy) for policy in policies]
        described = self.settings.get("policies")
        kept = (
            {name: described[name] for name in policies}
            if isinstance(described, Mapping)
            else {}
        )
        settings = {**self.settings, "policies": kept}
        return Regret(
            policies,
            self.at,
            self.curves[places],
            self.world,
            self.seed,
            self.version,
            settings,
        )

    def rows(self) -> list[dict[str, object]]:
        """Spell the curves: one row for each policy and round kept."""
        measures = ("mean", "lower", "upper", "less", "less_lower", "less_upper")
        return [
            {"policy": band.policy, "round": int(at)}
            | {measure: float(getattr(band, measure)[i]) for measure in measures}
            for band in self.bands()
            for i, at in enumerate(self.at)
        ]

    def frame(self) -> "pd.DataFrame":
        """Give the rows as a pandas frame."""
        try:
            import pandas as pd  # noqa: PLC0415, an optional package
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        return pd.DataFrame(self.rows())

    def record(self) -> dict[str, object]:
        """The summary and what made it, as an object for JSON."""
        return {
            "world": self.world,
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "version": self.version,
            "policies": [line.to_record() for line in self.summary()],
        }

    def make_curves(self) -> tuple[Curve, ...]:
        """Make the curves as a figure takes them.

        Called by ``Regret.plot`` and for the page of the reproduction.

        The band around a curve is that of the paired difference from the first policy, whose
        own curve has none: where the first curve leaves it, the two differ beyond chance, at
        that round.
        """
        first, *others = self.bands()
        return (
            Curve(first.policy, tuple(first.at), tuple(first.mean)),
            *(
                Curve(
                    band.policy,
                    tuple(band.at),
                    tuple(band.mean),
                    tuple(first.mean - band.less_upper),
                    tuple(first.mean - band.less_lower),
                )
                for band in others
            ),
        )

    @property
    def caption(self) -> str:
        """What a figure of the curves shows: what is averaged, and what the bands are."""
        first, rounds = self.policies[0], f"{self.rounds:,} round{'s' * (self.rounds > 1)}"
        if self.runs == 1:
            return f"One run of {rounds}."
        said = f"Means of {self.runs:,} runs of {rounds}."
        if len(self.policies) == 1:
            return said
        return (
            f"{said} Bands are pointwise 95 % intervals of the paired difference from {first}, "
            f"drawn around each other curve: where the curve of {first} leaves a band, the two "
            "differ beyond chance at that round."
        )

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the curves into a file, PNG or SVG by its suffix."""
        save_figure(draw_curves(self.make_curves(), note=self.caption), path)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file (npz), whole or not at all."""
        head: dict[str, object] = {
            "policies": list(self.policies),
            "world": self.world,
            "seed": self.seed,
            "version": self.version,
            "settings": dict(self.settings),
        }
        regret_file.write_regret(path, head, {"at": self.at, "curves": self.curves})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what ``save`` wrote; anything else is refused whole."""
        head, arrays = regret_file.read_regret(path)
        try:
            return cls(
                tuple(map(str, head["policies"])),
                arrays["at"],
                arrays["curves"],
                str(head["world"]),
                int(head["seed"]),
                str(head["version"]),
                dict(head["settings"]),
            )
        except (KeyError, TypeError, ValueError):
            raise DamagedResult(path, "its head is not that of a simulation") from None

    def __str__(self) -> str:
        head = (
            f"{self.world}: {format_runs(self.runs, self.rounds)}, seed {self.seed}; "
            "final regret with 95 % intervals"
        )
        return format_lines(head, self.summary())

    def _find_policy(self, policy: str) -> int:
        """Find the place of a policy among the curves by its name, or raise.

        Called by ``Regret.final`` and ``Regret.only``.
        """
        if policy not in self.policies:
            raise BadOption("policy", f"one of {', '.join(self.policies)}", policy)
        return self.policies.index(policy)
