"""What an evaluation may use, memory and time; what would not fit is refused beforehand."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from boundit.counts.errors import TooLarge
from boundit.counts.memory import read_memory_limit
from boundit.terms.errors import OutOfTime
from boundit.terms.long_work import FOR_EVER, TimeBudget

COPIES: Final = 4
"""How many arrays of the largest size are there at once: both ends, a product and a sum."""
_BYTES: Final = 8  # of a float


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """How many bytes the arrays of an evaluation may take, and until when it may go on."""

    memory_limit: int
    budget: TimeBudget = FOR_EVER

    @classmethod
    def make_default(cls) -> "Workspace":
        """Make the workspace of somebody who set no limits: a quarter of the machine's memory.

        Called by ``Evaluator`` and ``ConfidentNumbers`` where they get none.
        """
        return cls(read_memory_limit(None))

    @property
    def most_cells(self) -> int:
        """How many cells an array may have, so that all that is there at once fits.

        Read by ``Workspace.require_cells``.
        """
        return self.memory_limit // (_BYTES * COPIES)

    def require_cells(self, cells: int, names: Iterable[str]) -> None:
        """Refuse an array of so many cells over some variables, before it is made.

        Called by ``eliminate`` and ``multiply_out`` before they multiply, by
        ``FormulaEvaluation.compute`` for its answer, and by rules for arrays of their own.
        """
        if cells > self.most_cells:
            raise TooLarge(names, cells, self.most_cells, option="memory_limit")

    def require_time(self) -> None:
        """Refuse to go on once the time is over.

        Called by ``eliminate`` before each variable, and before each rule.
        """
        if self.budget.is_over():
            raise OutOfTime
