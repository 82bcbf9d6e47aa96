"""Why a claim moves an end as far as it does: effective rows, unseen weight, heaviest cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from boundit.bounds.claims.level_form import LevelForm
from boundit.bounds.claims.sum_arrays import SumArrays
from boundit.bounds.proof import Place, fit_place
from boundit.counts.named_array import Floats
from boundit.terms.names import sort_names
from boundit.terms.sampling import MOST_HEAVY, EndSampling, HeavyCell

ERRORS = 2.0
"""By how many standard errors chance is allowed for where the worst level is sought."""
_NOTHING = 1e-9  # what cells must add at least, of what the heaviest adds


class ClaimRows(Protocol):
    """What stands behind the claims of a rule."""

    def explain(
        self, place: Place, *, upper: bool, boxes: str | None = None
    ) -> EndSampling | None:
        """Say why chance moves an end of the row at a place; None where nobody can tell."""


@dataclass(frozen=True, eq=False)
class ClaimCells:
    """The cells of the value behind a rule's claims: their weights, rows and means.

    Those of a program have a ``length`` other than 1, by rows of the table, and an axis that
    numbers ``scenarios``, each some levels of the instruments.
    """

    form: LevelForm
    arrays: SumArrays
    rows: Floats
    mean: Floats
    length: Floats | None = None
    scenarios: tuple[str, Sequence[Mapping[str, int]]] | None = None

    def explain(self, place: Place, *, upper: bool, boxes: str | None = None) -> EndSampling:
        """Say why chance moves the lower or the upper end of the row at a place.

        Of variables of unknown law the level is taken at which the end is attained. ``boxes``
        says why each cell has an interval of its own.
        """
        axes, n_own = self.arrays.layout.cells[-1].axes, len(self.arrays.layout.axes)
        weights, rows, mean = np.broadcast_arrays(
            *(
                _take_row(array, place, n_own)
                for array in (self.arrays.weights[-1], self.rows, self.mean)
            )
        )
        chance = np.where(rows > 0, weights**2 / np.maximum(rows, 1.0), 0.0)
        added = chance * np.maximum(mean * (1 - mean), 1 / (rows + 2))
        own = axes[n_own:]
        value = weights * np.where(rows > 0, mean, float(upper))
        index = _choose_worst(
            value if upper else -value,
            added,
            [own.index(w) for w in self.arrays.layout.worst if w in own],
        )
        weights, rows, chance, added = (
            array[index] for array in (weights, rows, chance, added)
        )
        left = [i for i, at in enumerate(index) if at == slice(None)]
        total, spread = float(chance.sum()), float(added.sum())
        unseen = float(weights[rows <= 0].sum())
        if self.length is not None:  # a scenario that was never seen is no stratum
            total, unseen = total * float(_take_row(self.length, place, n_own)) ** 2, 0.0
        levels = dict(zip(self.arrays.layout.axes, place, strict=True))
        levels |= _name_chosen(own, index)
        heaviest = tuple(
            HeavyCell(
                self._name(levels | {own[i]: c for i, c in zip(left, cell, strict=True)}),
                float(rows[cell]),
                float(added[cell] / spread),
            )
            for cell in _list_heaviest(added)
        )
        effective = max(1 - unseen, 0.0) ** 2 / total if total > 0 else 0.0
        return EndSampling(effective, min(unseen, 1.0), heaviest, boxes)

    def _name(self, levels: dict[str, int]) -> tuple[tuple[str, int], ...]:
        """Name a cell of the value by the columns that it is given."""
        columns, given = self.form.last.columns, self.form.last.given
        if self.scenarios is not None:
            axis, named_levels = self.scenarios
            number = levels.get(axis, len(named_levels))
            levels = levels | dict(named_levels[number] if number < len(named_levels) else {})
        named = {columns[name]: at for name, at in levels.items() if name in given}
        return tuple((column, named[column]) for column in sort_names(named))


def _list_heaviest(added: Floats) -> list[tuple[int, ...]]:
    """List the places of the cells that add most to a variance, the heaviest first."""
    order = np.argsort(-added, axis=None, kind="stable")[:MOST_HEAVY]
    places = [tuple(map(int, np.unravel_index(number, added.shape))) for number in order]
    return [place for place in places if added[place] > _NOTHING * added.max()]


def _name_chosen(names: Sequence[str], index: Sequence[int | slice]) -> dict[str, int]:
    """Name the levels that were chosen of unknown variables."""
    chosen = zip(names, index, strict=True)
    return {name: at for name, at in chosen if isinstance(at, int)}


def _take_row(values: Floats, place: Place, n_axes: int) -> Floats:
    """Take the cells of one row of the table; an axis of length 1 holds for every level."""
    found: Floats = values[fit_place(place, values.shape[:n_axes])]
    return found


def _choose_worst(value: Floats, added: Floats, worst: list[int]) -> tuple[int | slice, ...]:
    """Choose the levels of unknown variables that reach furthest, chance allowed for.

    ``value`` and ``added`` are what cells add to the end and to its variance.
    """
    index: list[int | slice] = [slice(None)] * added.ndim
    others = tuple(i for i in range(added.ndim) if i not in worst)
    if worst:
        totals = value.sum(axis=others) + ERRORS * np.sqrt(added.sum(axis=others))
        best = np.unravel_index(int(totals.argmax()), totals.shape)
        for axis, at in zip(sorted(worst), best, strict=True):
            index[axis] = int(at)
    return tuple(index)
