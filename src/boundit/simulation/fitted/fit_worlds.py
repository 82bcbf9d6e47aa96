"""Worlds that a graph and a log allow, so that a policy can be tried on one's own problem."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bounds.derive import derive_table
from boundit.bounds.request import BoundRequest, read_request
from boundit.bounds.reward import is_binary
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike
from boundit.simulation.errors import NoWorldFits, RewardNotBinary
from boundit.simulation.fitted.fitter import FIRM, WorldFitter
from boundit.simulation.fitted.world_set import FittedWorld, FittedWorlds
from boundit.simulation.options import read_seed, read_whole
from boundit.terms.bound_table import BoundTable
from boundit.terms.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.terms.names import sort_names
from boundit.terms.renamed import refuse_renamed

_log = logging.getLogger(__name__)
TRIES = 4
"""How many models are drawn at most for each world that is asked for."""


@refuse_renamed
def fit_worlds(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    n: int = 10,
    seed: int = 0,
    tolerance: float | None = None,
    confidence: float | None = 0.95,
    selection_rate: float | tuple[float, float] | None = None,
    domain: Mapping[str, Sequence[object]] | None = None,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    progress: Progress | bool | None = None,
) -> FittedWorlds:
    """Draw worlds from those that the graph and the log allow, spread over the bounds.

    Each has a hidden cause for every ``<->``, and chances to be logged, drawn at random and
    then fitted: the law of its logged rows is that of the log up to chance. What the log leaves
    open differs from world to world, and so does what arms truly earn; a policy that does well
    in all of them does well on this problem, as far as the log can tell.

    Parameters
    ----------
    graph, query, log
        As ``derive_bounds`` takes them; the reward is 0 or 1.
    n
        How many worlds; fewer come where time ends or models do not fit.
    seed
        The same seed gives the same worlds.
    tolerance
        How far the law of logged rows may be from the log's, as a total variation; None for a
        hundredth and twice what chance makes of a log of this size. Models that are further
        away are left out and counted.
    confidence
        Of the bounds that worlds must lie in; those outside are left out and counted. None for
        an exact law.
    selection_rate
        Which share of the population was logged, if that is known: a number or a range.
    domain, time_limit, memory_limit, told
        As for ``derive_bounds``.

    Examples
    --------
    >>> from boundit.simulation.worlds import flipped_world
    >>> mine = flipped_world()
    >>> worlds = fit_worlds(mine.graph, mine.query, mine.log(4000, seed=1), n=2)
    >>> len(worlds), max(world.distance for world in worlds) < worlds.tolerance
    (2, True)
    """
    request = read_request(
        graph,
        query,
        log,
        confidence=confidence,
        selection_rate=selection_rate,
        domain=domain,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
    budget = TimeBudget(time_limit)
    budget.count_seconds()  # the time of counting counts
    counts = count_relevant(request)
    _require_binary(request, counts)  # before bounds ask for a range that no world has
    with follow_progress(progress) as tell:
        bounds = derive_table(request, {}, tell)
        return fit_to_counts(
            request,
            counts,
            bounds,
            n=read_whole("n", n, least=1),
            seed=read_seed(seed),
            tolerance=_read_tolerance(tolerance),
            budget=budget,
            progress=tell,
        )


def find_relevant(graph: CausalGraph, query: EffectQuery) -> CausalGraph:
    """Cut a graph down to what bears on a question and on who is logged: causes of these."""
    asked = {*query.outcomes, *query.treatments, *query.context}
    if graph.selection is not None:
        asked.add(graph.selection)
    return graph.induced(graph.ancestors(asked))


def count_relevant(request: BoundRequest) -> CountTable:
    """Count all variables together that bear on a question, in one pass over the log."""
    graph, (outcome,) = find_relevant(request.graph, request.query), request.query.outcomes
    return request.log.count(
        sort_names(graph.observed - {outcome}),
        reward=outcome,
        selection=graph.selection,
        domain={name: of for name, of in request.domain.items() if name != outcome},
        memory_limit=request.memory_limit,
    )


def fit_to_counts(
    request: BoundRequest,
    counts: CountTable,
    bounds: BoundTable,
    *,
    n: int,
    seed: int,
    tolerance: float | None = None,
    budget: TimeBudget,
    progress: Progress = say_nothing,
) -> FittedWorlds:
    """Draw worlds that fit what was counted and lie in the bounds; see ``fit_worlds``.

    Raises RewardNotBinary for other rewards than 0/1, since a world pays nothing else.
    """
    _require_binary(request, counts)
    graph = find_relevant(request.graph, request.query)
    fitter = WorldFitter.of(graph, request.query, counts, bounds)
    most = fitter.tolerance if tolerance is None else tolerance
    kept, left, nearest = list[FittedWorld](), {"too_far": 0, "outside": 0, "unlogged": 0}, 1.0
    for i in range(n * TRIES):
        progress(f"fit {n} worlds", len(kept), n)
        if len(kept) == n or (i and budget.is_over()):
            break
        rng = np.random.default_rng([seed, i])
        world = fitter.fit(rng, f"world {i + 1} that fits the log", request.facts.rate)
        nearest = min(nearest, world.distance)
        if why := _find_fault(world, most, bounds, request.facts.rate):
            left[why] += 1
        else:
            kept.append(world)
    if not kept:
        raise NoWorldFits(nearest, most, left)
    if len(kept) < n:
        _log.warning("%d of %d worlds fit the log; left out: %s", len(kept), n, left)
    return FittedWorlds(tuple(kept), bounds, most, **left)


def _require_binary(request: BoundRequest, counts: CountTable) -> None:
    """Refuse other rewards than 0/1."""
    if not is_binary(counts):
        raise RewardNotBinary(request.query.outcomes[0], None)


def _find_fault(
    world: FittedWorld, tolerance: float, bounds: BoundTable, rate: tuple[float, float] | None
) -> str | None:
    """Say what keeps a fitted world from being used; None where nothing does.

    Without a confidence the ends of the bounds are those of the log's own law, which no world
    has to the last digit.
    """
    if world.distance > tolerance:
        return "too_far"
    if rate is not None and not rate[0] - 1e-9 <= world.selection_rate <= rate[1] + 1e-9:
        return "unlogged"
    slack = FIRM if bounds.confidence is None else 0.0
    for key, mean in world.means().items():
        bound = bounds.bounds.get(key)
        if bound and not bound.lower - slack <= mean <= bound.upper + slack and mean == mean:
            return "outside"
    return None


def _read_tolerance(given: object) -> float | None:
    """Read how far a world's law may be from the log's, or refuse what is no such distance."""
    if given is None:
        return None
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given <= 1:
        return float(given)
    raise BadOption("tolerance", "None or a total variation above 0 and at most 1", given)
