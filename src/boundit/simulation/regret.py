"""Result of a simulation: cumulative regret, run by run, at some rounds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from boundit.core.errors import UnreadableFile, shorten
from boundit.core.files import write_whole
from boundit.core.frames import FrameKind
from boundit.counts.named_array import Floats
from boundit.report.chart import Curve, LineChart
from boundit.report.frame import make_frame
from boundit.report.notebook import show_curves
from boundit.report.plot import plot
from boundit.simulation.errors import InvalidSimulation
from boundit.simulation.options import refuse
from boundit.simulation.summary import (
    CELL_HEADS,
    Band,
    Correction,
    Line,
    format_lines,
    format_runs,
    summarize_curves,
    summarize_final,
    write_cells,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT, VERSION = "boundit regret", 2
MEASURES = ("mean", "lower", "upper", "median", "q95", "less", "less_lower", "less_upper")


@dataclass(frozen=True, eq=False)
class Regret:
    """Cumulative regret of policies in one or more environments, run by run.

    Parameters
    ----------
    policies : tuple of str
        Names; the others are compared with the first.
    at : array
        The rounds at which regret was kept.
    curves : array
        Cumulative regret, policies x runs x ``at``.
    environments : mapping
        Number of runs in each environment; their runs follow each other.
    seed, version
        Seed of the simulation, and release of boundit.
    settings : mapping
        Description of environments, policies and options.
    """

    policies: tuple[str, ...]
    at: NDArray[np.int64]
    curves: Floats
    environments: Mapping[str, int]
    seed: int
    version: str
    settings: Mapping[str, object]

    @property
    def runs(self) -> int:
        """Number of runs that were finished."""
        return int(self.curves.shape[1])

    @property
    def rounds(self) -> int:
        """Number of rounds of each run."""
        return int(self.at[-1])

    @property
    def environment(self) -> str:
        """Name of the environment, or the number of environments."""
        names = tuple(self.environments)
        return names[0] if len(names) == 1 else f"{len(names)} environments"

    def final(self, policy: str) -> Floats:
        """Return the final regret of one policy in every run."""
        return self.curves[self._find_policy(policy), :, -1]

    def summary(self, *, correction: Correction = "none") -> tuple[Line, ...]:
        """Summarize the final regret of each policy, and paired differences from the first.

        Parameters
        ----------
        correction : {"none", "bonferroni", "holm"}
            Correction of the differences for several comparisons. Holm's p-values are lower;
            its intervals are Bonferroni's.

        Returns
        -------
        tuple of Line
            Mean, median, 95% quantile and difference of each policy, with 95% intervals.
        """
        if correction not in ("none", "bonferroni", "holm"):
            raise refuse("correction", correction, "'none', 'bonferroni' or 'holm'")
        return summarize_final(self.policies, self.curves[:, :, -1], correction)

    def bands(self) -> tuple[Band, ...]:
        """Summarize regret over the rounds, and paired differences from the first policy."""
        return summarize_curves(self.policies, self.at, self.curves)

    def only(self, first: str, *others: str) -> "Regret":
        """Keep some of the policies, the first of which the others are compared with."""
        policies = (first, *others)
        places = [self._find_policy(policy) for policy in policies]
        described = self.settings.get("policies")
        known = described if isinstance(described, Mapping) else {}
        kept = {name: known[name] for name in policies if name in known}
        settings = {**self.settings, "policies": kept}
        return replace(self, policies=policies, curves=self.curves[places], settings=settings)

    def split(self) -> tuple["Regret", ...]:
        """Split the runs by environment."""
        ends = np.cumsum(list(self.environments.values()))[:-1]
        parts = np.split(self.curves, ends, axis=1)
        return tuple(
            replace(self, curves=part, environments={name: runs})
            for part, (name, runs) in zip(parts, self.environments.items(), strict=True)
        )

    def find_worst(self, policy: str) -> tuple[str, float]:
        """Find the environment in which the mean final regret of a policy is highest.

        Returns
        -------
        tuple
            Name of the environment, and the mean there.
        """
        means = {part.environment: float(part.final(policy).mean()) for part in self.split()}
        worst = max(means, key=means.__getitem__)
        return worst, means[worst]

    def rows(self) -> list[dict[str, object]]:
        """List regret and difference as one row per policy and round."""
        return [
            {"policy": band.policy, "round": int(at)}
            | {measure: float(getattr(band, measure)[i]) for measure in MEASURES}
            for band in self.bands()
            for i, at in enumerate(self.at)
        ]

    def frame(self, to: FrameKind = "pandas", *, final: bool = False) -> Any:
        """Return the rows as a data frame.

        Parameters
        ----------
        to : {"pandas", "polars", "arrow"}
            Library of the frame.
        final : bool
            One row per policy, as in ``summary``.
        """
        rows = [line.to_record() for line in self.summary()] if final else self.rows()
        return make_frame(rows, to)

    def record(self) -> dict[str, object]:
        """Write the summary as an object for JSON; of several environments, of each too."""
        found: dict[str, object] = {
            "environment": self.environment,
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "version": self.version,
            "feedback": self.settings.get("feedback"),
            "policies": [line.to_record() for line in self.summary()],
        }
        if len(self.environments) > 1:
            worst = {name: self.find_worst(name) for name in self.policies}
            found["worst"] = {
                name: {"environment": where, "mean": mean}
                for name, (where, mean) in worst.items()
            }
            found["environments"] = [part.record() for part in self.split()]
        return found

    def make_curves(self) -> tuple[Curve, ...]:
        """Make a curve of mean and median regret for each policy, for a figure.

        The band of a curve is that of the paired difference from the first policy.
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
        """Caption of a figure of the curves."""
        first, rounds = self.policies[0], f"{self.rounds:,} round{'s' * (self.rounds > 1)}"
        if self.runs == 1:
            return f"One run of {rounds}."
        said = f"Means of {self.runs:,} runs of {rounds}; the thin lines are medians."
        if len(self.policies) == 1:
            return said
        return (
            f"{said} Bands are pointwise 95% intervals of the paired difference from {first}, "
            f"drawn around each other curve: where the curve of {first} is outside a band, the "
            "two differ significantly at that round."
        )

    def plot(self, path: str | PathLike[str] | None = None) -> "Axes":
        """Draw the mean regret of all policies over the rounds.

        Parameters
        ----------
        path : path, optional
            Save the figure as PNG or SVG instead of showing it.
        """
        return plot(self.chart, path)[0]

    @property
    def chart(self) -> LineChart:
        """Chart of the mean regret of all policies over the rounds."""
        title = f"Cumulative regret in {self.environment}"
        curves = self.make_curves()
        return LineChart(title, curves, y_label="cumulative regret", note=self.caption)

    def save(self, path: str | PathLike[str]) -> None:
        """Save every run to an npz file."""
        body: dict[str, object] = {
            "format": FORMAT,
            "version_of_format": VERSION,
            "policies": list(self.policies),
            "environments": dict(self.environments),
            "seed": self.seed,
            "version": self.version,
            "settings": dict(self.settings),
        }
        at, curves = np.ascontiguousarray(self.at), np.ascontiguousarray(self.curves)
        head = {**body, "checksum": _compute_checksum(body, at, curves)}
        spelled = json.dumps(head, ensure_ascii=False).encode()
        content = BytesIO()
        np.savez(content, head=np.frombuffer(spelled, dtype=np.uint8), at=at, curves=curves)
        write_whole(path, content.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load the file that ``save`` wrote."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise UnreadableFile(path, error.strerror or str(error)) from None
        try:
            with np.load(BytesIO(content), allow_pickle=False) as parts:
                head = json.loads(parts["head"].tobytes())
                at, curves = parts["at"], parts["curves"]
            named = head["format"] == FORMAT
            version, checksum = head["version_of_format"], head.pop("checksum", None)
        except Exception as error:  # noqa: BLE001, a broken archive raises whatever it hits
            raise _refuse_file(path, f"It cannot be read ({error})") from None
        if not named or version != VERSION:
            reason = f"It has format version {version!r}, this release reads {VERSION}"
            raise _refuse_file(path, reason)
        if checksum != _compute_checksum(head, at, curves):
            raise _refuse_file(path, "It was changed after it was saved")
        return cls(
            tuple(head["policies"]),
            at,
            curves,
            head["environments"],
            head["seed"],
            head["version"],
            head["settings"],
        )

    def __repr__(self) -> str:
        names = shorten(", ".join(self.policies), 80)
        return f"<Regret of {names}: {format_runs(self.runs, self.rounds)}>"

    def _repr_html_(self) -> str:
        """Show curves and final regret in a notebook."""
        runs = format_runs(self.runs, self.rounds)
        return show_curves(
            f"Cumulative regret in {self.environment}: {runs}, seed {self.seed}",
            self.make_curves(),
            CELL_HEADS,
            write_cells(self.summary()),
            caption=self.caption,
        )

    def __str__(self) -> str:
        head = (
            f"{self.environment}: {format_runs(self.runs, self.rounds)}, seed {self.seed}; "
            "final regret with 95% intervals"
        )
        if isinstance(feedback := self.settings.get("feedback"), Mapping):
            head += f"\nfeedback: {', '.join(f'{k} {v}' for k, v in feedback.items())}"
        text = format_lines(head, self.summary())
        if len(self.environments) > 1:
            worst = [(policy, *self.find_worst(policy)) for policy in self.policies]
            lines = [f"  {policy}: {mean:,.1f} in {name}" for policy, name, mean in worst]
            text = "\n".join([text, "", "mean regret in the worst environment:", *lines])
        return text

    def _find_policy(self, policy: str) -> int:
        if policy not in self.policies:
            raise refuse("policy", policy, f"one of {', '.join(self.policies)}")
        return self.policies.index(policy)


def _refuse_file(path: object, reason: str) -> InvalidSimulation:
    said = f"{str(path)!r} is not a saved simulation. {shorten(reason)}."
    return InvalidSimulation(said)


def _compute_checksum(head: Mapping[str, object], *arrays: NDArray[Any]) -> str:
    summed = sha256(json.dumps(head, sort_keys=True).encode())
    for array in arrays:
        summed.update(f"{array.dtype} {array.shape} ".encode())
        summed.update(array.tobytes())
    return summed.hexdigest()
