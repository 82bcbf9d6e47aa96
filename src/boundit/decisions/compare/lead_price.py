"""What it costs to use how far arms lie apart, where a table knows that one pair at a time.

Some tables know differences of arms, but not all of them at once at their confidence
(``BoundTable.joint``). For the question whether a policy is better than what is done now, the
leads of one arm of each context over all others are enough, and which arm that is was fixed
before the log was looked at. What these leads cost beside the intervals is known
(``boundit.bounds.contrasts.contrast_cost``), and is taken off the confidence. It is paid for
the lower end of a difference alone.
"""

import math

from boundit.decisions.choose.choose import MOST_COST
from boundit.decisions.compare.policies import ReadPolicy, Side
from boundit.terms.bound_table import BoundTable

PAID = (
    "How far arms lie apart is known one pair at a time; it was used for the lower end, with "
    "the arms of the old policy taken as fixed before the log was looked at."
)
"""What is said where leads of the old policy's arms were paid for."""


def price_leads(table: BoundTable, sides: tuple[Side, Side]) -> float | None:
    """Find the chance of missing that leads of the old policy's arms add; None if not used.

    They are used where the old policy has one arm in each context and was not made from the
    bounds, the table knows differences that do not hold all at once anyway, and they do not
    cost more than the table's own error.
    """
    if table.confidence is None or table.joint or not table.contrasts:
        return None
    new, old = sides
    if not (isinstance(new, ReadPolicy) and isinstance(old, ReadPolicy)):
        return None
    if old.looked or any(max(chances.values()) < 1 for chances in old.chances.values()):
        return None
    n = len(table.arms)
    added = table.contrast_cost * (n - 1) / n
    if 1 + added > MOST_COST:
        return None
    # Four digits, rounded up but for what rounding itself made.
    return math.ceil(1e4 * added * (1 - table.confidence) - 1e-6) / 1e4
