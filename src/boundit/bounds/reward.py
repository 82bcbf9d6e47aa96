"""The range of the reward: declared, or plain to see when it is 0/1; never guessed."""

from collections.abc import Sequence

import numpy as np

from boundit.core.errors import BounditError, OptionError
from boundit.core.message import Option, Placeholder
from boundit.counts.table import CountTable

_NEAR = 1e-12
"""How far a sum of numbers that are not binary fractions may be off, for each of them."""


class NeedsRange(BounditError):
    """A numeric reward whose range was not declared."""

    def __init__(self, reward: str, low: float, high: float) -> None:
        self.reward = reward
        super().__init__(
            f"the reward {reward!r} is not 0/1 (the log has {low:g} to {high:g}); declare what "
            "it can be with ",
            Option("outcome_range", (Placeholder("low"), Placeholder("high"))),
            ": the log may not show the extremes",
        )


class OutsideRange(BounditError):
    """A reward beyond its declared range."""

    def __init__(self, reward: str, value: float, declared: tuple[float, float]) -> None:
        self.reward, self.value = reward, value
        ends = tuple(Placeholder(f"{end:g}") for end in declared)
        super().__init__(
            f"the log has {reward} = {value:g}, outside ",
            Option("outcome_range", ends),
            "; widen the range or mend the log",
        )


def settle_outcome_range(
    tables: Sequence[CountTable], declared: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the declared range of the reward, or (0, 1) where none is and all rewards are 0/1.

    Rewards outside it are refused.
    """
    low, high = _read_range(declared) if declared is not None else (0.0, 1.0)
    for table in tables:
        if table.reward is None or table.lowest is None or table.highest is None:
            continue
        least, most = float(table.lowest.min()), float(table.highest.max())
        if declared is None and not is_binary(table):
            raise NeedsRange(table.reward, least, most)
        for value in (least, most):
            if not low <= value <= high:
                raise OutsideRange(table.reward, value, (low, high))
    return low, high


def may_be_binary(declared: tuple[float, float] | None) -> bool:
    """Tell whether a declared range leaves the reward to be 0/1: it is (0, 1), or None.

    With another range a reward of two values still counts as the probability of a success, which
    causes nothing of what the reward causes: values between may exist that were never logged.
    """
    return declared is None or _read_range(declared) == (0, 1)


def is_binary(table: CountTable) -> bool:
    """Tell whether every reward of a table is 0 or 1: only then do sums and squares agree."""
    sums, squares, lowest, highest = table.sums, table.squares, table.lowest, table.highest
    if sums is None or squares is None or lowest is None or highest is None:
        return True
    inside = (lowest >= 0).all() and (highest <= 1).all()
    return bool(inside and np.array_equal(squares, sums))


def has_two_values(table: CountTable, low: float, high: float) -> bool:
    """Tell whether every reward of a table, which is within its range, is at an end of it.

    Then a cell's successes are its rows with the reward ``high``, a binomial count. Whether
    values between exist that were never logged does not matter to an interval of the mean: its
    lower endpoint is one of P(high), and the mean is no less; its upper endpoint is one of P(low),
    and the mean is no more than if all others had the outcome ``high``.
    """
    if (low, high) == (0, 1) or table.sums is None or table.squares is None:
        return is_binary(table)
    # The sum of (reward - low) (high - reward), which no reward makes negative.
    within = (low + high) * table.sums - table.squares - low * high * table.n
    return bool((within <= _NEAR * table.n * max(abs(low), abs(high)) ** 2).all())


def _read_range(given: tuple[float, float]) -> tuple[float, float]:
    """Read a declared range as two numbers with low < high; anything else is refused."""
    refused = OptionError(
        Option("outcome_range"), f" must be (low, high) with low < high, found {given!r}"
    )
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise refused from None
    if not low < high < float("inf") or low == float("-inf"):
        raise refused
    return low, high
