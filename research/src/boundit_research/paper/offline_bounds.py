"""The paper's offline experiment: its model, a selected log, every arm and context bounded."""

from dataclasses import dataclass

from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import adjust_for_confounding_only, condition_only
from boundit.core.interval import Interval
from boundit.results.bound import Key
from boundit.results.bound_table import BoundTable
from boundit.simulation.environments import paper_environment
from boundit_research.paper.printed_table import PRINTED, PrintedRow

POINTS = 30_000
DIGIT = 0.0005
"""How far a number printed with three digits may be off by rounding."""


@dataclass(frozen=True, slots=True)
class OfflineRow:
    """One arm in one context: the truth, our intervals, biased estimates, what was printed.

    ``ours`` holds with confidence 0.95 for all rows at once, ``plug_in`` takes the drawn log
    for the law, and ``exact`` is what endless logging would give.
    """

    arm: tuple[int, ...]
    context: tuple[int, ...]
    truth: float
    ours: Interval
    plug_in: Interval
    exact: Interval
    cp: float
    biased: float
    printed: PrintedRow

    @property
    def key(self) -> Key:
        """The row's arm and context, as a table of bounds has them."""
        return self.arm, self.context

    @property
    def printed_misses(self) -> bool:
        """Whether the paper's printed interval, read to its three digits, leaves the truth out."""
        low, high = self.printed.lower - DIGIT, self.printed.upper + DIGIT
        return not low <= self.truth <= high


@dataclass(frozen=True, slots=True)
class OfflineStudy:
    """The rows, our table with its reasons, what was drawn and kept, and the seed."""

    rows: tuple[OfflineRow, ...]
    table: BoundTable
    points: int
    kept: int
    seed: int


def run_offline_study(*, points: int = POINTS, seed: int = 0) -> OfflineStudy:
    """Recompute the paper's offline table: draw a log, select, bound, and compare with truth.

    Gives a row for each arm and context.
    """
    world = paper_environment()
    graph, query, log = world.graph, world.query, world.log(points, seed=seed)
    ours = derive_bounds(graph, query, log)
    plug_in = derive_bounds(graph, query, log, confidence=None)
    exact = derive_bounds(graph, query, world.exact_log(), confidence=None)
    cp = condition_only(graph, query, log)
    biased = adjust_for_confounding_only(graph, query, log)
    rows = tuple(
        OfflineRow(
            *key,
            truth,
            ours[key],
            plug_in[key],
            exact[key],
            cp[key].lower,
            biased[key].lower,
            printed,
        )
        for (key, truth), printed in zip(world.means().items(), PRINTED, strict=True)
    )
    kept = int(sum(row.n for row in cp.bounds.values()))
    return OfflineStudy(rows, ours, points, kept, seed)
