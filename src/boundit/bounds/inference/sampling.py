"""Why sampling error moves an endpoint as far as it does, worked out when asked."""

import numpy as np

from boundit.bounds.caveats import LIMITS
from boundit.bounds.evidence import SUCCESS, Evidence
from boundit.bounds.inference.base import Place
from boundit.bounds.inference.forms import SumForm
from boundit.bounds.inference.pilot import Split
from boundit.bounds.inference.sums import FormReader
from boundit.core.names import sort_names
from boundit.counts.named_array import Floats
from boundit.results.sampling import MOST_HEAVY, EndSampling, HeavyCell

ERRORS = 2.0  # standard errors that are allowed for where the worst level is sought
_NOTHING = 1e-9


def explain_sum(
    form: SumForm, evidence: Evidence, place: Place, *, upper: bool
) -> EndSampling | None:
    """Effective rows (Kish), the weight of unseen strata and the cells that add most variance.

    A row of cell g counts with ``W(g) / n_g``. Of unknown variables the level is taken at which
    the endpoint is attained. None where memory or time does not suffice.
    """
    whole = {id(counts): Split(counts, counts, counts) for counts in evidence.tables}
    level = 1 - SUCCESS if form.natural and upper else SUCCESS
    try:
        reader = FormReader(form, evidence, whole, outcome=level)
        arrays, last = (
            reader.read_arrays(pilot=False),
            reader.read_rest(np.random.default_rng(0)),
        )
        weight = arrays.weights[-1]
    except LIMITS:
        return None
    axes, n_axes = reader.layout.cells[-1].axes, len(form.axes)
    own = axes[n_axes:]
    shape = np.broadcast_shapes(weight.shape, last.rows.shape, last.mean.shape)
    at = tuple(0 if n == 1 else i for i, n in zip(place, shape, strict=False))
    weights, rows, mean = (
        np.broadcast_to(array, shape)[at] for array in (weight, last.rows, last.mean)
    )
    by_rows = np.where(rows > 0, weights**2 / np.maximum(rows, 1.0), 0.0)
    added = by_rows * np.maximum(mean * (1 - mean), 1 / (rows + 2))
    value = weights * np.where(rows > 0, mean, float(upper and not form.natural))
    toward = value if upper and not form.natural else -value
    chosen = _choose_worst(toward, added, [own.index(w) for w in form.unknown if w in own])
    weights, rows, by_rows, added = (a[chosen] for a in (weights, rows, by_rows, added))
    levels = dict(zip(form.axes, place, strict=True))
    levels |= {n: i for n, i in zip(own, chosen, strict=True) if isinstance(i, int)}
    left = [name for name, i in zip(own, chosen, strict=True) if not isinstance(i, int)]
    factor = form.factors[-1]
    heaviest = list[HeavyCell]()
    for number in np.argsort(-added, axis=None, kind="stable")[:MOST_HEAVY]:
        cell = tuple(map(int, np.unravel_index(number, added.shape)))
        if added[cell] > _NOTHING * added.max():
            here = levels | dict(zip(left, cell, strict=True))
            here = {factor.columns[name]: i for name, i in here.items() if name in factor.given}
            named = tuple((column, here[column]) for column in sort_names(here))
            heaviest.append(
                HeavyCell(named, float(rows[cell]), float(added[cell] / added.sum()))
            )
    unseen, total = min(float(weights[rows <= 0].sum()), 1.0), float(by_rows.sum())
    effective = (1 - unseen) ** 2 / total if total > 0 else 0.0
    return EndSampling(effective, unseen, tuple(heaviest))


def _choose_worst(value: Floats, added: Floats, worst: list[int]) -> tuple[int | slice, ...]:
    """The levels of unknown variables that reach furthest, sampling error allowed for."""
    index: list[int | slice] = [slice(None)] * added.ndim
    if worst:
        others = tuple(i for i in range(added.ndim) if i not in worst)
        totals = value.sum(axis=others) + ERRORS * np.sqrt(added.sum(axis=others))
        best = np.unravel_index(int(totals.argmax()), totals.shape)
        for axis, i in zip(sorted(worst), best, strict=True):
            index[axis] = int(i)
    return tuple(index)
