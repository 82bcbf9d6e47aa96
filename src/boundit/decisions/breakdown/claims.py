"""What may be claimed of arms in a context, and how far a table of bounds is from proving it.

Every claim has a number that is larger the better it holds; ``measured`` names it. Bounds that
hold under a limit hold under every smaller one, so the number never rises as the limit grows:
each claim has one limit from which on it falls.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, TypeAlias

import numpy as np

from boundit.core.errors import BounditError, shorten
from boundit.core.rounding import ROUNDING
from boundit.decisions.choose import bound_regret
from boundit.decisions.means import MeanSet
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable


class NotAClaim(BounditError):
    """A claim that makes no sense for the arms of a table."""


@dataclass(frozen=True, slots=True)
class Better:
    """That one arm has a higher mean than another in a context, by at least ``by``.

    Below 0, ``by`` is what it may fall short by.

    >>> print(Better("B", than="A", by=0.02))
    the mean of B is at least 0.02 higher than that of A
    >>> print(Better("B", than="A", by=-0.02))
    the mean of B is at most 0.02 lower than that of A
    """

    arm: object
    than: object
    by: float = 0.0
    context: object = ()
    measured: ClassVar[str] = "least lead"

    def __post_init__(self) -> None:
        _require_number("by", self.by)

    def __str__(self) -> str:
        lead = f"at least {self.by:g} higher" if self.by else "higher"
        if self.by < 0:
            lead = f"at most {-self.by:g} lower"
        return (
            f"the mean of {_name(self.arm)} is {lead} than that of {_name(self.than)}"
            f"{_where(self.context)}"
        )

    def measure(self, table: BoundTable) -> float:
        """Measure by how much more the arm surely earns."""
        one, other = _find_arm(table, self.arm), _find_arm(table, self.than)
        if one == other:
            raise NotAClaim(f"an arm cannot be compared with itself, found {one!r} twice")
        means = _find_means(table, self.context)
        return -means.largest({other: 1.0, one: -1.0})

    def is_proved(self, number: float) -> bool:
        """Tell whether a number that was measured proves the claim."""
        return (number > ROUNDING or self.by < 0) and number >= self.by - ROUNDING


@dataclass(frozen=True, slots=True)
class Best:
    """That an arm has a higher mean than every other one in a context.

    >>> print(Best("B", context="new"))
    B has the highest mean in context new
    """

    arm: object
    context: object = ()
    measured: ClassVar[str] = "least lead"

    def __str__(self) -> str:
        return f"{_name(self.arm)} has the highest mean{_where(self.context)}"

    def measure(self, table: BoundTable) -> float:
        """Measure by how much more the arm surely earns than each other one."""
        one, means = _find_arm(table, self.arm), _find_means(table, self.context)
        leads = [-means.largest({arm: 1.0, one: -1.0}) for arm in means.arms if arm != one]
        return min(leads, default=np.inf)

    def is_proved(self, number: float) -> bool:
        """Tell whether a number that was measured proves the claim."""
        return number > ROUNDING


@dataclass(frozen=True, slots=True)
class Regrets:
    """That an arm, or a lottery of arms and their chances, regrets little in a context.

    >>> print(Regrets("B", at_most=0.05))
    B regrets at most 0.05
    """

    lottery: object
    at_most: float
    context: object = ()
    measured: ClassVar[str] = "regret at most"

    def __str__(self) -> str:
        if isinstance(self.lottery, Mapping):
            parts = (f"{chance:.3g} {_name(arm)}" for arm, chance in self.lottery.items())
            who = f"the lottery of {', '.join(parts)}"
        else:
            who = _name(self.lottery)
        return f"{who} regrets at most {self.at_most:g}{_where(self.context)}"

    def measure(self, table: BoundTable) -> float:
        """Measure how much less than the best arm is earned at most, with the other sign."""
        means = _find_means(table, self.context)
        chances = np.zeros(len(means.arms))
        for arm, chance in self._list_chances():
            chances[means.arms.index(_find_arm(table, arm))] += chance
        if (chances < 0).any() or abs(chances.sum() - 1) > ROUNDING:
            raise NotAClaim(f"chances of a lottery add up to 1, found {chances.sum():g}")
        regret, _ = bound_regret(means.leads, chances)
        return -regret

    def __post_init__(self) -> None:
        _require_number("at_most", self.at_most)
        if isinstance(self.lottery, Mapping):
            for arm, chance in self.lottery.items():
                _require_number(f"the chance of {_name(arm)}", chance)

    def _list_chances(self) -> list[tuple[object, float]]:
        """List the arms of the lottery with their chances."""
        if isinstance(self.lottery, Mapping):
            return [(arm, float(chance)) for arm, chance in self.lottery.items()]
        return [(self.lottery, 1.0)]

    def is_proved(self, number: float) -> bool:
        """Tell whether a number that was measured proves the claim."""
        return -number <= self.at_most + ROUNDING


@dataclass(frozen=True, slots=True)
class Earns:
    """That an arm has a mean of at least so much in a context.

    >>> print(Earns("B", at_least=0.3))
    the mean of B is at least 0.3
    """

    arm: object
    at_least: float
    context: object = ()
    measured: ClassVar[str] = "least mean"

    def __post_init__(self) -> None:
        _require_number("at_least", self.at_least)

    def __str__(self) -> str:
        return (
            f"the mean of {_name(self.arm)} is at least {self.at_least:g}{_where(self.context)}"
        )

    def measure(self, table: BoundTable) -> float:
        """Measure what the arm earns at least."""
        return -_find_means(table, self.context).largest({_find_arm(table, self.arm): -1.0})

    def is_proved(self, number: float) -> bool:
        """Tell whether a number that was measured proves the claim."""
        return number >= self.at_least - ROUNDING


Claim: TypeAlias = Better | Best | Regrets | Earns


def _require_number(what: str, found: object) -> None:
    """Refuse what is no finite number in a claim."""
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    if not is_number or not isfinite(float(found)):  # type: ignore[arg-type]
        raise NotAClaim(f"{what} of a claim must be a finite number, found {found!r}")


def _find_arm(table: BoundTable, arm: object) -> Arm:
    """Find an arm of a table, given as a tuple or as the value of its one treatment."""
    wanted = arm if isinstance(arm, tuple) else (arm,)
    if wanted not in table.arms:
        known = shorten(", ".join(map(_name, table.arms)))
        raise NotAClaim(f"there is no arm {_name(arm)}; there are {known}")
    return wanted


def _find_means(table: BoundTable, context: object) -> MeanSet:
    """Find what the arms of a context may earn together."""
    wanted: Context = context if isinstance(context, tuple) else (context,)
    if wanted not in table.contexts:
        known = shorten(", ".join(map(_name, table.contexts)))
        if not wanted:
            raise NotAClaim(f"a claim is about one context; name one of {known}")
        raise NotAClaim(f"there is no context {_name(wanted)}; there are {known}")
    return MeanSet.from_table(table, wanted)


def _name(values: object) -> str:
    """Write an arm or a context as text: its values with commas between them."""
    return ", ".join(map(str, values)) if isinstance(values, tuple) else str(values)


def _where(context: object) -> str:
    """Write in which context a claim is made; nothing where there is none."""
    return f" in context {_name(context)}" if context != () else ""
