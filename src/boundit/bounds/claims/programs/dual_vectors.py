r"""Multipliers that prove an end of a response-type program, whatever the law's numbers are.

Types are sorted into cells by a matrix ``A`` of zeros and ones, and ``c`` says which of them
pay. For every ``y`` and ``d`` with :math:`d + y A \le c` and any shares ``q`` of types,

.. math:: d + y\,(A q) \;\le\; c\,q

so that ``d`` plus the mean of ``y`` over what the law draws is a lower end, at the true law
too. Which ``y`` proves most is asked of the pilot, by programs at the law that fits it best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import numpy as np
from numpy.random import Generator

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.program import SolveStatus
from boundit.bounds.rules.response_program import (
    MOST_WORK,
    ArmProgram,
    ProgramLayout,
    ResponseProgram,
)
from boundit.counts.named_array import Floats
from boundit.terms.long_work import TimeBudget

POOL_ROWS: Final = 4.0
"""How many rows the law of all conditions together is worth at each of them."""
_EVEN_ROWS = 1.0  # how many rows all types alike are worth in the law of all together
_ROUNDS = 60  # of fitting shares of types
_DIGITS = 9
_MARGIN = 1e-12  # what rounding may hide, for a multiplier of 1
_LOG_ERROR = 5.0  # of a typical claim, to rank vectors by
_SWEEPS = 3
_ROOMS = (0.0, 1.0, 3.0)  # in standard errors that the rest will have


@dataclass(frozen=True, eq=False)
class PilotLaw:
    """What the pilot says of the law of a program: shares of cells, by condition and scenario.

    ``shares`` are those of a law that some types have. ``rows`` are how many the rest will have
    in each scenario, ``seen`` how many the pilot has.
    """

    shares: Floats
    rows: Floats
    seen: Floats

    def draw(self, n_draws: int, rng: Generator) -> Floats:
        """Draw laws that the pilot might as well have been drawn from, on an axis before all.

        Called by ``DualFinder`` and ``ProgramEnd``.
        """
        alpha = np.maximum(self.seen, 1.0)[..., None] * self.shares + 0.1
        drawn = rng.gamma(np.broadcast_to(alpha, (n_draws, *alpha.shape)))
        return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class DualVector:
    """Feasible multipliers at one place: the least of each scenario is 0.

    A lower end is ``constant`` plus the mean of ``multipliers``, which have scenarios and
    cells. For any type the sum of both is between ``least`` and ``most``.
    """

    constant: float
    multipliers: Floats
    least: float
    most: float

    def weigh(self, shares: Floats) -> float:
        """Compute the end that the multipliers prove at a law.

        Called by ``rank_vectors``.
        """
        return self.constant + float((self.multipliers * shares).sum())

    def find_variance(self, shares: Floats, rows: Floats) -> float:
        """Compute the variance of the end as estimated from so many rows of each scenario.

        Called by ``rank_vectors``.
        """
        mean = (self.multipliers * shares).sum(axis=1)
        square = (self.multipliers**2 * shares).sum(axis=1)
        return float((np.maximum(square - mean**2, 0.0) / np.maximum(rows, 1.0)).sum())


def fit_law(layout: ProgramLayout, counts: Floats) -> Floats:
    """Fit shares of cells to the pilot's counts, such as response types can have.

    Axes are conditions, scenarios and cells. Each condition is drawn a little towards all of
    them together. Where there are too many types, shares are taken as they are, with the same
    pull. Called by ``ProgramReader.read_law``.
    """
    pool = counts.sum(axis=0, keepdims=True)
    runs = layout.list_types([], range(counts.shape[1]), layout.most)
    n_types = 0 if runs is None else runs.n_types
    if runs is None or n_types * counts.shape[0] * counts.shape[1] * _ROUNDS > 10 * MOST_WORK:
        even = (pool + _EVEN_ROWS / counts.shape[2]) / (
            pool.sum(axis=2, keepdims=True) + _EVEN_ROWS
        )
        rows = counts.sum(axis=2, keepdims=True)
        return np.asarray((counts + POOL_ROWS * even) / (rows + POOL_ROWS))
    cells = (
        np.stack([runs.find_cells(s, layout.spec.inside) for s in range(counts.shape[1])])
        + (np.arange(counts.shape[1]) * counts.shape[2])[:, None]
    )
    even = np.full((1, n_types), 1 / n_types)
    together = _fit_types(pool, cells, even, _EVEN_ROWS)
    found = _fit_types(counts, cells, together, POOL_ROWS)
    return _add_types(found, _place_types(cells, counts), counts.size).reshape(counts.shape)


def _fit_types(counts: Floats, cells: np.ndarray, prior: Floats, rows: float) -> Floats:
    """Fit shares of types to counts of cells, with a ``prior`` that is worth some ``rows``.

    Each round shares the rows of a cell out over its types by the shares they have (EM). Called
    by ``fit_law`` for all conditions together, then for each.
    """
    n, total = counts.reshape(len(counts), -1), counts.sum(axis=(1, 2))[:, None]
    q = np.broadcast_to(prior, (len(counts), prior.shape[1]))
    worth, whole = rows * prior, total + rows
    places = _place_types(cells, counts)
    for _ in range(_ROUNDS):
        p = np.maximum(_add_types(q, places, n.size).reshape(n.shape), 1e-300)
        pull = (n / p)[:, cells].sum(axis=1)
        q = (q * pull + worth) / whole
    return np.asarray(q)


def _place_types(cells: np.ndarray, counts: Floats) -> np.ndarray:
    """Number the cells that types have among those of all conditions and scenarios.

    Called by ``fit_law`` and ``_fit_types``.
    """
    first = np.arange(len(counts)) * counts[0].size
    return np.asarray(first[:, None, None] + cells)


def _add_types(q: Floats, places: np.ndarray, n_places: int) -> Floats:
    """Add up the shares of types in every cell of every scenario.

    Called by ``fit_law`` and ``_fit_types``.
    """
    shares = np.broadcast_to(q[:, None], places.shape)
    return np.bincount(places.ravel(), shares.ravel(), n_places).astype(np.float64)


Found: TypeAlias = list[list[DualVector]]
"""The vectors of every place: conditions, then arms."""


@final
class DualFinder:
    """Finds multipliers for every place of a program: its conditions, then its arms.

    ``draws`` says at how many laws near the pilot's they are looked for.
    """

    def __init__(
        self,
        layout: ProgramLayout,
        law: PilotLaw,
        *,
        budget: TimeBudget,
        rng: Generator,
        draws: int,
    ) -> None:
        self.layout, self.law, self.budget = layout, law, budget
        drawn = law.draw(draws, rng)
        self._laws = [self._list_laws(f, drawn[:, f]) for f in range(len(layout.fixed))]

    def find_vectors(self) -> tuple[Found, Found] | None:
        """List multipliers that prove lower ends of the reward, and of one minus the reward.

        None where there are too many response types. Called by ``find_ranks``.
        """
        layout = self.layout
        n_arms, n_places = len(layout.arms), len(layout.arms) * len(layout.fixed)
        lower, upper = ([list[DualVector]() for _ in range(n_places)] for _ in range(2))
        for a, arm in enumerate(layout.arms):
            parts = layout.split_scenarios(arm)
            if parts is None:
                return None
            for runs, scenarios in parts:
                search = ArmProgram(layout, runs, scenarios)
                for f, laws in enumerate(self._laws):
                    for low, high in laws:
                        search.set_law(low[scenarios].ravel(), high[scenarios].ravel())
                        lower[f * n_arms + a] += self._solve(search, upper=False)
                        upper[f * n_arms + a] += self._solve(search, upper=True)
        return [*map(self._drop_equal, lower)], [*map(self._drop_equal, upper)]

    def _solve(self, search: ArmProgram, *, upper: bool) -> Iterator[DualVector]:
        """Yield the multipliers of one end's program, unless it has none.

        Called by ``DualFinder.find_vectors`` for each law.
        """
        (target,) = search.successes
        cost = np.where(target.pays != upper, 1.0, 0.0)
        found = search.programs[upper].minimise(cost, seconds=self.budget.count_seconds())
        if found.status is SolveStatus.OPTIMAL:
            yield self._clean(found.multipliers, cost, search)

    def _list_laws(self, f: int, drawn: Floats) -> list[tuple[Floats, Floats]]:
        """List laws near the pilot's for one condition, as lower and upper ends of shares.

        First the law itself, then with room for the error that the rest will have, then those
        ``drawn``. Called by ``DualFinder``.
        """
        p, rows = self.law.shares[f], np.maximum(self.law.rows[f], 1.0)[:, None]
        error = np.sqrt(p * (1 - p) / rows)
        laws = [(p, times * error) for times in _ROOMS]
        laws += [(each, error) for each in drawn]
        return [(np.maximum(q - room, 0), np.minimum(q + room, 1)) for q, room in laws]

    def _clean(self, multipliers: Floats, cost: Floats, search: ArmProgram) -> DualVector:
        """Make multipliers feasible whatever the solver rounded, each scenario's least 0.

        What they prove is lowered until no type earns less. Called by ``DualFinder._solve``.
        """
        n_cells, scenarios = len(self.layout.inner), search.scenarios
        y = multipliers[:-1].round(_DIGITS).reshape(len(scenarios), n_cells)
        y = y - y.min(axis=1, keepdims=True)
        earned = search.programs[0].rows.add_rows(np.append(y.ravel(), 0.0))
        constant = float((cost - earned).min()) - _MARGIN * (1 + float(y.sum()))
        whole = np.zeros((len(self.layout.outer), n_cells))
        whole[list(scenarios)] = y
        return DualVector(
            constant,
            whole,
            constant + float(earned.min()) - _MARGIN * (1 + float(y.sum())),
            constant + float(earned.max()) + _MARGIN * (1 + float(y.sum())),
        )

    def _drop_equal(self, found: Sequence[DualVector]) -> list[DualVector]:
        """Keep one of several equal vectors; one that proves nothing where there is none.

        Called by ``DualFinder.find_vectors`` for each place.
        """
        seen = dict[bytes, DualVector]()
        for each in found:
            seen.setdefault((each.multipliers.round(_DIGITS - 2) + 0.0).tobytes(), each)
        nothing = np.zeros((len(self.layout.outer), len(self.layout.inner)))
        return [*seen.values()] or [DualVector(0.0, nothing, 0.0, 0.0)]


@dataclass(frozen=True, eq=False)
class DualVectors:
    """Multipliers for every place: axes are the places', then scenarios and cells.

    Where they are ``pooled``, those of each scenario prove the same alone, so that rows of all
    scenarios may be thrown together.
    """

    constant: Floats
    multipliers: Floats
    least: Floats
    most: Floats
    pooled: bool = False

    @classmethod
    def stack(cls, vectors: Sequence[DualVector], shape: Sequence[int]) -> "DualVectors":
        """Stack one vector for each place.

        Called by ``rank_vectors``.
        """
        first = vectors[0].multipliers.shape
        return cls(
            np.array([each.constant for each in vectors]).reshape(shape),
            np.stack([each.multipliers for each in vectors]).reshape((*shape, *first)),
            np.array([each.least for each in vectors]).reshape(shape),
            np.array([each.most for each in vectors]).reshape(shape),
        )


def may_pool(spec: ResponseProgram) -> bool:
    """Tell whether who took the arm unasked and won would have won in any scenario.

    That is so where arms have types of their own, and no instrument has a say in what follows
    from them. Called by ``find_ranks`` and ``ClaimRule.is_part_of``.
    """
    arguments = dict(zip(spec.inside, spec.arguments, strict=True))
    follows = spec.followed.difference(spec.set_by_hand)
    return frozenset(spec.set_by_hand).issubset(spec.inside) and not any(
        frozenset(arguments[name]).intersection(spec.varied) for name in follows
    )


def make_natural_vectors(layout: ProgramLayout, *, upper: bool) -> DualVectors:
    """Make the multipliers of natural bounds: those who chose the arm and won, or lost.

    Called by ``find_ranks`` for programs that come to natural bounds, and for those with
    instruments, of which the natural bounds of all rows together hold too.
    """
    spec = layout.spec
    shape = [1] * len(spec.fixed) + [layout.levels[name] for name in spec.set_by_hand]
    found = np.zeros((len(layout.arms), len(layout.outer), len(layout.inner)))
    wanted = dict.fromkeys(spec.asked.outcomes, 1 - SUCCESS if upper else SUCCESS)
    for a, arm in enumerate(layout.arms):
        for cell, levels in enumerate(layout.inner):
            found[a, :, cell] = (arm | wanted).items() <= levels.items()
    nothing = np.zeros(shape)
    return DualVectors(
        nothing,
        found.reshape(*shape, *found.shape[1:]),
        nothing,
        np.ones(shape),
        pooled=True,
    )


def rank_vectors(
    found: Sequence[Sequence[DualVector]],
    law: PilotLaw,
    shape: Sequence[int],
    weights: tuple[Floats, tuple[int, ...]] | None,
    most: int,
) -> list[DualVectors]:
    """Rank the vectors of every place by the ends they are expected to prove, best first.

    ``weights`` are those with which places are summed, an axis of rows before those of places,
    and which of the axes are summed over; the less a place weighs the less its own error
    matters. None where each place is an end of its own. At most so many ranks are kept. Called
    by ``find_ranks``.
    """
    n_arms = len(found) // len(law.shares)
    at = [place // n_arms for place in range(len(found))]
    values = [
        np.array([each.weigh(law.shares[f]) for each in several])
        for several, f in zip(found, at, strict=True)
    ]
    spreads = [
        np.array([each.find_variance(law.shares[f], law.rows[f]) for each in several])
        for several, f in zip(found, at, strict=True)
    ]
    if weights is None:
        scores = [
            value - np.sqrt(2 * _LOG_ERROR * spread)
            for value, spread in zip(values, spreads, strict=True)
        ]
    else:
        scores = _weigh_places(values, spreads, *weights)
    orders = [np.argsort(-score, kind="stable") for score in scores]
    ranks = min(most, max(map(len, orders)))
    ranked = [
        [
            several[order[min(rank, len(order) - 1)]]
            for several, order in zip(found, orders, strict=True)
        ]
        for rank in range(ranks)
    ]
    return [DualVectors.stack(vectors, shape) for vectors in ranked]


def _weigh_places(
    values: Sequence[Floats],
    spreads: Sequence[Floats],
    weights: Floats,
    links: tuple[int, ...],
) -> list[Floats]:
    """Score the vectors of places that are summed: errors of places add up in quadrature.

    Called by ``rank_vectors``.
    """
    chosen = [int(value.argmax()) for value in values]
    scores = [*values]
    for _ in range(_SWEEPS):
        own = np.array([spread[i] for spread, i in zip(spreads, chosen, strict=True)])
        squares = weights**2 * own.reshape(weights.shape[1:])
        total = np.maximum(squares.sum(axis=links, keepdims=True), 1e-12)
        slope = (np.sqrt(_LOG_ERROR / 2 / total) * weights).mean(axis=0).ravel()
        scores = [
            value - each * spread
            for value, spread, each in zip(values, spreads, slope, strict=True)
        ]
        chosen = [int(score.argmax()) for score in scores]
    return scores
