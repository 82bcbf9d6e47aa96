"""Policies as users write them, read as the chance of every arm in every context."""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, final

from boundit.core.errors import BounditError, InvalidBounds, shorten
from boundit.decisions.compare.measured import LOGGED, Logged, Measured
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy

Role: TypeAlias = Literal["new", "old", "policy"]
"""Which side of a comparison a policy is, as errors name it."""
Chances: TypeAlias = Mapping[Arm, float]
_NEAR_ONE = 1e-6
"""How far from 1 chances may add up that were rounded when they were written."""


class BadPolicy(BounditError):
    """Something that says no chances of the arms in the contexts asked about."""

    def __init__(self, role: Role, reason: str) -> None:
        self.role = role
        named = "the policy" if role == "policy" else f"the {role} policy"
        super().__init__(f"{named}: {reason}")


@final
@dataclass(frozen=True, eq=False)
class ReadPolicy:
    """The chances of arms in every context asked about, and a name for sentences.

    ``looked`` tells whether it may have been made by looking at the bounds.
    """

    name: str
    chances: Mapping[Context, Chances]
    looked: bool = False

    def __str__(self) -> str:
        return self.name


Side: TypeAlias = ReadPolicy | Measured | Logged
"""One side of a comparison, read."""


def read_side(
    given: object, table: BoundTable, contexts: Iterable[Context], role: Role
) -> Side:
    """Read what a user compares: an arm, a table of arms or chances, a choice, a policy ...

    ... what the log did, or a measured value. Chances are read for ``contexts``, which are all
    that can occur. Called by ``compare`` for both sides, and by ``estimate_value``.
    """
    if isinstance(given, Measured | Logged):
        return given
    if isinstance(given, str) and given == "log":
        _require_no_arm(given, table, role)
        return LOGGED
    if isinstance(given, Choice):
        lotteries = {where: found.lottery for where, found in given.choices.items()}
        read = _read_mapping(lotteries, table, contexts, role, name="the choice")
        return replace(read, looked=True)
    if _is_policy(given):
        asked = {where: _ask_policy(given, table, where, role) for where in contexts}
        return ReadPolicy(type(given).__name__, asked, looked=True)
    if isinstance(given, Mapping) and given.keys() != set(table.treatments):
        name = "the policy" if role == "policy" else f"the {role} policy"
        return _read_mapping(given, table, contexts, role, name=name)
    arm = _read_arm(given, table, role)
    name = f"always {write_values(table.treatments, arm)}"
    return ReadPolicy(name, {where: {arm: 1.0} for where in contexts})


def _require_no_arm(word: str, table: BoundTable, role: Role) -> None:
    """Refuse a word of ours that is the name of an arm too."""
    if any(arm == (word,) for arm in table.arms):
        raise BadPolicy(
            role, f"{word!r} is an arm, and what the log did too; write ('log',) or bd.LOGGED"
        )


def _read_mapping(
    given: Mapping[Any, object],
    table: BoundTable,
    contexts: Iterable[Context],
    role: Role,
    *,
    name: str,
) -> ReadPolicy:
    """Read a mapping from contexts to arms or chances; without context it may be of chances."""
    if not table.context and () not in given:
        given = {(): given}
    found = dict[Context, object]()
    for key, value in given.items():
        try:
            found[table.read_context(key)] = value
        except InvalidBounds as error:
            raise BadPolicy(role, str(error)) from None
    chances = dict[Context, Chances]()
    for where in contexts:
        if where not in found:
            shown = write_values(table.context, where)
            raise BadPolicy(role, f"it says nothing of the context {shown}; add it")
        chances[where] = _read_choice(found[where], table, where, role)
    return ReadPolicy(name, chances)


def _read_choice(value: object, table: BoundTable, where: Context, role: Role) -> Chances:
    """Read what a mapping says of one context: an arm, or the chances of arms."""
    if isinstance(value, Mapping) and value.keys() != set(table.treatments):
        return _read_chances(value, table, where, role)
    return {_read_arm(value, table, role): 1.0}


def _read_chances(
    given: Mapping[Any, object], table: BoundTable, where: Context, role: Role
) -> Chances:
    """Read the chances of arms in one context, which must add up to 1."""
    shown = f" in context {write_values(table.context, where)}" if where else ""
    found = dict[Arm, float]()
    for key, chance in given.items():
        arm = _read_arm(key, table, role)
        if arm in found:
            raise BadPolicy(role, f"the arm {arm} has two chances{shown}")
        # A subclass of neither may be a number of NumPy.
        if isinstance(chance, bool) or not hasattr(chance, "__float__"):
            raise BadPolicy(role, f"the chance of {arm}{shown} is {chance!r}, no number")
        found[arm] = float(chance)
        if not 0 <= found[arm] <= 1 + _NEAR_ONE:
            raise BadPolicy(role, f"the chance of {arm}{shown} is {chance!r}, outside 0 to 1")
    total = math.fsum(found.values())
    if not abs(total - 1) <= _NEAR_ONE:
        raise BadPolicy(role, f"its chances{shown} add up to {total:g}, not to 1")
    return {arm: chance / total for arm, chance in found.items() if chance}


def _read_arm(given: object, table: BoundTable, role: Role) -> Arm:
    """Read one arm of the table, or say what a policy may be."""
    try:
        arm = table.read_arm(given)
    except InvalidBounds as error:
        raise BadPolicy(role, str(error)) from None
    except TypeError:
        arm = ()
    if arm not in set(table.arms):
        shown = shorten(repr(given), 40)
        raise BadPolicy(role, f"{shown} is no arm of the bounds")
    return arm


def _is_policy(given: object) -> "TypeGuard[Policy]":
    """Tell whether this is a policy, without loading Numba where nobody has made one."""
    module = sys.modules.get("boundit.bandit.policy")
    return module is not None and isinstance(given, module.Policy)


def _ask_policy(policy: "Policy", table: BoundTable, where: Context, role: Role) -> Chances:
    """Ask a fitted policy for the chances of all its arms in a context, changing nothing.

    With an id of ours no decision is counted.
    """
    if policy.sees_numbers and not table.bins.keys().isdisjoint(table.context):
        raise BadPolicy(
            role, "it decides by numbers that the bounds have in bins; a bin has no one answer"
        )
    chances = policy.decide(where, id="compare").propensities
    return _read_chances(chances, table, where, role)


def write_values(names: tuple[str, ...], values: tuple[object, ...]) -> str:
    """Write an arm or a context for a sentence, ``Ad=A, Age=young``."""
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
