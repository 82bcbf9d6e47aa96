"""Values of flat formulas, and their derivatives by every term, for all rows at once.

The derivative by a term is the product of everything else, summed over whatever the term does
not speak of. Where a term reads a variable at the level that the row has, its derivative is
nothing at all other levels, and no axis is made for them: the term is *tied* to the row there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import final

import numpy as np

from boundit.bounds.approximate.flat_formula import FlatFormula, Occurrence
from boundit.counts.formulas.elimination import ProductTable, eliminate, multiply_out
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from boundit.terms.names import sort_names

OWN = "\0"
"""Begins the name of an axis of a term that is not tied to the row."""
SAME = 1e-12
ReadTerm = Callable[[P], ProductTable]


@dataclass(frozen=True, slots=True, eq=False)
class TermDerivative:
    """The derivative of every row by a term, an axis for each variable of ``axes``.

    First come the rows' axes, of length 1 where nothing depends on one, then the term's own
    columns that are not tied, by names that begin with ``OWN``. ``tied`` says at which axis of
    the rows each other column is read.
    """

    term: P
    axes: tuple[str, ...]
    values: Floats
    n_row_axes: int
    tied: Mapping[str, str]

    @property
    def names(self) -> dict[str, str]:
        """The axis of each column of the term."""
        own = {column: OWN + column for column in self.term.free if column not in self.tied}
        return {**own, **self.tied}

    def list_own_axes(self, columns: frozenset[str]) -> tuple[int, ...]:
        """List the places of those axes that belong to some columns and are not tied."""
        own = {OWN + column for column in columns if column not in self.tied}
        return tuple(i for i, axis in enumerate(self.axes) if axis in own)


@final
class FlatReader:
    """Reads flat formulas off the shares of terms.

    ``least`` reads a term with nothing where no row was seen, ``even`` with even shares there.
    ``constants`` are factors that rest on no count, such as which level of a variable is taken.
    """

    def __init__(
        self,
        least: ReadTerm,
        even: ReadTerm,
        levels: Mapping[str, int],
        workspace: Workspace,
    ) -> None:
        self.least, self.even = least, even
        self.levels, self.workspace = levels, workspace

    def find_least(
        self, flat: FlatFormula, constants: Sequence[ProductTable], rows: Sequence[str]
    ) -> Floats:
        """Compute a formula with nothing in the place of what was never seen.

        The array has the axes ``rows``, length 1 where the formula does not depend on one.
        """
        factors = [*constants, *self._list_factors(flat, self.least), *self._invert_all(flat)]
        left = eliminate(
            factors, self._keep_held(flat.summed, factors), self.levels, self.workspace
        )
        return multiply_out(left, rows, self.levels, self.workspace)[0]

    def differentiate(
        self, flat: FlatFormula, constants: Sequence[ProductTable], rows: Sequence[str]
    ) -> list[TermDerivative]:
        """Compute the derivative of a formula by each of its terms, at every row."""
        found: dict[P, list[tuple[Occurrence, ProductTable]]] = {}
        for occurrence, factor in self._walk(flat, constants, (), tuple(rows)):
            found.setdefault(occurrence.term, []).append((occurrence, factor))
        return [self._join(term, parts, tuple(rows)) for term, parts in found.items()]

    def _list_factors(self, flat: FlatFormula, read: ReadTerm) -> list[ProductTable]:
        """List the shares of all terms above the line, and the number they are multiplied by."""
        own = [read(each.term).rename(each.names) for each in flat.occurrences]
        return [*own, ProductTable((), (np.array(flat.times),))]

    def _invert_all(self, flat: FlatFormula) -> list[ProductTable]:
        """Invert what stands below lines; what is unknown or 0 there makes the whole nothing.

        A part below a line is unknown where it depends on shares that nobody saw: nothing is
        then a lower end of what is divided by it.
        """
        inverted = []
        for below in flat.bottoms:
            axes = tuple(sort_names(below.free))
            least, even = (self._reduce(below, axes, read) for read in (self.least, self.even))
            sure = (even > 0) & (np.abs(least - even) <= SAME)
            inverted.append(
                ProductTable(axes, (np.where(sure, 1 / np.where(sure, even, 1), 0.0),))
            )
        return inverted

    def _reduce(self, flat: FlatFormula, axes: Sequence[str], read: ReadTerm) -> Floats:
        """Compute a part of a formula at every level of its free variables."""
        factors = [*self._list_factors(flat, read), *self._invert_all(flat)]
        summed = self._keep_held(flat.summed, factors)
        left = eliminate(factors, summed, self.levels, self.workspace)
        found = multiply_out(left, axes, self.levels, self.workspace)[0]
        return np.broadcast_to(found, [self.levels[axis] for axis in axes])

    def _walk(
        self,
        flat: FlatFormula,
        around: Sequence[ProductTable],
        bound: tuple[str, ...],
        rows: tuple[str, ...],
    ) -> Iterator[tuple[Occurrence, ProductTable]]:
        """Yield the derivative by every occurrence of a term: the product of everything else.

        ``around`` are the factors around the part, ``bound`` the variables summed over there.
        """
        own = self._list_factors(flat, self.even)
        below = self._invert_all(flat)
        everything = [*own, *below, *around]
        summed = (*bound, *flat.summed)
        for place, occurrence in enumerate(flat.occurrences):
            others = everything[:place] + everything[place + 1 :]
            yield occurrence, self._pull(others, summed, occurrence.names.values(), rows)
        for place, (part, inverse) in enumerate(
            zip(flat.bottoms, below, strict=True), len(own)
        ):
            others = everything[:place] + everything[place + 1 :]
            pulled = self._pull(others, summed, inverse.axes, rows)
            (squared,) = ProductTable(inverse.axes, (inverse.arrays[0] ** 2,)).align(
                pulled.axes
            )
            slope = ProductTable(pulled.axes, (-pulled.arrays[0] * squared,)).drop_short_axes()
            free = tuple(axis for axis in inverse.axes if axis not in rows)
            yield from self._walk(part, [slope], free, rows)

    def _pull(
        self,
        factors: Sequence[ProductTable],
        summed: Sequence[str],
        kept: Iterable[str],
        rows: tuple[str, ...],
    ) -> ProductTable:
        """Multiply factors and sum over all that is summed but not kept."""
        held = tuple(kept)
        gone = self._keep_held([name for name in summed if name not in held], factors)
        left = eliminate(factors, gone, self.levels, self.workspace)
        axes = (*rows, *(name for name in held if name not in rows))
        return ProductTable(axes, multiply_out(left, axes, self.levels, self.workspace))

    def _join(
        self, term: P, parts: Sequence[tuple[Occurrence, ProductTable]], rows: tuple[str, ...]
    ) -> TermDerivative:
        """Add up the derivatives by the occurrences of one term.

        A column that is tied to the row in all of them stays tied; in others it gets an axis,
        along which the derivative is nothing but at the row's level.
        """
        ties = [
            frozenset((c, name) for c, name in each.names.items() if name in rows)
            for each, _ in parts
        ]
        tied = dict(frozenset.intersection(*ties))
        own = [column for column in sort_names(term.free) if column not in tied]
        axes = (*rows, *(OWN + column for column in own))
        shape = [self.levels[column] for column in own]
        total: Floats = np.zeros([1] * len(axes))
        for occurrence, factor in parts:
            total = total + self._untie(occurrence, factor, tied, rows, axes)
        self.workspace.require_cells(prod(total.shape[: len(rows)]) * prod(shape), axes)
        full = np.broadcast_to(total, (*total.shape[: len(rows)], *shape))
        return TermDerivative(term, axes, full, len(rows), tied)

    def _untie(
        self,
        occurrence: Occurrence,
        factor: ProductTable,
        tied: Mapping[str, str],
        rows: tuple[str, ...],
        axes: tuple[str, ...],
    ) -> Floats:
        """Lay a derivative out over the axes that all occurrences of a term share."""
        names = occurrence.names
        loose = [c for c in names if c not in tied]
        renamed = {names[c]: OWN + c for c in loose if names[c] not in rows}
        parts = [factor.rename(renamed)]
        for column in loose:
            if names[column] in rows:
                same = np.eye(self.levels[column])
                parts.append(ProductTable((names[column], OWN + column), (same,)))
        levels = {**self.levels, **{OWN + c: self.levels[c] for c in loose}}
        return multiply_out(
            [part.drop_short_axes() for part in parts], axes, levels, self.workspace
        )[0]

    def _keep_held(self, names: Sequence[str], factors: Sequence[ProductTable]) -> list[str]:
        """Keep the variables that some factor has.

        An axis of one level may have been left out.
        """
        held = frozenset[str]().union(*(factor.axes for factor in factors))
        return [name for name in names if name in held]
