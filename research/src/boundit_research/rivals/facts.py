"""What rivals are told before the first round: bounds, and rows of the log, pair by pair."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import linprog

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.serialization import decode_values, encode_values
from boundit.terms.bound import Arm, Context, Key
from boundit.terms.bound_table import BoundTable

Encode: TypeAlias = Callable[[Context, Arm], Floats]
"""What writes the features of an arm in a context."""
_HALF = 0.5
_NEAR = 1e-6
"""So near to 1/2 a mean is taken for 1/2, where the factor's formula is 0 / 0."""


class PairFact(NamedTuple):
    """One arm in one context: the ends of its bound, its rows in the log, and their sum."""

    lower: float = 0.0
    upper: float = 1.0
    rows: float = 0.0
    total: float = 0.0

    @property
    def bias(self) -> float:
        """The most that the log's mean of the pair can be away from its true mean.

        The true mean lies within the bound, the log's is known: so far as the farther end. That
        is the V of MIN-UCB; without a row there is nothing to be biased.

        >>> PairFact(0.2, 0.9, rows=10, total=4).bias
        0.5
        """
        if not self.rows:
            return 0.0
        mean = self.total / self.rows
        return max(self.upper - mean, mean - self.lower, 0.0)


UNKNOWN = PairFact()
"""A pair of which nothing is known: rewards are from 0 to 1."""


@dataclass(frozen=True)
class PairFacts:
    """Facts about pairs of arm and context; of those left out nothing is known."""

    pairs: Mapping[Key, PairFact]
    _restricted: "dict[tuple[Arm, ...], PairFacts]" = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def of(cls, bounds: BoundTable | None, logged: BoundTable | None) -> "PairFacts":
        """Take bounds of one table, and of another the log's rows and means, as points.

        The latter is what ``condition_only`` gives. Either may be None.
        """
        keys = dict.fromkeys((*(bounds.bounds if bounds else ()), *_list_keys(logged)))
        found = dict[Key, PairFact]()
        for key in keys:
            lower, upper = UNKNOWN[:2]
            if bounds and key in bounds.bounds:
                lower, upper = bounds.bounds[key].lower, bounds.bounds[key].upper
            rows, mean = 0.0, 0.0
            if logged and key in logged.bounds:
                point = logged.bounds[key]
                if point.lower_estimate == point.upper_estimate:
                    rows, mean = float(point.n), point.lower_estimate
            found[key] = PairFact(lower, upper, rows, round(rows * mean))
        return cls(found)

    @cached_property
    def numbers(self) -> Mapping[Key, int]:
        """A number for every pair."""
        return {key: i for i, key in enumerate(self.pairs)}

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The contexts that some fact is known of."""
        return tuple(dict.fromkeys(context for _, context in self.pairs))

    def get(self, arm: Arm, context: Context) -> PairFact:
        """Get what is known of an arm in a context."""
        return self.pairs.get((arm, context), UNKNOWN)

    def restrict(self, arms: tuple[Arm, ...], encode: "Encode") -> "PairFacts":
        """Narrow the bounds of each arm to those of linear means, by the features of its pairs.

        Worked out once for the same arms.
        """
        if arms not in self._restricted:
            found = dict(self.pairs)
            for arm in arms if self.pairs else ():
                keys = [(arm, context) for context in self.contexts]
                ends = np.array([self.get(*key)[:2] for key in keys])
                x = np.array([encode(context, arm) for _, context in keys])
                for key, (low, high) in zip(keys, restrict_linear(x, ends), strict=True):
                    found[key] = self.get(*key)._replace(lower=float(low), upper=float(high))
            self._restricted[arms] = PairFacts(found)
        return self._restricted[arms]

    def to_record(self) -> list[list[object]]:
        """Write all facts for JSON."""
        return [
            [encode_values(arm), encode_values(context), *fact]
            for (arm, context), fact in self.pairs.items()
        ]

    @classmethod
    def from_record(cls, record: list[list[object]]) -> "PairFacts":
        """Read what ``to_record`` wrote."""
        found = dict[Key, PairFact]()
        for arm, context, *numbers in record:
            if not (isinstance(arm, list) and isinstance(context, list)):
                raise TypeError("a pair is no pair")
            key = decode_values(arm), decode_values(context)
            found[key] = PairFact(*map(float, numbers))  # type: ignore[arg-type]
        return cls(found)


def _list_keys(table: BoundTable | None) -> Sequence[Key]:
    """List the pairs of a table, none without one."""
    return tuple(table.bounds) if table else ()


def compute_noise(lower: float, upper: float, best: float) -> float:
    """Compute the sub-Gaussian factor of rewards from 0 to 1 whose mean lies in a bound.

    It grows towards a mean of 1/2, so that the mean nearest to it counts (Kearns and Saul
    1998). ``best`` is the highest lower end of all arms: above 1/2 no arm that may be best has
    a greater factor than it, and GLUE explores no other arm faster.

    >>> compute_noise(0.3, 0.6, 0.0), round(compute_noise(0.8, 0.9, 0.0), 3)
    (0.5, 0.465)
    """
    nearest = min(max(_HALF, lower), upper)
    return min(_compute_factor(nearest), _compute_factor(max(best, _HALF)))


def _compute_factor(mean: float) -> float:
    """Compute the sub-Gaussian factor of rewards from 0 to 1 with this mean."""
    if abs(mean - _HALF) < _NEAR:
        return _HALF
    if not 0.0 < mean < 1.0:
        return 0.0
    return math.sqrt((1 - 2 * mean) / (2 * math.log((1 - mean) / mean)))


def restrict_linear(features: Floats, ends: Floats) -> Floats:
    """Narrow the bounds of one arm's means to what a linear model within all of them can have.

    ``features`` has a row for each context, ``ends`` their lower and upper end. Bounds that no
    linear model keeps stay as they are.

    >>> x, ends = np.array([[1, 0], [1, 1], [1, 2]]), np.array([[0, 1], [0.5, 0.5], [0.9, 1]])
    >>> restrict_linear(x, ends).round(3).tolist()
    [[0.0, 0.1], [0.5, 0.5], [0.9, 1.0]]
    """
    rows = np.concatenate([features, -features])
    limits = np.concatenate([ends[:, 1], -ends[:, 0]])
    found = ends.copy()
    for i, x in enumerate(features):
        for end, sign in ((0, 1.0), (1, -1.0)):
            solved = linprog(sign * x, A_ub=rows, b_ub=limits, bounds=(None, None))
            if solved.status != 0:
                return ends
            found[i, end] = sign * solved.fun
    # Rounding may leave an end a little outside.
    return np.column_stack(
        [np.maximum(found[:, 0], ends[:, 0]), np.minimum(found[:, 1], ends[:, 1])]
    )
