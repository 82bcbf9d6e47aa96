"""How often each arm was played in each context, and what it earned: statistics that add up."""

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context


class ArmCount(NamedTuple):
    """Rewards of one arm in one context: how many, and their sum."""

    n: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        """What it earned on average; there must be something."""
        return self.total / self.n


_EMPTY = ArmCount()


@final
class ArmCounts:
    """A count and a sum for every pair that was played, in one array with a slot for each.

    Slot 0 stays empty: it stands for whatever was never played.

    >>> tally = ArmCounts()
    >>> tally.add((), ("A",), 1.0)
    >>> tally[(), ("A",)], tally.plays(())
    (ArmCount(n=1, total=1.0), 1)
    """

    def __init__(self) -> None:
        self.rows: Floats = np.zeros((8, 2))
        self._slots: dict[tuple[Context, Arm], int] = {}
        self._plays: dict[Context, int] = {}
        self._arms: dict[Context, int] = {}
        self._sheets: dict[Context, tuple[RankedArms, int, Floats]] = {}

    def __getitem__(self, pair: tuple[Context, Arm]) -> ArmCount:
        slot = self._slots.get(pair)
        if not slot:
            return _EMPTY
        n, total = self.rows[slot].tolist()
        return ArmCount(int(n), total)

    def __iter__(self) -> Iterator[tuple[Context, Arm]]:
        return iter(self._slots)

    def sheet(self, context: Context, lineup: RankedArms) -> Floats:
        """The sheet of some arms in one context, with the slots of their cells."""
        played = self._arms.get(context, 0)
        known = self._sheets.get(context)
        if known and known[0] is lineup and known[1] == played:
            return known[2]
        sheet = lineup.blank_table.copy()
        sheet[:, STATISTICS] = [self._slots.get((context, e.arm), 0) for e in lineup]
        if played:
            self._sheets[context] = lineup, played, sheet
        return sheet

    def counts(self, context: Context, lineup: RankedArms) -> Floats:
        """How often some arms were played in one context."""
        slots = self.sheet(context, lineup)[:, STATISTICS].astype(np.int64)
        return np.ascontiguousarray(self.rows[slots, 0])

    def plays(self, context: Context) -> int:
        """How many rewards came from this context, whatever the arm."""
        return self._plays.get(context, 0)

    def add(self, context: Context, arm: Arm, reward: float) -> None:
        """Take in one reward."""
        self._put(context, arm, ArmCount(1, reward))

    def join(self, other: "ArmCounts", shared: "ArmCounts") -> "ArmCounts":
        """Put two tallies together; what is in ``shared`` is in both and counts once."""
        result = ArmCounts()
        for pair in dict.fromkeys((*self, *other)):
            one, two, base = self[pair], other[pair], shared[pair]
            cell = ArmCount(one.n + two.n - base.n, one.total + two.total - base.total)
            result._put(pair[0], pair[1], cell)
        return result

    def to_record(self) -> list[list[object]]:
        """Spell it for JSON."""
        return [
            [encode_values(context), encode_values(arm), cell.n, cell.total]
            for context, arm in self
            for cell in (self[context, arm],)
        ]

    def settings(self) -> Record:
        """There are none."""
        return {}

    def fresh(self, scene: BanditSpec) -> "ArmCounts":  # noqa: ARG002, pairs are pairs
        """An empty one."""
        return ArmCounts()

    def restore(self, record: list[list[object]], scene: BanditSpec) -> "ArmCounts":  # noqa: ARG002
        """Read back what ``record`` wrote."""
        return ArmCounts.from_record(record)

    @classmethod
    def from_record(cls, record: list[list[object]]) -> "ArmCounts":
        """Read back what ``record`` wrote."""
        tally = cls()
        for context, arm, n, total in record:
            if not (isinstance(context, list) and isinstance(arm, list) and isinstance(n, int)):
                raise TypeError("a cell is no cell")
            if n < 1 or not isinstance(total, int | float):
                raise ValueError("a cell has no count or sum")
            tally._put(decode_values(context), decode_values(arm), ArmCount(n, float(total)))
        return tally

    def _put(self, context: Context, arm: Arm, cell: ArmCount) -> None:
        slot = self._slots.get((context, arm)) or self._new_slot(context, arm)
        self.rows[slot, 0] += cell.n
        self.rows[slot, 1] += cell.total
        self._plays[context] = self.plays(context) + cell.n

    def _new_slot(self, context: Context, arm: Arm) -> int:
        slot = len(self._slots) + 1
        if slot == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self._slots[context, arm] = slot
        self._arms[context] = self._arms.get(context, 0) + 1
        return slot

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_sheets": {}}
