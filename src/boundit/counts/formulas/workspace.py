"""What an evaluation may use, memory and time; what would not fit is refused beforehand."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, final

from boundit.counts.errors import TooLarge
from boundit.counts.memory import read_memory_limit
from boundit.terms.errors import OutOfTime
from boundit.terms.long_work import FOR_EVER, TimeBudget

COPIES: Final = 8
"""How many arrays of the largest size are there at once: both ends, products, what is kept."""
_BYTES: Final = 8  # of a float
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """How many bytes the arrays of an evaluation may take, and until when it may go on."""

    memory_limit: int
    budget: TimeBudget = FOR_EVER

    @classmethod
    def make_default(cls) -> "Workspace":
        """Make the workspace of somebody who set no limits: a quarter of the machine's memory."""
        return cls(read_memory_limit(None))

    @property
    def most_cells(self) -> int:
        """How many cells an array may have, so that all that is there at once fits."""
        return self.memory_limit // (_BYTES * COPIES)

    def require_cells(self, cells: int, names: Iterable[str]) -> None:
        """Refuse an array of so many cells over some variables, before it is made."""
        if cells > self.most_cells:
            raise TooLarge(names, cells, self.most_cells, option="memory_limit")

    def require_time(self) -> None:
        """Refuse to go on once the time is over."""
        if self.budget.is_over():
            raise OutOfTime


@final
class KeptArrays(Generic[Key, Value]):
    """What was computed once and may be asked for again, as long as there is room for it.

    Once the arrays kept have more cells than one array may have, all of them are dropped.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kept: dict[Key, Value] = {}
        self._cells = 0

    def get(
        self, key: Key, make: Callable[[], Value], measure: Callable[[Value], int]
    ) -> Value:
        """Return what is kept under a key, or make it, ``measure`` its cells and keep it."""
        if key not in self._kept:
            made = make()
            self._cells += measure(made)
            if self._cells > self._workspace.most_cells:
                self._kept.clear()
                self._cells = measure(made)
            self._kept[key] = made
        return self._kept[key]
