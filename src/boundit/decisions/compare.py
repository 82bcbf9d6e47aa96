r"""Comparison of two policies: an interval for the difference of their means, and a verdict.

With probabilities of arms :math:`\pi`, means :math:`\mu` and shares :math:`p` of contexts the
difference is

.. math:: \sum_c p(c) \sum_a (\pi_{policy}(a \mid c) - \pi_{baseline}(a \mid c)) \mu(a, c).

In a context it is a linear function of the means, bounded over all means that the table allows
together (``MeanSet``): arms that both policies choose cancel, and bounds on differences of arms
are used. Endpoints of contexts are averaged over all shares that are possible. A measured mean, a
sample of units, the logging policy and an estimate from propensities have errors of their own,
which add up with that of the table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from boundit.bounds.request import BoundRequest, read_request
from boundit.core.codec import encode
from boundit.core.errors import BounditError
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.long_work import Progress, follow_progress
from boundit.core.message import ANY, Option
from boundit.core.public_names import mark_renamed, refuse_renamed
from boundit.core.rounding import ROUNDING
from boundit.counts.log import Log, read_log
from boundit.decisions.choose import read_costs
from boundit.decisions.evaluation import Estimator, estimate_difference, require_estimator
from boundit.decisions.logged import LoggedMeans, bound_logged
from boundit.decisions.means import MeanSet
from boundit.decisions.pages import make_page
from boundit.decisions.policies import (
    Logged,
    Measured,
    ReadPolicy,
    Side,
    read_policy,
    write_values,
)
from boundit.decisions.shares import is_sample, read_shares
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike
from boundit.graph.separation import open_walk
from boundit.report.frame import make_frame
from boundit.report.page import Page
from boundit.results.bound import Arm, Context, Goal, read_goal
from boundit.results.bound_table import EXPERT, BoundTable
from boundit.results.choice import write_at_least, write_at_most
from boundit.results.sampling import ROWS
from boundit.results.text import MOST_ROWS, align_columns

ComparisonVerdict: TypeAlias = Literal["better", "worse", "inconclusive"]
_DECIDING = 3
_BESIDE = 0.2  # share of a table's error that is spent once more on what is read beside it
_EXPERT_ERROR = 0.01  # the same where a table has no error of its own


class CannotCompare(BounditError):
    """A comparison that lacks what one of its sides needs."""


class AnswersContradict(BounditError):
    """Two intervals of one difference that have no value in common."""

    def __init__(self, bounds: Interval, other: Interval, what: str) -> None:
        self.bounds, self.other = bounds, other
        super().__init__(
            f"The bounds give {bounds} for the difference, {what} {other}. The graph, the bounds "
            f"or {what} are wrong."
        )


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """The difference of the means in one context, and how common the context is.

    ``shared`` tells whether bounds on differences of arms were used.
    """

    context: Context
    share: Interval
    difference: Interval
    shared: bool
    mark: str | None = None


@dataclass(frozen=True)
class Comparison:
    """An interval for the mean outcome of a policy minus that of a baseline; true if better.

    ``differences`` has every context and ``deciding`` those that matter most for the verdict;
    ``notes`` say what the interval rests on.
    """

    policy: str
    baseline: str
    interval: Interval
    context: tuple[str, ...]
    differences: tuple[ContextDifference, ...]
    deciding: tuple[Context, ...]
    notes: tuple[str, ...]
    confidence: float | None = None
    goal: Goal = "max"
    any_mix: bool = False

    def __bool__(self) -> bool:
        return self.verdict == "better"

    @property
    def lower(self) -> float:
        """The lower endpoint of the difference."""
        return self.interval.lower

    @property
    def upper(self) -> float:
        """The upper endpoint of the difference."""
        return self.interval.upper

    @property
    def verdict(self) -> ComparisonVerdict:
        """Whether the policy is better than the baseline, worse, or neither is certain."""
        low, high = self.lower, self.upper
        slack = ROUNDING * max(1.0, abs(low), abs(high))  # equal up to rounding is not better
        if low > slack:
            return "better" if self.goal == "max" else "worse"
        if high < -slack:
            return "worse" if self.goal == "max" else "better"
        return "inconclusive"

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        low, high = self.lower, self.upper
        mix = f", for any mix of {' and '.join(self.context)}" if self.any_mix else ""
        if self.verdict == "inconclusive":
            return (
                f"Inconclusive: the mean of {self.policy} is between {_write_signed(low)} and "
                f"{_write_signed(high)} relative to {self.baseline}{mix}."
            )
        word, most = ("higher", high) if low > 0 else ("lower", -low)
        return (
            f"{self.verdict.capitalize()}: the mean of {self.policy} is "
            f"{write_at_least(max(low, -high))} to {write_at_most(most)} {word} than that of "
            f"{self.baseline}{mix}."
        )

    def rows(self) -> list[dict[str, object]]:
        """Write the contexts as a list of mappings, for a data frame."""
        return [
            {
                **dict(zip(self.context, found.context, strict=True)),
                "share_lower": found.share.lower,
                "share_upper": found.share.upper,
                "lower": found.difference.lower,
                "upper": found.difference.upper,
                "shared": found.shared,
            }
            for found in self.differences
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a data frame of pandas, ``"polars"`` or ``"arrow"``."""
        return make_frame(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the comparison as an object for JSON, with its verdict."""
        found: dict[str, object] = encode(self)
        return {"verdict": self.verdict, "summary": self.summary} | found

    def __repr__(self) -> str:
        mix = f" for any mix of {' and '.join(self.context)}" if self.any_mix else ""
        return (
            f"<Comparison of {self.policy} with {self.baseline}: {self.verdict}, "
            f"[{_write_signed(self.lower)}, {_write_signed(self.upper)}]{mix}>"
        )

    def _repr_html_(self) -> str:
        return self.page().write_snippet()

    def page(self) -> Page:
        """Make the page of the comparison, the deciding contexts first."""
        rows = [
            (
                write_values(self.context, one.context) or "everyone",
                _write_signed(one.difference.lower),
                _write_signed(one.difference.upper),
                write_share(one.share),
                one.mark or "",
            )
            for one in self.sort_differences()
        ]
        return make_page(
            f"{self.policy} compared with {self.baseline}",
            [self.summary],
            [("By context", ["context", "lower", "upper", "share", "note"], rows, "")],
            self.confidence,
            notes={"What this rests on": self.notes},
        )

    def __str__(self) -> str:
        return self.format()

    def format(self, *, all_rows: bool = False) -> str:
        """Write the comparison as text; of more than 30 contexts all with ``all_rows``."""
        lines, every = [self.summary], self.sort_differences()
        if len(every) > 1:
            shown = every if all_rows else every[:MOST_ROWS]
            columns = [
                *([str(one.context[i]) for one in shown] for i in range(len(self.context))),
                [_write_signed(one.difference.lower) for one in shown],
                [_write_signed(one.difference.upper) for one in shown],
                [write_share(one.share) for one in shown],
            ]
            head = [*self.context, "lower", "upper", "share"]
            lines += ["", align_columns(head, columns)]
            if left := len(every) - len(shown):
                lines.append(f"and {left:,} more rows (--all-rows, or .frame(), has all)")
            lines.append("")
        lines += self.notes
        if self.confidence is not None:
            lines.append(f"{100 * self.confidence:.6g}% confidence.")
        return "\n".join(lines)

    def sort_differences(self) -> tuple[ContextDifference, ...]:
        """Sort the contexts: the deciding ones first."""
        first = {where: place for place, where in enumerate(self.deciding)}
        return tuple(
            sorted(self.differences, key=lambda one: first.get(one.context, len(first)))
        )


def write_share(share: Interval) -> str:
    """Write how common a context is: one number, a range, or any."""
    if (share.lower, share.upper) == (0, 1):
        return "any"
    return f"{share.lower:.3g}" if not share.width else str(share)


def _write_signed(number: float) -> str:
    return f"{number + 0.0:+.3f}" if round(number, 3) else "0"


@refuse_renamed
def compare(
    bounds: BoundTable,
    policy: object,
    baseline: object,
    *,
    shares: object = "any",
    goal: Goal | None = None,
    costs: Mapping[object, float] | None = None,
    log: object = None,
    graph: GraphLike | None = None,
    propensity: object = None,
    estimator: Estimator = "ips",
    min_propensity: float | None = None,
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    selection_limit: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Bound the mean outcome of a policy minus that of a baseline, and say which is better.

    Parameters
    ----------
    bounds : BoundTable
        The bounds of every arm in every context.
    policy, baseline : arm, mapping, Choice, Policy, LOGGED or Measured
        An arm; a mapping from contexts to arms or to probabilities of arms; what
        ``bounds.choose()`` returned; a policy, which is asked for its propensities and left as
        it is; ``bd.LOGGED``, the logging policy; or ``bd.decisions.Measured``.
    shares : mapping, log, "log" or "any"
        How common contexts are: a mapping from contexts to shares; a log of units, whose
        sampling error counts; the rows of ``log``, where the graph allows that; or any mix.
    goal : {"max", "min"}, optional
        Whether a greater or a smaller outcome is better. Default: the goal of the table.
    costs : mapping, optional
        Cost of arms in units of the outcome, which counts against a policy.
    log, graph : any log, graph
        The log of the bounds and its graph, for ``LOGGED``, ``shares="log"`` and propensities.
    propensity : str or mapping, optional
        The column with the probability of the arm of the row, or the logging policy as a
        mapping. The difference is then estimated from weighted outcomes too, and both intervals
        are intersected. The log must be unselected.
    estimator, min_propensity, seed
        As for ``evaluate_policy``.
    external, selection_rate, selection_limit, time_limit, memory_limit, progress
        As for ``derive_bounds``, for the logging policy.

    Returns
    -------
    Comparison
        The interval, the verdict and every context.

    Examples
    --------
    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.35, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> found = compare(table, "B", {"A": 0.5, "B": 0.5})
    >>> found.verdict, round(found.lower, 3), round(found.upper, 3)
    ('better', 0.025, 0.25)
    """
    if not isinstance(bounds, BoundTable):
        raise CannotCompare(
            f"Policies are compared by a BoundTable, not by "
            f"{type(bounds).__name__}. Derive one first."
        )
    opened = None if log is None else read_log(log)
    request = None
    if graph is not None and opened is not None:
        request = read_request(
            graph,
            EffectQuery((bounds.outcome,), bounds.treatments, bounds.context),
            opened,
            outcome_range=bounds.outcome_range,
            confidence=None,
            external=external,
            selection_rate=selection_rate,
            selection_limit=selection_limit,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    with follow_progress(progress) as tell:
        tell("compare policies", 0, 1)
        return compare_by(
            bounds,
            policy,
            baseline,
            shares=shares,
            goal=goal,
            costs=costs,
            log=opened,
            request=request,
            propensity=propensity,
            estimator=estimator,
            min_propensity=min_propensity,
            seed=seed,
        )


def compare_by(
    bounds: BoundTable,
    policy: object,
    baseline: object,
    *,
    shares: object = "any",
    goal: Goal | None = None,
    costs: Mapping[object, float] | None = None,
    log: Log | None = None,
    request: BoundRequest | None = None,
    propensity: object = None,
    estimator: Estimator = "ips",
    min_propensity: float | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two policies, with the log and the request that the bounds were derived from."""
    require_estimator(estimator)
    aim = read_goal(goal or bounds.goal)
    paid = read_costs(costs, bounds, aim)
    given = [policy, baseline]
    asks_logged = sum(_is_logged(side, bounds) for side in given)
    _require(asks_logged, log, request, propensity, costs)
    weighing = _choose_shares(
        shares, bounds, log, request, has_propensity=propensity is not None
    )
    sampled = log is not None and not log.exact
    reads = [is_sample(weighing, bounds), bool(asks_logged) and sampled]
    reads.append(propensity is not None and sampled)
    error = _find_error(bounds) / max(sum(reads), 1)
    mix = read_shares(weighing, bounds, error=error)
    sides = (
        read_policy(policy, bounds, mix.contexts, "policy"),
        read_policy(baseline, bounds, mix.contexts, "baseline"),
    )
    logged = None
    if asks_logged and request is not None:
        sure = 1 - error if error and sampled else None
        logged = bound_logged(replace(request, confidence=sure), bounds)
    differences = tuple(
        _compare_in_context(bounds, sides, where, share, logged, paid)
        for where, share in zip(mix.contexts, mix.ranges, strict=True)
    )
    most = mix.largest([found.difference.upper for found in differences])
    least = -mix.largest([-found.difference.lower for found in differences])
    estimate = None
    if propensity is not None and log is not None:
        apart = tuple(None if isinstance(side, Measured) else side for side in sides)
        estimate = estimate_difference(
            log, bounds, apart, propensity,  # type: ignore[arg-type]
            estimator=estimator, min_propensity=min_propensity, error=error, seed=seed,
        )  # fmt: skip
        low, high = max(least, estimate.interval.lower), min(most, estimate.interval.upper)
        if low > high + ROUNDING:
            bounded = _make_interval(least, most)
            raise AnswersContradict(bounded, estimate.interval, "the propensities")
        least, most = low, high
    for sign, side in zip((1, -1), sides, strict=True):
        if isinstance(side, Measured):
            ends = side.interval
            least += ends.lower if sign > 0 else -ends.upper
            most += ends.upper if sign > 0 else -ends.lower
    interval = _make_interval(least, most)
    missed = error * sum(reads) + sum(s.error for s in sides if isinstance(s, Measured))
    notes = [
        *_explain_arms(sides, differences),
        *(_explain_logged(bounds, logged) if logged else ()),
        mix.sentence if isinstance(weighing, str) or len(differences) > 1 else "",
        *(f"The mean of {s} was subtracted." for s in sides if isinstance(s, Measured)),
        *(() if estimate is None else (f"The propensities give {estimate.interval}.",)),
        *(() if estimate is None else estimate.notes),
        *_explain_error(bounds, missed),
    ]
    any_mix = len(differences) > 1 and isinstance(weighing, str)
    sure = None
    if bounds.confidence is not None or missed:
        own = 1.0 if bounds.confidence is None else bounds.confidence
        sure = max(0.0, round(own - missed, 12))
    return Comparison(
        str(sides[0]),
        str(sides[1]),
        interval,
        bounds.context,
        differences,
        _find_deciding(differences, interval),
        tuple(filter(None, notes)),
        sure,
        aim,
        any_mix,
    )


def _is_logged(side: object, table: BoundTable) -> bool:
    is_word = isinstance(side, str) and side == "log" and ("log",) not in table.arms
    return isinstance(side, Logged) or is_word


def _require(
    asks_logged: int,
    log: Log | None,
    request: BoundRequest | None,
    propensity: object,
    costs: object,
) -> None:
    """Refuse what lacks the log or the graph, or has no answer."""
    if asks_logged == 2:
        raise CannotCompare("Both policies are the logging policy. Give another one.")
    if asks_logged and costs:
        raise CannotCompare("The costs of the logging policy are not known. Leave them out.")
    if propensity is not None and log is None:
        raise CannotCompare("Propensities weigh the rows of a log. Give the log too.")
    if propensity is not None and costs:
        raise CannotCompare("Propensities estimate outcomes, not costs. Leave out either.")
    if propensity is not None and request is not None and request.graph.selection is not None:
        raise CannotCompare(
            "Propensities do not undo selection. Leave out ", Option("propensity"), "."
        )
    if not asks_logged or propensity is not None:
        return
    if log is None or request is None:
        raise CannotCompare(
            "The logging policy is bounded from its log and graph. Give both beside the bounds."
        )
    if log.adaptive:
        raise CannotCompare(
            "A logging policy that learned has no single mean. Compare with a fixed policy or a "
            "bd.decisions.Measured mean."
        )


def _choose_shares(
    shares: object,
    table: BoundTable,
    log: Log | None,
    request: BoundRequest | None,
    *,
    has_propensity: bool,
) -> object:
    """Choose what says how common contexts are; with propensities, the log that they weigh."""
    if not table.context:
        return "any"
    of_log = isinstance(shares, str) and shares == "log"
    if not (of_log or has_propensity):
        return shares
    if not of_log and not (isinstance(shares, str) and shares == "any"):
        raise CannotCompare(
            "An estimate from propensities is about the log's own contexts. Leave out ",
            Option("shares"),
            ".",
        )
    if log is None or (request is None and not has_propensity):
        raise CannotCompare(Option("shares", "log"), " needs the log and its graph. Give both.")
    graph = None if request is None else request.graph
    if graph and graph.selection and open_walk(graph, table.context, graph.selection):
        raise CannotCompare(
            "By the graph, selection may change how common contexts are. Give their shares as ",
            Option("shares", ANY),
            ".",
        )
    return log


def _find_error(table: BoundTable) -> float:
    """The error that may be spent beside a table; plug-in tables take samples as they are."""
    if table.confidence is not None:
        return (1 - table.confidence) * _BESIDE
    return _EXPERT_ERROR if table.profile == EXPERT else 0.0


mark_renamed(Comparison, {"by": "lower"})


@dataclass(frozen=True)
class _Ends:
    """Two endpoints of a difference, and whether they are valid at a confidence."""

    least: float
    most: float
    sure: bool = False

    def narrow(self, least: float, most: float) -> "_Ends":
        """Intersect; estimates that exclude each other stay as they are."""
        low, high = max(self.least, least), min(self.most, most)
        if low <= high + ROUNDING:
            return _Ends(low, high, self.sure)
        if self.sure:
            rows = Interval(self.least, self.most)
            raise AnswersContradict(Interval(least, most), rows, "the rows of the log")
        return self


def _compare_in_context(
    table: BoundTable,
    sides: tuple[Side, Side],
    where: Context,
    share: Interval,
    logged: LoggedMeans | None,
    paid: Mapping[Arm, float],
) -> ContextDifference:
    """Bound the difference in one context, without measured means."""
    means = MeanSet.from_table(table, where, paid)
    gained = dict[Arm, float]()
    for sign, side in zip((1, -1), sides, strict=True):
        if isinstance(side, ReadPolicy):
            for arm, p in side.probabilities[where].items():
                gained[arm] = gained.get(arm, 0.0) + sign * p
    shared = means.linked
    found = _Ends(*_bound_gain(means, gained))
    if logged is not None:
        sign = 1 if isinstance(sides[0], Logged) else -1
        found = _add_logged(means, gained, sign, logged, where)
        shared = logged.within is not None or (logged.is_randomized and means.linked)
        if logged.arms is not None and logged.within is not None:
            ends = [
                _add_logged(
                    MeanSet.from_table(logged.arms, finer), gained, sign, logged.within, finer
                )
                for finer in logged.list_strata(where)
            ]
            found = found.narrow(min(one.least for one in ends), max(one.most for one in ends))
    return ContextDifference(
        where, share, _make_interval(found.least, found.most), shared, means.mark
    )


def _bound_gain(means: MeanSet, gained: Mapping[Arm, float]) -> tuple[float, float]:
    turned = {arm: -weight for arm, weight in gained.items()}
    return -means.largest(turned), means.largest(gained)


def _add_logged(
    means: MeanSet,
    gained: Mapping[Arm, float],
    sign: int,
    logged: LoggedMeans,
    where: Context,
) -> _Ends:
    """Add or subtract the mean of the logging policy; a randomization lies between the arms."""
    did, (least, most) = logged.find(where), _bound_gain(means, gained)
    low, high = (did.lower, did.upper) if sign > 0 else (-did.upper, -did.lower)
    found = _Ends(least + low, most + high, logged.table.confidence is not None)
    if not logged.is_randomized:
        return found
    each = [
        _bound_gain(means, {**gained, arm: gained.get(arm, 0.0) + sign}) for arm in means.arms
    ]
    return found.narrow(min(low for low, _ in each), max(high for _, high in each))


def _make_interval(low: float, high: float) -> Interval:
    """Make an interval of two endpoints that cross by no more than rounding."""
    low, high = low + 0.0, high + 0.0  # no negative zero
    close = low - high <= ROUNDING
    return Interval(min(low, high), max(low, high)) if close else Interval(low, high)


def _find_deciding(
    differences: Sequence[ContextDifference], interval: Interval
) -> tuple[Context, ...]:
    """The contexts that contribute most to the endpoint near 0, or else to the width."""
    if len(differences) == 1:
        return ()
    turned, decided = interval.upper < 0, interval.lower > 0 or interval.upper < 0

    def weigh(found: ContextDifference) -> float:
        ends = found.difference
        near = -ends.upper if turned else ends.lower
        if found.share.width == 1:  # any mix: those nearest to another verdict
            return -near if decided else min(-ends.lower, ends.upper)
        share = (found.share.lower + found.share.upper) / 2
        return share * (near if decided else ends.width)

    ranked = sorted(differences, key=weigh, reverse=True)
    return tuple(found.context for found in ranked[:_DECIDING])


def _explain_arms(
    sides: tuple[Side, Side], differences: Sequence[ContextDifference]
) -> Iterator[str]:
    n, shared = len(differences), sum(found.shared for found in differences)
    if all(isinstance(side, ReadPolicy) for side in sides):
        if shared:
            where = "" if n == 1 else f" in {shared:,} of {n:,} contexts"
            yield f"Unknowns that the arms share were held equal{where}."
        else:
            yield "The intervals of the arms were subtracted; arms of both policies cancel."
    yield from dict.fromkeys(found.mark for found in differences if found.mark)


def _explain_logged(table: BoundTable, logged: LoggedMeans) -> Iterator[str]:
    who = "the population, not of the selected rows" if logged.is_selected else "its rows"
    yield f"The logging policy has the mean {table.outcome} of {who}."
    if logged.by:
        names = ", ".join(logged.by)
        yield f"Both policies were also compared within {names}, on which selection depends."
    if logged.is_randomized and logged.is_selected:
        yield "By the graph, its arms are unconfounded, so its mean lies between those of the arms."
    tables = [logged.table, *([logged.arms] if logged.arms else [])]
    yield from dict.fromkeys(caveat for one in tables for caveat in one.caveats)


def _explain_error(table: BoundTable, missed: float) -> Iterator[str]:
    if table.confidence is None and table.profile != EXPERT:
        yield "The bounds are plug-in estimates, without sampling error."
    if table.inference == "approximate":
        yield "The confidence of the bounds is approximate (large samples)."
    if table.units != ROWS and missed:
        yield f"The bounds are for {table.units}; other data were taken as independent rows."
    if missed and table.confidence is not None:
        yield (
            f"Confidence: {100 * table.confidence:.6g}% of the bounds, less {100 * missed:.3g}% "
            "for the data beside them."
        )
