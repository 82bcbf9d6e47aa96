"""Why chance moves an end as far as it does: effective rows, unseen weight, heaviest cells."""

from collections.abc import Sequence

import numpy as np

from boundit.bounds.approximate.derivatives import OWN
from boundit.bounds.approximate.formula_ends import FoundEnd
from boundit.bounds.approximate.term_counts import TermCounter
from boundit.bounds.approximate.variances import CellVariances
from boundit.bounds.proof import fit_place
from boundit.counts.named_array import Floats
from boundit.terms.sampling import MOST_HEAVY, EndSampling, HeavyCell


def explain_end(
    found: FoundEnd, place: Sequence[int], counts: TermCounter, boxes: str | None
) -> EndSampling:
    """Say why chance moves an end at one row, at the levels its worst choices have.

    ``place`` has a number for each axis of the end's rows; ``boxes`` says why each cell got an
    interval of its own after all.
    """
    rewards = found.rewards
    whole = _look_up(found.variance.smoothed, place)
    heavy = [
        cell for part in found.cells for cell in _list_heaviest(part, place, whole, counts)
    ]
    heavy.sort(key=lambda cell: -cell.share)
    return EndSampling(
        _look_up(rewards.rows, place),
        min(_look_up(rewards.unseen, place), 1.0),
        tuple(heavy[:MOST_HEAVY]),
        boxes,
    )


def _look_up(values: Floats, place: Sequence[int]) -> float:
    """Look up a number at a row; an axis of length 1 holds for every level."""
    return float(values[fit_place(place, values.shape)])


def _list_heaviest(
    part: CellVariances, place: Sequence[int], whole: float, counts: TermCounter
) -> list[HeavyCell]:
    """List the cells of one term that add most to the variance of a row."""
    derivative = part.derivative
    n_rows, term = derivative.n_row_axes, derivative.term
    added, rows = (
        values[fit_place(place, values.shape[:n_rows])] for values in (part.smoothed, part.rows)
    )
    rows = np.broadcast_to(rows, added.shape)
    own = [axis.removeprefix(OWN) for axis in derivative.axes[n_rows:]]
    own = [column for column in own if column in term.given]
    order = counts.order_columns(term.given)
    found = []
    for number in np.argsort(-added, axis=None)[:MOST_HEAVY]:
        cell = np.unravel_index(number, added.shape)
        if whole <= 0 or added[cell] <= 0:
            break
        levels = dict(zip(own, map(int, cell), strict=True))
        for column, axis in derivative.tied.items():
            if column in term.given:
                levels[column] = int(place[derivative.axes.index(axis)])
        named = tuple((column, levels[column]) for column in order)
        found.append(HeavyCell(named, float(rows[cell]), float(added[cell] / whole)))
    return found
