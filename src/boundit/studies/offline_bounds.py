"""The paper's offline experiment: its model, a selected log, every arm and context bounded."""

from dataclasses import dataclass

from boundit.bounds.baselines import adjust_for_confounding_only, condition_only
from boundit.bounds.derive import derive_bounds
from boundit.simulation.worlds import paper_world
from boundit.studies.printed import PRINTED, Printed
from boundit.terms.interval import Interval

POINTS = 30_000
_DIGIT = 0.0005


@dataclass(frozen=True, slots=True)
class OfflineRow:
    """One arm in one context: the truth, our interval, biased estimates, what was printed."""

    arm: tuple[int, ...]
    context: tuple[int, ...]
    truth: float
    ours: Interval
    exact: Interval
    cp: float
    biased: float
    printed: Printed

    @property
    def printed_misses(self) -> bool:
        """Whether the printed interval, read to its three digits, leaves the truth out."""
        low, high = self.printed.lower - _DIGIT, self.printed.upper + _DIGIT
        return not low <= self.truth <= high


@dataclass(frozen=True, slots=True)
class OfflineStudy:
    """The rows, how many points were drawn and kept, and the seed that repeats them."""

    rows: tuple[OfflineRow, ...]
    points: int
    kept: int
    seed: int


def offline_bounds(*, points: int = POINTS, seed: int = 0) -> OfflineStudy:
    """Draw, select, bound and compare, as the paper's offline evaluation does.

    ``exact`` is what endless logging would give; ``ours`` what the drawn log gives, plug-in.
    """
    world = paper_world()
    graph, query, log = world.graph, world.query, world.log(points, seed=seed)
    ours = derive_bounds(graph, query, log)
    exact = derive_bounds(graph, query, world.exact_log(), confidence=None)
    cp = condition_only(graph, query, log)
    biased = adjust_for_confounding_only(graph, query, log)
    return OfflineStudy(
        tuple(
            OfflineRow(
                *key,
                truth,
                ours[key],
                exact[key],
                cp[key].lower,
                biased[key].lower,
                printed,
            )
            for (key, truth), printed in zip(world.means().items(), PRINTED, strict=True)
        ),
        points,
        int(sum(row.n for row in cp.bounds.values())),
        seed,
    )
