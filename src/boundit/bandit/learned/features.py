"""Features of an arm in a context: ``[1, context values, treatment values]``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat, zip_longest
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadFeatures, ForeignBounds
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.learned.variable_encoding import LARGEST, TOO_LARGE, VariableEncoding
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context, Value

Vector: TypeAlias = NDArray[np.float64]
Features: TypeAlias = Callable[[Context, Arm], Sequence[float]]
"""A user's own features: a function of context and arm."""
_NUMBER = VariableEncoding()


@final
@dataclass(frozen=True)
class FeatureEncoding:
    """How arms and contexts are written as numbers, variable by variable, or a user's own way.

    A variable of which nothing is known is a number.

    >>> spec = BanditSpec((("a",), ("b",), ("c",)), (("a", "b", "c"),), ("Age",), ((),))
    >>> FeatureEncoding.of(spec).encode((30,), ("c",)).tolist()
    [1.0, 30.0, 0.0, 1.0]
    """

    context: tuple[VariableEncoding, ...]
    arm: tuple[VariableEncoding, ...]
    user_features: Features | None = None

    @classmethod
    def of(
        cls,
        spec: BanditSpec,
        user_features: Features | None = None,
        *,
        sees_numbers: bool = False,
    ) -> "FeatureEncoding":
        """Make an encoding of arms and contexts as features, by the levels in a spec.

        Or by the user's own function, if there is one. ``sees_numbers`` says that contexts come
        with the numbers that the spec has bins for.
        """
        lenient, bins = spec.unseen == "range", spec.bins if sees_numbers else ()
        variables = zip_longest(spec.context_levels, bins, fillvalue=())
        return cls(
            tuple(VariableEncoding.of(*found, lenient=lenient) for found in variables),
            tuple(map(VariableEncoding.of, spec.arm_levels)),
            user_features,
        )

    def encode(self, context: Context, arm: Arm) -> Vector:
        """Write the features of one arm in one context as a vector, or say why there are none."""
        if self.user_features is not None:
            return read_vector(self.user_features(context, arm), arm)
        return np.array([1.0, *self.encode_context(context, arm), *self.encode_arm(arm)])

    def read_row(
        self, given: object, context: Context, arm: Arm, n_learned: int | None
    ) -> Vector:
        """Read the features of a decision; write them anew if levels came since it was made.

        There are as many as have been learned, ``n_learned``, or as the levels known now make.
        Those of a user's own function are taken as they are.
        """
        x = read_vector(given, arm)
        if self.user_features is not None or x.size == n_learned:
            return x
        if x.size == self._count_features(context, arm):
            return x
        return self.encode(context, arm)

    def _count_features(self, context: Context, arm: Arm) -> int:
        """Count the features that an arm in a context has by now."""
        variables = (
            *zip(context, self.context or repeat(_NUMBER), strict=False),
            *zip(arm, self.arm or repeat(_NUMBER), strict=False),
        )
        return 1 + sum(variable.size for _, variable in variables)

    def map_into(self, wider: "FeatureEncoding", n_features: int) -> Vector:
        """Make the matrix that turns features of this encoding into those of a wider one.

        A level that is new was never met, so its feature is 0 in all of them; if the level that
        had none gets one, it is what is left of the constant.

        >>> two, three = (
        ...     FeatureEncoding.of(BanditSpec((), (levels,), ()))
        ...     for levels in (("b", "c"), ("a", "b", "c"))
        ... )
        >>> (two.map_into(three, 2) @ two.encode((), ("b",))).tolist()
        [1.0, 1.0, 0.0]
        """
        old = (*_align(self.context, wider.context), *_align(self.arm, wider.arm))
        ends = list(accumulate((variable.size for variable in old), initial=1))
        if ends[-1] != n_features:
            raise ForeignBounds("features", n_features, ends[-1])
        units = np.eye(n_features)
        rows = [units[0]]
        for known, variable, start, end in zip(
            old, (*wider.context, *wider.arm), ends, ends[1:], strict=False
        ):
            rows += known.map_into(variable, units[0], units[start:end])
        return np.array(rows)

    def encode_context(self, context: Context, arm: Arm) -> list[float]:
        """Write the features of a context, which all arms share, as a list of numbers.

        Errors name ``arm``.
        """
        numbers: list[float] = []
        for value, variable in zip(context, self.context or repeat(_NUMBER), strict=False):
            numbers += _encode_value(value, variable, arm, "the context")
        return numbers

    def encode_arm(self, arm: Arm) -> list[float]:
        """Write the features of an arm's treatments, the same in all contexts, as numbers."""
        numbers: list[float] = []
        for value, variable in zip(arm, self.arm or repeat(_NUMBER), strict=False):
            numbers += _encode_value(value, variable, arm, "the arm")
        return numbers


def read_vector(given: object, arm: Arm) -> Vector:
    """Read a feature vector: finite numbers, at least one, in one row."""
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadFeatures(arm, "are no numbers; give one finite number for each") from None
    if x.ndim != 1 or not x.size:
        raise BadFeatures(arm, f"have shape {x.shape}; give one row of numbers")
    if not is_moderate(x):
        if not np.isfinite(x).all():
            raise BadFeatures(arm, "are not all finite")
        raise BadFeatures(arm, TOO_LARGE)
    return x


@compile_kernel
def is_moderate(x: Vector) -> bool:
    """Tell whether all numbers of a feature vector are finite and small enough to be squared.

    Compiled, since NumPy takes longer for so few.
    """
    for number in x:  # noqa: SIM110, a loop is what compiles
        if not abs(number) <= LARGEST:
            return False
    return True


def require_length(x: Vector, n_features: int | None, arm: Arm) -> None:
    """Refuse a feature vector whose length is not ``n_features``; None allows any length."""
    if n_features is not None and x.size != n_features:
        raise BadFeatures(arm, f"are {x.size} numbers, and this policy learns {n_features}")


def _align(
    known: tuple[VariableEncoding, ...], wider: tuple[VariableEncoding, ...]
) -> tuple[VariableEncoding, ...]:
    """Give the variables of a wider encoding as they were known before.

    Where none were known, all of them were numbers.
    """
    return known or (_NUMBER,) * len(wider)


def _encode_value(
    value: Value, variable: VariableEncoding, arm: Arm, where: str
) -> list[float]:
    """Write one value as features, and refuse what cannot be in the name of an arm."""
    try:
        numbers = variable.encode(value)
    except ValueError as error:
        reason = f"cannot be written: {where} {error}; declare it, or give features="
        raise BadFeatures(arm, reason) from None
    except OverflowError:
        raise BadFeatures(arm, TOO_LARGE) from None
    if not all(abs(number) <= LARGEST for number in numbers):
        raise BadFeatures(arm, TOO_LARGE)
    return numbers
