"""One world that fits a log: random parameters, then the search that makes them fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from boundit.counts.levels import Levels
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.fitted.latent_design import LatentDesign
from boundit.simulation.fitted.objective import FitObjective, MeanPull
from boundit.simulation.fitted.world_set import FittedWorld
from boundit.terms.bound_table import BoundTable

PULL = 0.5
"""How much all pulled means together weigh beside the log, before the log has the last word."""
ALOOF = 0.02
"""How much an arm counts in the pull where another one is meant."""
STRONG = (0.5, 2.5)
"""How far hidden causes move log odds where a search starts: the standard deviation."""
STEPS, LAST_STEPS = 150, 400
"""How many steps the search takes with the pull, and then without it."""
FIRM = 0.01
"""Part of the distance that is let pass whatever the size of the log."""


@dataclass(frozen=True, eq=False)
class WorldFitter:
    """What a log says, as a law over the variables that bear on a question.

    ``law`` has the axes of the observed variables of the design; ``rows`` is how many rows are
    behind it, and infinite for an exact law.
    """

    design: LatentDesign
    query: EffectQuery
    law: Floats
    rows: float
    levels: Mapping[str, Levels]
    bounds: BoundTable

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        query: EffectQuery,
        counts: CountTable,
        bounds: BoundTable,
    ) -> "WorldFitter":
        """Take in what was counted: of every variable of ``graph``, and of the 0/1 reward."""
        (outcome,) = query.outcomes
        n_levels = dict(counts.n_levels) | {outcome: 2}
        design = LatentDesign.of(graph, n_levels)
        paid = counts.sum_rewards(counts.variables).values
        every = counts.marginalize(counts.variables).values
        cells = NamedArray(
            (*counts.variables, outcome), np.stack([every - paid, paid], axis=-1)
        )
        observed = design.axes[: len(design.axes) - len(design.hidden)]
        law = np.maximum(cells.align(observed), 0)
        rows = np.inf if counts.exact else counts.rows
        levels = {name: counts.levels[name] for name in counts.variables}
        return cls(design, query, law / law.sum(), rows, levels, bounds)

    @property
    def tolerance(self) -> float:
        """How far a world's law may be from the log's, unless users say otherwise.

        A hundredth, and twice what a log of so many rows is away from its own law on average:
        once for the log, once for the law that is drawn about it.
        """
        if np.isinf(self.rows):
            return FIRM
        spread = np.sqrt(2 / np.pi * self.law * (1 - self.law) / self.rows)
        return FIRM + float(spread.sum())

    def fit(
        self, rng: Generator, name: str, rate: tuple[float, float] | None = None
    ) -> FittedWorld:
        """Draw a world that fits the log: hidden causes and selection at random, then a search.

        The search first pulls the means of arms towards places drawn within the bounds; then
        the log alone counts. Chances to be logged are lowered together to a selection ``rate``
        that is known, as far as that can be.
        """
        objective = FitObjective(self.design, self._draw_law(rng), self._draw_pull(rng))
        near = _go_downhill(objective, self.draw_start(rng), STEPS)
        found = _go_downhill(replace(objective, pull=None), near, LAST_STEPS)
        model = self.design.make_model(found, float(rng.uniform(0.5, 1.0)))
        if rate is not None:
            largest = self.design.make_model(found, 1.0).selection_rate()
            wanted = rng.uniform(rate[0], max(rate[0], min(rate[1], largest)))
            model = self.design.make_model(found, float(min(wanted / largest, 1.0)))
        distance = float(np.abs(objective.compute_law(found) - self.law).sum()) / 2
        return FittedWorld(
            model, self.query, name, dict(self.levels), distance, model.selection_rate()
        )

    def draw_start(self, rng: Generator) -> Floats:
        """Draw the parameters that a search starts from.

        Observed causes act as they do in the log, hidden ones by chance, some strongly; of
        selection everything is drawn.
        """
        numbers = np.empty(self.design.size)
        observed = NamedArray(self.design.axes[: self.law.ndim], self.law)
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

    def _draw_law(self, rng: Generator) -> Floats:
        """Draw a law that could have given the log: a Dirichlet draw about its shares.

        One row is added, spread over all cells. Of an exact law it is that law.
        """
        if np.isinf(self.rows):
            return self.law
        weights = rng.standard_gamma(self.law * self.rows + 1 / self.law.size)
        return np.asarray(weights / weights.sum())

    def _draw_pull(self, rng: Generator) -> MeanPull:
        """Draw a place within the bounds of each arm and context, more often near an end.

        An arm has one place for all contexts, or one for each. Where arms share an unknown, all
        places at once cannot be reached: in two of three worlds one arm alone is pulled, to an
        end of its bounds.
        """
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
        return MeanPull(self.query, NamedArray(names, means), PULL * weights / weights.sum())

    def _list_ends(self) -> tuple[Floats, Floats]:
        """List the ends of the bounds without sampling error, by the codes of arm and context."""
        names = self.query.treatments + self.query.context
        shape = tuple(self.design.n_levels[name] for name in names)
        lower, upper = np.zeros(shape), np.ones(shape)
        places = {name: {v: i for i, v in enumerate(self.levels[name])} for name in names}
        for (arm, context), bound in self.bounds.bounds.items():
            at = tuple(places[n][v] for n, v in zip(names, (*arm, *context), strict=True))
            lower[at], upper[at] = bound.lower_estimate, bound.upper_estimate
        return lower, upper


def _go_downhill(objective: FitObjective, start: Floats, steps: int) -> Floats:
    """Search from some parameters for those where an objective is least."""
    found = minimize(
        objective.compute,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=objective.design.limits,
        options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-10, "gtol": 1e-7},
    )
    return np.asarray(found.x)
