"""Sensitivity analysis: bounds and conclusions as functions of a limit, and the breakdown point.

Models under a limit are models under every larger one, so a conclusion that bounds prove under a
limit is true under every smaller one: it has one breakdown point, which is bracketed on the grid
of the curve and then bisected (Horowitz and Manski 1995; Masten and Poirier 2020). A confidence
may share its error so that the table of one limit is wider than that of a larger one; the number
that a conclusion rests on is therefore the best of those at this limit and at larger ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import exp, inf, isfinite, log
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from boundit.bounds.confounding_limits import ConfoundingLimits
from boundit.bounds.count import KeptCounts
from boundit.bounds.derive import derive_table
from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import BoundRequest, read_request
from boundit.bounds.selection_facts import FactsRefuted, SelectionFacts
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.codec import encode
from boundit.core.errors import BounditError, OptionError, OutsideDomain, WrongLength
from boundit.core.frames import FrameKind
from boundit.core.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.core.message import Caveat, Option
from boundit.core.public_names import find_forwarded
from boundit.core.rounding import ROUNDING
from boundit.decisions.means import MeanSet
from boundit.decisions.pages import make_page
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike
from boundit.report.frame import make_frame
from boundit.report.notebook import chart_limits
from boundit.report.page import Page
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import write_at_least, write_at_most
from boundit.results.text import align_columns, write_arm, write_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SELECTION = "selection"
"""What is limited by the selection limit, instead of an edge."""
VALUES = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
PRECISION = 0.01
_GRID = 9


class InvalidConclusion(BounditError):
    """A conclusion that makes no sense for the arms of a table."""


@dataclass(frozen=True)
class Conclusion:
    """A statement about an arm in a context, and the number that proves it if large enough.

    With ``max_regret``: its maximum regret is at most that. With a ``baseline``: it is better, by
    at least ``at_least``. With ``at_least`` alone: its mean is at least that (at most, where less
    is better). Else: it is the best arm.
    """

    arm: Arm
    context: Context
    baseline: Arm | None
    at_least: float | None
    max_regret: float | None
    treatments: tuple[str, ...] = ()
    context_names: tuple[str, ...] = ()
    sign: int = 1

    @classmethod
    def read(
        cls,
        table: BoundTable,
        arm: object,
        context: object,
        baseline: object,
        at_least: float | None,
        max_regret: float | None,
    ) -> "Conclusion":
        """Read what is concluded of an arm, and refuse what the table does not have."""
        if at_least is not None and max_regret is not None:
            raise InvalidConclusion(
                "at_least and max_regret are different conclusions. Give one."
            )
        for name, number in (("at_least", at_least), ("max_regret", max_regret)):
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if number is not None and not (is_number and isfinite(number)):
                raise InvalidConclusion(
                    f"{name}={number!r} is not a number. Write a finite one."
                )
        try:
            one = table.read_arm(arm)
            other = None if baseline is None else table.read_arm(baseline)
            where: Context = () if context is None else table.read_context(context)
        except (OutsideDomain, WrongLength) as error:
            raise InvalidConclusion(str(error)) from None
        if table.context and context is None:
            known = ", ".join(str(c[0] if len(c) == 1 else c) for c in table.contexts[:6])
            raise InvalidConclusion(
                f"A conclusion is about one context. Name one of {known}.", option="context"
            )
        if one == other:
            raise InvalidConclusion(
                f"Arm and baseline are both {one!r}. Name two different ones."
            )
        names = table.treatments, table.context
        sign = 1 if table.goal == "max" else -1
        return cls(one, where, other, at_least, max_regret, *names, sign)

    @property
    def is_about_mean(self) -> bool:
        """Whether it is about the arm's mean alone."""
        return self.baseline is None and self.at_least is not None

    @property
    def measure_name(self) -> str:
        """What the number is, for tables."""
        if self.max_regret is not None:
            return "maximum regret"
        return "guaranteed mean" if self.is_about_mean else "guaranteed lead"

    def measure(self, table: BoundTable) -> float:
        """Measure how far the bounds prove it: the larger, the better."""
        means = MeanSet.from_table(table, self.context)
        means = means if self.sign > 0 else means.turn()
        if self.max_regret is not None:
            return -float(means.leads[:, means.arms.index(self.arm)].max())
        if self.is_about_mean:
            return -means.largest({self.arm: -1.0})
        others = [self.baseline] if self.baseline else [a for a in means.arms if a != self.arm]
        return min((-means.largest({a: 1.0, self.arm: -1.0}) for a in others), default=inf)

    def is_proved(self, number: float) -> bool:
        """Whether a number proves the conclusion."""
        if self.max_regret is not None:
            return -number <= self.max_regret + ROUNDING
        least = self.at_least or 0.0
        if self.is_about_mean:
            return number >= self.sign * least - ROUNDING
        return (number > ROUNDING or least < 0) and number >= least - ROUNDING

    def show(self, number: float) -> float:
        """The number as a table shows it."""
        turned = self.max_regret is not None or (self.is_about_mean and self.sign < 0)
        return 0.0 - number if turned else number

    def __str__(self) -> str:
        arm = write_arm(self.treatments, self.arm)
        where = write_levels(self.context_names, self.context)
        where = f" for {where}" if where else ""
        if self.max_regret is not None:
            return f"the maximum regret of {arm} is at most {self.max_regret:g}{where}"
        if self.is_about_mean:
            most = "at least" if self.sign > 0 else "at most"
            return f"the mean of {arm} is {most} {self.at_least:g}{where}"
        if self.baseline is None:
            return f"{arm} is the best arm{where}"
        by = f" by at least {self.at_least:g}" if self.at_least else ""
        if self.at_least and self.at_least < 0:
            by = f", or worse by at most {-self.at_least:g}"
        return f"{arm} is better than {write_arm(self.treatments, self.baseline)}{by}{where}"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The number that a conclusion rests on, at a limit."""

    limit: float
    number: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The largest limit up to which a conclusion was proved, and where it no longer was.

    ``point`` is infinite where the conclusion needs no limit, and None where it is not proved
    at the smallest limit either. ``fails_at`` is None where it was not seen to fail up to
    ``max_limit``; else at most 1% above ``point``.
    """

    conclusion: str
    point: float | None
    fails_at: float | None
    max_limit: float
    measure: str
    curve: tuple[CurvePoint, ...] = ()

    def __bool__(self) -> bool:
        return self.fails_at is None

    def write(self, limit_on: str) -> str:
        """Write where the conclusion fails."""
        said = self.conclusion[:1].upper() + self.conclusion[1:]
        match self.point, self.fails_at:
            case None, float(at):
                return (
                    f"Not proved, even at a limit of {at:.4g} on {limit_on}: {self.conclusion}."
                )
            case float(to), float(at):
                return (
                    f"{said}: proved up to a limit of {write_at_least(to)} on {limit_on}, not "
                    f"at {write_at_most(at)}."
                )
            case float(to), None if to == inf:
                return f"{said}: proved without any limit on {limit_on}."
            case _:
                return (
                    f"{said}: proved up to a limit of {self.max_limit:.4g} on {limit_on}, the "
                    "largest that was tried."
                )


@dataclass(frozen=True)
class Sensitivity:
    """A table of bounds for each limit, smallest first, and the breakdown point of a conclusion.

    The table of each limit is one simultaneous statement at the stated confidence; nothing is
    stated of several limits at once. ``refuted`` are limits that the log itself contradicts.
    It is true if the conclusion was not seen to fail.
    """

    limit_on: str
    limits: tuple[float, ...]
    tables: tuple[BoundTable, ...]
    refuted: tuple[float, ...] = ()
    breakdown: Breakdown | None = None
    caveats: tuple[Caveat, ...] = field(default=())

    def __bool__(self) -> bool:
        return self.breakdown is None or bool(self.breakdown)

    @property
    def confidence(self) -> float | None:
        """The confidence of each table."""
        return self.tables[0].confidence if self.tables else None

    def rows(self) -> list[dict[str, object]]:
        """List every row of every table as a mapping, its limit first."""
        pairs = zip(self.limits, self.tables, strict=True)
        return [{"limit": limit} | row for limit, table in pairs for row in table.rows()]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the analysis as an object for JSON."""
        plain = int | float | str | None
        return {
            "summary": self.summary(),
            "limit_on": self.limit_on,
            "confidence": self.confidence,
            "refuted": list(self.refuted),
            "breakdown": None if self.breakdown is None else encode(self.breakdown),
            "rows": [
                {k: v if isinstance(v, plain) else str(v) for k, v in row.items()}
                for row in self.rows()
            ],
            "caveats": list(map(str, self.caveats)),
        }

    def plot(self, path: str | PathLike[str] | None = None) -> "tuple[Axes, ...]":
        """Draw the bounds against the limit, a panel for each arm and context.

        A notebook shows the figure, pyplot's ``show`` elsewhere; with a ``path`` it is saved as
        PNG or SVG instead.
        """
        drawn: tuple[Axes, ...] = find_forwarded("plot_limits")(self, path)
        return drawn

    @property
    def sentences(self) -> tuple[str, ...]:
        """The breakdown point, and how the intervals widen."""
        said = [] if self.breakdown is None else [self.breakdown.write(self.limit_on)]
        if self.refuted:
            shown = ", ".join(f"{limit:g}" for limit in self.refuted)
            said.append(f"The data contradict the limits {shown}.")
        if self.limits:
            widths = list(map(_measure_width, self.tables))
            said.append(
                f"From a limit of {self.limits[0]:g} to one of {self.limits[-1]:g} on "
                f"{self.limit_on}, the mean width of the intervals grows from {widths[0]:.3g} to "
                f"{widths[-1]:.3g}."
            )
            decided = [
                limit
                for limit, table in zip(self.limits, self.tables, strict=True)
                if any(table.find_dominations(where) for where in table.contexts)
            ]
            said.append(
                f"Arms are ruled out up to a limit of {decided[-1]:g}."
                if decided
                else "No arm is ruled out at any of these limits."
            )
        return tuple(said)

    def summary(self) -> str:
        """Say where the conclusion fails, and how the intervals widen with the limit."""
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        limits = ", ".join(f"{limit:g}" for limit in self.limits)
        point = ""
        if self.breakdown is not None:
            at = self.breakdown.point
            point = f", breakdown point {'none' if at is None else f'{at:.4g}'}"
        return f"<Sensitivity to {self.limit_on}: limits {limits or 'none'}{point}>"

    def _repr_html_(self) -> str:
        return self.page().write_snippet()

    def __str__(self) -> str:
        lines = list(self.sentences)
        if self.limits:
            head, columns = self._list_curve()
            lines += ["", align_columns(head, columns), ""]
        if self.confidence is not None:
            lines.append(
                f"{100 * self.confidence:g}% confidence for each limit, if it is true."
            )
        return "\n".join(lines)

    def _list_curve(self) -> tuple[list[str], list[list[str]]]:
        """The mean width of the intervals at each limit, and the number of the conclusion."""
        head = ["limit", "mean width"]
        columns = [
            [f"{limit:g}" for limit in self.limits],
            [f"{_measure_width(table):.3f}" for table in self.tables],
        ]
        if self.breakdown is not None:
            numbers = {point.limit: point.number for point in self.breakdown.curve}
            head.append(self.breakdown.measure)
            columns.append(
                [f"{numbers[at]:.3f}" if at in numbers else "" for at in self.limits]
            )
        return head, columns

    def page(self) -> Page:
        """Make the page of the analysis."""
        curve = () if self.breakdown is None else self.breakdown.curve
        head = ["" if self.breakdown is None else self.breakdown.measure]
        rows = [(f"{p.limit:.4g}", f"{p.number:.4g}") for p in curve]
        bounds = [
            (
                f"{limit:g}",
                write_levels(table.treatments, arm),
                write_levels(table.context, where),
                f"{bound.lower:.3f}",
                f"{bound.upper:.3f}",
            )
            for limit, table in zip(self.limits, self.tables, strict=True)
            for (arm, where), bound in table.bounds.items()
        ]
        page = make_page(
            f"Sensitivity to {self.limit_on}",
            self.sentences or ("No limit was tried.",),
            [
                ("Conclusion by limit", ["limit", *head], rows, ""),
                ("Bounds by limit", ["limit", "arm", "context", "lower", "upper"], bounds, ""),
            ],
            self.confidence,
            caveats=self.caveats,
        )
        drawn = (chart_limits(self),) if any(map(isfinite, self.limits)) else ()
        return replace(page, sections=(*drawn, *page.sections))


def _measure_width(table: BoundTable) -> float:
    return float(np.mean([interval.width for interval in table.intervals.values()]))


@accept_options
def sensitivity(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    limit: str,
    values: Iterable[float] | None = None,
    arm: object = None,
    baseline: object = None,
    at_least: float | None = None,
    max_regret: float | None = None,
    max_limit: float = 100.0,
    context: object = None,
    **options: Unpack[Options],
) -> Sensitivity:
    """Bound under growing limits, and find the limit at which a conclusion fails.

    The log is counted once.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    limit : str
        What is limited: an edge such as ``"X <-> Y"`` (confounding limit), or ``"selection"``
        (selection limit).
    values : iterable of float, optional
        The limits of the curve, from 1 on. Default: eight from 1 to 10, and with an ``arm``
        those that the search for the breakdown point needs.
    arm, context : value or tuple, optional
        What is concluded of: the arm is the best one in this context.
    baseline : value or tuple, optional
        The arm is better than this one, not than all.
    at_least : float, optional
        The arm is better than the baseline by at least this. Without a baseline: its mean is at
        least this, or at most where less is better.
    max_regret : float, optional
        The maximum regret of the arm is at most this.
    max_limit : float
        The largest limit that is tried for the breakdown point.
    **options
        Other limits stay as they are. ``time_limit`` is for everything: what it ends early is
        wider, so that conclusions are proved up to a smaller limit.

    Returns
    -------
    Sensitivity
        A table for each limit, and the breakdown point if an ``arm`` is given.

    Examples
    --------
    >>> from boundit.graph.text import parse
    >>> rows = {"X": [0, 0, 0, 0, 1, 1, 1, 1] * 99, "Y": [0, 0, 0, 1, 1, 1, 1, 0] * 99}
    >>> found = sensitivity(
    ...     parse("X -> Y; X <-> Y"), "Y | do(X)", rows, limit="X <-> Y", arm=1, values=[1, 2]
    ... )
    >>> print(found.sentences[0])
    X=1 is the best arm: proved up to a limit of 2.0... on X <-> Y, not at 2.0...
    """
    if not (isinstance(max_limit, int | float) and isfinite(max_limit) and max_limit > 1):
        raise OptionError(f"max_limit={max_limit!r} is not a number above 1. Write one.")
    asked = {"baseline": baseline, "at_least": at_least, "max_regret": max_regret}
    if arm is None and (given := [name for name, value in asked.items() if value is not None]):
        raise InvalidConclusion(
            Option(given[0]), " is about an arm. Name one with ", Option("arm"), "."
        )
    request, breakdown = read_request(graph, query, log, **options), None
    with follow_progress(options.get("progress")) as progress:
        limited = _Limited.read(request, limit, progress)
        grid = sorted({*map(float, VALUES if values is None else values)})
        for each in grid:
            limited.find(each)
        if arm is not None:
            first = next(t for t in (limited.find(g) for g in (*grid, inf)) if t is not None)
            concluded = Conclusion.read(first, arm, context, baseline, at_least, max_regret)
            breakdown = _find_breakdown(limited, concluded, float(max_limit))
    found = [(each, table) for each in grid if (table := limited.tables[each]) is not None]
    return Sensitivity(
        limited.on,
        tuple(each for each, _ in found),
        tuple(table for _, table in found),
        tuple(sorted(at for at, table in limited.tables.items() if table is None)),
        breakdown,
        _list_caveats(limited),
    )


@dataclass(eq=False)
class _Limited:
    """Tables under limits on one edge, or on selection, each derived once; None if refuted."""

    request: BoundRequest
    on: str
    progress: Progress = say_nothing
    kept: KeptCounts = field(default_factory=dict)
    tables: dict[float, BoundTable | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = TimeBudget(self.request.time_limit)

    @classmethod
    def read(cls, request: BoundRequest, on: str, progress: Progress) -> "_Limited":
        if on == SELECTION:
            request.with_sensitivity(1.0)
            return cls(request, on, progress)
        if not isinstance(on, str):
            raise OptionError(
                f"limit={on!r} is not an edge. Write an edge such as 'X <-> Y', or {SELECTION!r}."
            )
        (edge,) = ConfoundingLimits.from_option({on: 1}, request.graph, option="limit").by_edge
        return cls(request, edge, progress)

    def find(self, limit: float) -> BoundTable | None:
        """The table under a limit, infinite for none."""
        if limit not in self.tables:
            self.progress(f"bound under the limit {limit:.4g}", len(self.tables), 0)
            if self.on != SELECTION:
                asked = self.request.with_confounding(self.on, limit)
            elif limit == inf:
                asked = replace(self.request, facts=SelectionFacts(self.request.facts.rate))
            else:
                asked = self.request.with_sensitivity(limit)
            asked = replace(asked, time_limit=self.budget.count_seconds())
            try:
                self.tables[limit] = derive_table(asked, self.kept)
            except (EndsCross, FactsRefuted, NoModelFits):
                self.tables[limit] = None
        return self.tables[limit]


def _find_breakdown(limited: _Limited, conclusion: Conclusion, max_limit: float) -> Breakdown:
    """Bracket the breakdown point on a grid, from above, and bisect."""
    numbers = dict[float, float]()

    def measure(limit: float) -> float:
        if limit not in numbers:  # a limit that the data contradict proves everything
            table = limited.find(limit)
            numbers[limit] = inf if table is None else conclusion.measure(table)
        return max(number for at, number in numbers.items() if at >= limit)

    def is_proved(limit: float) -> bool:
        return conclusion.is_proved(measure(limit))

    inner = np.geomspace(1.0, max_limit, _GRID)[1:-1].tolist()
    grid = sorted({1.0, *inner, max_limit, *(at for at in limited.tables if at <= max_limit)})
    always = is_proved(inf)
    for limit in reversed(grid):
        measure(limit)
    proved = [limit for limit in grid if is_proved(limit)]
    point, fails_at = max(proved, default=None), None
    if always:
        point = inf
    elif point is None:
        fails_at = grid[0]
    elif point < max_limit:
        fails_at = grid[grid.index(point) + 1]
        while fails_at > point * (1 + PRECISION):
            middle = exp((log(point) + log(fails_at)) / 2)
            point, fails_at = (middle, fails_at) if is_proved(middle) else (point, middle)
    curve = tuple(
        CurvePoint(limit, conclusion.show(measure(limit)))
        for limit in sorted(numbers)
        if isfinite(numbers[limit]) and limit < inf
    )
    return Breakdown(
        str(conclusion), point, fails_at, max_limit, conclusion.measure_name, curve
    )


def _list_caveats(limited: _Limited) -> tuple[Caveat, ...]:
    """The caveats of all tables, but for what they say of the limit itself; unless it is unused."""
    own = f"{limited.on} was not used: "
    said = dict.fromkeys(
        caveat for table in limited.tables.values() if table for caveat in table.caveats
    )
    unused = [
        Caveat(
            f"A limit on {limited.on} does not narrow these bounds: {caveat.split(own)[1]}",
            kind="critical",
            code="limit-not-used",
        )
        for caveat in said
        if own in caveat
    ]
    others = (caveat for caveat in said if limited.on not in caveat)
    return tuple(dict.fromkeys((*unused, *others)))
