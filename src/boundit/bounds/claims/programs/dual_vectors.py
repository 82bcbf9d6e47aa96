r"""Multipliers that prove an end of a response-type program, whatever the law's numbers are.

Types are sorted into cells by a matrix ``A`` of zeros and ones, and ``c`` says which of them
pay. For every ``y`` and ``d`` with :math:`d + y A \le c` and any shares ``q`` of types,

.. math:: d + y\,(A q) \;\le\; c\,q

so that ``d`` plus the mean of ``y`` over what the law draws is a lower end, at the true law
too. Which ``y`` proves most is asked of the pilot, by programs at the law that fits it best.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.program import Optimum, SolveStatus
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
_MOST_FITTED = 80 * MOST_WORK  # cells of all types and conditions, in all rounds
_DIGITS = 9
_MARGIN = 1e-12  # what rounding may hide, for a multiplier of 1
_LOG_ERROR = 5.0  # of a typical claim, to rank vectors by
_SWEEPS = 3
_ROOMS = (0.0, 1.0, 3.0)  # in standard errors that the rest will have
_FEW_CONDITIONS = 4  # of which each is asked at other laws than its own
_MOST_SHARED = 64  # vectors that are tried at every condition
_NEAR = 1e-9  # how far from 0 rounding leaves what is 0


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
        """Draw laws that the pilot might as well have been drawn from, on an axis before all."""
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


def fit_law(layout: ProgramLayout, counts: Floats) -> Floats:
    """Fit shares of cells to the pilot's counts, such as response types can have.

    Axes are conditions, scenarios and cells. Each condition is drawn a little towards all of
    them together. Where there are too many types, shares are taken as they are, with the same
    pull.
    """
    pool = counts.sum(axis=0, keepdims=True)
    runs = layout.list_types([], range(counts.shape[1]), layout.most)
    n_types = 0 if runs is None else runs.n_types
    if runs is None or n_types * counts.size * _ROUNDS > _MOST_FITTED:
        even = (pool + _EVEN_ROWS / counts.shape[2]) / (
            pool.sum(axis=2, keepdims=True) + _EVEN_ROWS
        )
        rows = counts.sum(axis=2, keepdims=True)
        return np.asarray((counts + POOL_ROWS * even) / (rows + POOL_ROWS))
    n_cells = counts.shape[1] * counts.shape[2]
    cells = np.zeros((n_types, n_cells))
    for s in range(counts.shape[1]):
        own = s * counts.shape[2] + runs.find_cells(s, layout.spec.inside)
        cells[np.arange(n_types), own] = 1.0
    even = np.full((1, n_types), 1 / n_types)
    together = _fit_types(pool, cells, even, _EVEN_ROWS)
    found = _fit_types(counts, cells, together, POOL_ROWS)
    return np.asarray((found @ cells).reshape(counts.shape))


def _fit_types(counts: Floats, cells: Floats, prior: Floats, rows: float) -> Floats:
    """Fit shares of types to counts of cells, with a ``prior`` that is worth some ``rows``.

    Each round shares the rows of a cell out over its types by the shares they have (EM);
    ``cells`` has a 1 where a type falls into a cell.
    """
    n, total = counts.reshape(len(counts), -1), counts.sum(axis=(1, 2))[:, None]
    q = np.broadcast_to(prior, (len(counts), prior.shape[1]))
    worth, whole = rows * prior, total + rows
    for _ in range(_ROUNDS):
        p = np.maximum(q @ cells, 1e-300)
        q = (q * ((n / p) @ cells.T) + worth) / whole
    return np.asarray(q)


Found: TypeAlias = list[list[DualVector]]
"""The vectors of every place: conditions, then arms."""


@final
class DualFinder:
    """Finds multipliers for every place of a program: its conditions, then its arms.

    ``draws`` says at how many laws near the pilot's they are looked for. Where they are
    ``shared`` each condition has the vectors of all to try, for they are feasible at any; then
    its own law is enough, unless conditions are few.
    """

    def __init__(
        self,
        layout: ProgramLayout,
        law: PilotLaw,
        *,
        budget: TimeBudget,
        rng: Generator,
        draws: int,
        shared: bool = False,
    ) -> None:
        self.layout, self.law, self.budget, self.shared = layout, law, budget, shared
        drawn, self.n_fixed = law.draw(draws, rng), len(layout.fixed)
        own = shared and self.n_fixed > _FEW_CONDITIONS  # many have no need of other laws
        asked = range(0 if own else self.n_fixed)
        self._laws = [self._list_laws(f, drawn[:, f]) for f in asked]

    def find_vectors(self) -> tuple[Found, Found] | None:
        """List multipliers that prove lower ends of the reward, and of one minus the reward.

        None where there are too many response types.
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
                for is_upper, found in enumerate((lower, upper)):
                    end = _EndSearch(search, self.budget, upper=is_upper > 0)
                    if self.shared:
                        found[a] += end.cover(self.law.shares[:, scenarios])
                    for f, laws in enumerate(self._laws):
                        for low, high in laws:
                            found[f * n_arms + a] += end.solve(low[scenarios], high[scenarios])
        return self._keep_different(lower), self._keep_different(upper)

    def _list_laws(self, f: int, drawn: Floats) -> list[tuple[Floats, Floats]]:
        """List laws near the pilot's for one condition, as lower and upper ends of shares.

        First the law itself, then with room for the error that the rest will have, then those
        ``drawn``.
        """
        p, rows = self.law.shares[f], np.maximum(self.law.rows[f], 1.0)[:, None]
        error = np.sqrt(p * (1 - p) / rows)
        laws = [(p, times * error) for times in _ROOMS]
        laws += [(each, error) for each in drawn]
        return [(np.maximum(q - room, 0), np.minimum(q + room, 1)) for q, room in laws]

    def _keep_different(self, found: Found) -> Found:
        """Keep one of several equal vectors of a place, or of an arm where they are shared.

        There is one that proves nothing where there is none.
        """
        nothing = np.zeros((len(self.layout.outer), len(self.layout.inner)))
        none = [DualVector(0.0, nothing, 0.0, 0.0)]
        if not self.shared:
            return [_drop_equal(several) or none for several in found]
        n_arms = len(self.layout.arms)
        of_arms = [
            _drop_equal(each for several in found[a::n_arms] for each in several) or none
            for a in range(n_arms)
        ]
        return [several[:_MOST_SHARED] for several in of_arms] * self.n_fixed


@final
class _EndSearch:
    """Finds multipliers of one end of an arm's program, law after law.

    Most laws have the multipliers of another, which are made feasible only once.
    """

    def __init__(self, search: ArmProgram, budget: TimeBudget, *, upper: bool) -> None:
        self.search, self.program, self.budget = search, search.programs[upper], budget
        (target,) = search.successes
        self.cost = np.where(target.pays != upper, 1.0, 0.0)
        self._known = dict[bytes, DualVector]()

    def solve(self, low: Floats, high: Floats) -> Iterator[DualVector]:
        """Yield the multipliers at a law, whose shares have ends, unless there are none."""
        found = self._minimise(np.append(low, 1.0), np.append(high, 1.0))
        if found is not None:
            yield self._keep(found.multipliers)

    def cover(self, laws: Floats) -> Iterator[DualVector]:
        """Yield multipliers until each of some laws has those that are best for it.

        Laws have axes of conditions, scenarios and cells.
        """
        left = np.concatenate([laws.reshape(len(laws), -1), np.ones((len(laws), 1))], axis=1)
        while len(left):
            law, left = left[0], left[1:]
            found = self._minimise(law, law)
            if found is not None:
                yield self._keep(found.multipliers)
                left = left[~self._find_fitting(found.point, left)] if len(left) else left

    def _minimise(self, low: Floats, high: Floats) -> Optimum | None:
        """Find the least end at a law; None without any."""
        self.program.set_ends(low, high)
        found = self.program.minimise(self.cost, seconds=self.budget.count_seconds())
        return found if found.status is SolveStatus.OPTIMAL else None

    def _find_fitting(self, point: Floats, laws: Floats) -> NDArray[np.bool_]:
        """Find laws that the types of one law's least end make up too.

        The multipliers are then the best for them as well, for all these types earn just what
        the multipliers say. ``point`` has their shares.
        """
        rows, used = self.program.rows, point > _NEAR
        inside = used[rows.columns]
        matrix = np.zeros((rows.shape[0], int(used.sum())))
        matrix[rows.rows[inside], (used.cumsum() - 1)[rows.columns[inside]]] = 1.0
        shares = np.linalg.lstsq(matrix, laws.T, rcond=None)[0]
        gaps = np.abs(matrix @ shares - laws.T)
        return np.asarray((np.vstack([-shares, gaps]) <= _NEAR).all(axis=0))

    def _keep(self, multipliers: Floats) -> DualVector:
        """Make multipliers feasible, unless the same were made so before."""
        y = multipliers[:-1].round(_DIGITS)
        key = y.tobytes()
        if key not in self._known:
            self._known[key] = self._clean(y)
        return self._known[key]

    def _clean(self, multipliers: Floats) -> DualVector:
        """Make multipliers feasible whatever the solver rounded, each scenario's least 0.

        What they prove is lowered until no type earns less.
        """
        layout, scenarios = self.search.whole, self.search.scenarios
        y = multipliers.reshape(len(scenarios), len(layout.inner))
        y = y - y.min(axis=1, keepdims=True)
        earned = self.program.rows.add_rows(np.append(y.ravel(), 0.0))
        margin = _MARGIN * (1 + float(y.sum()))
        constant = float((self.cost - earned).min()) - margin
        whole = np.zeros((len(layout.outer), len(layout.inner)))
        whole[list(scenarios)] = y
        least, most = float(earned.min()) - margin, float(earned.max()) + margin
        return DualVector(constant, whole, constant + least, constant + most)


def _drop_equal(found: Iterable[DualVector]) -> list[DualVector]:
    """Keep one of several equal vectors."""
    seen = dict[bytes, DualVector]()
    for each in found:
        seen.setdefault((each.multipliers.round(_DIGITS - 2) + 0.0).tobytes(), each)
    return [*seen.values()]


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
        """Stack one vector for each place."""
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
    from them.
    """
    arguments = dict(zip(spec.inside, spec.arguments, strict=True))
    follows = spec.followed.difference(spec.set_by_hand)
    return frozenset(spec.set_by_hand).issubset(spec.inside) and not any(
        frozenset(arguments[name]).intersection(spec.varied) for name in follows
    )


def make_natural_vectors(layout: ProgramLayout, *, upper: bool) -> DualVectors:
    """Make the multipliers of natural bounds: those who chose the arm and won, or lost."""
    spec = layout.spec
    shape = [1] * len(spec.fixed) + [layout.levels[name] for name in spec.set_by_hand]
    found = np.zeros((len(layout.arms), len(layout.outer), len(layout.inner)))
    wanted = dict.fromkeys(spec.asked.outcomes, 1 - SUCCESS if upper else SUCCESS)
    cells = defaultdict[tuple[int | None, ...], list[int]](list)
    named = (*dict.fromkeys(name for arm in layout.arms for name in arm), *wanted)
    for cell, levels in enumerate(layout.inner):
        cells[tuple(map(levels.get, named))].append(cell)
    for a, arm in enumerate(layout.arms):
        found[a, :, cells[tuple(map((arm | wanted).get, named))]] = 1.0
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
    matters. None where each place is an end of its own. At most so many ranks are kept.
    """
    values, spreads = _expect_ends(found, law)
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


def _expect_ends(
    found: Sequence[Sequence[DualVector]], law: PilotLaw
) -> tuple[list[Floats], list[Floats]]:
    """Compute for every place what its vectors prove at the pilot's law, and the variance.

    Places that share their vectors are computed at once.
    """
    n_arms = len(found) // len(law.shares)
    alike = dict[int, list[int]]()
    for place, several in enumerate(found):
        alike.setdefault(id(several), []).append(place)
    values, spreads = dict[int, Floats](), dict[int, Floats]()
    for places in alike.values():
        several, at = found[places[0]], [place // n_arms for place in places]
        ends = weigh_vectors(several, law.shares[at], law.rows[at])
        for each, to in zip(ends, (values, spreads), strict=True):
            to |= dict(zip(places, each, strict=True))
    order = range(len(found))
    return [values[place] for place in order], [spreads[place] for place in order]


def weigh_vectors(
    several: Sequence[DualVector], shares: Floats, rows: Floats
) -> tuple[Floats, Floats]:
    """Compute the ends that vectors prove at some laws, and variances from so many rows.

    Laws have axes of conditions, scenarios and cells; what comes out has conditions and
    vectors.
    """
    y, laws = np.stack([each.multipliers for each in several]), shares[:, None]
    mean, square = (y * laws).sum(axis=-1), (y**2 * laws).sum(axis=-1)
    values = np.array([each.constant for each in several]) + mean.sum(axis=-1)
    variances = np.maximum(square - mean**2, 0.0) / np.maximum(rows, 1.0)[:, None]
    return values, variances.sum(axis=-1)


def _weigh_places(
    values: Sequence[Floats],
    spreads: Sequence[Floats],
    weights: Floats,
    links: tuple[int, ...],
) -> list[Floats]:
    """Score the vectors of places that are summed: errors of places add up in quadrature."""
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
