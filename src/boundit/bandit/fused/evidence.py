r"""Do rounds contradict the log? A test that may be read at any time.

If the rewards of a cell have one mean in the log and in rounds, the ratio

.. math:: E = B(s_0+1, f_0+1) B(s_1+1, f_1+1) / \max_p p^{s_0+s_1} (1-p)^{f_0+f_1}

of two mixtures to the largest likelihood is an e-process, whichever arms are played;
distributions of w have the same with more than two values. The mean over all of them, fixed by
the plan, ever reaches 1/alpha with probability at most alpha (Ville). Seen counts alone enter.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.compiled import kernel
from boundit.bandit.fused.layout import SEEN, SEEN_LOSSES, FusedArrays
from boundit.bandit.ids import Floats
from boundit.core.names import join_names
from boundit.results.bound import Arm, Context, Value
from boundit.results.fused_plan import FusedPlan

LEVEL = 0.05
_HIGHEST = 600.0


@final
@dataclass(frozen=True)
class LogRefutation:
    """The log and the rounds cannot come from one population as the graph says.

    ``evidence`` is the mean of all e-processes, ``level`` the probability of a false alarm. The
    cell that differs most is named by an arm and a context in it, and values of the plan's
    variables.
    """

    arm: Arm
    context: Context
    variables: tuple[str, ...]
    values: tuple[Value, ...]
    evidence: float
    level: float

    def __str__(self) -> str:
        shown = f" where {join_names(self.variables)} is {self.values!r}" if self.values else ""
        where = f" in context {self.context!r}" if self.context else ""
        return (
            f"rounds contradict the log, most of all for arm {self.arm!r}{where}{shown}: "
            f"evidence {self.evidence:.3g}, refuted at level {self.level:.3g}; graph or log "
            "cannot be right, and the policy goes on with the log discounted as it learned"
        )


@kernel
def measure_evidence(rows: Floats, seen: Floats) -> float:
    """The log of the evidence that counts of rows and of rounds have not one distribution."""
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
    """The e-processes of a plan's cells, and of distributions of w with rows in the log.

    ``refutation`` is what they refute, which stays.
    """

    def __init__(self, plan: FusedPlan, *, flip: bool) -> None:
        self.plan = plan
        self.refutation: LogRefutation | None = None
        n, wins = np.array(plan.n, np.float64), np.array(plan.sums, np.float64)
        wins = n - wins if flip else wins
        self._rows = np.stack([wins, n - wins], axis=1)
        self._pools: dict[int, tuple[int, Floats]] = {}
        self._factors = list[tuple[int, int]]()
        at = 0
        for j, factor in enumerate(plan.factors):
            for pool, counts in enumerate(factor.counts):
                if any(counts):
                    place = len(self._rows) + len(self._factors)
                    self._pools[at] = place, np.array(counts, np.float64)
                    self._factors.append((j, pool))
                at += len(factor.cells)
        self._logs, self._top = np.zeros(len(self._rows) + len(self._factors)), 0.0

    def judge(self, a: FusedArrays, row: int, column: int, leaf: int) -> None:
        """Weigh what one round changed: its cell, and the distributions of its pair."""
        n_nodes = a.starts.size - 1
        self._weigh_cell(a, int(a.places[row, column, n_nodes + leaf]))
        if self._pools:
            for at in a.places[row, column, :n_nodes].tolist():
                if at in self._pools:
                    self._weigh_pool(a, at)
        self._conclude()

    def judge_all(self, a: FusedArrays) -> None:
        """Weigh all that rounds have shown."""
        for cell in np.flatnonzero(a.cells[:, : SEEN_LOSSES + 1].any(axis=1)).tolist():
            self._weigh_cell(a, cell)
        for at in self._pools:
            self._weigh_pool(a, at)
        self._conclude()

    def _weigh_cell(self, a: FusedArrays, cell: int) -> None:
        found = measure_evidence(self._rows[cell], a.cells[cell, : SEEN_LOSSES + 1])
        self._logs[cell], self._top = found, max(self._top, found)

    def _weigh_pool(self, a: FusedArrays, at: int) -> None:
        place, rows = self._pools[at]
        found = measure_evidence(rows, a.pools[at : at + rows.size, SEEN])
        self._logs[place], self._top = found, max(self._top, found)

    def _conclude(self) -> None:
        """Keep a refutation once the mean of all evidence is as high as the level needs."""
        needed = self.plan.n_ways / LEVEL
        # No mean is above the largest part there ever was.
        if self.refutation or self._top < math.log(needed):
            return
        evidence = float(np.exp(np.minimum(self._logs, _HIGHEST)).mean())
        if evidence >= needed:
            self.refutation = self._name(int(self._logs.argmax()), evidence)

    def _name(self, place: int, evidence: float) -> LogRefutation:
        """Name the cell or distribution that differs most, by an arm and a context in it."""
        plan, values = self.plan, tuple[Value, ...]()
        if place < len(self._rows):
            i = next(i for i, cells in enumerate(plan.cells) if place in cells)
            leaf = plan.cells[i].index(place)
            for factor in reversed(plan.factors):
                leaf, k = divmod(leaf, len(factor.cells))
                values = (*factor.cells[k], *values)
            return LogRefutation(*plan.pairs[i], plan.variables, values, evidence, LEVEL)
        j, pool = self._factors[place - len(self._rows)]
        i = next(i for i, pools in enumerate(plan.factors[j].pools) if pool in pools)
        return LogRefutation(*plan.pairs[i], plan.factors[j].variables, (), evidence, LEVEL)
