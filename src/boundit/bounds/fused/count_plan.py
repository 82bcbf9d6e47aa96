"""From a scheme and counts to the plan: which cell and pool each pair has, and their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import SUCCESS, BinaryReward
from boundit.bounds.fused.pool_evidence import find_denied
from boundit.bounds.fused.pooled_law import LawReader, PooledLaw
from boundit.bounds.fused.scheme import Scheme, SchemeFactor, WeightSource
from boundit.counts.table import CountTable
from boundit.terms.bound import Key, Value
from boundit.terms.fused_plan import Factor, FusedPlan
from boundit.terms.names import sort_names

Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlanCounter:
    """Counts what a scheme needs: rows of the ``log``, and of ``tables`` without selection.

    The ``reader`` is the one that the scheme was found with.
    """

    reader: LawReader
    log: BinaryReward
    tables: Sequence[CountTable] = ()

    def count(self, scheme: Scheme, pairs: Sequence[Key]) -> FusedPlan:
        """Count the cells and factors of a scheme for all pairs of arm and context.

        The pairs are all combinations of levels, in order.
        """
        (outcome,) = self.reader.query.outcomes
        law = scheme.reward
        denied = self._find_denied(law, (outcome,))
        given = tuple(sort_names(law.given.union(denied)))
        counted = self.log.marginalize(frozenset((*given, outcome)))
        rewards = counted.align((*given, outcome)).reshape(-1, 2)
        n = self.log.table.marginalize(frozenset(given)).align(given).reshape(-1)
        return FusedPlan(
            tuple(pairs),
            tuple(self.count_factor(scheme, i) for i in range(len(scheme.factors))),
            _list_rows(self._place(given, scheme.variables)),
            tuple(np.rint(n).astype(np.int64).tolist()),
            tuple(np.clip(rewards[:, SUCCESS], 0, np.rint(n)).tolist()),
            (
                *scheme.list_reasons(n_external=len(self.tables)),
                *([law.describe_denied(denied)] if denied else []),
            ),
            2 ** sum(len(self.reader.list_deniable(each)) for each in scheme.list_drawn()),
        )

    def _find_denied(self, law: PooledLaw, cells: tuple[str, ...]) -> tuple[str, ...]:
        """Find what a law of some cells depends on by rows of the log, though not by the graph."""
        dropped = self.reader.list_deniable(law)
        if not dropped:
            return ()
        given = tuple(sort_names(law.given))
        counted = self.log.marginalize(frozenset((*given, *dropped, *cells)))
        rows = counted.align((*given, *dropped, *cells))
        shape = rows.shape[: len(given) + len(dropped)]
        found = find_denied(rows.reshape(*shape, -1), len(given))
        return tuple(dropped[i - len(given)] for i in found)

    def count_factor(self, scheme: Scheme, i: int) -> Factor:
        """Count one factor of a scheme: the pools of all pairs, and the rows of each."""
        factor = scheme.factors[i]
        before = tuple(name for each in scheme.factors[:i] for name in each.variables)
        drawn = factor.law in scheme.list_drawn()
        denied = self._find_denied(factor.law, factor.variables) if drawn else ()
        given = tuple(sort_names(factor.law.given.union(denied)))
        found = self._count_rows(factor, given)
        none = np.zeros_like(found)
        # With one pool a tilt may be anything, and rows then say nothing.
        tilted = factor.source is WeightSource.TILT and len(found) > 1
        has_rows = factor.source is WeightSource.ROWS
        words = factor.explain(self.reader.explain_refusal(factor.law))
        return Factor(
            factor.variables,
            tuple(product(*map(self._get_levels, factor.variables))),
            _list_rows(self._place(given, before)),
            _list_rows(found if has_rows else none),
            _list_rows(found) if tilted else None,
            f"{words}; {factor.law.describe_denied(denied)}" if denied else words,
        )

    def _count_rows(self, factor: SchemeFactor, given: tuple[str, ...]) -> Numbers:
        """Count the rows of each pool and cell of a factor, in the log or the largest table."""
        of = frozenset(factor.variables)
        tables = [self.tables[i] for i in factor.tables] or [self.log.table]
        table = max(tables, key=lambda each: each.rows)
        rows = table.marginalize(of.union(given)).align((*given, *factor.variables))
        n_cells = prod(len(self._get_levels(name)) for name in factor.variables)
        return np.rint(rows).astype(np.int64).reshape(-1, n_cells)

    def _get_levels(self, name: str) -> tuple[Value, ...]:
        """Get the levels of a variable."""
        return tuple(self.log.table.levels[name])

    def _place(self, given: Sequence[str], before: Sequence[str]) -> Numbers:
        """Number, for each pair and each combination of levels of variables, what is ``given``.

        A line for each pair, a column for each combination of levels of ``before``; the numbers
        go through the levels of ``given``, the first slowest.
        """
        axes = self.reader.query.treatments + self.reader.query.context
        order = (*axes, *before)
        shape = [len(self._get_levels(name)) for name in order]
        found = np.zeros([1] * len(order), dtype=np.int64)
        for name in given:
            place = order.index(name)
            n = shape[place]
            levels = np.arange(n).reshape([n if i == place else 1 for i in range(len(order))])
            found = found * n + levels
        return np.broadcast_to(found, shape).reshape(prod(shape[: len(axes)]), -1)


def _list_rows(numbers: Numbers) -> tuple[tuple[int, ...], ...]:
    """Write a table of whole numbers as tuples, a line each."""
    return tuple(map(tuple, numbers.tolist()))
