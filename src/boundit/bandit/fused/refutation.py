r"""Does what rounds show contradict the log? A test that may be read at any time.

If rewards of a cell have one mean in the log and in rounds, the ratio

.. math:: E = B(s_0 + 1, f_0 + 1) \, B(s_1 + 1, f_1 + 1) / \max_p p^{s_0+s_1} (1-p)^{f_0+f_1}

of two mixtures to the largest likelihood is an e-process: at no time is it expected to be above
1, whichever arms are played, and rewards between 0 and 1 are allowed. Laws of which rows of the
log are draws have the same with more than two cells, and so has the mean over all of these,
fixed by the plan: by Ville's inequality it ever reaches 1/alpha with chance at most alpha.
Where rows of the log have a say in what is pooled, alpha is shared by all ways to pool it.
"""

import math
from typing import final

import numpy as np

from boundit.bandit.fused.arrays import (
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    FusedCounts,
    FusedLayout,
)
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.prior.log_refutation import LogRefutation
from boundit.bandit.serialization import Record
from boundit.terms.bound import Value
from boundit.terms.fused_plan import FusedPlan
from boundit.terms.saving.codec import decode, encode

ALPHA = 0.05
"""The chance of a false alarm, ever."""
_HIGHEST = 600.0


@final
class LogEvidence:
    """The e-processes of a plan's cells, and of laws with rows in the log; what they refute."""

    def __init__(self, plan: FusedPlan) -> None:
        self.plan = plan
        n, wins = np.array(plan.n, np.float64), np.array(plan.sums, np.float64)
        self._log = np.stack([wins, n - wins], axis=1)
        self._laws = [
            (j, pool, np.array(rows, np.float64))
            for j, factor in enumerate(plan.factors)
            for pool, rows in enumerate(factor.counts)
            if any(rows)
        ]
        self._law_spans = self._find_spans()
        self._logs = np.zeros(len(n) + len(self._laws))
        self.refutation: LogRefutation | None = None

    def judge(self, counts: FusedCounts, layout: FusedLayout, pair: int, leaf: int) -> None:
        """Weigh the evidence of the cell and the laws that one round told of."""
        if self.refutation is not None:
            return
        cell = int(layout.cells[pair, leaf])
        seen = counts.cells[cell, [SEEN_WINS, SEEN_LOSSES]]
        self._logs[cell] = weigh_evidence(self._log[cell], seen)
        starts = set(layout.pools[pair].tolist()) if self._laws else ()
        for i, (start, size) in enumerate(self._law_spans):
            if start in starts:
                seen = counts.pools[start : start + size, SEEN]
                self._logs[len(self._log) + i] = weigh_evidence(self._laws[i][2], seen)
        self._conclude()

    def judge_all(self, counts: FusedCounts) -> None:
        """Weigh the evidence of all cells and laws by all rounds so far."""
        for cell, rows in enumerate(self._log):
            seen = counts.cells[cell, [SEEN_WINS, SEEN_LOSSES]]
            self._logs[cell] = weigh_evidence(rows, seen)
        for i, (start, size) in enumerate(self._law_spans):
            seen = counts.pools[start : start + size, SEEN]
            self._logs[len(self._log) + i] = weigh_evidence(self._laws[i][2], seen)
        self._conclude()

    def _conclude(self) -> None:
        """Keep a refutation once the mean of all evidence is as high as the level needs."""
        if self.refutation is not None or not self._logs.size:
            return
        top, needed = float(self._logs.max()), self.plan.n_ways / ALPHA
        # No mean is above its largest part.
        if top < math.log(needed):
            return
        evidence = float(np.exp(np.minimum(self._logs, _HIGHEST)).mean())
        if evidence >= needed:
            self.refutation = self._name(int(self._logs.argmax()), evidence)

    def _name(self, place: int, evidence: float) -> LogRefutation:
        """Name the cell or law that differs most, by an arm and a context in it."""
        plan = self.plan
        if place < len(self._log):
            pair, leaf = next(
                (i, row.index(place)) for i, row in enumerate(plan.cells) if place in row
            )
            values = tuple[Value, ...]()
            for factor in reversed(plan.factors):
                leaf, k = divmod(leaf, len(factor.cells))
                values = (*factor.cells[k], *values)
            return LogRefutation(*plan.pairs[pair], plan.variables, values, evidence, ALPHA)
        j, pool, _ = self._laws[place - len(self._log)]
        pair = next(i for i, row in enumerate(plan.factors[j].pools) if pool in row)
        arm, context = plan.pairs[pair]
        return LogRefutation(arm, context, plan.factors[j].variables, (), evidence, ALPHA)

    def _find_spans(self) -> list[tuple[int, int]]:
        """Find where the counts of each law with rows in the log lie among those of all pools."""
        offsets, at = list[int](), 0
        for factor in self.plan.factors:
            offsets.append(at)
            at += factor.n_pools * len(factor.cells)
        sizes = [len(factor.cells) for factor in self.plan.factors]
        return [(offsets[j] + pool * sizes[j], sizes[j]) for j, pool, _ in self._laws]

    def to_record(self) -> Record:
        """Write the refutation for JSON; the rest is made of the counts."""
        return {"refutation": encode(self.refutation, LogRefutation | None)}

    def restore(self, record: Record, counts: FusedCounts) -> None:
        """Read the refutation that ``to_record`` wrote, and weigh the evidence of counts."""
        self.refutation = decode(LogRefutation | None, record["refutation"])
        self.judge_all(counts)


@compile_kernel
def weigh_evidence(rows: Floats, seen: Floats) -> float:
    """Compute the log of the evidence that rows of a log and rounds have not one law.

    Both are counts of each outcome.

    >>> weigh_evidence(np.array([700.0, 300.0]), np.array([40.0, 160.0])) > 50
    True
    >>> weigh_evidence(np.array([700.0, 300.0]), np.array([140.0, 60.0])) < 0
    True
    """
    evidence, n_rows, n_seen = 0.0, 0.0, 0.0
    for k in range(rows.size):
        # The average of the likelihood over all laws alike, for the log and for the rounds.
        evidence += math.lgamma(rows[k] + 1.0) + math.lgamma(seen[k] + 1.0)
        n_rows += rows[k]
        n_seen += seen[k]
        both = rows[k] + seen[k]
        evidence -= both * math.log(both) if both > 0.0 else 0.0
    evidence -= math.lgamma(n_rows + rows.size) + math.lgamma(n_seen + rows.size)
    evidence += 2.0 * math.lgamma(float(rows.size))
    both = n_rows + n_seen
    return evidence + (both * math.log(both) if both > 0.0 else 0.0)
