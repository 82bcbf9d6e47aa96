"""Starting from point estimates of a log: the paper's LinUCB_CP and LinUCB_Biased.

The paper says that these are initialised with the estimate of each arm and context, and leaves
open with what weight; the outcome depends on it. Here the weight is a number of pseudo-rows for
each cell, said out loud, or the number of rows the log has in the cell.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.ridge import Ridge
from boundit.bandit.options import read_positive
from boundit.bandit.serialization import Record
from boundit.terms.bound import Arm
from boundit.terms.bound_table import BoundTable


@final
@dataclass(frozen=True)
class WarmStart:
    """Estimates of each arm in each context, and how many rewards each is worth.

    ``estimates`` is a table of points, such as ``condition_only`` (CP) and
    ``adjust_for_confounding_only`` (Biased) give; cells without a point are left out. ``rows``
    is the number of pseudo-rows for each cell, or ``"counts"`` for the log's own numbers.
    """

    estimates: BoundTable
    rows: float | Literal["counts"]

    def __post_init__(self) -> None:
        if not isinstance(self.estimates, BoundTable):
            raise BadOption("estimates", "a BoundTable of points", self.estimates)
        if self.rows != "counts":
            read_positive("rows", self.rows)

    @cached_property
    def arms(self) -> frozenset[Arm]:
        """The arms that there are estimates of; read by ``RidgeModels.find_slot``."""
        return frozenset(self.estimates.arms)

    def start(
        self, encoding: FeatureEncoding, arm: Arm | None, n_features: int, ridge: float
    ) -> Ridge:
        """Make the ridge model that an arm starts from: fitted to the estimates of it.

        Of all arms when ``arm`` is None.
        """
        gram, moments = ridge * np.eye(n_features), np.zeros(n_features)
        for (played, context), bound in self.estimates.bounds.items():
            if arm not in (None, played) or bound.lower_estimate != bound.upper_estimate:
                continue
            weight = bound.n if self.rows == "counts" else self.rows
            x = encoding.encode(context, played)
            gram += weight * np.outer(x, x)
            moments += weight * bound.lower_estimate * x
        return Ridge.from_statistics(gram, moments)

    def to_record(self) -> Record:
        """Write estimates and rows as a JSON object; called by ``RidgeSettings.to_record``."""
        return {"estimates": self.estimates.record(), "rows": self.rows}

    @classmethod
    def from_record(cls, record: Record) -> "WarmStart":
        """Read the warm start that ``to_record`` wrote."""
        return cls(BoundTable.from_record(record["estimates"]), record["rows"])
