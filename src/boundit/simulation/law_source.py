"""The endless log of a model: whatever columns are counted, their exact law is computed.

The law of all columns of a large model has more cells than any machine holds, but bounds read
few of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from boundit.counts.cells import Cells, ColumnKind, GroupBy, Oddity, choose_aggregates
from boundit.counts.log import Log
from boundit.simulation.errors import ModelTooLarge
from boundit.simulation.model import Model
from boundit.terms.names import sort_names

WEIGHT = "share of rows"
"""The column that says how likely a row is."""
MOST_CELLS = 2**20
"""No law of more cells is counted."""


@dataclass(frozen=True, eq=False)
class LawSource:
    """The exact law of the rows that a model logs, as a source of rows with their chances."""

    model: Model
    label: str = "the model's endless log"

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The model's observed variables and the chance of a row: all numbers.

        Read by ``Log.names`` and the checks of ``Log``.
        """
        return dict.fromkeys(
            [*sort_names(self.model.graph.observed), WEIGHT], ColumnKind.NUMBERS
        )

    def group(self, plan: GroupBy) -> Cells:
        """Compute how likely each combination of the keys is among the logged rows.

        A cell is as two rows would be, of which one has the reward 1 and one the reward 0.
        Called by ``Log.count``. Raises ModelTooLarge when there are too many cells.
        """
        levels = self.model.n_levels
        shape = [levels[name] for name in plan.keys]
        if (cells := prod(shape)) > MOST_CELLS:
            raise ModelTooLarge(frozenset(plan.keys), cells, MOST_CELLS)
        asked = (*plan.keys, *([plan.reward] if plan.reward else []))
        law = self.model.log(asked).align(asked).reshape(cells, -1)
        chances, paid = law.sum(axis=1), law[:, -1]
        numbers = {
            "lines": np.full(cells, 2.0),
            "weighed": np.full(cells, 2.0),
            "weight": chances,
            "least_weight": chances,
            "most_weight": chances,
            "part_weight": chances,
            "rewarded": np.full(cells, 2.0),
            "rewarded_weight": chances,
            "sums": paid,
            "squares": paid,
            "lowest": np.zeros(cells),
            "highest": np.ones(cells),
        }
        # Of nodes that may be selection, no exact law of more than one level is always 1.
        numbers |= {f"flag_{i}": np.ones(cells) for i in range(len(plan.flags))}
        codes = np.indices(shape).reshape(len(shape), cells)
        return Cells(tuple(codes), {name: numbers[name] for name in choose_aggregates(plan)})

    def count_levels(self, columns: Sequence[str]) -> list[int]:
        """Look up how many levels each variable of the model has.

        Called by ``Log.count_levels``.
        """
        return [self.model.n_levels[name] for name in columns]

    def find_oddity(self, column: str) -> Oddity | None:  # noqa: ARG002, of the protocol
        """Find nothing: the columns of a model are numbers.

        Called by ``Log._check_may_be_summed`` of any source.
        """
        return None


def open_endless_log(model: Model) -> Log:
    """Open a model's exact law as a log whose columns are counted by elimination.

    Called by ``_judge_world`` for bounds without sampling error.

    >>> from boundit.simulation.worlds import make_paper_model
    >>> table = open_endless_log(make_paper_model()).count(["U1"], reward="Y")
    >>> table.n.round(4)
    array([0.5559, 0.4441])
    """
    return Log(LawSource(model), {}, WEIGHT, exact=True, bins={}, nulls="drop")
