"""Environments that fit a log, and how different they are where the log leaves means open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from boundit.estimand.query import EffectQuery
from boundit.report.page import Page
from boundit.report.sections import make_table
from boundit.results.bound import Key, Value
from boundit.results.bound_table import BoundTable
from boundit.simulation.environment import Environment
from boundit.simulation.scm import SCM


class FittedEnvironment(Environment):
    """Environment whose model was fitted to a log.

    ``distance`` is the total variation between the distribution of its logged rows and the
    log's, ``selection_rate`` the share of its population that is logged.
    """

    def __init__(
        self,
        model: SCM,
        query: EffectQuery,
        name: str,
        levels: Mapping[str, tuple[Value, ...]],
        distance: float,
    ) -> None:
        super().__init__(model, query, name, levels)
        self.distance = distance
        self.selection_rate = model.selection_rate()


@dataclass(frozen=True, eq=False)
class FittedEnvironments(Sequence[FittedEnvironment]):
    """Sequence of environments that fit a log, in the order in which they were drawn.

    ``bounds`` are those of the log, ``tolerance`` the largest distance allowed. ``too_far``
    counts models further from the log, ``outside`` those with a mean outside the bounds, and
    ``unlogged`` those that the given selection rate does not fit.
    """

    environments: tuple[FittedEnvironment, ...]
    bounds: BoundTable
    tolerance: float
    too_far: int = 0
    outside: int = 0
    unlogged: int = 0

    @overload
    def __getitem__(self, index: int) -> FittedEnvironment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FittedEnvironment]: ...
    def __getitem__(
        self, index: int | slice
    ) -> FittedEnvironment | Sequence[FittedEnvironment]:
        return self.environments[index]

    def __len__(self) -> int:
        return len(self.environments)

    def __iter__(self) -> Iterator[FittedEnvironment]:
        return iter(self.environments)

    @cached_property
    def reached(self) -> Mapping[Key, tuple[float, float]]:
        """Least and greatest true mean of each arm and context over all environments."""
        means = [environment.means() for environment in self.environments]
        found = {key: [of[key] for of in means if key in of] for key in self.bounds.bounds}
        return {key: (min(of), max(of)) for key, of in found.items() if of}

    @cached_property
    def spread(self) -> float:
        """Share of the estimated bounds that the environments' means cover, on average.

        It is 1 if some environment reaches each endpoint.
        """
        shares = []
        low, high = self.bounds.outcome_range
        for key, (least, most) in self.reached.items():
            bound = self.bounds.bounds[key]
            width = bound.upper_estimate - bound.lower_estimate
            open_ = width > 1e-6 * (high - low)
            shares.append(min((most - least) / width, 1.0) if open_ else 1.0)
        return sum(shares) / len(shares) if shares else 0.0

    def record(self) -> dict[str, object]:
        """Write the environments' means, and how well they fit, as an object for JSON."""
        return {
            "environments": [
                {
                    "name": each.name,
                    "distance": each.distance,
                    "selection_rate": each.selection_rate,
                    "means": [
                        {"arm": list(arm), "context": list(context), "mean": mean}
                        for (arm, context), mean in each.means().items()
                    ],
                }
                for each in self.environments
            ],
            "tolerance": self.tolerance,
            "spread": self.spread,
            "too_far": self.too_far,
            "outside": self.outside,
            "unlogged": self.unlogged,
        }

    def __repr__(self) -> str:
        return f"<FittedEnvironments: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """Show in a notebook how many environments fit, how well, and how they differ."""
        first, *others = (f"{line[:1].upper()}{line[1:]}." for line in str(self).splitlines())
        rows = [
            (e.name, f"{e.distance:.4f}", f"{e.selection_rate:.3f}") for e in self.environments
        ]
        table = make_table("", ("environment", "distance from the log", "selection rate"), rows)
        return Page(first, tuple(others), (table,) if rows else ()).write_snippet()

    def __str__(self) -> str:
        n = len(self.environments)
        furthest = max((each.distance for each in self.environments), default=0.0)
        lines = [
            f"{n} environment{'s' * (n != 1)} that fit{'s' * (n == 1)} the log: logged rows are "
            f"within {furthest:.4f} of its distribution (total variation; {self.tolerance:.4f} "
            "is allowed)",
            f"their true means cover {self.spread:.0%} of the estimated bounds on average",
        ]
        left = (
            (self.too_far, "further from the log"),
            (self.outside, "with a mean outside the bounds"),
            (self.unlogged, "that the selection rate does not fit"),
        )
        gone = [f"{count} {why}" for count, why in left if count]
        return "\n".join([*lines, *([f"left out: {', '.join(gone)}"] if gone else [])])
