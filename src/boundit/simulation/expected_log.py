"""The expected log of a model, whose columns are counted by variable elimination.

The joint distribution of a large model has too many cells, but bounds read few columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from boundit.counts.cells import Cells, ColumnKind, GroupBy, Oddity, choose_aggregates
from boundit.counts.log import Log
from boundit.counts.named_array import Floats
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.scm import SCM
from boundit.terms.bound import Value
from boundit.terms.names import Nodes, sort_names

WEIGHT = "share of rows"
"""Column with the probability of a row."""
MOST_CELLS = 2**20
"""Most cells of a distribution."""


@dataclass(frozen=True, eq=False)
class ExpectedRows:
    """The distribution of a model's rows as a source of a log; see ``open_expected_log``."""

    model: SCM
    rows: int | None = None
    selected: bool = True
    names: Nodes | None = None
    levels: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    label: str = "the expected log"

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The observed variables and the probability of a row."""
        names = sort_names(self.model.graph.observed if self.names is None else self.names)
        weight = [WEIGHT] if self.rows is None else []
        return dict.fromkeys([*names, *weight], ColumnKind.NUMBERS)

    def group(self, plan: GroupBy) -> Cells:
        """Compute the share, or the expected number, of rows with each value of the keys.

        Raises ModelTooLarge if there are too many cells.
        """
        levels = self.model.n_levels
        shape = [levels[name] for name in plan.keys]
        if (cells := prod(shape)) > MOST_CELLS:
            raise ModelTooLarge(frozenset(plan.keys), cells, MOST_CELLS)
        asked = (*plan.keys, *([plan.reward] if plan.reward else []))
        found = self.model.log(asked) if self.selected else self.model.distribution(asked)
        shares = found.align(asked).reshape(cells, -1)
        if self.rows is not None:
            shares = share_out(shares, self.rows)
        each = shares.sum(axis=1)
        values = np.zeros(1)
        if plan.reward:
            named = self.levels.get(plan.reward, range(levels[plan.reward]))
            values = np.array(named, dtype=np.float64)
        # A cell of an exact distribution counts as rows with every value of the reward.
        lines = np.full(cells, 2.0) if self.rows is None else each
        numbers = {
            "lines": lines,
            "weighed": lines,
            "weight": each,
            "least_weight": each,
            "most_weight": each,
            "part_weight": each,
            "rewarded": lines,
            "rewarded_weight": each,
            "sums": shares @ values,
            "squares": shares @ values**2,
            "lowest": np.full(cells, values.min()),
            "highest": np.full(cells, values.max()),
        }
        # A flag is a node that may be selection: in an exact log it is always 1.
        numbers |= {f"flag_{i}": np.ones(cells) for i in range(len(plan.flags))}
        codes = np.indices(shape).reshape(len(shape), cells)
        keys = tuple(
            [self.levels[name][i] for i in of.tolist()] if name in self.levels else of
            for name, of in zip(plan.keys, codes, strict=True)
        )
        return Cells(keys, {name: numbers[name] for name in choose_aggregates(plan)})

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the levels of variables."""
        return [self.model.n_levels[name] for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:  # noqa: ARG002, of the protocol
        """Return None: columns of a model have no odd values."""
        return None


def open_expected_log(
    model: SCM,
    rows: int | None = None,
    *,
    selected: bool = True,
    names: Nodes | None = None,
    levels: Mapping[str, tuple[Value, ...]] | None = None,
) -> Log:
    """Open the exact distribution of a model's rows as a log, or its expected counts.

    Parameters
    ----------
    model : SCM
        The model.
    rows : int, optional
        Number of rows; each cell then has its expected count, rounded to whole rows. By default
        an exact distribution.
    selected : bool
        Logged rows, or those of the whole population.
    names : names, optional
        Columns; all observed variables by default.
    levels : mapping, optional
        Values of the levels of variables.

    Examples
    --------
    >>> from boundit.simulation.environments import make_paper_model
    >>> open_expected_log(make_paper_model()).count(["U1"], reward="Y").n.round(4)
    array([0.5559, 0.4441])
    >>> open_expected_log(make_paper_model(), 1000).count(["U1"], reward="Y").n
    array([556., 444.])
    """
    source = ExpectedRows(model, rows, selected, names, levels or {})
    exact = rows is None
    weight = WEIGHT if exact else None
    return Log(source, {}, weight, exact=exact, bins={}, missing="drop")


def share_out(shares: Floats, rows: int) -> Floats:
    """Share out whole rows: each cell gets its expected count, rounded so that the sum is right.

    >>> share_out(np.array([0.26, 0.27, 0.47]), 10)
    array([2., 3., 5.])
    """
    wanted = (shares / shares.sum() * rows).ravel()
    found = np.floor(wanted)
    left = round(rows - float(found.sum()))
    first = np.argsort(found - wanted, kind="stable")[: max(left, 0)]
    found[first] += 1
    return np.asarray(found.reshape(shares.shape), dtype=np.float64)
