"""Features of an arm in a context: ``[1, context values, treatment values]``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.spec import BanditSpec, Levels
from boundit.terms.bound import Arm, Context, Value

Vector: TypeAlias = NDArray[np.float64]
Features: TypeAlias = Callable[[Context, Arm], Sequence[float]]
"""A user's own features: a function of context and arm."""
LARGEST = 1e6
"""The largest feature: beyond, what is learned drowns in rounding."""
_TOO_LARGE = f"are larger than {LARGEST:,.0f}; bring them to a size of about 1"
Words: TypeAlias = tuple[str, ...]
"""The sorted domain of a variable that is text; empty for a number."""


@final
@dataclass(frozen=True)
class FeatureEncoding:
    """Numbers and booleans as they are, text one-hot over its sorted domain without the first.

    >>> scene = BanditSpec((("a",), ("b",), ("c",)), (("a", "b", "c"),), ("Age",), ((),))
    >>> FeatureEncoding.of(scene).vector((30,), ("c",)).tolist()
    [1.0, 30.0, 0.0, 1.0]
    """

    context_words: tuple[Words, ...]
    arm_words: tuple[Words, ...]
    own: Features | None = None

    @classmethod
    def of(cls, scene: BanditSpec, own: Features | None = None) -> "FeatureEncoding":
        """Encode as the scene's levels tell, or by the user's own function."""
        return cls(
            tuple(map(_words, scene.context_levels)), tuple(map(_words, scene.arm_levels)), own
        )

    def vector(self, context: Context, arm: Arm) -> Vector:
        """Write the features of one arm in one context, or say why there are none."""
        if self.own is not None:
            return as_vector(self.own(context, arm), arm)
        return np.array([1.0, *self.of_context(context, arm), *self.of_arm(arm)])

    def of_context(self, context: Context, arm: Arm) -> list[float]:
        """Write the part that is the same for all arms; errors name one of them."""
        numbers: list[float] = []
        for value, words in zip(context, self.context_words or repeat(()), strict=False):
            numbers += _encoded(value, words, arm, "the context")
        return numbers

    def of_arm(self, arm: Arm) -> list[float]:
        """Write the part that is the same in all contexts."""
        numbers: list[float] = []
        for value, words in zip(arm, self.arm_words or repeat(()), strict=False):
            numbers += _encoded(value, words, arm, "the arm")
        return numbers


def as_vector(given: object, arm: Arm) -> Vector:
    """Take a feature vector: finite numbers, at least one, in one row."""
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadFeatures(arm, "are no numbers; give one finite number for each") from None
    if x.ndim != 1 or not x.size:
        raise BadFeatures(arm, f"have shape {x.shape}; give one row of numbers")
    if not all_moderate(x):
        if not np.isfinite(x).all():
            raise BadFeatures(arm, "are not all finite")
        raise BadFeatures(arm, _TOO_LARGE)
    return x


@compile_kernel
def all_moderate(x: Vector) -> bool:
    """Tell whether every number is one, and of a size that squares survive."""
    for number in x:  # noqa: SIM110, a loop is what compiles
        if not abs(number) <= LARGEST:
            return False
    return True


def require_length(x: Vector, n_features: int | None, arm: Arm) -> None:
    """Refuse a vector of another length than those before it."""
    if n_features is not None and x.size != n_features:
        raise BadFeatures(arm, f"are {x.size} numbers, and this policy learns {n_features}")


def _words(levels: Levels) -> Words:
    return tuple(sorted({level for level in levels if isinstance(level, str)}))


def _encoded(value: Value, words: Words, arm: Arm, where: str) -> list[float]:
    if words and value in words:
        return [float(value == word) for word in words[1:]]
    if not words and isinstance(value, int | float):
        if not abs(value) <= LARGEST:
            raise BadFeatures(arm, _TOO_LARGE)
        return [float(value)]
    reason = (
        f"{where} has {value!r}, and its domain has {', '.join(words)}"
        if words
        else f"{where} has {value!r}, which is no number and of no known domain"
    )
    raise BadFeatures(arm, f"cannot be written: {reason}; declare it, or give features=")
