"""Features of an arm in a context: ``[1, context values, treatment values]``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadFeatures, ForeignBounds
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.spec import BanditSpec, Levels
from boundit.terms.bound import Arm, Context, Value

Vector: TypeAlias = NDArray[np.float64]
Features: TypeAlias = Callable[[Context, Arm], Sequence[float]]
"""A user's own features: a function of context and arm."""
LARGEST = 1e6
"""The largest feature: beyond, what is learned drowns in rounding."""
_TOO_LARGE = f"are larger than {LARGEST:,.0f}; bring them to a size of about 1"
TextLevels: TypeAlias = tuple[str, ...]
"""The sorted domain of a variable that is text; empty for a number."""


@final
@dataclass(frozen=True)
class FeatureEncoding:
    """Numbers and booleans as they are, text one-hot over its sorted domain without the first.

    >>> spec = BanditSpec((("a",), ("b",), ("c",)), (("a", "b", "c"),), ("Age",), ((),))
    >>> FeatureEncoding.of(spec).encode((30,), ("c",)).tolist()
    [1.0, 30.0, 0.0, 1.0]
    """

    context_levels: tuple[TextLevels, ...]
    arm_levels: tuple[TextLevels, ...]
    user_features: Features | None = None

    @classmethod
    def of(cls, spec: BanditSpec, user_features: Features | None = None) -> "FeatureEncoding":
        """Make an encoding of arms and contexts as features, by the levels in a spec.

        Or by the user's own function, if there is one. Called by ``RidgeModels.__init__`` and
        ``MatchingStatistics.__init__``.
        """
        return cls(
            tuple(map(_sort_text_levels, spec.context_levels)),
            tuple(map(_sort_text_levels, spec.arm_levels)),
            user_features,
        )

    def encode(self, context: Context, arm: Arm) -> Vector:
        """Write the features of one arm in one context as a vector, or say why there are none.

        Called by ``FeatureCache._ask_user`` where users have features of their own, by
        ``WarmStart.start`` for every estimate, and by ``MatchingStatistics.encode`` for every
        pair.
        """
        if self.user_features is not None:
            return read_vector(self.user_features(context, arm), arm)
        return np.array([1.0, *self.encode_context(context, arm), *self.encode_arm(arm)])

    def read_row(self, given: object, context: Context, arm: Arm) -> Vector:
        """Read the features of a decision; write them anew if levels came since it was made.

        Those of a user's own function are taken as they are. Called by ``RidgeModels.take`` and
        ``MatchingStatistics.take`` for a decision whose row is not at hand.
        """
        x = read_vector(given, arm)
        if self.user_features is not None or x.size == self._count_features(context, arm):
            return x
        return self.encode(context, arm)

    def _count_features(self, context: Context, arm: Arm) -> int:
        """Count the features that an arm in a context has by now.

        Called by ``FeatureEncoding.read_row``.
        """
        variables = (
            *zip(context, self.context_levels or repeat(()), strict=False),
            *zip(arm, self.arm_levels or repeat(()), strict=False),
        )
        return 1 + sum(len(levels) - 1 if levels else 1 for _, levels in variables)

    def map_into(self, wider: "FeatureEncoding", n_features: int) -> Vector:
        """Make the matrix that turns features of this encoding into those of a wider one.

        A level that is new was never met, so its feature is 0 in all of them; if the level that
        had none gets one, it is what is left of the constant. Called by ``RidgeModels.widen``
        and ``MatchingStatistics.widen``.

        >>> two, three = (
        ...     FeatureEncoding.of(BanditSpec((), (levels,), ()))
        ...     for levels in (("b", "c"), ("a", "b", "c"))
        ... )
        >>> (two.map_into(three, 2) @ two.encode((), ("b",))).tolist()
        [1.0, 1.0, 0.0]
        """
        old = (
            *_align(self.context_levels, wider.context_levels),
            *_align(self.arm_levels, wider.arm_levels),
        )
        new = (*wider.context_levels, *wider.arm_levels)
        ends = list(accumulate((len(known) - 1 if known else 1 for known in old), initial=1))
        if ends[-1] != n_features:
            raise ForeignBounds("features", n_features, ends[-1])
        units = np.eye(n_features)
        rows = [units[0]]
        for known, levels, start, end in zip(old, new, ends, ends[1:], strict=False):
            if bool(known) != bool(levels) or not set(known) <= set(levels):
                raise ForeignBounds("levels", known, levels)
            rows += _map_variable(known, levels, units[start:end])
        return np.array(rows)

    def encode_context(self, context: Context, arm: Arm) -> list[float]:
        """Write the features of a context, which all arms share, as a list of numbers.

        Errors name ``arm``. Called by ``FeatureCache._write_context`` for a context not met
        before.
        """
        numbers: list[float] = []
        for value, levels in zip(context, self.context_levels or repeat(()), strict=False):
            numbers += _encode_value(value, levels, arm, "the context")
        return numbers

    def encode_arm(self, arm: Arm) -> list[float]:
        """Write the features of an arm's treatments, the same in all contexts, as numbers.

        Called by ``FeatureCache._make_template`` once for many contexts.
        """
        numbers: list[float] = []
        for value, levels in zip(arm, self.arm_levels or repeat(()), strict=False):
            numbers += _encode_value(value, levels, arm, "the arm")
        return numbers


def read_vector(given: object, arm: Arm) -> Vector:
    """Read a feature vector: finite numbers, at least one, in one row.

    Called by ``FeatureEncoding.encode`` for what a user's function gives, and by
    ``FeatureEncoding.read_row`` for the features of a decision that was made elsewhere.
    """
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadFeatures(arm, "are no numbers; give one finite number for each") from None
    if x.ndim != 1 or not x.size:
        raise BadFeatures(arm, f"have shape {x.shape}; give one row of numbers")
    if not is_moderate(x):
        if not np.isfinite(x).all():
            raise BadFeatures(arm, "are not all finite")
        raise BadFeatures(arm, _TOO_LARGE)
    return x


@compile_kernel
def is_moderate(x: Vector) -> bool:
    """Tell whether all numbers of a feature vector are finite and small enough to be squared.

    Called by ``read_vector``; compiled, since NumPy takes longer for so few.
    """
    for number in x:  # noqa: SIM110, a loop is what compiles
        if not abs(number) <= LARGEST:
            return False
    return True


def require_length(x: Vector, n_features: int | None, arm: Arm) -> None:
    """Refuse a feature vector whose length is not ``n_features``; None allows any length.

    Called by ``RidgeModels.require_known_length`` and
    ``MatchingStatistics.require_known_length``.
    """
    if n_features is not None and x.size != n_features:
        raise BadFeatures(arm, f"are {x.size} numbers, and this policy learns {n_features}")


def _sort_text_levels(levels: Levels) -> TextLevels:
    """Sort those levels of a variable that are text: each gets a 0/1 feature.

    Called by ``FeatureEncoding.of`` for every variable.
    """
    return tuple(sorted({level for level in levels if isinstance(level, str)}))


def _align(
    known: tuple[TextLevels, ...], wider: tuple[TextLevels, ...]
) -> tuple[TextLevels, ...]:
    """Give the levels of every variable of a wider encoding as they were known before.

    Where no variables were known, all of them were numbers. Called by
    ``FeatureEncoding.map_into``.
    """
    return known or ((),) * len(wider)


def _map_variable(known: TextLevels, levels: TextLevels, columns: Vector) -> list[Vector]:
    """Write one variable's features over more levels as sums of those over the known ones.

    ``columns`` are unit vectors, one for each feature it had. Called by
    ``FeatureEncoding.map_into``.
    """
    if not known:
        return list(columns)
    first = np.eye(columns.shape[1])[0] - columns.sum(axis=0)
    found = {known[0]: first, **dict(zip(known[1:], columns, strict=True))}
    return [found.get(level, np.zeros_like(first)) for level in levels[1:]]


def _encode_value(value: Value, levels: TextLevels, arm: Arm, where: str) -> list[float]:
    """Write one value as features: a number as it is, text as 0/1 for each level but one.

    Text outside the known levels is refused. Called by ``FeatureEncoding.encode_context`` and
    ``FeatureEncoding.encode_arm``.
    """
    if levels and value in levels:
        return [float(value == level) for level in levels[1:]]
    if not levels and isinstance(value, int | float):
        if not abs(value) <= LARGEST:
            raise BadFeatures(arm, _TOO_LARGE)
        return [float(value)]
    reason = (
        f"{where} has {value!r}, and its domain has {', '.join(levels)}"
        if levels
        else f"{where} has {value!r}, which is no number and of no known domain"
    )
    raise BadFeatures(arm, f"cannot be written: {reason}; declare it, or give features=")
