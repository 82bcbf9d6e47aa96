"""The expected log of a model, whose columns are counted by variable elimination.

The joint distribution of a large model has too many cells, but bounds read few columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from boundit.core.names import sort_names
from boundit.counts.log import Log
from boundit.counts.sources import Cells, ColumnKind, GroupBy, Oddity, choose_aggregates
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.scm import SCM

WEIGHT = "share of rows"
"""Column with the probability of a row."""
MOST_CELLS = 2**20
"""Most cells of a distribution."""


@dataclass(frozen=True, eq=False)
class ExpectedRows:
    """The exact distribution of a model's logged rows as a source of a log."""

    model: SCM
    label: str = "the expected log"

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The observed variables and the probability of a row."""
        names = sort_names(self.model.graph.observed)
        return dict.fromkeys([*names, WEIGHT], ColumnKind.NUMBERS)

    def group(self, plan: GroupBy) -> Cells:
        """Compute the share of rows with each value of the keys.

        A cell is as two rows would be, of which one has the reward 1 and one the reward 0.
        Raises ModelTooLarge if there are too many cells.
        """
        levels = self.model.n_levels
        shape = [levels[name] for name in plan.keys]
        if (cells := prod(shape)) > MOST_CELLS:
            raise ModelTooLarge(frozenset(plan.keys), cells, MOST_CELLS)
        asked = (*plan.keys, *([plan.reward] if plan.reward else []))
        shares = self.model.log(asked).align(asked).reshape(cells, -1)
        each, paid, lines = shares.sum(axis=1), shares[:, -1], np.full(cells, 2.0)
        numbers = {
            "lines": lines,
            "weighed": lines,
            "weight": each,
            "least_weight": each,
            "most_weight": each,
            "part_weight": each,
            "rewarded": lines,
            "rewarded_weight": each,
            "sums": paid,
            "squares": paid,
            "lowest": np.zeros(cells),
            "highest": np.ones(cells),
        }
        # A flag is a node that may be selection: in an exact log it is always 1.
        numbers |= {f"flag_{i}": np.ones(cells) for i in range(len(plan.flags))}
        keys = tuple(np.indices(shape).reshape(len(shape), cells))
        return Cells(keys, {name: numbers[name] for name in choose_aggregates(plan)})

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Count the levels of variables."""
        return [self.model.n_levels[name] for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:  # noqa: ARG002, of the protocol
        """Return None: columns of a model have no odd values."""
        return None


def open_expected_log(model: SCM) -> Log:
    """Open the exact distribution of a model's logged rows as a log.

    >>> from boundit.simulation.environments import make_paper_model
    >>> open_expected_log(make_paper_model()).count(["U1"], reward="Y").n.round(4)
    array([0.5559, 0.4441])
    """
    return Log(ExpectedRows(model), {}, WEIGHT, exact=True, bins={}, missing="drop")
