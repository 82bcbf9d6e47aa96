"""Worlds that fit a log, and how far they were taken apart by what the log leaves open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from boundit.report.notebook.snippet import (
    MOST_ROWS,
    describe_cut,
    write_snippet,
    write_table,
    write_words,
)
from boundit.simulation.world import World
from boundit.terms.bound import Key
from boundit.terms.bound_table import BoundTable


@dataclass(frozen=True, eq=False)
class FittedWorld(World):
    """A world drawn to fit a log.

    ``distance`` is the total variation between its law of logged rows and the log's: the
    largest difference in the share of any set of rows. ``selection_rate`` is the share of its
    population that is logged.
    """

    distance: float = 0.0
    selection_rate: float = 1.0

    __repr__ = World.__repr__


@dataclass(frozen=True, eq=False)
class FittedWorlds(Sequence[FittedWorld]):
    """The worlds that were kept, in the order in which they were drawn: a sequence.

    ``bounds`` are those of the log, ``tolerance`` the largest distance that was let pass.
    ``too_far`` counts the models that were further from the log, ``outside`` those with a mean
    outside the bounds, and ``unlogged`` those that no known selection rate fits.
    """

    worlds: tuple[FittedWorld, ...]
    bounds: BoundTable
    tolerance: float
    too_far: int = 0
    outside: int = 0
    unlogged: int = 0

    @overload
    def __getitem__(self, index: int) -> FittedWorld: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FittedWorld]: ...
    def __getitem__(self, index: int | slice) -> FittedWorld | Sequence[FittedWorld]:
        return self.worlds[index]

    def __len__(self) -> int:
        return len(self.worlds)

    def __iter__(self) -> Iterator[FittedWorld]:
        return iter(self.worlds)

    @cached_property
    def reached(self) -> Mapping[Key, tuple[float, float]]:
        """The least and the largest true mean of each arm and context over all worlds.

        Users compare it with the bounds; also read by ``FittedWorlds.spread``.
        """
        means = [world.means() for world in self.worlds]
        found = {key: [of[key] for of in means if key in of] for key in self.bounds.bounds}
        return {key: (min(of), max(of)) for key, of in found.items() if of}

    @cached_property
    def spread(self) -> float:
        """Which share of the bounds the worlds' means cover, on average over all rows.

        Of the intervals without sampling error. It is 1 where some world reaches each end, and
        1 where the log leaves nothing open. Users read how different the worlds are; also read
        by ``FittedWorlds.record``.
        """
        shares = []
        for key, (least, most) in self.reached.items():
            bound = self.bounds.bounds[key]
            width = bound.upper_estimate - bound.lower_estimate
            shares.append(min((most - least) / width, 1.0) if width > 1e-6 else 1.0)
        return sum(shares) / len(shares) if shares else 0.0

    def record(self) -> dict[str, object]:
        """Write what was drawn and how well it fits as an object for JSON.

        Users keep it; also called by ``FittedRegret.record``.
        """
        return {
            "worlds": [
                {
                    "name": world.name,
                    "distance": world.distance,
                    "selection_rate": world.selection_rate,
                    "means": [
                        {"arm": list(arm), "context": list(context), "mean": mean}
                        for (arm, context), mean in world.means().items()
                    ],
                }
                for world in self.worlds
            ],
            "tolerance": self.tolerance,
            "spread": self.spread,
            "too_far": self.too_far,
            "outside": self.outside,
            "unlogged": self.unlogged,
        }

    def __repr__(self) -> str:
        return f"<FittedWorlds: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        """Show in a notebook how many worlds fit, how well, and how far they lie apart."""
        first, *others = (f"{line[:1].upper()}{line[1:]}." for line in str(self).splitlines())
        shown = self.worlds[:MOST_ROWS]
        rows = [(w.name, f"{w.distance:.4f}", f"{w.selection_rate:.3f}") for w in shown]
        head = ("world", "distance from the log", "share that is logged")
        return write_snippet(
            first,
            write_words(*others),
            write_table(head, rows, caption="", right=(1, 2)) if rows else "",
            write_words(describe_cut(len(shown), len(self.worlds), "record()")),
        )

    def __str__(self) -> str:
        n = len(self.worlds)
        furthest = max((world.distance for world in self.worlds), default=0.0)
        lines = [
            f"{n} world{'s' * (n != 1)} that fit{'s' * (n == 1)} the log: the law of logged "
            f"rows is within {furthest:.4f} of the log's (total variation; "
            f"{self.tolerance:.4f} was allowed)",
            f"their true means cover {self.spread:.0%} of the bounds without sampling error, "
            "on average",
        ]
        left = (
            (self.too_far, "further from the log"),
            (self.outside, "with a mean outside the bounds"),
            (self.unlogged, "that the selection rate does not fit"),
        )
        gone = [f"{count} {why}" for count, why in left if count]
        return "\n".join([*lines, *([f"left out: {', '.join(gone)}"] if gone else [])])
