"""Fused: rows of the log and rounds count in the same cells, and the log is trusted as far as it holds.

An arm is played with the probability that it is best (`best_arm`), each mean being a mixture of two normals in log
odds: what the plan's cells and weights say, averaged over how biased the log may be (tau), and with the weight of a
doubt the pair's own rewards alone. `doubt` is shared by the arms of a decision; 0 trusts log and graph.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import FusedPlan
from scipy.special import betaln, gammaln

from boundit.bandit.best_arm import MEAN, find_best_arm_probabilities
from boundit.bandit.draws import Floats, Ints
from boundit.bandit.policy import CommonOptions, Policy
from boundit.bandit.fused.beliefs import believe, find_doubts, learn_fused
from boundit.bandit.fused.evidence import LogEvidence, LogRefutation
from boundit.bandit.fused.layout import BIAS, LEARNED, OWN, SEEN, TAUS, FusedArrays, LeafReader, lay_out


class Fused(Policy):
    """The recommended policy. `observes` names variables that help if `learn` is given them; none is required."""

    draws = True
    axes = LEARNED
    additive = ("rewards", "leaves", "shifts", "arm_shifts", "totals")

    def __init__(self, *, doubt: float = 0.08, spread: float = 0.7, **common: Unpack[CommonOptions]) -> None:
        prior = common.get("prior")
        if isinstance(prior, BoundTable) and isinstance(prior.pooling, FusedPlan):
            # A wrong graph must be able to lose: nothing may rule an arm out for certain.
            common["prior"] = replace(prior, contrasts={})
        super().__init__({"doubt": doubt, "spread": spread}, common)

    @property
    def plan(self) -> FusedPlan | None:
        table = self.prior.table
        return table.pooling if table and isinstance(table.pooling, FusedPlan) else None

    @property
    def plan_reason(self) -> str:
        """Why rows of the log count as they do, or why there are only bounds."""
        table = self.prior.table
        return "there is no prior" if table is None else str(table.pooling)

    @property
    def observes(self) -> tuple[str, ...]:
        return self.reader.variables

    @property
    def refutation(self) -> Any:
        return self.log_evidence.refutation or self.prior.refutation

    @property
    def bias(self) -> dict[float, float]:
        """How probable each size of the log's bias (tau) is by now."""
        return dict(zip(TAUS, self.arrays.taus[:, 1].tolist(), strict=False))

    def make_arrays(self) -> FusedArrays:
        numbers = (self.options["doubt"], self.options["spread"], *self.spec.reward_range)
        trusting = self.options["doubt"] == 0
        return lay_out(self.plan, self._rows, self._columns, self.prior.bounds, numbers, trusting=trusting)

    def rebuild(self) -> None:
        self.reader, self.log_evidence = LeafReader(self.plan), LogEvidence(self.plan)
        self.log_evidence.judge_all(self.arrays.cell_counts, self.arrays.pool_counts)

    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, Floats, Floats, Floats]:
        arrays = self.arrays if self.arrays.bounds is self.prior.bounds else self._take_bounds()
        belief = believe(arrays, row, columns)
        found = find_best_arm_probabilities(belief)
        mean = 1.0 / (1.0 + np.exp(-belief[:, MEAN]))
        return -1, found, mean, mean

    def _take_bounds(self) -> FusedArrays:
        self.arrays = self.arrays._replace(bounds=self.prior.bounds)
        return self.arrays

    def read_observed(self, observed: Mapping[str, object] | None) -> Any:
        return self.reader.read(observed or {})

    def take(self, context: Context, row: int, column: int, reward: float, observed: Any) -> None:
        low, high = self.spec.reward_range
        leaf, open_ = observed or (-1, self.reader.anything)
        learn_fused(self.arrays, row, column, (reward - low) / (high - low), leaf, open_.astype(np.float64))
        if leaf >= 0 and self.arrays.cells[row, column, 0] >= 0:
            a = self.arrays
            self.log_evidence.judge(a.cells[row, column, leaf], a.pools[row, column], a.cell_counts, a.pool_counts)

    def list_leaves(self, side: Any) -> Ints:
        """The leaf of every cell that a simulated world shows."""
        found = [self.reader.read(dict(zip(side.variables, cell, strict=True)))[0] for cell in side.cells]
        return np.array(found, np.int64)

    def lay_out_runs(self, rows: Ints, columns: Ints, contexts: Sequence[Context], rounds: Any) -> Any:
        fresh = self.make_arrays()
        parts = {name: getattr(fresh, name)[rows] for name in ("pools", "cells", "bounds", *_BY_PAIR)}
        return fresh._replace(**parts, twins=fresh.twins[rows] if fresh.twins.size else fresh.twins)

    def describe(self) -> str:
        """Say in lines of text what the policy goes by and how far it trusts the log."""
        lines = [repr(self), self.plan_reason]
        learned, seen = self.arrays.totals.tolist()
        if self.reader.variables:
            lines.append(f"{seen:.0f} of {learned:.0f} rounds showed {', '.join(self.reader.variables)}")
        lines.append("bias of the log: " + ", ".join(f"{tau:g}: {p:.2f}" for tau, p in self.bias.items()))
        doubt = self.options["doubt"] / max(len(self.spec.arms), 1)
        for context, row in self._rows.items():
            for arm, column in self._columns.items():
                wrong, own = find_doubts(self.arrays, row, column, doubt)
                if max(wrong, own) >= 0.2 and self.arrays.cells[row, column, 0] >= 0:
                    lines.append(f"arm {arm!r} in context {context!r}: in doubt {wrong:.2f}, own weights {own:.2f}")
        return "\n".join(lines + ([str(self.refutation)] if self.refutation else []))

    # -- merging, refreshing, old states: what adds up is kept by pair and leaf, the rest is counted from it ----------

    def derive(self) -> None:
        """Count cells, pools, own weights and taus from what is kept by pair and leaf."""
        a, n_nodes = self.arrays, self.arrays.starts.size - 1
        known = a.cells[:, :, 0] >= 0
        np.add.at(a.cell_counts, a.cells[known], a.leaves[known])
        sums = np.zeros((*a.leaves.shape[:2], n_nodes + a.leaves.shape[2], 2))
        sums[:, :, n_nodes:, 0], sums[:, :, n_nodes:, 1] = a.leaves[..., :2].sum(axis=3), a.leaves[..., 2:].sum(axis=3)
        for edge in range(a.parents.size - 1, -1, -1):
            node = a.parents[edge]
            sums[:, :, node] += sums[:, :, edge + 1]
            np.add.at(a.pool_counts, a.pools[:, :, node][known] + edge - a.starts[node], sums[:, :, edge + 1][known])
            a.own[:, :, edge] = sums[:, :, edge + 1, 0]
        self._weigh_taus()
        self._weigh_own()

    def _weigh_taus(self) -> None:
        a, plan = self.arrays, self.plan
        won, lost = a.cell_counts[:, 0], a.cell_counts[:, 1]
        logs = a.log_prior + (betaln(a.wins + won, a.losses + lost) - betaln(a.wins, a.losses)).sum(axis=1)
        at = 0
        for factor in plan.factors if plan else ():
            to = at + factor.n_pools * len(factor.cells)
            prior = a.weights[:, at:to].reshape(-1, factor.n_pools, len(factor.cells))
            logs += _log_dirichlet(prior, a.pool_counts[at:to, SEEN].reshape(prior.shape[1:])).sum(axis=1)
            at = to
        logs -= logs.max()
        a.taus[:, 0], a.taus[:, 1] = logs, np.exp(logs) / np.exp(logs).sum()

    def _weigh_own(self) -> None:
        """Weigh a pair's own weights against its pool by all that it saw at once, the pool without it."""
        a = self.arrays
        for c, k in np.argwhere(a.cells[:, :, 0] >= 0).tolist():
            total = 0.0
            for node in range(a.starts.size - 1):
                edges = slice(a.starts[node], a.starts[node + 1])
                seen, size = a.own[c, k, edges], a.starts[node + 1] - a.starts[node]
                at = slice(a.pools[c, k, node], a.pools[c, k, node] + size)
                prior = a.weights[:, at].T @ a.taus[:, 1] + np.maximum(a.pool_counts[at, SEEN] - seen, 0.0)
                total += float(_log_dirichlet(np.ones(size), seen) - _log_dirichlet(prior, seen))
            a.evidence[c, k, OWN] = total

    def merge_rest(self, one: Any, other: Any, shared: Any) -> None:
        """Bayes factors of pairs: the log of what was predicted adds up, the plain prediction is made of all rewards
        at once. (Adding the factors would start each worker's plain prediction anew.)"""
        predicted = np.zeros(self.arrays.evidence.shape[:2])
        for part, sign in ((one, 1.0), (other, 1.0), (shared, -1.0)):
            rows = np.array([0, *(self._rows[c] for c in part._contexts)])
            columns = np.array([self._columns[k] for k in part._arms])
            a = part.arrays
            sums = betaln(1.0 + a.rewards[..., 0], 1.0 + a.rewards[..., 1]) - a.evidence[..., BIAS]
            predicted[np.ix_(rows, columns)] += sign * sums[: rows.size, : columns.size]
        a = self.arrays
        a.evidence[..., BIAS] = betaln(1.0 + a.rewards[..., 0], 1.0 + a.rewards[..., 1]) - predicted

    def refresh(self, prior: BoundTable, *, arms: Any = None) -> None:
        """Count the rows of another table's log instead; rounds count in the new plan's cells and pools."""
        with self._lock:
            variables, old = self.reader.variables, self.arrays
            kept = replace(prior, contrasts={}) if isinstance(getattr(prior, "pooling", None), FusedPlan) else prior
            super().refresh(kept, arms=arms)
            fresh, now = self.make_arrays(), self.arrays
            for name in ("rewards", "evidence", "shifts", "arm_shifts", "totals"):
                getattr(fresh, name)[...] = getattr(now, name)
            if self.reader.variables == variables and fresh.leaves.shape[2:] == old.leaves.shape[2:]:
                fresh.leaves[...] = now.leaves
            self.arrays = fresh
            self.derive()
            self.rebuild()

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        if "extra_pairs" not in record:
            super().restore_arrays(record, rows, columns)
            return
        a, plan = self.arrays, self.plan  # a state of 0.2.0 has pairs in the plan's order, then those it did not know
        pairs = list(plan.pairs) if plan else []
        for name, theirs in (("leaves", "leaves"), ("own", "own")):
            values = np.array(record[theirs], np.float64)
            for i, (arm, context) in enumerate(pairs):
                getattr(a, name)[self._rows[context], self._columns[arm]] = values[i]
        found, shifts = np.array(record["pairs"]), np.array(record["shifts"])
        for i, (arm, context) in enumerate(pairs):
            c, k = self._rows[context], self._columns[arm]
            a.rewards[c, k], a.evidence[c, k], a.shifts[c, k] = found[i, :2], found[i, 2:], shifts[i]
        for i, arm in enumerate(plan.arms if plan else (), len(pairs)):
            a.arm_shifts[self._columns[arm]] = shifts[i]
        for name, theirs in (("cell_counts", "cells"), ("pool_counts", "pools"), ("taus", "taus"), ("totals", "totals")):
            getattr(a, name)[...] = np.array(record[theirs], np.float64).reshape(getattr(a, name).shape)
        self.rebuild()


_BY_PAIR = tuple(name for name, axes in LEARNED.items() if axes == "ca")


def _log_dirichlet(prior: Floats, counts: Floats) -> Any:
    """The log probability of seeing values in some order so often, under a Dirichlet; the last axis are values."""
    each = (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)
    return each - gammaln((prior + counts).sum(axis=-1)) + gammaln(prior.sum(axis=-1))


__all__ = ["Fused", "LogRefutation"]
