"""What a round showed of a plan's variables, as the leaf it ended in or those left open."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.errors import BadObservation
from boundit.terms.bound_errors import OutsideDomain
from boundit.terms.fused_plan import FusedPlan
from boundit.terms.scalars import unwrap_scalar

if TYPE_CHECKING:
    from boundit.terms.bound import Value


@final
class LeafReader:
    """Finds the leaf of what rounds show; every combination is worked out once.

    ``leaves`` has the place of each combination of values of the plan's variables.

    >>> from boundit.terms.fused_plan import Factor
    >>> factor = Factor(("W",), ((0,), (1,)), ((0,),), ((0, 0),))
    >>> plan = FusedPlan((((0,), ()),), (factor,), ((0, 1),), (5, 1), (1.0, 0.5))
    >>> LeafReader(plan).read({"W": 1})[0], LeafReader(plan).read(None)[0]
    (1, -1)
    """

    def __init__(self, plan: FusedPlan) -> None:
        self.variables = plan.variables
        combinations = product(*(factor.cells for factor in plan.factors))
        joined = (tuple(value for cell in cells for value in cell) for cells in combinations)
        self.leaves: dict[tuple[Value, ...], int] = {
            values: leaf for leaf, values in enumerate(joined)
        }
        self._levels = {
            name: tuple(dict.fromkeys(values[i] for values in self.leaves))
            for i, name in enumerate(self.variables)
        }
        self._anything = np.ones(len(self.leaves), np.bool_)

    def read(self, observed: Mapping[str, object] | None) -> tuple[int, NDArray[np.bool_]]:
        """Find the leaf that a round showed, -1 if not all, and the leaves that it left open.

        None stands for what was not seen; a value that the plan does not know is refused.
        """
        if not self.variables:
            return 0, self._anything
        if observed is None:
            return -1, self._anything
        if not isinstance(observed, Mapping):
            raise BadObservation(observed)
        try:
            return self.leaves[tuple([observed[name] for name in self.variables])], (
                self._anything
            )
        except (KeyError, TypeError):
            return self._read_some(observed)

    def _read_some(self, observed: Mapping[str, object]) -> tuple[int, NDArray[np.bool_]]:
        """Find the leaves that fit values of some of the variables, or raise."""
        seen = {
            i: unwrap_scalar(observed[name])
            for i, name in enumerate(self.variables)
            if observed.get(name) is not None
        }
        for i, value in seen.items():
            name = self.variables[i]
            if value not in self._levels[name]:
                raise OutsideDomain(name, value, self._levels[name])
        fits = np.array(
            [all(values[i] == value for i, value in seen.items()) for values in self.leaves]
        )
        found = np.flatnonzero(fits)
        return (int(found[0]) if len(found) == 1 else -1), fits
