"""Why chance moves the end of a mean of the population: effective rows, and heaviest kinds."""

from dataclasses import dataclass

import numpy as np

from boundit.bounds.claims.selection.selection_claims import SelectionClaims
from boundit.bounds.proof import Place
from boundit.counts.named_array import Floats
from boundit.terms.sampling import MOST_HEAVY, EndSampling, HeavyCell


@dataclass(frozen=True, eq=False)
class SelectionRows:
    """The rows behind the claims on a mean of the population, weighed as is worst for an end.

    Which weights are worst is what the pilot says.
    """

    claims: SelectionClaims

    def explain(
        self, place: Place, *, upper: bool, boxes: str | None = None
    ) -> EndSampling | None:
        """Say why chance moves the lower or the upper end of the row at a place.

        ``boxes`` says why each cell has an interval of its own. None where the pilot cannot
        tell.
        """
        reader, cells = self.claims.reader, self.claims.cells
        at = dict(zip(reader.form.axes, place, strict=True))
        worth, there = reader.value_cells(at, upper=upper)
        solved = self.claims.finder.solve(worth, there)
        if solved is None:
            return None
        end, found = solved
        weights = found.weights[:, None] * there
        total = float((cells.counts * weights).sum())
        squares = float((cells.counts * weights**2).sum())
        added = (cells.counts * (weights * (worth - end)) ** 2).sum(axis=1)
        rows = (cells.counts * there).sum(axis=1)
        return EndSampling(
            total**2 / squares if squares > 0 else 0.0,
            0.0,
            self._list_heaviest(added, rows),
            boxes,
        )

    def _list_heaviest(self, added: Floats, rows: Floats) -> tuple[HeavyCell, ...]:
        """List the kinds of rows that add most to an end's variance, the heaviest first.

        The reward is no part of a kind's name.
        """
        reader, total = self.claims.reader, float(added.sum())
        named = dict[tuple[tuple[str, int], ...], Floats]()
        for kind in np.flatnonzero(rows > 0):
            levels = reader.name_kind(int(kind))
            key = tuple((n, i) for n, i in levels.items() if n != reader.form.outcome)
            both = np.array([rows[kind], added[kind]])
            named[key] = named.get(key, np.zeros(2)) + both
        order = sorted(named.items(), key=lambda item: -float(item[1][1]))[:MOST_HEAVY]
        return tuple(
            HeavyCell(key, float(n), float(part / total))
            for key, (n, part) in order
            if part > 0
        )
