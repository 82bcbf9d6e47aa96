"""Are open rows open? Rival models for every interval that says nothing.

A row left at the reward's whole range may be one that no method can narrow, or one where our
rules fall short. It is *shown open* by two rival models: models of the graph with the same log,
and the same unbiased tables, at which the effect is next to zero and next to one. Each is built
and asked, in the way any model is, before it counts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.random import Generator, default_rng

from boundit.core.names import join_names
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.question import Question, lighten
from boundit.results.bound import Bound
from boundit.simulation.scm import SCM
from boundit_research.audits.problems import (
    Problem,
    bound_problem,
    draw_problems,
    name_row,
    read_levels,
)
from boundit_research.audits.report import Report, judge_each
from boundit_research.audits.rivals import SAME, ModelSurface, Rival, split_hidden_levels

NEAR = 1e-3
"""How near to an end of the range a rival has to come."""

_SLACK = 1e-6
Place = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DoubtfulRows:
    """Rows of one effect that were left open, and no two rivals show to be.

    Rivals have effects from ``lowest`` to ``highest``. If all climbs ended where the gradient
    vanishes (``flat``), then some method may well narrow these rows; else they were only too
    slow, or the model too large to look for any.
    """

    graph: str
    query: str
    tables: str
    row: str
    rows: int
    lowest: float
    highest: float
    flat: bool


@dataclass
class OpenReport(Report):
    """How many rows were left open, how many are shown to be, and which are not.

    ``unconfounded`` counts the rows shown open on graphs without bidirected edges. ``wrong``
    counts rivals that, once built, do not show the same data or the effect they are said to.
    ``missed`` counts rows of any kind, of models with rivals, that leave a rival's effect out:
    whoever has the log cannot know that the truth is not that.
    """

    rows: int = 0
    left_open: int = 0
    shown: int = 0
    unconfounded: int = 0
    rivals: int = 0
    wrong: int = 0
    missed: int = 0
    worst_gap: float = 0.0
    doubtful: list[DoubtfulRows] = field(default_factory=list)

    def __bool__(self) -> bool:
        """True when every rival is one, and no interval leaves one out."""
        return not (self.wrong or self.missed)

    @property
    def share_shown(self) -> float:
        """The share of rows without a bound for which rival models show that none can be had."""
        return self.shown / self.left_open if self.left_open else 1.0

    def __str__(self) -> str:
        """Say how many rows without a bound are shown to have none."""
        rows = max(self.rows, 1)
        return "\n".join(
            [
                f"{self.models:,} random models, seed {self.seed}, exact distributions, nothing "
                "known of selection",
                f"{self.rows:,} intervals, {1 - self.left_open / rows:.1%} say more than the range",
                f"{self.left_open:,} do not; of these {self.shown:,} ({self.share_shown:.1%}) are "
                "shown open: models with the same log have effects next to 0 and next to 1",
                f"so no method can say more in over {1 - self.shown / rows:.1%} of the intervals",
                f"{self.rivals:,} rival models built, {self.wrong} wrong; {self.missed} intervals "
                "leave a rival out",
            ]
        )


def audit_openness(
    models: int, *, seed: int = 0, progress: Callable[[int], None] = lambda _: None
) -> OpenReport:
    """Bound random problems by profile ``sound``, and look for rivals where it says nothing.

    A rival is a model with the same data and another effect: rivals near 0 and near 1 show that
    no method could bound that row. Gives how many rows are shown so. The problems are those of
    ``boundit_research.audits.soundness``.

    >>> report = audit_openness(6, seed=4)
    >>> report.left_open, report.shown, report.wrong
    (12, 12, 0)
    """
    report = OpenReport(seed)

    def judge(problem: Problem) -> None:
        _judge_problem(problem, report, default_rng([seed, report.models]))

    judge_each(report, draw_problems(seed, models), judge, progress)
    return report


def _judge_problem(problem: Problem, report: OpenReport, rng: Generator) -> None:
    """Bound one problem, search rival models for its rows without a bound, and count them.

    The counts go into its report.
    """
    table = bound_problem(problem, "sound")
    rows: list[tuple[Place, Bound]] = [
        (read_levels(table, key), bound) for key, bound in table.bounds.items()
    ]
    left = [place for place, bound in rows if bound.upper - bound.lower > 1 - ROUNDING]
    report.rows += len(rows)
    report.left_open += len(left)
    if left:
        groups = _group_by_effect(problem, left)
        found = _RivalRange(problem, report)
        found.search([places[0] for places in groups], rng)
        for places in groups:
            found.count_rows(places)
        report.missed += sum(found.is_outside(place, bound) for place, bound in rows)


def _group_by_effect(problem: Problem, places: list[Place]) -> list[list[Place]]:
    """Group rows of bounds that have the same effect, by Rules 1 to 3 of the do-calculus."""
    query = problem.query
    y, x, c = map(frozenset, (query.outcomes, query.treatments, query.context))
    light, _ = lighten(problem.model.graph, Question(y, x, c))
    felt = light.treatments | light.context
    groups = dict[tuple[int, ...], list[Place]]()
    for place in places:
        key = tuple(value for name, value in place.items() if name in felt)
        groups.setdefault(key, []).append(place)
    return list(groups.values())


class _RivalRange:
    """How low and how high rivals of one model (other models, same data) bring each row."""

    def __init__(self, problem: Problem, report: OpenReport) -> None:
        self.problem, self.report = problem, report
        truth = self._compute_effect(problem.model)
        self.axes, self.lowest, self.highest = truth.axes, truth.values, truth.values
        self.flat = set[tuple[str, int]]()

    def search(self, places: list[Place], rng: Generator) -> None:
        """Search models with the same data that bring rows' chance of reward to 0 and to 1.

        Starts from the problem's model, then from one whose hidden causes have twice the
        levels.
        """
        for model in self._make_starts(rng):
            self.flat.clear()
            surface = ModelSurface(model, self.problem.tables)
            if surface.is_large:
                return
            for place, towards in product(places, (0, 1)):
                if not self._is_near(place, towards):
                    until = abs(towards - 0.9 * NEAR)
                    rival = surface.find_furthest(
                        self.problem.query, place, towards=towards, until=until
                    )
                    self._take_rival(rival, place)
                    if rival.flat:
                        self.flat.add((name_row(place), towards))

    def count_rows(self, rows: list[Place]) -> None:
        """Count rows of one effect as shown open (no method can bound them), or as doubtful.

        Shown if rivals, models with the same data, come near both 0 and 1.
        """
        graph, place = self.problem.model.graph, rows[0]
        short = [towards for towards in (0, 1) if not self._is_near(place, towards)]
        if not short:
            self.report.shown += len(rows)
            self.report.unconfounded += 0 if graph.bidirected else len(rows)
            return
        doubtful = DoubtfulRows(
            graph=str(graph),
            query=str(self.problem.query),
            tables="; ".join(map(join_names, self.problem.tables)),
            row=name_row(place),
            rows=len(rows),
            lowest=self._read_effect(self.lowest, place),
            highest=self._read_effect(self.highest, place),
            flat=all((name_row(place), towards) in self.flat for towards in short),
        )
        self.report.doubtful.append(doubtful)

    def is_outside(self, place: Place, bound: Bound) -> bool:
        """Tell whether the interval of a row leaves out the effect that some rival has there.

        A rival is a model with the same data.
        """
        low, high = (
            self._read_effect(self.lowest, place),
            self._read_effect(self.highest, place),
        )
        return low < bound.lower - _SLACK or high > bound.upper + _SLACK

    def _make_starts(self, rng: Generator) -> Iterator[SCM]:
        """Give the models that a search for rivals starts from, one after another.

        First the problem's own, then the same with twice the levels of every hidden cause.
        """
        yield self.problem.model
        if self.problem.model.hidden:
            yield split_hidden_levels(self.problem.model, rng)

    def _take_rival(self, rival: Rival, place: Place) -> None:
        """Take a found model into account: widen the range of every row's effect to its effect.

        One that does not show the same data, or has another effect than said, is counted as
        wrong.
        """
        effect, gap = self._compute_effect(rival.model), self._measure_gap(rival.model)
        said = abs(float(effect.at(place)) - rival.effect)
        self.report.rivals += 1
        self.report.worst_gap = max(self.report.worst_gap, gap)
        if not (gap < 10 * SAME and said < 10 * SAME):
            self.report.wrong += 1
            return
        self.lowest = np.minimum(self.lowest, effect.values)
        self.highest = np.maximum(self.highest, effect.values)

    def _measure_gap(self, model: SCM) -> float:
        """Measure how far a rival's data are from the problem's: the worst relative error.

        The data are the log and the unbiased tables.
        """
        ours, tables = self.problem.model, self.problem.tables
        laws = [
            (model.log(), ours.log()),
            *((model.distribution(t), ours.distribution(t)) for t in tables),
        ]
        return max(float(np.abs(one.values / other.values - 1).max()) for one, other in laws)

    def _compute_effect(self, model: SCM) -> NamedArray:
        """Compute a rival's chance of reward in every row by ``SCM.effect``.

        That is another way than the search has it, and so checks it.
        """
        query = self.problem.query
        effect = model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        return effect.at({query.outcomes[0]: 1})

    def _is_near(self, place: Place, towards: int) -> bool:
        """Tell whether rivals found so far bring a row's chance of reward close to 0, or to 1.

        Rivals are models with the same data; ``towards`` says to which.
        """
        if towards:
            return self._read_effect(self.highest, place) >= 1 - NEAR
        return self._read_effect(self.lowest, place) <= NEAR

    def _read_effect(self, values: Floats, place: Place) -> float:
        """Read the effect at one row from ``values``, the lowest or the highest of all rivals."""
        return float(NamedArray(self.axes, values).at(place))
