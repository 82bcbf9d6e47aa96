"""Are the bounds sharp? Each end against the furthest effect of any model with the same log.

The graphs are small, their variables binary, the logs exact laws of random models. For each end
a search (``sharpness_search``) that knows of no bound looks among all models of the graph for
one with exactly this log, and an effect as near to the end as can be, or beyond it. What is
left between is the *gap*. It may be ours, when the bound is loose, or the search's, when it
stopped at a lower maximum; many climbs that end alike speak for the former. A model beyond the
end is a miss.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from boundit.counts.named_array import Floats
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.results.bound import Key
from boundit_research.audits.problems import Problem, bound_problem, name_row, read_levels
from boundit_research.audits.report import Report, judge_each
from boundit_research.audits.sharpness_family import ModelFamily
from boundit_research.audits.sharpness_search import FurthestEffect, SearchTarget, find_furthest

LEVELS = 8
"""How many levels each hidden cause of a searched model has."""
NOISES = (0.1, 0.5, 1.0, 2.0)
"""How far climbs from the true model start from it, in logits; as many start anywhere."""
MOST_ROWS = 2
"""How many rows of a bound table are tried; of more, these many are drawn."""
SHARP = 1e-3
"""A smaller gap is none."""
NOTHING, RATE = "nothing", "selection rate"
SIDES = {"lower": -1, "upper": 1}
_MISSED = 1e-4


@dataclass(frozen=True, slots=True)
class SharpnessCase:
    """A graph and a question, and a name for them."""

    name: str
    graph: str
    query: str = "Y | do(X)"


SUITE = (
    SharpnessCase("bow", "X -> Y; X <-> Y"),
    SharpnessCase("instrument", "Z -> X -> Y; X <-> Y"),
    SharpnessCase("instrument with shared luck", "Z -> X -> Y; Z <-> X; X <-> Y"),
    SharpnessCase("mediator, one hidden cause", "X -> M -> Y; X <-> M; M <-> Y; X <-> Y"),
    SharpnessCase("mediator, two hidden causes", "X -> M -> Y; X <-> M; M <-> Y"),
    SharpnessCase("covariate steers", "X -> Y; W -> Y; W -> [S]"),
    SharpnessCase("covariate steers, bow", "W -> X -> Y; W -> Y; X <-> Y; W -> [S]"),
    SharpnessCase("arm steers, bow", "X -> Y; X <-> Y; X -> [S]"),
    SharpnessCase("reward steers", "X -> Y; Y -> [S]"),
    SharpnessCase("reward steers, bow", "X -> Y; X <-> Y; Y -> [S]"),
    SharpnessCase("instrument, arm steers", "Z -> X -> Y; X <-> Y; X -> [S]"),
    SharpnessCase("instrument, reward steers", "Z -> X -> Y; X <-> Y; Y -> [S]"),
    SharpnessCase("hidden cause of selection", "X -> Y; W -> Y; W <-> [S]"),
    SharpnessCase("front door, mediator steers", "X -> M -> Y; X <-> Y; M -> [S]"),
    SharpnessCase("mediator steers", "X -> M -> Y; M <-> Y; M -> [S]"),
    SharpnessCase(
        "paper, one arm", "U -> X -> M -> Y; U -> Y; M <-> Y; M -> [S]", "Y | do(X), U"
    ),
    SharpnessCase(
        "paper, two arms",
        "U -> X1 -> M -> Y; U -> Y; X2 -> Y; M <-> Y; M -> [S]",
        "Y | do(X1, X2), U",
    ),
)


@dataclass(frozen=True, slots=True)
class EndGap:
    """One end of one bound, and the furthest effect found on its side of the truth.

    ``agreed`` climbs of all came within a thousandth of it.
    """

    case: str
    known: str
    model: int
    row: str
    side: str
    rule: str
    end: float
    found: float
    agreed: int

    @property
    def gap(self) -> float:
        """How far a bound's end lies beyond the furthest effect of any model with the same log.

        Zero for a sharp end, negative if a model passes it.
        """
        return self.end - self.found if self.side == "upper" else self.found - self.end


@dataclass(frozen=True, slots=True)
class SharpnessRow:
    """All ends of one case with one kind of knowledge."""

    case: str
    known: str
    ends: int
    sharp: int
    median_gap: float
    worst_gap: float
    settled: int
    """Ends with a gap at which half of all climbs or more ended alike: likely ours."""


@dataclass
class SharpnessReport(Report):
    """The gap of every endpoint."""

    levels: int = LEVELS
    climbs: int = 2 * len(NOISES)
    ends: list[EndGap] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when no model was found beyond an end."""
        return not self.misses

    @property
    def misses(self) -> list[EndGap]:
        """The ends of bounds that the effect of some model with the same log passes."""
        return [end for end in self.ends if end.gap < -_MISSED]

    def summarize(self) -> list[SharpnessRow]:
        """Sum up the gaps, one row for each graph and kind of knowledge, in the suite's order."""
        groups: dict[tuple[str, str], list[EndGap]] = {}
        for end in self.ends:
            groups.setdefault((end.case, end.known), []).append(end)
        return [
            self._summarize_case(case, known, ends) for (case, known), ends in groups.items()
        ]

    def _summarize_case(self, case: str, known: str, ends: list[EndGap]) -> SharpnessRow:
        """Count the sharp ends of one graph, and take the median and the worst gap."""
        gaps = [end.gap for end in ends]
        loose = [end for end in ends if end.gap > SHARP]
        settled = sum(2 * end.agreed >= self.climbs for end in loose)
        sharp = len(ends) - len(loose)
        return SharpnessRow(case, known, len(ends), sharp, median(gaps), max(gaps), settled)

    def record(self) -> dict[str, Any]:
        """All that was found, gaps and rows too."""
        ends = [asdict(end) | {"gap": end.gap} for end in self.ends]
        return asdict(self) | {"ends": ends, "rows": [asdict(row) for row in self.summarize()]}

    def __str__(self) -> str:
        """Say how near endpoints are to the furthest effects found, a line per graph."""
        lines = [
            f"{self.models:,} random models, seed {self.seed}, exact distributions; "
            f"{self.climbs} climbs an endpoint, hidden causes of {self.levels} levels",
            f"{'graph':<29}{'known':<16}{'ends':>5}{'sharp':>7}{'median gap':>12}{'worst':>8}"
            f"{'settled':>9}",
        ]
        lines += [
            f"{row.case:<29}{row.known:<16}{row.ends:>5}{row.sharp:>7}"
            f"{row.median_gap:>z12.4f}{row.worst_gap:>z8.4f}{row.settled:>9}"
            for row in self.summarize()
        ]
        lines += [
            "sharp: a model with the same log comes within .001 of the endpoint",
            "settled: of the others, where half the climbs or more ended alike: likely ours",
        ]
        lines += [
            f"missed: {end.row} on {end.case!r}, {end.known} known: {end.side} endpoint "
            f"{end.end:.6g} by {end.rule}, but a model with the same log has {end.found:.6g}"
            for end in self.misses[:10]
        ]
        return "\n".join(lines)


def measure_sharpness(
    models: int = 3,
    *,
    seed: int = 0,
    steps: int = 300,
    suite: tuple[SharpnessCase, ...] = SUITE,
    progress: Callable[[int], None] = lambda _: None,
) -> SharpnessReport:
    """Measure how far ends of bounds are from the furthest effect of models with the same log.

    Draws ``models`` random models of each graph of the suite.

    >>> report = measure_sharpness(1, suite=SUITE[:1])
    >>> [(row.case, row.ends, row.sharp) for row in report.summarize()]
    [('bow', 4, 4)]
    """
    report = SharpnessReport(seed)
    streams = zip(suite, SeedSequence(seed).spawn(len(suite)), strict=True)
    drawn = (
        (case, number, default_rng(own))
        for case, stream in streams
        for number, own in enumerate(stream.spawn(models))
    )

    def judge(one: tuple[SharpnessCase, int, Generator]) -> None:
        report.ends += _compare_ends(*one, steps)

    judge_each(report, drawn, judge, progress)
    return report


def _compare_ends(
    case: SharpnessCase, number: int, rng: Generator, steps: int
) -> Iterator[EndGap]:
    """Draw a model of a graph, bound it, and search models with its log beyond each end.

    Gives for each end the furthest effect that was found.
    """
    graph, query = parse(case.graph), parse_query(case.query)
    small, family = ModelFamily(graph, levels=2), ModelFamily(graph, LEVELS)
    truth = _draw_logits(small, rng)
    model = small.make_model(small.make_tables(truth))
    start, log, true_rate = (
        truth[family.find_sources(small)],
        model.log(),
        model.selection_rate(),
    )
    rates = {NOTHING: None, RATE: true_rate} if graph.selection else {NOTHING: true_rate}
    keys: list[Key] = []
    for known, rate in rates.items():
        table = bound_problem(Problem(model, query, ()), "sound", rate_known=known == RATE)
        keys = keys or _draw_keys(list(table.bounds), rng)
        for key, (side, sign) in product(keys, SIDES.items()):
            target = SearchTarget(family, query, read_levels(table, key), log, rate, sign)
            # The true model itself has this log.
            found = find_furthest(target, _draw_starts(start, rng), steps) or FurthestEffect(
                target.compute_effect(model), 0
            )
            row = name_row(target.at)
            bound = table.bounds[key]
            rule, end = getattr(bound, f"{side}_rule"), getattr(bound, side)
            yield EndGap(
                case.name, known, number, row, side, rule, end, found.effect, found.agreed
            )


def _draw_logits(family: ModelFamily, rng: Generator) -> Floats:
    """Draw the logits of a model with two levels everywhere, chances between .05 and .95."""
    chances = rng.uniform(0.05, 0.95, size=family.size // 2)
    return np.log(np.stack([1 - chances, chances], axis=-1)).ravel()


def _draw_starts(starts: Floats, rng: Generator) -> Floats:
    """Draw the models, as logits, that the searches for a further effect start from.

    Half of them ever farther from the drawn model, the others anywhere.
    """
    noises = np.array(NOISES)[:, None]
    near = starts + noises * rng.normal(size=(len(NOISES), starts.size))
    anywhere = np.maximum(noises, 0.5) * rng.normal(size=near.shape)
    return np.concatenate([near, anywhere])


def _draw_keys(keys: list[Key], rng: Generator) -> list[Key]:
    """Draw the pairs of arm and context whose bounds are tried, ``MOST_ROWS`` at most."""
    places = rng.permutation(len(keys))[:MOST_ROWS]
    return [keys[place] for place in sorted(places)]
