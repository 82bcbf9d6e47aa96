"""The log of a model, endless or of so many rows: whatever columns are counted, by elimination.

The law of all columns of a large model has more cells than any machine holds, but bounds read
few of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.counts.sources import Cells, ColumnKind, GroupBy, Oddity, choose_aggregates
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.model import Model
from boundit.terms.bound import Value
from boundit.terms.names import Nodes, sort_names

WEIGHT = "share of rows"
"""The column that says how likely a row is."""
MOST_CELLS = 2**20
"""No law of more cells is counted."""


@dataclass(frozen=True, eq=False)
class LawSource:
    """The law of the rows that a model logs, as a source of rows with their chances.

    With ``rows``, as many rows as each combination has on average, in whole numbers. Not
    ``selected``, it is the law of everyone. ``names`` are the columns that it has, all observed
    ones unless told, and ``levels`` what their levels are called.
    """

    model: Model
    label: str = "the model's endless log"
    rows: int | None = None
    selected: bool = True
    names: Nodes | None = None
    levels: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The model's observed variables and the chance of a row: all numbers."""
        names = sort_names(self.model.graph.observed if self.names is None else self.names)
        weight = [WEIGHT] if self.rows is None else []
        return dict.fromkeys([*names, *weight], ColumnKind.NUMBERS)

    def group(self, plan: GroupBy) -> Cells:
        """Compute how likely each combination of the keys is among the logged rows.

        A cell is as two rows would be, of which one has the reward 1 and one the reward 0.
        Raises ModelTooLarge when there are too many cells.
        """
        levels = self.model.n_levels
        shape = [levels[name] for name in plan.keys]
        if (cells := prod(shape)) > MOST_CELLS:
            raise ModelTooLarge(frozenset(plan.keys), cells, MOST_CELLS)
        asked = (*plan.keys, *([plan.reward] if plan.reward else []))
        found = self.model.log(asked) if self.selected else self.model.law(asked)
        law = found.align(asked).reshape(cells, -1)
        if self.rows is not None:
            law = share_out(law, self.rows)
        chances, paid = law.sum(axis=1), law[:, -1]
        lines = np.full(cells, 2.0) if self.rows is None else chances
        numbers = {
            "lines": lines,
            "weighed": lines,
            "weight": chances,
            "least_weight": chances,
            "most_weight": chances,
            "part_weight": chances,
            "rewarded": lines,
            "rewarded_weight": chances,
            "sums": paid,
            "squares": paid,
            "lowest": np.zeros(cells),
            "highest": np.ones(cells),
        }
        # Of nodes that may be selection, no exact law of more than one level is always 1.
        numbers |= {f"flag_{i}": np.ones(cells) for i in range(len(plan.flags))}
        codes = np.indices(shape).reshape(len(shape), cells)
        keys = tuple(
            [self.levels[name][i] for i in of.tolist()] if name in self.levels else of
            for name, of in zip(plan.keys, codes, strict=True)
        )
        return Cells(keys, {name: numbers[name] for name in choose_aggregates(plan)})

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look up how many levels each variable of the model has."""
        return [self.model.n_levels[name] for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:  # noqa: ARG002, of the protocol
        """Find nothing: the columns of a model are numbers."""
        return None


def open_endless_log(model: Model) -> Log:
    """Open a model's exact law as a log whose columns are counted by elimination.

    >>> from boundit.simulation.worlds import make_paper_model
    >>> table = open_endless_log(make_paper_model()).count(["U1"], reward="Y")
    >>> table.n.round(4)
    array([0.5559, 0.4441])
    """
    return _open_source(LawSource(model))


def open_expected_log(
    model: Model,
    rows: int | None,
    *,
    selected: bool = True,
    names: Nodes | None = None,
    levels: Mapping[str, tuple[Value, ...]] | None = None,
) -> Log:
    """Open a log with as many rows of each kind as so many rows of a model have on average.

    No row is drawn, so that it costs as much for a thousand million rows as for a hundred.
    Where ``rows`` is None, an exact law. Not ``selected``, it is a table of everyone.

    >>> from boundit.simulation.worlds import make_paper_model
    >>> open_expected_log(make_paper_model(), 1000).count(["U1"], reward="Y").n
    array([556., 444.])
    """
    source = LawSource(
        model,
        label="the expected log",
        rows=rows,
        selected=selected,
        names=names,
        levels=levels or {},
    )
    return _open_source(source)


def share_out(law: Floats, rows: int) -> Floats:
    """Share out whole rows by a law: each cell gets its mean, rounded so that the sum is right.

    >>> share_out(np.array([0.26, 0.27, 0.47]), 10)
    array([2., 3., 5.])
    """
    wanted = (law / law.sum() * rows).ravel()
    found = np.floor(wanted)
    left = round(rows - float(found.sum()))
    # In a fixed order, so that the same law gives the same rows.
    first = np.argsort(found - wanted, kind="stable")[: max(left, 0)]
    found[first] += 1
    return np.asarray(found.reshape(law.shape), dtype=np.float64)


def _open_source(source: LawSource) -> Log:
    """Open the law of a model as a log, exact where no number of rows is said."""
    exact = source.rows is None
    weight = WEIGHT if exact else None
    return Log(source, {}, weight, exact=exact, bins={}, missing="drop")
