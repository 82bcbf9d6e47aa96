"""One end of every row: its least value, how far chance moves it, and the cells behind it.

Both ends are lower ends, of successes and of failures: a reward is at most one minus the least
share of failures. Cells that nobody saw count as nothing in either, so that their weight widens
both ends in full.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import ndtri

from boundit.bounds.approximate.derivatives import FlatReader, TermDerivative
from boundit.bounds.approximate.flat_formula import FlatFormula
from boundit.bounds.approximate.flat_rule import FlatRule
from boundit.bounds.approximate.reward_rows import RewardRows
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.approximate.variances import CellVariances, Variance, find_level_variance
from boundit.bounds.binary_reward import SUCCESS
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.named_array import Floats


@dataclass(frozen=True, slots=True, eq=False)
class FoundEnd:
    """A lower end of every row: of successes, or of failures if ``upper``.

    Arrays have the axes ``rows``: those of the table, then links of which the worst level is
    taken at the end. ``chance`` is that of one row's end to miss.
    """

    upper: bool
    chance: float
    rows: tuple[str, ...]
    value: Floats
    variance: Variance
    cells: tuple[CellVariances, ...]
    rewards: RewardRows

    @property
    def derivatives(self) -> tuple[TermDerivative, ...]:
        """The derivatives by every term."""
        return tuple(cell.derivative for cell in self.cells)

    def promise_width(self, outcome: str) -> Floats:
        """Tell how wide a row is likely to be, whatever its rewards: to compare formulas by.

        Rewards vary as if both levels were even.
        """
        variance = 0.25 / np.maximum(self.rewards.rows, 1e-9)
        for part in self.cells:
            if outcome not in part.derivative.term.of:
                variance = variance + part.add_up(part.smoothed)
        return np.asarray(self.rewards.unseen + 2 * np.sqrt(variance))


@final
class FormulaEnds:
    """Finds the ends of one rule on counts; ``error`` is the chance that one end may miss.

    ``multipliers`` are those of a program that ends the rule, for the lower end and the upper.
    """

    def __init__(
        self,
        rule: FlatRule,
        counts: TermCounter,
        error: float,
        multipliers: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.rule, self.counts, self.multipliers = rule, counts, multipliers
        self.error = error
        self.z = float(-ndtri(error))
        self.rows = rule.axes + rule.choices
        self.reader = FlatReader(
            lambda term: counts.read(term).find_shares(0.0),
            lambda term: counts.read(term).find_shares(),
            rule.levels,
            counts.workspace,
        )

    def find(self, *, upper: bool) -> FoundEnd:
        """Find the lower ends of all rows, or the upper ones as lower ends of failures.

        Where a link of unknown law comes after one of known law, its worst level is chosen
        twice: by the values alone, then by values less what chance adds, once it is known how
        far chance moves the whole.
        """
        constants = self._list_constants(upper=upper)
        found = self._measure(upper, constants + self._choose(constants, None))
        if self._has_inner_choice():
            error = np.sqrt(np.maximum(found.variance.smoothed, 1e-300))
            found = self._measure(upper, constants + self._choose(constants, error))
        return found

    def _measure(self, upper: bool, constants: Sequence[ProductTable]) -> FoundEnd:  # noqa: FBT001
        """Compute values and variances at given choices."""
        flat = self.rule.join(len(self.rule.choices))
        value = self.reader.find_least(flat, constants, self.rows)
        cells = self._find_cells(flat, constants, self.rows)
        derivatives = [cell.derivative for cell in cells]
        n = len(self.rows)
        # An axis that nothing depends on has length 1: its levels are one row.
        shape = np.broadcast_shapes(value.shape, *(d.values.shape[:n] for d in derivatives))
        level = None if self.rule.program else 1 - SUCCESS if upper else SUCCESS
        return FoundEnd(
            upper,
            self.error,
            self.rows,
            np.broadcast_to(value, shape),
            Variance.of(cells, shape),
            tuple(cells),
            RewardRows.of(derivatives, self.counts, self.rule.outcome, level, shape),
        )

    def _find_cells(
        self, flat: FlatFormula, constants: Sequence[ProductTable], rows: Sequence[str]
    ) -> list[CellVariances]:
        """Find what each cell of each term adds to the variance of a formula."""
        return [
            find_level_variance(derivative, self.counts.read(derivative.term))
            for derivative in self._merge(self.reader.differentiate(flat, constants, rows))
        ]

    def _merge(self, derivatives: Iterable[TermDerivative]) -> list[TermDerivative]:
        """Count a term as part of one that says more given the same, if there is any.

        What stands above and below a line moves together: apart, both would seem to be moved by
        more rows than there are.
        """
        merged = list[TermDerivative]()
        for one in sorted(derivatives, key=lambda each: len(each.term.of), reverse=True):
            for place, wide in enumerate(merged):
                ties = {c: axis for c, axis in wide.tied.items() if c in one.term.free}
                tables = {self.counts.read(each.term).table for each in (one, wide)}
                same = one.term.given == wide.term.given and len(tables) == 1
                if same and one.term.of < wide.term.of and ties == one.tied:
                    gone = [i for i, axis in enumerate(wide.axes) if axis not in one.axes]
                    values = wide.values + np.expand_dims(one.values, gone)
                    merged[place] = replace(wide, values=values)
                    break
            else:
                merged.append(one)
        return merged

    def _list_constants(self, *, upper: bool) -> list[ProductTable]:
        """List the factors that are no terms: success or failure, multipliers, idle levels.

        An idle variable's levels weigh as often as they were logged: to the true value they do
        not matter.
        """
        at = np.array([1.0, 0.0]) if upper else np.array([0.0, 1.0])
        found = [ProductTable((self.rule.outcome,), (at,))]
        if self.rule.program is not None:
            assert self.multipliers is not None
            axes = self.rule.program.places + self.rule.program.cells
            found = [ProductTable(axes, (self.multipliers[upper],)).drop_short_axes()]
        for name, column in self.rule.idle.items():
            table = next(t for t in self.counts.tables if column in t.names)
            weights = table.marginalize(frozenset({column})).values
            found.append(ProductTable((name,), (weights / weights.sum(),)))
        return found

    def _has_inner_choice(self) -> bool:
        """Tell whether a link of unknown law comes after one of known law."""
        return any(link.law is None for link in self.rule.links[len(self.rule.choices) :])

    def _choose(
        self, constants: Sequence[ProductTable], error: Floats | None
    ) -> list[ProductTable]:
        """Choose the worst level of every unknown link after a known one, innermost first.

        Without an ``error`` by the values alone; with it, by the value of a level less what its
        variance adds to the radius of the whole.
        """
        first, chosen = len(self.rule.choices), list[ProductTable]()
        for place in reversed(range(first, len(self.rule.links))):
            link = self.rule.links[place]
            if link.law is not None:
                continue
            rows = (*self.rule.axes, *(each.name for each in self.rule.links[: place + 1]))
            shape = [self.rule.levels[name] for name in rows]
            self.counts.workspace.require_cells(int(np.prod(shape)), rows)
            flat, fixed = self.rule.join(place + 1), [*constants, *chosen]
            value = np.broadcast_to(self.reader.find_least(flat, fixed, rows), shape)
            if error is not None:
                spread = Variance.of(self._find_cells(flat, fixed, rows), shape).smoothed
                weight = self._weigh(place, constants, rows)
                whole = error.reshape(*error.shape, *[1] * (len(rows) - error.ndim))
                value = value - self.z * weight * spread / (2 * whole)
            taken = np.zeros(shape)
            np.put_along_axis(taken, value.argmin(axis=-1)[..., None], 1.0, axis=-1)
            chosen.append(ProductTable(rows, (taken,)).drop_short_axes())
        return chosen

    def _weigh(
        self, place: int, constants: Sequence[ProductTable], rows: Sequence[str]
    ) -> Floats:
        """Compute how much every branch of an unknown link weighs within its row."""
        flat = self.rule.weigh(len(self.rule.choices), place)
        held = self._keep(constants, flat.variables)
        return self.reader.find_least(flat, held, rows)

    def _keep(
        self, constants: Iterable[ProductTable], names: frozenset[str]
    ) -> list[ProductTable]:
        """Keep the constant factors that speak of some variables alone."""
        return [each for each in constants if names.issuperset(each.axes) and each.axes]
