r"""The bounds that a policy starts from, and the test that drops them once rewards contradict them.

For an arm and context with bound [L, U], rewards in [0, 1] with sum S over n plays, and any mean
m < q, the ratio (q/m)^S ((1-q)/(1-m))^(n-S) is a nonnegative supermartingale as long as the true
mean is at most m, since e^{ly} <= 1 - y + y e^l. So is its average over q uniform on (m, 1). By
Ville's inequality it ever reaches 1/alpha with probability at most alpha, however arms are
chosen and whenever one looks (Robbins 1970; Howard et al. 2021).
"""

import logging
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import betaincc, betaln

from boundit.bandit.ids import Floats, Ints
from boundit.bandit.spec import Spec, show
from boundit.core.codec import decode, encode
from boundit.core.interval import Interval
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refutation:
    """Rewards that contradict a bound: no bound of the same graph and log is used any more."""

    arm: Arm
    context: Context
    bound: Interval
    n: int
    mean: float
    level: float

    def __str__(self) -> str:
        where = f" in context {show(self.context)!r}" if self.context else ""
        return (
            f"arm {show(self.arm)!r}{where} had the mean reward {self.mean:.4g} over {self.n:,} "
            f"rewards, and its bound is [{self.bound.lower:.4g}, {self.bound.upper:.4g}]: "
            f"refuted at level {self.level:.3g}, the prior bounds are no longer used"
        )


class Prior:
    """A table of bounds or none, whether it was dropped, and the evidence against it.

    ``bounds`` are rows x columns x (lower, upper) in the policy's contexts and arms, turned so
    that more is better. Row 0 stands for every context that the table does not have: there an
    arm has the reward's range. Without a table, or once it is dropped, nothing is bounded.
    ``evidence`` are rows x columns x (rewards, their sum on the scale from 0 to 1).
    """

    def __init__(self, table: BoundTable | None, monitor: float | None) -> None:
        self.table, self.monitor = table, monitor
        self.refutation: Refutation | None = None
        self.bounds: Floats = np.zeros((0, 0, 2))
        self.evidence: Floats = np.zeros((0, 0, 2))

    @property
    def binding(self) -> BoundTable | None:
        """The table as long as it is believed."""
        return None if self.refutation else self.table

    def lay_out(
        self, spec: Spec, contexts: Sequence[Context], arms: Sequence[Arm], n_rows: int
    ) -> None:
        """Write the bounds of these contexts, from row 1 on, and arms; evidence grows with them."""
        table, shape = self.binding, (n_rows, len(arms), 2)
        self.bounds = np.empty(shape)
        self.bounds[:] = table.outcome_range if table else (-math.inf, math.inf)
        known = set(table.contexts) if table else set()
        for i, context in enumerate(contexts, 1):
            if table and context in known:
                for k, arm in enumerate(arms):
                    if found := table.intervals.get((arm, context)):
                        ends = spec.orient(found.lower), spec.orient(found.upper)
                        self.bounds[i, k] = min(ends), max(ends)
        low, high = spec.reward_range
        self.n_informative = int(
            ((self.bounds[..., 0] > low) | (self.bounds[..., 1] < high)).sum()
        )
        grown = np.zeros(shape if self.monitor else (0, 0, 2))
        if self.monitor:
            c, a = self.evidence.shape[:2]
            grown[:c, :a] = self.evidence
        self.evidence = grown

    def find_open(
        self, spec: Spec, context: Context, arms: Sequence[Arm], columns: Ints
    ) -> Ints:
        """Find the columns that may be played: no other of them is surely better.

        The differences that a table states, and the intervals that hold together with them; all
        arms where each is beaten, which would refute the table.
        """
        table = self.binding
        if table is None or not table.contrasts:
            return columns
        names = [arms[k] for k in columns]
        pairs = [table.find_compared(arm, context) for arm in names]
        ends = [sorted((spec.orient(one.lower), spec.orient(one.upper))) for one in pairs]
        reached = max(lower for lower, _ in ends)
        stated, least = table.find_contrasts(context), spec.goal == "min"
        beaten = {
            arm
            for arm, (_, upper) in zip(names, ends, strict=True)
            if upper < reached or any(_is_less(stated, arm, o, turned=least) for o in names)
        }
        if len(beaten) == len(set(names)):
            return columns
        return np.array([k for k in columns if arms[k] not in beaten], np.int64)

    def note(
        self, spec: Spec, at: tuple[int, int], context: Context, arm: Arm, reward: float
    ) -> bool:
        """Count a reward against its bound; True if that drops the bounds."""
        if self.monitor is None or self.binding is None:
            return False
        low, high = spec.reward_range
        self.evidence[at] += 1.0, (reward - low) / (high - low)
        return self.judge(spec, at, context, arm)

    def judge(self, spec: Spec, at: tuple[int, int], context: Context, arm: Arm) -> bool:
        """Drop the bounds if the rewards of an arm in a context contradict its bound."""
        table = self.binding
        bound = table.intervals.get((arm, context)) if table else None
        n, total = self.evidence[at].tolist()
        if self.monitor is None or table is None or bound is None or not n:
            return False
        low, high = spec.reward_range
        lower, upper = ((end - low) / (high - low) for end in self.bounds[at].tolist())
        enough = math.log(2 * max(self.n_informative, 1) / self.monitor)
        above = measure_evidence_above(total, n, upper)
        below = measure_evidence_above(n - total, n, 1.0 - lower)
        if max(above, below) < enough:
            return False
        level = self.monitor + (1 - table.confidence if table.confidence else 0.0)
        mean = spec.orient(low + (high - low) * total / n)
        self.refutation = Refutation(arm, context, bound, int(n), mean, level)
        log.warning("%s", replace(self.refutation, context=()))  # logs have no contexts
        return True

    def record(self) -> dict[str, Any]:
        """Write table, level and refutation as a JSON object."""
        return {
            "table": None if self.table is None else self.table.record(),
            "monitor": self.monitor,
            "refutation": encode(self.refutation, Refutation | None),
        }

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Self:
        """Read what ``record`` wrote."""
        table = None if record["table"] is None else BoundTable.from_record(record["table"])
        made = cls(table, decode(float | None, record["monitor"]))
        made.refutation = decode(Refutation | None, record["refutation"])
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.table)] = self.table  # it never changes, and would take longest
        made = type(self).__new__(type(self))
        vars(made).update(deepcopy(vars(self), memo))
        return made


def _is_less(
    stated: Mapping[Arm, Mapping[Arm, float]], one: Arm, other: Arm, *, turned: bool
) -> bool:
    """Tell whether a table states that one arm earns less than another, or more if turned."""
    if turned:
        one, other = other, one
    most = stated.get(one, {}).get(other)
    return most is not None and most < 0.0


def measure_evidence_above(total: float, n: float, m: float) -> float:
    """Measure the log evidence that rewards from 0 to 1 have a mean above ``m``.

    The likelihood ratio averaged over means above ``m``; see the head of this file.

    >>> measure_evidence_above(9.0, 10.0, 0.5) > measure_evidence_above(6.0, 10.0, 0.5)
    True
    """
    if m >= 1:
        return -math.inf
    if m <= 0:
        return math.inf if total > 0 else -math.inf
    beyond = float(betaincc(1 + total, 1 + n - total, m))
    if beyond <= 0:
        return -math.inf
    averaged = float(betaln(1 + total, 1 + n - total)) + math.log(beyond) - math.log1p(-m)
    return averaged - total * math.log(m) - (n - total) * math.log1p(-m)
