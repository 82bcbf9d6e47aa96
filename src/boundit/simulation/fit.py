"""Environments that a graph and a log allow, to simulate policies on one's own problem."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from boundit.bounds.derive import derive_table
from boundit.bounds.evidence import has_two_values
from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import BoundRequest, read_request
from boundit.core.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.core.names import sort_names
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike
from boundit.results.bound import Value
from boundit.results.bound_table import BoundTable
from boundit.simulation.errors import NoEnvironmentFits
from boundit.simulation.fitted import FittedEnvironment, FittedEnvironments
from boundit.simulation.latent import FitObjective, LatentDesign, MeanPull
from boundit.simulation.options import read_number, read_seed, read_whole

_log = logging.getLogger(__name__)
TRIES = 4
"""Most models that are drawn for each environment asked for."""
VALUES = 5
"""Values between the least and the greatest logged outcome that stand for a numeric one."""
PULL = 0.5
"""Weight of all pulled means together, beside the log."""
ALOOF = 0.02
"""Weight of an arm where another one is pulled."""
STRONG = (0.5, 2.5)
"""Standard deviation of the effect of hidden causes on log odds where a search starts."""
STEPS, LAST_STEPS = 150, 400
"""Steps of the search with the pull, and then without it."""
FIRM = 0.01
"""Part of the tolerance that does not depend on the size of the log."""


@accept_options
def fit_environments(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    n: int = 10,
    seed: int = 0,
    tolerance: float | None = None,
    **options: Unpack[Options],
) -> FittedEnvironments:
    """Draw environments that are consistent with the graph and the log.

    Each has a hidden cause for every ``<->`` and selection probabilities that are drawn at
    random and then fitted, so that its logged rows have the distribution of the log up to
    sampling error. What the log leaves open differs between them, spread over the bounds: a
    policy that does well in all of them does well on this problem, as far as the log can tell.
    A numeric outcome is represented by a few values, with the mean and variance of every cell.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    n : int
        Number of environments; fewer if models do not fit or the time is over.
    seed : int
        The same seed gives the same environments.
    tolerance : float, optional
        Largest total variation between logged rows and the log. By default 0.01 plus twice what
        is expected of sampling error. Models further away are left out and counted.
    **options
        As for ``derive_bounds``. They determine the bounds; models with a mean outside them, or
        another selection rate, are left out and counted.

    Returns
    -------
    FittedEnvironments
        A sequence of environments.

    Examples
    --------
    >>> from boundit.simulation.environments import flipped_environment
    >>> mine = flipped_environment()
    >>> fitted = fit_environments(mine.graph, mine.query, mine.log(4000, seed=1), n=2)
    >>> len(fitted), max(each.distance for each in fitted) < fitted.tolerance
    (2, True)
    """
    request = read_request(graph, query, log, **options)
    budget = TimeBudget(request.time_limit)
    budget.count_seconds()  # the time of counting counts
    if tolerance is not None:
        expected = "a total variation above 0 and at most 1"
        tolerance = read_number("tolerance", tolerance, expected, least=5e-324)
    how_many, number = read_whole("n", n, least=1), read_seed(seed)
    with follow_progress(options.get("progress")) as tell:
        bounds = derive_table(request, {}, tell)
        return fit_to_counts(
            request,
            count_relevant(request),
            bounds,
            n=how_many,
            seed=number,
            tolerance=tolerance,
            budget=budget,
            progress=tell,
        )


def find_relevant(graph: CausalGraph, query: EffectQuery) -> CausalGraph:
    """Keep the part of a graph that affects the query or selection."""
    asked = {*query.outcomes, *query.treatments, *query.context}
    if graph.selection is not None:
        asked.add(graph.selection)
    return graph.induced(graph.ancestors(asked))


def count_relevant(request: BoundRequest) -> CountTable:
    """Count all variables that affect the query or selection, in one pass over the log."""
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
) -> FittedEnvironments:
    """Draw environments that fit counts and lie in the bounds; see ``fit_environments``."""
    graph = find_relevant(request.graph, request.query)
    fitter = Fitter.of(graph, request.query, counts, bounds)
    most = fitter.tolerance if tolerance is None else tolerance
    rate, nearest = request.facts.rate, 1.0
    kept, left = list[FittedEnvironment](), {"too_far": 0, "outside": 0, "unlogged": 0}
    for i in range(n * TRIES):
        progress(f"fit {n} environments", len(kept), n)
        if len(kept) == n or (i and budget.is_over()):
            break
        rng = np.random.default_rng([seed, i])
        found = fitter.fit(rng, f"environment {i + 1} that fits the log", rate)
        nearest = min(nearest, found.distance)
        if fault := _find_fault(found, most, bounds, rate):
            left[fault] += 1
        else:
            kept.append(found)
    if not kept:
        raise NoEnvironmentFits(nearest, most, left)
    if len(kept) < n:
        _log.warning("%d of %d environments fit the log; left out: %s", len(kept), n, left)
    return FittedEnvironments(tuple(kept), bounds, most, **left)


def _find_fault(
    found: FittedEnvironment,
    tolerance: float,
    bounds: BoundTable,
    rate: tuple[float, float] | None,
) -> str | None:
    """Find why a fitted environment cannot be used; None if it can.

    Without a confidence the endpoints are those of the log's own distribution, which no model
    has to the last digit.
    """
    if found.distance > tolerance:
        return "too_far"
    if rate is not None and not rate[0] - 1e-9 <= found.selection_rate <= rate[1] + 1e-9:
        return "unlogged"
    low, high = bounds.outcome_range
    slack = FIRM * (high - low) if bounds.confidence is None else 0.0
    for key, mean in found.means().items():
        bound = bounds.bounds.get(key)
        if bound and not bound.lower - slack <= mean <= bound.upper + slack and mean == mean:
            return "outside"
    return None


@dataclass(frozen=True, eq=False)
class Fitter:
    """The distribution of a log over the variables that matter, to which models are fitted.

    ``rows`` is the number of rows behind ``target``, infinite for an exact one.
    """

    design: LatentDesign
    query: EffectQuery
    target: Floats
    rows: float
    levels: Mapping[str, tuple[Value, ...]]
    bounds: BoundTable

    @classmethod
    def of(
        cls, graph: CausalGraph, query: EffectQuery, counts: CountTable, bounds: BoundTable
    ) -> "Fitter":
        """Read the counts of every variable of ``graph``."""
        (outcome,) = query.outcomes
        values, cells = discretize_outcome(counts, bounds.outcome_range)
        design = LatentDesign.of(graph, dict(counts.n_levels) | {outcome: len(values)})
        named = NamedArray((*counts.variables, outcome), cells)
        target = np.maximum(named.align(design.observed), 0)
        rows = np.inf if counts.exact else counts.rows
        levels = {name: tuple(counts.levels[name]) for name in counts.variables}
        if values.tolist() != [0.0, 1.0]:
            levels[outcome] = tuple(values.tolist())
        return cls(design, query, target / target.sum(), rows, levels, bounds)

    @property
    def tolerance(self) -> float:
        """Default tolerance: twice the expected sampling error, for the log and for a draw."""
        if np.isinf(self.rows):
            return FIRM
        spread = np.sqrt(2 / np.pi * self.target * (1 - self.target) / self.rows)
        return FIRM + float(spread.sum())

    def fit(
        self, rng: Generator, name: str, rate: tuple[float, float] | None = None
    ) -> FittedEnvironment:
        """Draw an environment that fits the log: a random start, then two searches.

        The first search pulls the means of arms towards places drawn within the bounds; in the
        second the log alone counts. A selection ``rate`` that is known is met if it can be.
        """
        objective = FitObjective(self.design, self._draw_target(rng), self._draw_pull(rng))
        near = _minimize(objective, self.draw_start(rng), STEPS)
        found = _minimize(replace(objective, pull=None), near, LAST_STEPS)
        model = self.design.make_model(found, float(rng.uniform(0.5, 1.0)))
        if rate is not None:
            largest = self.design.make_model(found, 1.0).selection_rate()
            wanted = rng.uniform(rate[0], max(rate[0], min(rate[1], largest)))
            model = self.design.make_model(found, float(min(wanted / largest, 1.0)))
        distance = float(np.abs(objective.compute_rows(found) - self.target).sum()) / 2
        return FittedEnvironment(model, self.query, name, self.levels, distance)

    def draw_start(self, rng: Generator) -> Floats:
        """Draw the parameters that a search starts from.

        Observed causes act as they do in the log, hidden ones at random, some strongly.
        """
        numbers = np.empty(self.design.size)
        observed = NamedArray(self.design.observed, self.target)
        strength = rng.uniform(*STRONG)
        for place in self.design.places:
            noise = rng.normal(0, strength, place.shape)
            if place.node == self.design.graph.selection:
                numbers[place.part] = (noise * rng.uniform(0.2, 1.5)).ravel()
                continue
            names = [*place.parents, place.node]
            known = [name for name in names if name in observed.names]
            base: Floats = np.zeros(place.shape)
            if place.node in observed.names:
                seen = observed.marginalize(known).align(names)
                share = (seen + 1e-4) / (seen + 1e-4).sum(axis=-1, keepdims=True)
                base = base + np.log(share)
                noise *= 1.0 if len(known) < len(names) else 0.1
            numbers[place.part] = (base + noise).ravel()
        return numbers

    def _draw_target(self, rng: Generator) -> Floats:
        """Draw a distribution that could have given the log: Dirichlet, with one row added."""
        if np.isinf(self.rows):
            return self.target
        weights = rng.standard_gamma(self.target * self.rows + 1 / self.target.size)
        return np.asarray(weights / weights.sum())

    def _draw_pull(self, rng: Generator) -> MeanPull:
        """Draw a place within the bounds of each arm and context, more often near an end.

        An arm has one place for all contexts, or one for each. Arms that share an unknown cannot
        reach all places at once: in two of three draws one arm alone is pulled, to an end.
        """
        low, high = self.bounds.outcome_range
        lower, upper = self._list_ends()
        n_arms = len(self.query.treatments)
        arms, contexts = lower.shape[:n_arms], lower.shape[n_arms:]
        shape = (*arms, *(contexts if rng.random() < 0.5 else [1] * len(contexts)))
        part, weights = rng.beta(0.4, 0.4, shape), np.ones(lower.shape)
        if rng.random() < 2 / 3:
            chosen = tuple(int(rng.integers(n)) for n in arms)
            weights *= ALOOF
            weights[chosen] = 1.0
            part[chosen] = float(rng.integers(2))
        means = np.clip(lower + part * (upper - lower), 1e-4, 1 - 1e-4)
        names = self.query.treatments + self.query.context
        (outcome,) = self.query.outcomes
        values = np.array(self.levels.get(outcome, (0, 1)), np.float64)
        return MeanPull(
            self.query,
            NamedArray(names, means),
            PULL * weights / weights.sum(),
            (values - low) / (high - low),
        )

    def _list_ends(self) -> tuple[Floats, Floats]:
        """List the estimated bounds on a scale from 0 to 1, by the levels of arm and context."""
        low, high = self.bounds.outcome_range
        names = self.query.treatments + self.query.context
        shape = tuple(self.design.n_levels[name] for name in names)
        lower, upper = np.zeros(shape), np.ones(shape)
        places = {name: {v: i for i, v in enumerate(self.levels[name])} for name in names}
        for (arm, context), bound in self.bounds.bounds.items():
            at = tuple(places[n][v] for n, v in zip(names, (*arm, *context), strict=True))
            lower[at] = (bound.lower_estimate - low) / (high - low)
            upper[at] = (bound.upper_estimate - low) / (high - low)
        return lower, upper


def discretize_outcome(
    counts: CountTable, outcome_range: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Represent the outcome by few values: these, and the counts of each in every cell.

    An outcome that is always at an end of its range has these two values. Else a cell mixes the
    two values around its mean with the least and greatest ones, so that it keeps its mean, and
    its variance where the values are close enough.
    """
    low, high = outcome_range
    every = counts.marginalize(counts.variables).values
    sums = counts.sum_rewards(counts.variables).values
    if has_two_values(counts, low, high) or counts.lowest is None or counts.highest is None:
        won = (sums - low * every) / (high - low)
        return np.array([low, high]), np.stack([every - won, won], axis=-1)
    least, most = float(counts.lowest.min()), float(counts.highest.max())
    values = np.unique([low, high, *np.linspace(least, most, VALUES)])
    first, last = int(np.searchsorted(values, least)), int(np.searchsorted(values, most))
    rows = np.maximum(every, np.finfo(float).tiny)
    means = np.clip(sums / rows, least, most)
    spread = np.maximum(counts.sum_squares(counts.variables).values / rows - means**2, 0.0)
    above = np.clip(
        np.searchsorted(values, means, side="right"), first + 1, max(last, first + 1)
    )
    below, grid = above - 1, np.arange(len(values))
    near = (means - values[below]) * (values[above] - means)
    far = (means - least) * (most - means)
    mix = np.clip((spread - near) / np.maximum(far - near, np.finfo(float).tiny), 0.0, 1.0)
    shares = np.zeros((*every.shape, len(values)))
    for one, other, part in (
        (below, above, 1 - mix),
        (np.full_like(below, first), np.full_like(above, last), mix),
    ):
        up = (means - values[one]) / np.maximum(values[other] - values[one], 1e-300)
        shares += (part * (1 - up))[..., None] * (grid == one[..., None])
        shares += (part * up)[..., None] * (grid == other[..., None])
    return values, shares * every[..., None]


def _minimize(objective: FitObjective, start: Floats, steps: int) -> Floats:
    found = minimize(
        objective.compute,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=objective.design.limits,
        options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-10, "gtol": 1e-7},
    )
    return np.asarray(found.x)
