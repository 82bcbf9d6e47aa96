"""Features of an arm in a context, as linear policies see them: ``[1, context, treatments]``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat, zip_longest
from typing import Any, Self, TypeAlias, final

import numpy as np

from boundit.bandit.errors import BadFeatures, CannotMerge, ForeignBounds
from boundit.bandit.ids import Floats
from boundit.bandit.policy import Policy
from boundit.bandit.spec import Edges, Levels, Spec, find_bin, list_bins, show
from boundit.results.bound import Arm, Context, Value

Features: TypeAlias = Callable[[Any, Any], Sequence[float]]
"""A user's own features: a function of context and arm as users write them."""
LARGEST = 1e6
"""The largest feature: beyond, what is learned drowns in rounding."""
_TOO_LARGE = f"are larger than {LARGEST:,.0f}; bring them to a size of about 1"


@final
@dataclass(frozen=True)
class VariableEncoding:
    """A number as it is; text one-hot over its sorted levels without the first.

    A variable in bins (``edges``) has both: its bin, and the number itself, or the middle of the
    bin where only that is known. ``reference`` stands for unknown levels, where these are let
    through: the first of the sorted domain.

    >>> age = VariableEncoding(("< 30", ">= 50", "[30, 50)"), (30.0, 50.0))
    >>> age.encode(41.5), age.encode(">= 50"), VariableEncoding().encode(41.5)
    ([0.0, 1.0, 41.5], [1.0, 0.0, 50.0], [41.5])
    """

    levels: tuple[str, ...] = ()
    edges: Edges = ()
    reference: Value = None

    @classmethod
    def of(
        cls, levels: Levels, edges: Edges = (), *, lenient: bool = False
    ) -> "VariableEncoding":
        """Make the encoding of a variable; ``lenient`` lets unknown levels through."""
        text = tuple(sorted({level for level in levels if isinstance(level, str)}))
        numbers = [level for level in levels if isinstance(level, int | float)]
        first: Value = text[0] if text else min(numbers, default=None)
        return cls(text, edges, first if lenient else None)

    @property
    def shows_number(self) -> bool:
        """Whether the number itself is a feature beside its bin."""
        return bool(self.edges) and max(map(abs, self.edges)) <= LARGEST

    @property
    def size(self) -> int:
        """The number of features."""
        return (len(self.levels) - 1 if self.levels else 1) + self.shows_number

    def encode(self, value: Value) -> list[float]:
        """Write one value as features, or raise ``ValueError`` with what is wrong with it."""
        found = find_bin(self.edges, value)
        is_known = found in self.levels if self.levels else isinstance(found, int | float)
        if not is_known and self.reference is not None:
            found = value = self.reference
        elif not is_known:
            known = f"its levels are {', '.join(self.levels)}" if self.levels else "no number"
            raise ValueError(f"has {value!r}; {known}")
        if not self.levels:
            return [float(found)]  # type: ignore[arg-type]
        numbers = [float(found == level) for level in self.levels[1:]]
        if self.shows_number:
            middle = isinstance(value, str)
            number: Any = _find_middle(self.edges, value) if middle else value
            numbers.append(float(number))
        return numbers

    def map_into(
        self, wider: "VariableEncoding", constant: Floats, own: Floats
    ) -> list[Floats]:
        """Write the features over more levels as sums of ``own``, those over the known ones."""
        known, levels = self.levels, wider.levels
        shown = self.shows_number, wider.shows_number
        if bool(known) != bool(levels) or not set(known) <= set(levels) or len(set(shown)) > 1:
            raise ForeignBounds("levels", known, levels)
        if not known:
            return list(own)
        first = constant - own[: len(known) - 1].sum(axis=0)
        found = {known[0]: first, **dict(zip(known[1:], own, strict=False))}
        rows = [found.get(level, np.zeros_like(first)) for level in levels[1:]]
        return [*rows, *own[len(known) - 1 :]]


_NUMBER = VariableEncoding()


@final
@dataclass(frozen=True)
class FeatureEncoding:
    """How arms and contexts are written as numbers, variable by variable, or a user's own way.

    A variable of which nothing is known is a number.

    >>> spec = Spec((("a",), ("c",)), ("X",), (("a", "b", "c"),), ("Age",), ((),))
    >>> FeatureEncoding.of(spec).encode((30,), ("c",)).tolist()
    [1.0, 30.0, 0.0, 1.0]
    """

    context: tuple[VariableEncoding, ...]
    arm: tuple[VariableEncoding, ...]
    features: Features | None = None
    size: int = 0
    """The number of features; 0 while it is not known: a user's function, unnamed variables."""

    @classmethod
    def of(cls, spec: Spec, features: Features | None = None) -> "FeatureEncoding":
        """Make the encoding of the levels in a spec, or of the user's own function."""
        lenient = spec.unknown_levels == "range"
        pairs = zip_longest(spec.context_levels, spec.bins, fillvalue=())
        context = tuple(VariableEncoding.of(*pair, lenient=lenient) for pair in pairs)
        arm = tuple(map(VariableEncoding.of, spec.arm_levels))
        known = features is None and spec.context is not None and bool(spec.arms)
        size = 1 + sum(variable.size for variable in (*context, *arm)) if known else 0
        return cls(context, arm, features, size)

    def encode(self, context: Context, arm: Arm) -> Floats:
        """Write the features of an arm in a context, or say why there are none."""
        if self.features is not None:
            return _read_vector(self.features(show(context), show(arm)), show(arm))
        return np.array([1.0, *self.encode_context(context, arm), *self._encode_arm(arm)])

    def encode_all(self, context: Context, arms: Sequence[Arm]) -> list[Floats]:
        """Write the features of several arms in one context."""
        if self.features is not None or not arms:
            return [self.encode(context, arm) for arm in arms]
        shared = [1.0, *self.encode_context(context, arms[0])]
        return [np.array([*shared, *self._encode_arm(arm)]) for arm in arms]

    def encode_context(self, context: Context, arm: Arm) -> list[float]:
        """Write the features of a context, which all arms share; errors name the arm."""
        return list(_encode(context, self.context, arm, "the context"))

    def _encode_arm(self, arm: Arm) -> list[float]:
        return list(_encode(arm, self.arm, arm, "the arm"))

    def map_into(self, wider: "FeatureEncoding", n_features: int) -> Floats:
        """Make the matrix that turns features of this encoding into those of a wider one.

        A new level was never met, so its feature is 0 in all of them; if the level that had none
        gets one, it is what is left of the constant.

        >>> two, three = (
        ...     FeatureEncoding.of(Spec((), (), (levels,), ()))
        ...     for levels in (("b", "c"), ("a", "b", "c"))
        ... )
        >>> (two.map_into(three, 2) @ two.encode((), ("b",))).tolist()
        [1.0, 1.0, 0.0]
        """
        # Where no variables were known, all of them were numbers.
        old = (
            *(self.context or (_NUMBER,) * len(wider.context)),
            *(self.arm or (_NUMBER,) * len(wider.arm)),
        )
        ends = list(accumulate((variable.size for variable in old), initial=1))
        if ends[-1] != n_features:
            raise ForeignBounds("features", n_features, ends[-1])
        units = np.eye(n_features)
        rows = [units[0]]
        new = (*wider.context, *wider.arm)
        for known, variable, (start, end) in zip(old, new, pairwise(ends), strict=False):
            rows += known.map_into(variable, units[0], units[start:end])
        return np.array(rows)


class FeaturePolicy(Policy):
    """What policies with features share: their number, and options that hold a user's function."""

    encoding: FeatureEncoding
    d = 0
    """The number of features; 0 while it is not known."""

    def match_size(self, d: int) -> None:
        """Take a number of features where none is known; then nothing was learned either."""
        if d and not self.d:
            self.d = d
            self.arrays = self.make_arrays()

    def require_size(self, size: int, arm: Arm) -> None:
        """Refuse features of another length; the first ones say what it is."""
        self.match_size(size)
        if size != self.d:
            raise BadFeatures(show(arm), f"are {size} numbers, and this policy learns {self.d}")

    def match(self, other: Self) -> None:
        """Take the number of features that another policy knows."""
        if self.d and other.d and self.d != other.d:
            raise CannotMerge(f"they learn {self.d} and {other.d} features")
        self.match_size(other.d)

    def record_options(self) -> dict[str, Any]:
        """Write the options; of a user's function only that there was one."""
        found = self.list_options()
        return {**found, "features": found["features"] is not None}

    @classmethod
    def read_options(
        cls, record: Mapping[str, Any], functions: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Read what ``record_options`` wrote; a user's function is given again."""
        had = record["features"]
        if bool(had) != (functions.get("features") is not None):
            wanted = "give its function again, features=" if had else "it had none"
            raise ValueError(f"about its features: {wanted}")
        return {**record, "features": None, **functions}


def _encode(
    values: tuple[Value, ...], variables: Sequence[VariableEncoding], arm: Arm, where: str
) -> Iterator[float]:
    for value, variable in zip(values, variables or repeat(_NUMBER), strict=False):
        try:
            numbers = variable.encode(value)
        except ValueError as error:
            reason = f"cannot be written: {where} {error}; declare it, or give features="
            raise BadFeatures(show(arm), reason) from None
        except OverflowError:
            raise BadFeatures(show(arm), _TOO_LARGE) from None
        if not all(abs(number) <= LARGEST for number in numbers):
            raise BadFeatures(show(arm), _TOO_LARGE)
        yield from numbers


def _find_middle(edges: Edges, name: Value) -> float:
    """Find the number that stands for a bin: its middle, or the edge of an open one."""
    middles = (edges[0], *((low + high) / 2 for low, high in pairwise(edges)), edges[-1])
    found = dict(zip(list_bins(edges), middles, strict=True))
    return found.get(str(name), (edges[0] + edges[-1]) / 2)


def _read_vector(given: object, arm: object) -> Floats:
    """Read a user's features: finite numbers, at least one, in one row."""
    try:
        x = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadFeatures(arm, "are not numbers; give one finite number for each") from None
    if x.ndim != 1 or not x.size:
        raise BadFeatures(arm, f"have shape {x.shape}; give one row of numbers")
    if not np.isfinite(x).all():
        raise BadFeatures(arm, "are not all finite")
    if not (np.abs(x) <= LARGEST).all():
        raise BadFeatures(arm, _TOO_LARGE)
    return x
