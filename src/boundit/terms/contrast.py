"""Differences of arms: what two arms share and nobody knows moves both.

Two intervals apart say that arm ``a`` earns at most ``U_a - L_b`` more than ``b``. Where one
unknown moves both ends together, as who was logged does, the difference can be known far
better than either arm. An arm is *dominated* when some other earns more whatever is true.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from boundit.terms.bound import Arm, Context
from boundit.terms.interval import Interval

Pair: TypeAlias = tuple[Context, Arm, Arm]
"""A context, and two arms in it: the first one's mean less the second one's."""


def find_largest_contrast(
    contrasts: Mapping[Pair, float], pair: Pair, intervals: tuple[Interval, Interval]
) -> float:
    """Find how much more the first arm may earn than the second in a context, at most.

    Takes the stored contrast (a bound on the difference of two arms), or what the two intervals
    say. Called by ``BoundTable.contrast``.

    >>> apart = Interval(0.1, 0.5), Interval(0.2, 0.4)
    >>> find_largest_contrast({((), ("a",), ("b",)): -0.01}, ((), ("a",), ("b",)), apart)
    -0.01
    >>> round(find_largest_contrast({}, ((), ("a",), ("b",)), apart), 3)
    0.3
    """
    one, other = intervals
    return min(contrasts.get(pair, float("inf")), one.upper - other.lower)


def find_rival(
    upper: float, lowers: Sequence[float], contrasts: Mapping[int, float]
) -> tuple[int, float] | None:
    """Find which of a context's arms surely earns more than one, by most, and its lead.

    ``upper`` is the one's upper end, ``lowers`` are the lower ends of all arms, itself among
    them, and ``contrasts`` what is stored of the one against others, by their number. None if
    no arm surely earns more. Called by ``BoundTable.find_dominations`` and
    ``BoundTable._find_domination``.

    >>> find_rival(0.2, [0.1, 0.3, 0.2], {})
    (1, 0.09999999999999998)
    >>> find_rival(0.5, [0.1, 0.1, 0.1], {1: -0.1, 2: -0.2})
    (2, 0.2)
    >>> find_rival(0.5, [0.1, 0.1, 0.1], {1: 0.0}) is None
    True
    """
    leads = [upper - lower for lower in lowers]
    for other, most in contrasts.items():
        leads[other] = min(leads[other], most)
    least = min(leads)
    return (leads.index(least), -least) if least < 0 else None
