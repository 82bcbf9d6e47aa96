r"""Compare two policies: an interval for the difference of what they earn, and a verdict.

With the chances of arms :math:`\pi` of both policies, the means :math:`\mu` of arms and the
shares :math:`p` of contexts the difference is

.. math:: \sum_c p(c) \sum_a (\pi_{new}(a \mid c) - \pi_{old}(a \mid c)) \mu(a, c).

In a context it is one linear function of the means, which is bounded over all means that the
table allows together (``MeanSet``): arms that both policies choose alike cancel, and known
differences of arms are used. Over contexts the ends are added up, or the worst and the best
context are taken where nobody knows how often each comes. A measured value, a sample of
visitors, what the log did and an estimate from propensities are claims of their own; the
chances that they miss add up with the table's, and so does the price of differences of arms
that do not hold all at once.
"""

from collections.abc import Iterable, Sequence

from boundit.core.interval import Interval
from boundit.core.renamed import refuse_renamed
from boundit.core.rounding import ROUNDING
from boundit.decisions.compare.comparison import Comparison, ContextDifference
from boundit.decisions.compare.estimate import (
    Estimator,
    estimate_difference,
    require_estimator,
)
from boundit.decisions.compare.explain import explain_comparison
from boundit.decisions.compare.logged import bound_logged
from boundit.decisions.compare.measured import Measured
from boundit.decisions.compare.one_context import (
    AnswersContradict,
    compare_in_context,
    make_interval,
)
from boundit.decisions.compare.policies import Side, read_side
from boundit.decisions.compare.question import read_question
from boundit.decisions.compare.shares import ContextShares, read_shares
from boundit.graph.read import GraphLike
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

_DECIDING = 3
"""How many contexts are named as those that decide."""


@refuse_renamed
def compare(
    bounds: BoundTable,
    new: object,
    old: object,
    *,
    contexts: object = None,
    log: object = None,
    graph: GraphLike | None = None,
    propensity: object = None,
    estimator: Estimator = "ips",
    least_propensity: float | None = None,
    confidence: float | None = 0.99,
    external: Iterable[object] = (),
    selection_rate: float | tuple[float, float] | None = None,
    selection_limit: float | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
) -> Comparison:
    """Bound how much more one policy earns than another, and say whether it is surely better.

    Parameters
    ----------
    bounds
        What every arm may earn in every context.
    new, old
        An arm; a mapping from contexts to arms or to chances of arms; what ``bounds.choose()``
        gave; a policy, which is asked for its propensities in every context and left as it is;
        ``bd.LOGGED``, what the log did; or ``bd.Measured(value, error, confidence=...)``.
    contexts
        How often contexts come: a mapping from contexts to shares, a log of visitors (a sample,
        whose error counts), ``"log"`` for the rows of ``log``, or ``"any"``, whatever they are.
        Unless given: those of ``log`` where the graph says that selection left them alone,
        else ``"any"``.
    log, graph
        The log and its graph, for what the log did, for its shares of contexts and for
        propensities.
    propensity
        A column of the log with the chance that its policy gave to the arm of the row, or that
        policy's chances as a mapping. The difference is then estimated from weighted rewards
        too, and both intervals are intersected. The log must be unselected.
    estimator, least_propensity
        As ``estimate_value`` has them.
    confidence
        The chance that all holds which is read beside the bounds: a sample of contexts, what
        the log did, the estimate. None takes samples as if they were everyone.
    external, selection_rate, selection_limit, time_limit, memory_limit
        As ``derive_bounds`` has them, for what the log did.

    Examples
    --------
    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.35, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> found = compare(table, "B", {"A": 0.5, "B": 0.5})
    >>> found.verdict, round(found.by, 3), round(found.interval.upper, 3)
    ('surely better', 0.025, 0.25)
    """
    require_estimator(estimator)
    asked = read_question(
        bounds,
        (new, old),
        contexts=contexts,
        log=log,
        graph=graph,
        propensity=propensity,
        confidence=confidence,
    )
    shares = read_shares(asked.contexts, bounds, chance=asked.chance)
    sides = (
        read_side(new, bounds, shares.contexts, "new"),
        read_side(old, bounds, shares.contexts, "old"),
    )
    logged = None
    if asked.asks_logged and asked.graph is not None:
        logged = bound_logged(
            asked.graph,
            bounds,
            asked.log,
            confidence=asked.log_confidence,
            external=external,
            selection_rate=selection_rate,
            selection_limit=selection_limit,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    differences = tuple(
        compare_in_context(bounds, sides, where, share, logged)
        for where, share in zip(shares.contexts, shares.list_ranges(), strict=True)
    )
    interval = _add_measured(_join_contexts(differences, shares), sides)
    estimate = None
    if propensity is not None and asked.log is not None:
        estimate = estimate_difference(
            asked.log,
            bounds,
            sides,
            propensity,
            estimator=estimator,
            least_propensity=least_propensity,
            chance=asked.chance,
        )
        interval = _intersect(interval, estimate.interval)
    missed = asked.chance * asked.claims
    missed += sum(side.chance for side in sides if isinstance(side, Measured))
    return Comparison(
        str(sides[0]),
        str(sides[1]),
        interval,
        bounds.context,
        differences,
        _find_deciding(differences, interval),
        explain_comparison(bounds, sides, shares, differences, logged, estimate, missed),
        _add_chances(bounds.confidence, missed),
        bounds.goal,
    )


def _join_contexts(differences: Sequence[ContextDifference], shares: ContextShares) -> Interval:
    """Join the ends of all contexts by their shares."""
    most = shares.find_largest([found.difference.upper for found in differences])
    least = -shares.find_largest([-found.difference.lower for found in differences])
    return make_interval(least, most)


def _add_measured(interval: Interval, sides: tuple[Side, Side]) -> Interval:
    """Add a measured value that is the new side, and take off one that is the old side."""
    new, old = sides
    if isinstance(new, Measured):
        interval = Interval(interval.lower + new.ends.lower, interval.upper + new.ends.upper)
    if isinstance(old, Measured):
        interval = Interval(interval.lower - old.ends.upper, interval.upper - old.ends.lower)
    return interval


def _intersect(bounds: Interval, estimate: Interval) -> Interval:
    """Intersect what bounds and propensities say of a difference, or say that they contradict."""
    low, high = max(bounds.lower, estimate.lower), min(bounds.upper, estimate.upper)
    if low > high + ROUNDING:
        raise AnswersContradict(bounds, estimate, "the propensities")
    return make_interval(low, high)


def _find_deciding(
    differences: Sequence[ContextDifference], interval: Interval
) -> tuple[Context, ...]:
    """Find the contexts that the answer hangs on most.

    For a sure answer those that add most to the end that is near 0; else those whose own
    interval adds most to the width. Where contexts come as they will it is those nearest to
    another answer.
    """
    if len(differences) == 1:
        return ()
    turned = -1 if interval.upper < 0 else 1
    told = interval.lower > 0 or interval.upper < 0

    def weigh(found: ContextDifference) -> float:
        ends = found.difference
        near = ends.lower if turned > 0 else -ends.upper
        if found.share.width == 1:
            return -near if told else min(-ends.lower, ends.upper)
        share = (found.share.lower + found.share.upper) / 2
        return share * (near if told else ends.width)

    ranked = sorted(differences, key=weigh, reverse=True)
    return tuple(found.context for found in ranked[:_DECIDING])


def _add_chances(confidence: float | None, missed: float) -> float | None:
    """Add up the chances that bounds and samples miss; None where none is allowed for."""
    if confidence is None and not missed:
        return None
    return max(0.0, round((1.0 if confidence is None else confidence) - missed, 12))
