r"""Do rounds contradict the log? A test that may be read at any time.

If the rewards of a cell have one mean in the log and in rounds, the ratio

    E = B(s_0 + 1, f_0 + 1) B(s_1 + 1, f_1 + 1) / \max_p p^{s_0+s_1} (1-p)^{f_0+f_1}

of two mixtures to the largest likelihood is an e-process, whichever arms are played; distributions of w have the same
with more than two values. The mean over all of them, fixed by the plan, ever reaches 1/alpha with probability at most
alpha (Ville). Seen counts alone enter.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from boundit.terms.bound import Arm, Context, Value
from boundit.terms.fused_plan import FusedPlan

from boundit.bandit.compiled import kernel
from boundit.bandit.draws import Floats
from boundit.bandit.fused.layout import SEEN

ALPHA = 0.05
_HIGHEST = 600.0


@dataclass(frozen=True)
class LogRefutation:
    """The log and the rounds cannot come from one world as the graph says; the cell that differs most."""

    arm: Arm
    context: Context
    variables: tuple[str, ...]
    values: tuple[Value, ...]
    evidence: float
    level: float

    def __str__(self) -> str:
        where = f" in context {self.context!r}" if self.context else ""
        return (
            f"rounds contradict the log, most of all for arm {self.arm!r}{where}: evidence {self.evidence:.3g}, refuted "
            f"at level {self.level:.3g}; graph or log is wrong, and the policy goes on with the log discounted"
        )


@kernel
def measure_evidence(rows: Floats, seen: Floats) -> float:
    """The log of the evidence that rows of a log and rounds do not have one distribution, from counts of each value."""
    evidence, n_rows, n_seen = 2.0 * math.lgamma(float(rows.size)), 0.0, 0.0
    for k in range(rows.size):
        evidence += math.lgamma(rows[k] + 1.0) + math.lgamma(seen[k] + 1.0)
        n_rows += rows[k]
        n_seen += seen[k]
        both = rows[k] + seen[k]
        evidence -= both * math.log(both) if both > 0.0 else 0.0
    evidence -= math.lgamma(n_rows + rows.size) + math.lgamma(n_seen + rows.size)
    both = n_rows + n_seen
    return evidence + (both * math.log(both) if both > 0.0 else 0.0)


class LogEvidence:
    """The e-processes of a plan's cells, and of distributions of w with rows in the log; what they refute."""

    def __init__(self, plan: FusedPlan | None) -> None:
        self.plan, self.refutation = plan, None
        n, wins = np.array(plan.n if plan else (), np.float64), np.array(plan.sums if plan else (), np.float64)
        self.rows = np.stack([wins, n - wins], axis=1)
        self.pools: dict[int, tuple[int, Floats]] = {}
        at, place = 0, len(self.rows)
        for factor in plan.factors if plan else ():
            for counts in factor.counts:
                if any(counts):
                    self.pools[at] = place, np.array(counts, np.float64)
                    place += 1
                at += len(factor.cells)
        self.logs = np.zeros(place)

    def judge(self, cell: int, starts: Any, cell_counts: Floats, pool_counts: Floats) -> None:
        """Weigh what one round changed: its cell and the distributions on its path."""
        self.logs[cell] = measure_evidence(self.rows[cell], cell_counts[cell, :2])
        for at in starts.tolist():
            if at in self.pools:
                place, rows = self.pools[at]
                self.logs[place] = measure_evidence(rows, pool_counts[at : at + rows.size, SEEN])
        self._conclude()

    def judge_all(self, cell_counts: Floats, pool_counts: Floats) -> None:
        for cell in np.flatnonzero(cell_counts[:, :2].any(axis=1)).tolist():
            self.logs[cell] = measure_evidence(self.rows[cell], cell_counts[cell, :2])
        for at, (place, rows) in self.pools.items():
            self.logs[place] = measure_evidence(rows, pool_counts[at : at + rows.size, SEEN])
        self._conclude()

    def _conclude(self) -> None:
        if self.plan is None or self.refutation or not self.logs.size or self.logs.max() < math.log(self.plan.n_ways / ALPHA):
            return
        evidence = float(np.exp(np.minimum(self.logs, _HIGHEST)).mean())
        if evidence >= self.plan.n_ways / ALPHA:
            worst = min(int(self.logs.argmax()), len(self.rows) - 1)
            i = next(i for i, row in enumerate(self.plan.cells) if worst in row)
            self.refutation = LogRefutation(*self.plan.pairs[i], self.plan.variables, (), evidence, ALPHA)
