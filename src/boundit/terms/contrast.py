"""Differences of arms: what two arms share and nobody knows moves both.

Two intervals apart say that arm ``a`` earns at most ``U_a - L_b`` more than ``b``. Where one
unknown moves both ends together, as who was logged does, the difference can be known far
better than either arm. An arm is *dominated* when some other earns more whatever is true.
"""

from collections.abc import Mapping
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
    say. Called by ``BoundTable.contrast`` and ``find_dominating_arm``.

    >>> apart = Interval(0.1, 0.5), Interval(0.2, 0.4)
    >>> find_largest_contrast({((), ("a",), ("b",)): -0.01}, ((), ("a",), ("b",)), apart)
    -0.01
    >>> round(find_largest_contrast({}, ((), ("a",), ("b",)), apart), 3)
    0.3
    """
    one, other = intervals
    return min(contrasts.get(pair, float("inf")), one.upper - other.lower)


def find_dominated_arms(
    contrasts: Mapping[Pair, float], context: Context, intervals: Mapping[Arm, Interval]
) -> dict[Arm, Arm]:
    """Map each arm of a context that another surely beats to the one that beats it by most.

    Called by ``BoundTable.dominated``.

    >>> find_dominated_arms({}, (), {("a",): Interval(0.1, 0.2), ("b",): Interval(0.3, 0.4)})
    {('a',): ('b',)}
    """
    rivals = (
        (arm, find_dominating_arm(contrasts, context, intervals, arm)) for arm in intervals
    )
    return {arm: rival for arm, rival in rivals if rival is not None}


def find_dominating_arm(
    contrasts: Mapping[Pair, float],
    context: Context,
    intervals: Mapping[Arm, Interval],
    arm: Arm,
) -> Arm | None:
    """Find the arm that surely earns more than this one in a context, by most; None if none.

    Called by ``find_dominated_arms`` and ``BoundTable._find_domination``.
    """
    leads = (
        (
            find_largest_contrast(contrasts, (context, arm, other), (intervals[arm], against)),
            other,
        )
        for other, against in intervals.items()
        if other != arm
    )
    lead, rival = min(leads, key=lambda pair: pair[0], default=(0.0, arm))
    return rival if lead < 0 else None
