"""How much of a difference between two numbers may be rounding: one home for the tolerances.

Which is for what:

- ``ROUNDING`` for probabilities, means, endpoints and widths computed in two ways, one of which
  may have gone through a linear program: ends that cross by less touch, a truth that lies
  outside by less lies inside, a probability that sums to one up to it sums to one.
- ``EXACT_ROUNDING`` for two sums of the same exact probabilities, without a linear program.
- ``SOLVER_ROUNDING`` is asked of the solver itself, finer than ``ROUNDING`` so that what it
  leaves is not seen by anyone who compares with that.

Scale them where numbers are not of order one. They are not judgements: how near is near enough
(``ACCURACY``, ``EXACT`` ...) is said by the module that judges. Compiled kernels keep
constants of their own, since the stamp of what is kept compiled signs their sources alone.

Numbers that people read are rounded outward: a lower bound down, an upper bound up.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

ROUNDING = 1e-9
EXACT_ROUNDING = 1e-12
SOLVER_ROUNDING = 1e-10
_DIGITS = 3
"""How many digits below the size of a range are shown: the last is a thousandth of it or less."""
_EXACT = Context(prec=400)


def choose_decimals(low: float, high: float) -> int:
    """Choose how many decimals numbers have, by the width of the range that they are in.

    >>> choose_decimals(0, 1), choose_decimals(0, 250), choose_decimals(-0.01, 0.01)
    (3, 1, 5)
    """
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return _DIGITS
    # A width that is 1 up to rounding has the decimals of 1.
    return max(_DIGITS - math.floor(math.log10(width) + ROUNDING), 0)


def write_lower(number: float, decimals: int, *, signed: bool = False) -> str:
    """Write a lower bound, rounded down; ``signed`` puts a plus before what is above 0.

    >>> write_lower(0.4119, 3), write_lower(-0.0001, 3), write_lower(0.3, 3), write_lower(0.1, 1)
    ('0.411', '-0.001', '0.300', '0.1')
    >>> write_lower(0.0004, 3, signed=True), write_lower(0, 3, signed=True)
    ('+0.000', '0.000')
    """
    return _write(number, decimals, ROUND_FLOOR, signed)


def write_upper(number: float, decimals: int, *, signed: bool = False) -> str:
    """Write an upper bound, rounded up.

    >>> write_upper(0.7191, 3), write_upper(12345.6, 0), write_upper(0.1 + 0.2, 3)
    ('0.720', '12,346', '0.300')
    """
    return _write(number, decimals, ROUND_CEILING, signed)


def _write(number: float, decimals: int, way: str, signed: bool) -> str:  # noqa: FBT001
    if not math.isfinite(number):
        return f"{number:g}"
    exact, unit = Decimal(repr(float(number))), Decimal(1).scaleb(-decimals)
    found = exact.quantize(unit, context=_EXACT)
    # What rounding left behind a number with so few digits does not call for the next one.
    if abs(found - exact) > max(unit * Decimal(ROUNDING), 4 * Decimal(math.ulp(number))):
        found = exact.quantize(unit, way, _EXACT)
    text = f"{abs(found):,f}"
    if found < 0 or (signed and number < 0):
        return f"-{text}"
    return f"+{text}" if signed and number > 0 else text
