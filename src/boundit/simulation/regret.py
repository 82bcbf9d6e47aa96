"""What a simulation found: cumulative regret, run by run, at a few rounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadOption
from boundit.report.figures.canvas import give_figure
from boundit.report.figures.curves import draw_curves
from boundit.report.frame import make_frame
from boundit.report.notebook.curves import show_curves
from boundit.report.records import Curve
from boundit.simulation import regret_file
from boundit.simulation.errors import DamagedResult
from boundit.simulation.intervals import Correction, Floats
from boundit.simulation.summary import (
    CELL_HEADS,
    Band,
    Line,
    format_lines,
    format_runs,
    summarize_curves,
    summarize_final,
    write_cells,
)
from boundit.terms.errors import shorten
from boundit.terms.saving.frames import FrameKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        """The number of runs that were finished, fewer than asked after a Ctrl-C."""
        return int(self.curves.shape[1])

    @property
    def rounds(self) -> int:
        """The number of rounds in each run."""
        return int(self.at[-1])

    def final(self, policy: str) -> Floats:
        """Give the final regret of one policy in every run, in an order all policies share.

        Users compare policies run by run with it; also called by ``_subtract_regrets``.
        """
        return self.curves[self._find_policy(policy), :, -1]

    def summary(self, *, correction: Correction = "none") -> tuple[Line, ...]:
        """Summarize the final regret of each policy, and paired differences from the first.

        Gives a ``Line`` for each policy: mean, median, 95 % quantile and difference with their
        intervals. A ``correction`` lets all differences be read at once: ``"bonferroni"``, or
        ``"holm"``, whose p-values are lower and whose intervals are Bonferroni's.
        """
        if correction not in ("none", "bonferroni", "holm"):
            raise BadOption("correction", "'none', 'bonferroni' or 'holm'", correction)
        return summarize_final(self.policies, self.curves[:, :, -1], correction)

    def bands(self) -> tuple[Band, ...]:
        """Compute mean regret over the rounds, and the paired difference from the first policy.

        Gives a ``Band`` for each policy, with pointwise intervals, medians and 95 % quantiles.
        Users draw them; also called by ``Regret.make_curves`` and ``Regret.rows``.
        """
        return summarize_curves(self.policies, self.at, self.curves)

    def only(self, first: str, *others: str) -> "Regret":
        """Keep some of the policies, to compare them with another ``first``; the same runs."""
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
        """List mean regret, quantiles and difference, a row for each policy and round.

        Users export them; also called by ``Regret.frame``.
        """
        measures = (
            "mean",
            "lower",
            "upper",
            "median",
            "q95",
            "less",
            "less_lower",
            "less_upper",
        )
        return [
            {"policy": band.policy, "round": int(at)}
            | {measure: float(getattr(band, measure)[i]) for measure in measures}
            for band in self.bands()
            for i, at in enumerate(self.at)
        ]

    def frame(self, to: FrameKind = "pandas", *, final: bool = False) -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users.

        With ``final`` it has a row for each policy, as ``summary`` has: the regret at the end.
        """
        rows = [line.to_record() for line in self.summary()] if final else self.rows()
        return make_frame(rows, to)

    def record(self) -> dict[str, object]:
        """Write the summary, and what was simulated, as an object for JSON.

        Users keep it; ``simulate`` of the command line prints it with --json.
        """
        return {
            "world": self.world,
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "version": self.version,
            "feedback": self.settings.get("feedback"),
            "policies": [line.to_record() for line in self.summary()],
        }

    def make_curves(self) -> tuple[Curve, ...]:
        """Make a ``Curve`` of mean and median regret for each policy, as figures take them.

        The band around a curve is that of the paired difference from the first policy, whose
        own curve has none: where the first curve leaves it, the two differ beyond chance, at
        that round.
        """
        first, *others = self.bands()
        medians = [tuple(band.median) if self.runs > 1 else () for band in (first, *others)]
        return (
            Curve(first.policy, tuple(first.at), tuple(first.mean), median=medians[0]),
            *(
                Curve(
                    band.policy,
                    tuple(band.at),
                    tuple(band.mean),
                    tuple(first.mean - band.less_upper),
                    tuple(first.mean - band.less_lower),
                    median,
                )
                for band, median in zip(others, medians[1:], strict=True)
            ),
        )

    @property
    def caption(self) -> str:
        """Write what a figure of the curves shows: what is averaged, and what the bands are.

        Users put it below their own figure; also called by ``Regret.plot``.
        """
        first, rounds = self.policies[0], f"{self.rounds:,} round{'s' * (self.rounds > 1)}"
        if self.runs == 1:
            return f"One run of {rounds}."
        said = f"Means of {self.runs:,} runs of {rounds}; the thin lines are their medians."
        if len(self.policies) == 1:
            return said
        return (
            f"{said} Bands are pointwise 95 % intervals of the paired difference from {first}, "
            f"drawn around each other curve: where the curve of {first} leaves a band, the two "
            "differ beyond chance at that round."
        )

    def plot(self, path: str | PathLike[str] | None = None) -> "Axes":
        """Draw the mean regret of all policies over the rounds, and give the axes.

        A notebook shows the figure, pyplot's ``show`` elsewhere; with a ``path`` it is saved as
        PNG or SVG instead.
        """
        (axes,) = give_figure(draw_curves(self.make_curves(), note=self.caption), path)
        return axes

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
        """Read the file that ``save`` wrote, for users; anything else is refused whole."""
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

    def __repr__(self) -> str:
        names = shorten(", ".join(self.policies), 80)
        return f"<Regret of {names}: {format_runs(self.runs, self.rounds)}>"

    def _repr_html_(self) -> str:
        """Show the curves and the final regret of each policy in a notebook."""
        runs = format_runs(self.runs, self.rounds)
        return show_curves(
            f"Cumulative regret in {self.world}: {runs}, seed {self.seed}",
            self.make_curves(),
            CELL_HEADS,
            write_cells(self.summary()),
            caption=self.caption,
        )

    def __str__(self) -> str:
        head = (
            f"{self.world}: {format_runs(self.runs, self.rounds)}, seed {self.seed}; "
            "final regret with 95 % intervals"
        )
        if isinstance(feedback := self.settings.get("feedback"), Mapping):
            head += f"\nfeedback: {', '.join(f'{k} {v}' for k, v in feedback.items())}"
        return format_lines(head, self.summary())

    def _find_policy(self, policy: str) -> int:
        """Find the place of a policy among the curves by its name, or raise."""
        if policy not in self.policies:
            raise BadOption("policy", f"one of {', '.join(self.policies)}", policy)
        return self.policies.index(policy)
