"""Fused: rows of the log and rounds count in the same cells, and the log counts while it holds.

An arm is played with the probability that it is the best (``best_arm``). Its mean has a mixture
of two Betas: what the plan's cells and weights say, averaged over how biased the log may be (tau),
and with the weight of a doubt the pair's own rewards alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, Unpack

import numpy as np
from scipy.special import betaln, expit, gammaln, logsumexp

from boundit.bandit.best_arm import LOWER, MEAN, P_BEST, UPPER
from boundit.bandit.decision import Decision
from boundit.bandit.fused.beliefs import LEAST_COUNT, find_doubts, learn_fused, score_fused
from boundit.bandit.fused.evidence import LogEvidence, LogRefutation
from boundit.bandit.fused.layout import (
    BIAS,
    GUESSED,
    LOG_PRIOR,
    LOG_WEIGHT,
    LOSSES,
    N_LEARNED,
    N_SEEN,
    NO_PLAN,
    OWN,
    SEEN,
    SEEN_LOSSES,
    SEEN_WINS,
    TAUS,
    WEIGHT,
    WINS,
    FusedArrays,
    LeafReader,
    lay_out,
    make_no_particles,
)
from boundit.bandit.fused.unobserved import (
    FEW,
    GROUP,
    Tables,
    make_units,
    spread_particles,
    weigh_unit,
)
from boundit.bandit.ids import Floats, Ints
from boundit.bandit.options import CommonOptions
from boundit.bandit.policy import Policy
from boundit.bandit.runs import Rounds
from boundit.core.codec import decode, encode
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import FusedPlan

_SHOWN_DOUBT = 0.2


class Fused(Policy):
    """Thompson sampling that counts logged rows and new rewards in the same cells.

    The recommended policy. Its prior carries a plan (``bounds.pooling``), which says which rows
    of the log are data on the mechanism behind the rewards; where the graph allows none, arms
    have their own rewards within the bounds, and ``pooling_reason`` says why. Against a wrong log
    or graph it learns how biased the log may be (one size for all of it), and keeps two doubts
    for every arm and context: that what is pooled is wrong there, alone or for the arm
    everywhere, and then its own rewards decide, and that its weights are its own.

    Parameters
    ----------
    prior : BoundTable, optional
        Bounds, and the plan with the counts of the log.
    doubt : float
        The probability at first that the log misleads about some arm of a context; below 1, and
        0 trusts log and graph. Less doubt gains more from a right log and loses more to a wrong
        one.
    **common
        The options of every policy: see ``Policy``.

    Notes
    -----
    ``auxiliary_variables`` names what helps if ``learn`` is given it as ``observed``; nothing is
    required. As long as fewer than one round in ten showed it, rewards alone decide.

    Examples
    --------
    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.4, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> policy = Fused(table, seed=1)
    >>> policy.decide().arm, policy.pooling_reason
    ('B', 'these bounds came without a log, so they have no rows to count')
    """

    draws = True
    axes = {
        "pairs": "ca",
        "leaves": "ca",
        "arm_shifts": "a",
        "cells": "",
        "pools": "",
        "taus": "",
        "totals": "",
    }
    additive = ("pairs", "leaves", "arm_shifts", "cells", "pools", "totals")
    arrays: FusedArrays
    reader: LeafReader
    log_evidence: LogEvidence
    _tables: Tables

    def __init__(
        self,
        prior: BoundTable | None = None,
        *,
        doubt: float = 0.08,
        **common: Unpack[CommonOptions],
    ) -> None:
        super().__init__(prior, {"doubt": doubt}, common)

    # -- what the policy goes by ----------------------------------------------------------------

    @property
    def plan(self) -> FusedPlan | None:
        """The plan by which logged rows count, None where the graph allows none."""
        table = self.prior.table
        return table.pooling if table and isinstance(table.pooling, FusedPlan) else None

    @property
    def pooling_reason(self) -> str:
        """Why logged rows count together with new rewards, or why they do not."""
        table = self.prior.table
        if table is None:
            return "without a prior, every arm is learned from its rewards alone"
        return str(self.plan) if self.plan else table.pooling.reason  # type: ignore[union-attr]

    @property
    def auxiliary_variables(self) -> tuple[str, ...]:
        """The variables that help if ``learn`` is given them; none is required."""
        return self.reader.variables

    @property
    def refutation(self) -> Any:
        """What showed that graph, log or bounds cannot be right; else None.

        Rounds that contradict the log are a message: the policy goes on with the log discounted
        as it learned.
        """
        return self.log_evidence.refutation or self.prior.refutation

    @property
    def bias(self) -> dict[float, float]:
        """How probable each size of the log's bias (tau) is by now."""
        a = self._get_ready()
        weights = a.unseen.taus[:, 1] if a.unseen.counts.size else a.taus[:, WEIGHT]
        return dict(zip(TAUS, weights.tolist(), strict=False))

    def describe_prior(self) -> str:
        """Say in a few words what the policy started from."""
        if self.plan is None:
            return f"{super().describe_prior()}, no rows pooled"
        return f"{sum(self.plan.n):,} logged rows pooled"

    def describe(self) -> str:
        """Say in lines of text what the policy goes by and how far it trusts the log."""
        lines, plan = [repr(self), self.pooling_reason], self.plan
        if plan is not None:
            a = self._get_ready()
            learned, seen = a.totals.tolist()
            if plan.variables:
                by = "rewards alone" if a.unseen.counts.size else "cells and weights"
                names = ", ".join(plan.variables)
                lines.append(f"{seen:.0f} of {learned:.0f} rounds showed {names}: by {by}")
            bias = ", ".join(f"{tau:g}: {p:.2f}" for tau, p in self.bias.items())
            lines.append(f"bias of the log, and how probable it is: {bias}")
            lines += self._list_doubts(plan)
        return "\n".join(lines + ([str(self.refutation)] if self.refutation else []))

    def _list_doubts(self, plan: FusedPlan) -> list[str]:
        """List the pairs of arm and context for which the plan is much in doubt, a line each."""
        found, doubt = list[str](), self.options["doubt"] / max(len(self.spec.arms), 1)
        for arm, context in plan.pairs:
            wrong, own = find_doubts(
                self.arrays, self._rows[context], self._columns[arm], doubt
            )
            if max(wrong, own) >= _SHOWN_DOUBT:
                what = f"log in doubt {wrong:.2f}, weights of its own {own:.2f}"
                found.append(f"arm {arm!r} in context {context!r}: {what}")
        return found

    # -- deciding and learning ------------------------------------------------------------------

    def make_arrays(self) -> FusedArrays:
        """Put the plan into arrays of nothing learned."""
        numbers = self.options["doubt"], *self.spec.reward_range
        flip = self.spec.goal == "min"
        return lay_out(
            self.plan, self._rows, self._columns, self.prior.bounds, numbers, flip=flip
        )

    def find_open(self, context: Context, row: int, columns: Ints) -> Ints:
        """Find the columns that may be played: with a plan all, so that a wrong one can lose."""
        return columns if self.plan else super().find_open(context, row, columns)

    def score(self, context: Context, row: int, columns: Ints) -> tuple[int, Floats, Floats]:
        """Compute the probability that each arm is the best; scores are the expected rewards."""
        a = self.arrays if row in self._ready else self._get_ready(row)
        score_fused(a, row, columns, 0, columns.size)
        belief = a.belief[: columns.size]
        low, high = self.spec.reward_range
        scores = belief[:, [MEAN, MEAN]]  # before truncation to the bounds, and after
        scores[:, 1] = np.minimum(np.maximum(scores[:, 0], belief[:, LOWER]), belief[:, UPPER])
        return -1, belief[:, P_BEST].copy(), low + (high - low) * expit(scores)

    def read_observed(
        self, observed: Mapping[str, object] | None, decision: Decision | None = None
    ) -> Any:
        """Find the leaf of what a round showed, or refuse what the plan does not know."""
        return self.reader.read(observed)

    def take(self, context: Context, row: int, column: int, reward: float, shown: Any) -> None:
        """Learn one reward, and what else its round showed."""
        a, (leaf, open_leaves) = self._get_ready(row), shown
        learn_fused(a, row, column, reward, leaf, open_leaves)
        if leaf >= 0 and a.places[row, column, 0] >= 0:
            self.log_evidence.judge(a, row, column, leaf)
        if (a.totals[N_SEEN] * FEW < a.totals[N_LEARNED]) != bool(a.unseen.counts.size):
            self._ready.clear()

    def _get_ready(self, row: int = 0) -> FusedArrays:
        """Give the arrays, with particles for a context if these decide; else without any."""
        a = self.arrays
        blind = a.starts.size > 1 and a.totals[N_SEEN] * FEW < a.totals[N_LEARNED]
        if blind != (a.unseen.counts.size > 0):
            self._ready.clear()
            a = a._replace(unseen=make_no_particles())
            if blind and self.plan:
                unseen, self._tables = spread_particles(self.plan, a)
                a = a._replace(unseen=unseen)
                last = dict[int, tuple[int, int]]()
                for c, k in np.argwhere((unseen.units >= 0) & a.pairs.any(axis=2)).tolist():
                    make_units(a, self._tables, c)
                    weigh_unit(a, c, k, False)
                    last[unseen.spans[unseen.units[c, k], GROUP].item()] = c, k
                for pair in last.values():
                    weigh_unit(a, *pair, True)
            self.arrays = a
        if row not in self._ready:
            if blind:
                make_units(a, self._tables, row)
            self._ready.add(row)
        return a

    # -- whole runs -----------------------------------------------------------------------------

    def list_leaves(self, side: Any) -> Ints:
        """Number what a simulated round shows besides: the leaf of each of its cells."""
        shown = (dict(zip(side.variables, cell, strict=True)) for cell in side.cells)
        return np.array([self.reader.read(one)[0] for one in shown], np.int64)

    def lay_out_runs(
        self, rows: Ints, columns: Ints, contexts: Sequence[Context], rounds: Rounds
    ) -> FusedArrays:
        """Give the arrays of nothing learned, by the contexts and arms of an environment."""
        a: FusedArrays = super().lay_out_runs(rows, columns, contexts, rounds)
        twins = self.arrays.twins[rows] if self.arrays.twins.size else self.arrays.twins
        a = a._replace(places=self.arrays.places[rows], own=a.own[rows], twins=twins)
        shown = rounds.shown_uniforms
        if self.plan and a.starts.size > 1 and (not shown.size or np.isnan(shown).any()):
            unseen, tables = spread_particles(self.plan, a)
            a = a._replace(unseen=unseen)
            for row in range(len(rows)):  # once, as runs share them
                make_units(a, tables, row)
        return a

    # -- states, merging, refreshing ------------------------------------------------------------

    def rebuild(self) -> None:
        """Work out what is kept beside the arrays, and what follows from those that are kept."""
        plan, a = self.plan, self.arrays
        if not hasattr(self, "reader") or self.reader.plan != plan:
            bins = self.prior.table.bins if self.prior.table else {}
            self.reader = LeafReader(plan, bins)
            self.log_evidence = LogEvidence(plan or NO_PLAN, flip=self.spec.goal == "min")
        if plan:
            a.own[...] = _sum_leaves(a, a.leaves[..., :1])[:, :, 1:, 0]
            self.log_evidence.judge_all(a)
        self.arrays, self._ready = a._replace(unseen=make_no_particles()), set[int]()

    def record_arrays(self, places: Mapping[str, slice]) -> dict[str, Any]:
        """Write the arrays that were learned, and what they refuted once."""
        found = encode(self.log_evidence.refutation, LogRefutation | None)
        return {**super().record_arrays(places), "refutation": found}

    def restore_arrays(self, record: Mapping[str, Any], rows: Ints, columns: Ints) -> None:
        """Read what ``record_arrays`` wrote."""
        super().restore_arrays(record, rows, columns)
        self.log_evidence.refutation = decode(LogRefutation | None, record["refutation"])

    def derive(self) -> None:
        """Weigh taus, and each pair's own weights, by all that was seen at once."""
        a, plan = self.arrays, self.plan or NO_PLAN
        least = LEAST_COUNT - a.log_pools.min(axis=0, initial=np.inf) - a.pools[:, SEEN]
        a.pools[:, GUESSED] = np.maximum(a.pools[:, GUESSED], least)
        seen = a.cells[:, [SEEN_WINS, SEEN_LOSSES]]
        gained = betaln(*np.moveaxis(a.log_cells + seen, 2, 0))
        logs = a.taus[:, LOG_PRIOR] + (gained - betaln(*np.moveaxis(a.log_cells, 2, 0))).sum(1)
        at = 0
        for factor in plan.factors:
            to = at + factor.n_pools * len(factor.cells)
            start = a.log_pools[:, at:to].reshape(-1, factor.n_pools, len(factor.cells))
            counts = a.pools[at:to, SEEN].reshape(start.shape[1:])
            logs = logs + _measure_dirichlet(start, counts).sum(axis=1)
            at = to
        a.taus[:, LOG_WEIGHT] = logs - logs.max()
        a.taus[:, WEIGHT] = np.exp(logs - logsumexp(logs))
        c, k = np.nonzero(a.places[:, :, 0] >= 0)
        found = np.zeros((len(a.taus), c.size))
        for node, (first, last) in enumerate(zip(a.starts[:-1], a.starts[1:], strict=True)):
            own = _sum_leaves(a, a.leaves[..., :1])[c, k, first + 1 : last + 1, 0]
            at_edges = a.places[c, k, node][:, None] + np.arange(last - first)
            # The others of its pool are taken to come first.
            others = a.log_pools[:, at_edges] + (a.pools[at_edges, SEEN] - own)
            found += _measure_dirichlet(others, own)
            found -= _measure_dirichlet(np.ones_like(own), own)
        a.pairs[c, k, OWN] = -logsumexp(found, axis=0, b=a.taus[:, [WEIGHT]])

    def merge_rest(self, one: Self, other: Self, shared: Self) -> None:
        """Put evidence against pairs together: what was predicted of their rewards adds up.

        Bayes factors do not: the plain prediction of each worker starts anew.
        """
        pairs = self.arrays.pairs
        for part, sign in ((one, 1.0), (other, 1.0), (shared, -1.0)):
            rows = np.array([0, *(self._rows[c] for c in part._contexts)])
            columns = np.array([self._columns[k] for k in part._arms])
            theirs = part.arrays.pairs[: rows.size, : columns.size]
            mine: Any = (*np.ix_(rows, columns), BIAS)
            pairs[mine] -= sign * _measure_plain(theirs)
        pairs[..., BIAS] += _measure_plain(pairs)
        pairs[self.arrays.places[:, :, 0] < 0, BIAS] = 0.0
        self.log_evidence.refutation = (
            one.log_evidence.refutation or other.log_evidence.refutation
        )

    def carry(self, old: FusedArrays) -> None:
        """Take over what was learned into larger arrays, or those of another plan.

        There rounds count in the new plan's cells: those that showed the variables that it asks
        for, or all where it asks for none.
        """
        if self.reader.plan == self.plan:
            super().carry(old)
            return
        a, reader = self.arrays, LeafReader(self.plan, {})
        for name in ("pairs", "arm_shifts", "totals"):
            part = getattr(old, name)
            getattr(a, name)[tuple(map(slice, part.shape))] = part
        known = (a.places[:, :, 0] >= 0)[..., None]
        if not reader.variables:
            wins = a.pairs[..., [WINS]]
            a.leaves[..., 0] = known * (wins + a.pairs[..., [LOSSES]])
            a.leaves[..., 1] = known * wins
            a.totals[N_SEEN] = a.totals[N_LEARNED]
        elif reader.variables == self.reader.variables:
            rows, columns = old.leaves.shape[:2]
            for values, leaf in reader.leaves.items():
                if values in self.reader.leaves:
                    theirs = old.leaves[:, :, self.reader.leaves[values]]
                    a.leaves[:rows, :columns, leaf] = theirs * known[:rows, :columns]
        else:
            a.totals[N_SEEN] = 0.0
        self._count_leaves()
        self.derive()

    def _count_leaves(self) -> None:
        """Count cells and pools from what rounds showed, by leaf."""
        a, n_nodes = self.arrays, self.arrays.starts.size - 1
        known = a.places[:, :, 0] >= 0
        places, sums = a.places[known], _sum_leaves(a, a.leaves)[known]
        wins = sums[:, n_nodes:, 1]
        np.add.at(a.cells[:, SEEN_WINS], places[:, n_nodes:], wins)
        np.add.at(a.cells[:, SEEN_LOSSES], places[:, n_nodes:], sums[:, n_nodes:, 0] - wins)
        for edge, node in enumerate(a.parents.tolist()):
            at = places[:, node] + edge - a.starts[node]
            np.add.at(a.pools[:, SEEN], at, sums[:, edge + 1, 0])

    def _grow(self, contexts: Iterable[Context], arms: Iterable[Arm]) -> None:
        """Append rows and columns; after a refresh, rounds count in the cells of the new plan."""
        super()._grow(contexts, arms)
        if self.reader.plan != self.plan:
            self._make_room()


def _sum_leaves(a: FusedArrays, leaves: Floats) -> Floats:
    """Add up numbers of leaves to every element of the tree above them."""
    n_nodes = a.starts.size - 1
    found = np.zeros((*leaves.shape[:2], n_nodes + leaves.shape[2], leaves.shape[3]))
    found[:, :, n_nodes:] = leaves
    for edge in range(a.parents.size - 1, -1, -1):
        found[:, :, a.parents[edge]] += found[:, :, edge + 1]
    return found


def _measure_plain(pairs: Floats) -> Floats:
    """The log probability of all rewards of each pair, by these alone."""
    found: Floats = betaln(1.0 + pairs[..., WINS], 1.0 + pairs[..., LOSSES])
    return found


def _measure_dirichlet(start: Floats, counts: Floats) -> Floats:
    """The log probability of seeing values in some order so often; the last axis are values."""
    each = (gammaln(start + counts) - gammaln(start)).sum(axis=-1)
    found: Floats = each - gammaln((start + counts).sum(axis=-1)) + gammaln(start.sum(axis=-1))
    return found
