"""Policies that are compared or evaluated: what users write, read as probabilities of arms."""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard, final

from boundit.core.errors import BounditError, InvalidBounds, shorten
from boundit.core.interval import Interval
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice
from boundit.results.text import write_arm

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

Probabilities: TypeAlias = Mapping[Arm, float]
_NEAR_ONE = 1e-6  # probabilities may have been rounded when they were written


class InvalidPolicy(BounditError):
    """Something that does not give probabilities of arms in the contexts asked about."""

    def __init__(self, role: str, reason: str) -> None:
        super().__init__(f"{role.capitalize()}: {reason}", option=role)


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A mean outcome that was measured apart from the log, such as in an experiment.

    Parameters
    ----------
    lower, upper : float
        The interval of the mean; one number where it is known.
    confidence : float, optional
        The confidence of the interval; None if it is certain.

    >>> Measured(0.375, 0.625, confidence=0.95)
    Measured(lower=0.375, upper=0.625, confidence=0.95)
    """

    lower: float
    upper: float | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.lower):
            raise InvalidPolicy("Measured", f"{self.lower!r} is not a number. Write one.")
        upper = self.lower if self.upper is None else self.upper
        object.__setattr__(self, "upper", upper)
        if not (_is_number(upper) and self.lower <= upper):
            raise InvalidPolicy(
                "Measured",
                f"[{self.lower!r}, {self.upper!r}] is not an interval. Write the lower end first.",
            )
        sure = self.confidence
        if sure is not None and not (_is_number(sure) and 0 < sure < 1):
            raise InvalidPolicy(
                "Measured",
                f"confidence={sure!r} is not a probability. Use a number between 0 and 1, or None.",
            )

    @property
    def interval(self) -> Interval:
        """The interval of the mean."""
        upper = self.lower if self.upper is None else self.upper
        return Interval(float(self.lower), float(upper))

    @property
    def error(self) -> float:
        """The probability that the interval is wrong."""
        return 0.0 if self.confidence is None else 1 - self.confidence

    def __str__(self) -> str:
        return f"the measured mean {self.interval}"


@final
class Logged:
    """The logging policy: every unit gets what it got, or would have got, in the log."""

    def __repr__(self) -> str:
        return "bd.LOGGED"

    def __str__(self) -> str:
        return "the logging policy"

    def __reduce__(self) -> str:
        return "LOGGED"  # a copy is the same: it is found by identity


LOGGED: Final = Logged()
"""The logging policy, as a policy or baseline of ``compare``."""


@final
@dataclass(frozen=True, eq=False)
class ReadPolicy:
    """The probabilities of arms in every context asked about, and a name for sentences."""

    name: str
    probabilities: Mapping[Context, Probabilities] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


Side: TypeAlias = ReadPolicy | Measured | Logged


def read_policy(
    given: object, table: BoundTable, contexts: Iterable[Context], role: str
) -> Side:
    """Read a policy: an arm, a mapping, a choice, a fitted policy, ``LOGGED``, ``Measured``.

    Probabilities are read for ``contexts``, which are all that can occur; ``role`` names the
    argument in errors.
    """
    if isinstance(given, Measured | Logged):
        return given
    if isinstance(given, str) and given == "log" and ("log",) not in table.arms:
        return LOGGED
    if isinstance(given, Choice):
        drawn = {where: found.probabilities for where, found in given.choices.items()}
        return _read_mapping(drawn, table, contexts, role, "the choice")
    if _is_policy(given):
        if given.sees_numbers and not table.bins.keys().isdisjoint(table.context):
            raise InvalidPolicy(
                role,
                "it decides by numbers, which the bounds have in bins. Derive bounds without bins.",
            )
        asked = dict[Context, Probabilities]()
        for where in contexts:  # with an id of ours no decision is counted
            found = given.decide(where, id="compare").propensities
            asked[where] = _read_probabilities(found, table, where, role)
        return ReadPolicy(type(given).__name__, asked)
    if isinstance(given, Mapping) and given.keys() != set(table.treatments):
        return _read_mapping(given, table, contexts, role, f"the {role}")
    arm = _read_arm(given, table, role)
    return ReadPolicy(write_arm(table.treatments, arm), {c: {arm: 1.0} for c in contexts})


def _read_mapping(
    given: Mapping[Any, object],
    table: BoundTable,
    contexts: Iterable[Context],
    role: str,
    name: str,
) -> ReadPolicy:
    """Read a mapping from contexts to arms or probabilities; without context, of the latter."""
    if not table.context and () not in given:
        given = {(): given}
    found = dict[Context, object]()
    for key, value in given.items():
        try:
            found[table.read_context(key)] = value
        except InvalidBounds as error:
            raise InvalidPolicy(role, str(error)) from None
    read = dict[Context, Probabilities]()
    for where in contexts:
        if where not in found:
            shown = write_values(table.context, where)
            raise InvalidPolicy(role, f"it has no arm for the context {shown}. Add one.")
        value = found[where]
        if isinstance(value, Mapping) and value.keys() != set(table.treatments):
            read[where] = _read_probabilities(value, table, where, role)
        else:
            read[where] = {_read_arm(value, table, role): 1.0}
    return ReadPolicy(name, read)


def _read_probabilities(
    given: Mapping[Any, object], table: BoundTable, where: Context, role: str
) -> Probabilities:
    shown = f" in context {write_values(table.context, where)}" if where else ""
    found = dict[Arm, float]()
    for key, value in given.items():
        arm = _read_arm(key, table, role)
        if arm in found:
            raise InvalidPolicy(role, f"the arm {arm} has two probabilities{shown}. Write one.")
        # NumPy's numbers do not inherit from float.
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise InvalidPolicy(
                role,
                f"the probability of {arm}{shown} is {value!r}. Write a number from 0 to 1.",
            )
        found[arm] = float(value)
        if not 0 <= found[arm] <= 1 + _NEAR_ONE:
            raise InvalidPolicy(
                role,
                f"the probability of {arm}{shown} is {value!r}. Write a number from 0 to 1.",
            )
    total = math.fsum(found.values())
    if not abs(total - 1) <= _NEAR_ONE:
        raise InvalidPolicy(
            role, f"its probabilities{shown} add up to {total:g}. They must add up to 1."
        )
    return {arm: share / total for arm, share in found.items() if share}


def _read_arm(given: object, table: BoundTable, role: str) -> Arm:
    try:
        arm = table.read_arm(given)
    except InvalidBounds as error:
        raise InvalidPolicy(role, str(error)) from None
    except TypeError:
        arm = ()
    if arm not in set(table.arms):
        raise InvalidPolicy(
            role, f"{shorten(repr(given), 40)} is not an arm of the bounds. Use one of theirs."
        )
    return arm


def write_values(names: tuple[str, ...], values: tuple[object, ...]) -> str:
    """Write an arm or a context for a sentence, ``Ad=A, Age=young``."""
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _is_policy(given: object) -> "TypeGuard[Policy]":
    """Whether this is a policy, without loading Numba if none was made."""
    module = sys.modules.get("boundit.bandit.policy")
    return module is not None and isinstance(given, module.Policy)


def _is_number(found: object) -> bool:
    return (
        isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
    )
