"""The search for the limit from which on a claim falls, or the choice changes.

A claim falls once, so its limit is bracketed on a grid of factors and then halved between two
of them. A choice may change and come back: it is looked at on a finer grid, its first change is
halved, and the step is said.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import exp, inf, isfinite, log
from typing import Unpack

import numpy as np

from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import read_request
from boundit.core.errors import OptionError
from boundit.core.long_work import follow_progress
from boundit.decisions.breakdown.claims import Claim, NotAClaim, Regrets
from boundit.decisions.breakdown.limited_tables import LimitedClaim, LimitedTables
from boundit.decisions.breakdown.result import Breakdown, ChoiceChange, CurvePoint
from boundit.decisions.choose.choose import choose
from boundit.estimand.query import EffectQuery
from boundit.graph.read import GraphLike
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

COARSE, FINE = 9, 25
"""At how many limits a claim, and a choice, are looked at before the search is refined."""
PRECISION = 0.01
"""How far apart, for its size, the limits are between which a claim falls."""


@accept_options
def breakdown(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    of: str,
    claim: Claim | None = None,
    most: float = 100.0,
    **options: Unpack[Options],
) -> Breakdown:
    """Find the smallest limit on what is hidden at which a claim is not proved any more.

    Without a claim: at which the arm of least regret becomes another one, in any context. The
    log is counted once.

    Parameters
    ----------
    of
        What the limit is on: an edge such as ``"X <-> Y"``, or ``"selection"``.
    claim
        A ``Better``, ``Best``, ``Regrets`` or ``Earns``; None asks about today's choice, under
        the limit that the options state, or under 1.
    most
        The largest limit that is looked at.
    **options
        As ``derive_bounds`` has them; a limit in ``confounding_limit`` or ``selection_limit``
        on anything else than ``of`` stays as it is. ``time_limit`` is for all of it: limits that no
        time was left for prove nothing.
    """
    if not (isinstance(most, int | float) and isfinite(most) and most > 1):
        raise OptionError(f"most must be a number above 1, found {most!r}")
    if claim is not None and not isinstance(claim, Claim):
        raise NotAClaim(f"a claim is a Better, Best, Regrets or Earns, found {claim!r}")
    request = read_request(graph, query, log, **options)
    with follow_progress(options.get("progress")) as tell:
        tables = LimitedTables.read(request, of, tell)
        if claim is None:
            return find_change(tables, float(most))
        return find_fall(LimitedClaim(tables, claim), float(most))


def find_fall(limited: LimitedClaim, most: float) -> Breakdown:
    """Find where a claim falls: on a grid from above, then by halving."""
    tables = limited.tables
    grid = _space_limits(1.0, most, COARSE)
    always = limited.is_proved(inf)
    for limit in reversed(grid):
        limited.measure(limit)
    proved = [limit for limit in grid if limited.is_proved(limit)]
    holds_to = max(proved, default=None)
    falls_at: float | None = None
    if always:
        holds_to = inf
    elif holds_to is None:
        falls_at = grid[0]
    elif holds_to < most:
        above = grid[grid.index(holds_to) + 1]
        holds_to, falls_at = _halve(limited.is_proved, holds_to, above)
    return Breakdown(
        tables.of,
        str(limited.claim),
        holds_to,
        falls_at,
        most,
        PRECISION,
        limited.claim.measured,
        _list_curve(limited),
        tables.request.confidence,
        _list_refuted(tables),
        caveats=_list_caveats(tables),
    )


def find_change(tables: LimitedTables, most: float) -> Breakdown:
    """Find where another arm than today's is the one of least regret, in each context."""
    grid = _space_limits(tables.stated if tables.stated < most else 1.0, most, FINE)
    step = grid[1] / grid[0]
    chosen = {limit: found for limit in grid if (found := _choose_arms(tables.find(limit)))}
    if not chosen:
        raise NotAClaim(f"the log contradicts every limit on {tables.of} up to {most:g}")
    today = next(iter(chosen.values()))
    changes = [
        _refine_change(tables, context, arm, *between)
        for context, arm in today.items()
        if (between := _bracket_change(chosen, context, arm))
    ]
    return Breakdown(
        tables.of,
        "today's choice stays the one of least regret",
        min((change.before for change in changes), default=most),
        min((change.at for change in changes), default=None),
        most,
        PRECISION,
        "largest regret of today's choice",
        _list_regrets(tables, today, [*chosen]),
        tables.request.confidence,
        _list_refuted(tables),
        tuple(changes),
        step,
        _list_caveats(tables),
    )


def _bracket_change(
    chosen: Mapping[float, Mapping[Context, Arm]], context: Context, arm: Arm
) -> tuple[float, float] | None:
    """Find the two limits between which an arm is first chosen no more; None if it stays."""
    limits = list(chosen)
    for before, at in pairwise(limits):
        if chosen[at][context] != arm:
            return before, at
    return None


def _refine_change(
    tables: LimitedTables, context: Context, arm: Arm, before: float, at: float
) -> ChoiceChange:
    """Halve between two limits until it is known where an arm is chosen no more."""

    def stays(limit: float) -> bool:
        found = _choose_arms(tables.find(limit))
        return not found or found[context] == arm

    before, at = _halve(stays, before, at)
    return ChoiceChange(context, arm, _choose_arms(tables.find(at))[context], before, at)


def _halve(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Halve between a limit at which something holds and one where it does not."""
    while high > low * (1 + PRECISION):
        middle = exp((log(low) + log(high)) / 2)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _space_limits(least: float, most: float, n: int) -> list[float]:
    """Space limits by equal factors."""
    return [least, *map(float, np.geomspace(least, most, n)[1:-1]), most]


def _choose_arms(table: BoundTable | None) -> Mapping[Context, Arm]:
    """Choose the arm of least regret in every context; none where the log says no."""
    if table is None:
        return {}
    return {context: found.single for context, found in choose(table, lottery=False).items()}


def _list_curve(limited: LimitedClaim) -> tuple[CurvePoint, ...]:
    """List the numbers of a claim at all limits that were looked at."""
    sign = -1.0 if isinstance(limited.claim, Regrets) else 1.0
    limits = sorted(at for at, number in limited.numbers.items() if isfinite(number))
    return tuple(CurvePoint(limit, sign * limited.measure(limit)) for limit in limits)


def _list_regrets(
    tables: LimitedTables, today: Mapping[Context, Arm], limits: list[float]
) -> tuple[CurvePoint, ...]:
    """List how much today's choice regrets at most, in its worst context, by limits."""
    found, least = list[CurvePoint](), inf
    for limit in reversed(limits):
        table = tables.find(limit)
        assert table is not None  # these were kept because there is one
        numbers = (Regrets(arm, 0.0, context).measure(table) for context, arm in today.items())
        least = min(least, -min(numbers))
        found.append(CurvePoint(limit, least))
    return tuple(reversed(found))


def _list_refuted(tables: LimitedTables) -> tuple[float, ...]:
    """List the limits that the log contradicts."""
    return tuple(sorted(limit for limit, table in tables.tables.items() if table is None))


def _list_caveats(tables: LimitedTables) -> tuple[str, ...]:
    """List the caveats of the tables, and why the limit is of no use where it is not.

    What they assume of the limit itself is known.
    """
    found = (table.caveats for table in tables.tables.values() if table is not None)
    said = dict.fromkeys(caveat for caveats in found for caveat in caveats)
    own = f"{tables.of} was not used: "
    unused = (
        f"a limit on {tables.of} is of no use: {c.split(own)[1]}" for c in said if own in c
    )
    others = (c for c in said if tables.of not in c)
    return tuple(dict.fromkeys((*unused, *others)))
