r"""The bounds that a policy starts from, as arrays; and the test that drops them once rewards contradict them.

For an arm and context with bound [L, U], rewards in [0, 1] with sum S over n plays, and any mean m < q, the ratio
(q/m)^S ((1-q)/(1-m))^(n-S) is a nonnegative supermartingale as long as the true mean is at most m, since
e^{ly} <= 1 - y + y e^l. So is its average over q uniform on (m, 1). By Ville's inequality it ever reaches 1/alpha with
probability at most alpha, however arms are chosen and whenever one looks (Robbins 1970; Howard et al. 2021).
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.interval import Interval
from boundit.terms.saving.codec import decode, encode
from scipy.special import betaincc, betaln

from boundit.bandit.draws import Floats, Ints
from boundit.bandit.errors import BadOption

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watch:
    """How closely bounds are tested: `alpha` is the probability of ever dropping right bounds, over all pairs of arm
    and context; `plays` is how often every bounded pair is played, whatever the bounds say."""

    alpha: float = 0.05
    plays: int = 0

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, int | float) and 0 < self.alpha < 1):
            raise BadOption("alpha", "a probability between 0 and 1", self.alpha)
        if not (isinstance(self.plays, int) and self.plays >= 0):
            raise BadOption("plays", "a whole number, 0 or more", self.plays)


@dataclass(frozen=True)
class Refutation:
    """Rewards that contradict a bound: no bound of the same graph and log is used any more."""

    arm: Arm
    context: Context
    bound: Interval
    n: int
    mean: float | None
    level: float
    observed: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" in context {self.context!r}" if self.context else ""
        return (
            f"arm {self.arm!r}{where} earned {self.mean:.4g} on average over {self.n} rewards, and its bound is "
            f"{self.bound}: refuted at level {self.level:.3g}, no bound of the same graph and log is used any more"
        )


class Prior:
    """A table of bounds or none, whether it was dropped, and the evidence against it.

    `bounds` are contexts x arms x (lower, upper), in the policy's rows and columns. Row 0 stands for every context
    that the table does not have: there an arm has the reward's range. Without a table, or once it is dropped, nothing
    is bounded. `evidence` are contexts x arms x (rewards, their sum on the scale from 0 to 1), kept where `watch` is.
    """

    def __init__(self, table: BoundTable | None, watch: bool | Watch = False) -> None:
        if not isinstance(watch, bool | Watch):
            raise BadOption("watch", "True, False or a Watch", watch)
        self.table = table
        self.watch = Watch() if watch is True else watch or None
        self.refutation: Refutation | None = None
        self.bounds: Floats = np.zeros((0, 0, 2))
        self.evidence: Floats = np.zeros((0, 0, 2))

    @property
    def binding(self) -> BoundTable | None:
        return None if self.refutation else self.table

    def lay_out(self, contexts: Sequence[Context], arms: Sequence[Arm]) -> None:
        """Write the bounds for these contexts (from row 1 on) and arms; evidence is kept, and grows with them."""
        table, shape = self.binding, (len(contexts) + 1, len(arms), 2)
        self.bounds = np.empty(shape)
        self.bounds[:] = table.outcome_range if table else (-math.inf, math.inf)
        if table:
            for i, context in enumerate(contexts, 1):
                for k, arm in enumerate(arms):
                    if bound := table.bounds.get((arm, context)):
                        self.bounds[i, k] = bound.lower, bound.upper
        grown = np.zeros(shape if self.watch else (0, 0, 2))
        if self.watch:
            c, a = self.evidence.shape[:2]
            grown[:c, :a] = self.evidence
        self.evidence = grown

    def find_open(self, context: Context, row: int, arms: Sequence[Arm], columns: Ints) -> Ints:
        """Find the columns that may be played: not surely beaten by another of them (contrasts). Where `watch`
        owes a play to some bounded arm, that one alone."""
        table = self.binding
        if table is None:
            return columns
        if self.watch and self.watch.plays:
            low, high = table.outcome_range
            bounded = (self.bounds[row, columns, 0] > low) | (self.bounds[row, columns, 1] < high)
            owed = np.where(bounded, self.evidence[row, columns, 0], math.inf)
            if owed.min() < self.watch.plays:
                return columns[[owed.argmin()]]
        if table.contrasts:
            beaten = self._find_beaten(table, context, [arms[k] for k in columns])
            columns = np.array([k for k in columns if arms[k] not in beaten], np.int64)
        return columns

    def _find_beaten(self, table: BoundTable, context: Context, arms: Sequence[Arm]) -> frozenset[Arm]:
        ranges = {arm: table.bounds.get((arm, context)) for arm in arms}
        low, high = table.outcome_range
        reached = max(bound.lower if bound else low for bound in ranges.values())
        better = table.find_contrasts(context)
        found = frozenset(
            arm
            for arm, bound in ranges.items()
            if (bound.upper if bound else high) < reached or any(better.get(arm, {}).get(o, 0.0) < 0 for o in ranges)
        )
        return found if len(found) < len(ranges) else frozenset()

    def note(self, row: int, column: int, context: Context, arm: Arm, reward: float) -> bool:
        """Count a reward against its bound; True if that drops the bounds."""
        if self.watch is None or self.binding is None:
            return False
        low, high = self.binding.outcome_range
        self.evidence[row, column] += 1.0, (reward - low) / (high - low)
        return self.judge(row, column, context, arm)

    def judge(self, row: int, column: int, context: Context, arm: Arm) -> bool:
        table = self.binding
        bound = table.bounds.get((arm, context)) if table else None
        n, total = self.evidence[row, column].tolist()
        if self.watch is None or table is None or bound is None or not n:
            return False
        low, high = table.outcome_range
        lower, upper = ((end - low) / (high - low) for end in (bound.lower, bound.upper))
        informative = sum(b.lower > low or b.upper < high for b in table.bounds.values())
        enough = math.log(2 * max(informative, 1) / self.watch.alpha)
        if max(measure_evidence_above(total, n, upper), measure_evidence_above(n - total, n, 1.0 - lower)) < enough:
            return False
        level = self.watch.alpha + (1 - table.confidence if table.confidence else 0.0)
        self.refutation = Refutation(arm, context, bound.interval, int(n), low + (high - low) * total / n, level)
        log.warning("%s", self.refutation)
        return True

    def record(self) -> dict[str, Any]:
        return {
            "table": None if self.table is None else self.table.record(),
            "watch": encode(self.watch, Watch | None),
            "refutation": encode(self.refutation, Refutation | None),
        }

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> "Prior":
        table = None if record["table"] is None else BoundTable.from_record(record["table"])
        made = cls(table, decode(Watch | None, record["watch"]) or False)
        made.refutation = decode(Refutation | None, record["refutation"])
        return made


def measure_evidence_above(total: float, n: float, m: float) -> float:
    """The log of the evidence that rewards from 0 to 1 have a mean above `m`: the averaged likelihood ratio."""
    if m >= 1:
        return -math.inf
    if m <= 0:
        return math.inf if total > 0 else -math.inf
    beyond = float(betaincc(1 + total, 1 + n - total, m))
    if beyond <= 0:
        return -math.inf
    averaged = float(betaln(1 + total, 1 + n - total)) + math.log(beyond) - math.log1p(-m)
    return averaged - total * math.log(m) - (n - total) * math.log1p(-m)
