r"""How rewards of more than two values spread among those who got an arm.

A limit on confounding weighs the smallest rewards more, or the largest: their mean alone says
less than how they spread. So such rewards are counted value by value, in a pass of their own.
By chance the shares of a sample are off by at most
:math:`\epsilon = \sqrt{\log(2 / \alpha) / 2 n}` at all values at once (Massart 1990): the
lowest law that fits has that much less at the top, and as much more at the end of the range.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from boundit.counts.log import Log
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.shared_levels import share_levels
from boundit.counts.table import CountTable
from boundit.estimand.language.expression import Expression, P
from boundit.terms.scalars import name_bins

MOST_VALUES = 1_000
"""A reward with more values is cut into bins, whose ends stand for what is in them."""
BINS = 500

LawPair: TypeAlias = tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
"""Twice a law and its values, smallest first: the lowest law that fits, and the highest."""


@dataclass(frozen=True, eq=False)
class RewardSpread:
    """Counts by some variables and by the reward's values, from the smallest on.

    Each lies between ``lows`` and ``highs``, on a scale from 0 to 1; these differ for bins.
    """

    counts: NamedArray
    outcome: str
    lows: Floats
    highs: Floats
    exact: bool

    @classmethod
    def from_table(
        cls, table: CountTable, outcome: str, outcome_range: tuple[float, float]
    ) -> "RewardSpread":
        """Read a table that counts the reward's values, and scale these."""
        low, high = outcome_range
        levels, edges = table.levels[outcome], table.bins.get(outcome)
        if edges is None:
            lows = highs = np.array([float(str(level)) for level in levels])
        else:
            known = {name: i for i, name in enumerate(name_bins(edges))}
            places = [known[str(level)] for level in levels]
            ends = np.array([low, *edges, high])
            lows, highs = ends[places], ends[np.array(places) + 1]
        order = lows.argsort()
        counts = table.marginalize(table.variables)
        place = counts.axes.index(outcome)
        ordered = NamedArray(counts.axes, counts.values.take(order, axis=place))
        lows, highs = (((of[order] - low) / (high - low)).clip(0, 1) for of in (lows, highs))
        return cls(ordered, outcome, lows, highs, table.exact)

    def find_laws(self, term: P, order: Sequence[str], error: float | None) -> LawPair:
        """Find the lowest and the highest law of the reward that fit, at levels of ``order``.

        ``error`` is the chance that a cell may miss, None for estimates. Nothing is known of
        cells that were never seen.
        """
        of_term = self.counts.marginalize(term.given | {self.outcome})
        found = of_term.align((*order, self.outcome))
        rows = found.sum(axis=-1, keepdims=True)
        seen = rows > 0
        law = np.where(seen, found / np.where(seen, rows, 1.0), 0.0)
        off = np.zeros_like(rows)
        if error is not None and not self.exact:
            off = np.sqrt(np.log(2 / error) / (2 * np.maximum(rows, 1.0)))
        off = np.where(seen, off, 1.0).clip(0, 1)
        least = np.concatenate([off, _take_off(law, off)], axis=-1)
        most = np.concatenate([_take_off(law[..., ::-1], off)[..., ::-1], off], axis=-1)
        return (least, np.append(0.0, self.lows)), (most, np.append(self.highs, 1.0))


def _take_off(law: Floats, share: Floats) -> Floats:
    """Take a share off the end of a law, along its last axis."""
    above = law[..., ::-1].cumsum(axis=-1)[..., ::-1] - law
    return np.asarray(law - np.minimum(law, (share - above).clip(0)))


@dataclass(frozen=True, eq=False)
class RewardCounter:
    """Counts the values of a reward, on a log whose other counts are known already."""

    log: Log
    counted: CountTable
    outcome: str
    outcome_range: tuple[float, float]
    domain: Mapping[str, Sequence[object]]
    memory_limit: int

    def count_values(self, term: P) -> CountTable:
        """Count the reward's values, or bins of them, by what a term is given.

        Levels are those of the other counts.
        """
        log = self.log
        if log.count_levels([self.outcome])[self.outcome] > MOST_VALUES:
            edges = np.linspace(*self.outcome_range, BINS + 1)[1:-1].tolist()
            log = replace(log, bins={**log.bins, self.outcome: edges})
        asked = [*sorted(term.given), self.outcome]
        table = log.count(asked, measured=[self.outcome], memory_limit=self.memory_limit)
        declared = {name: of for name, of in self.domain.items() if name in term.given}
        _, shared = share_levels(self.counted, [table], declared)
        return shared


def read_term(expression: Expression, outcome: str) -> P | None:
    """Read a formula as the law of the reward alone given others, if it is one."""
    if isinstance(expression, P) and expression.of == {outcome}:
        return expression
    return None
