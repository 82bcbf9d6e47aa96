"""How often each arm was played in each context, and what it earned: statistics that add up."""

from collections.abc import Iterator
from typing import NamedTuple, cast, final

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.count_rows import count_rewards
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.many.rewards import RewardBatch
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
        """The average of the rewards; read by ``Watch.refutes`` once an arm was played."""
        return self.total / self.n


_EMPTY = ArmCount()


@final
class ArmCounts:
    """A count and a sum for every pair that was played, in one array with a row for each.

    Row 0 stays empty: it stands for whatever was never played.

    >>> counts = ArmCounts()
    >>> counts.add((), ("A",), 1.0)
    >>> counts[(), ("A",)], counts.count_rounds(())
    (ArmCount(n=1, total=1.0), 1)
    """

    def __init__(self) -> None:
        self.rows: Floats = np.zeros((8, 2))
        self._row_of: dict[tuple[Context, Arm], int] = {}
        self._rounds: dict[Context, int] = {}
        self._n_arms: dict[Context, int] = {}
        self._score_tables: dict[Context, tuple[RankedArms, int, Floats]] = {}
        self._numbers = _view_numbers(self.rows)

    def __getitem__(self, pair: tuple[Context, Arm]) -> ArmCount:
        row = self._row_of.get(pair)
        if not row:
            return _EMPTY
        n, total = self.rows[row].tolist()
        return ArmCount(int(n), total)

    def __iter__(self) -> Iterator[tuple[Context, Arm]]:
        return iter(self._row_of)

    def __contains__(self, pair: tuple[Context, Arm]) -> bool:
        return pair in self._row_of

    def make_score_table(self, context: Context, ranked_arms: RankedArms) -> Floats:
        """Make the score table of a context's arms, each with the place of its counts.

        Kernels score arms in it. The same arms get the same table until another arm of the
        context is played.
        """
        played = self._n_arms.get(context, 0)
        known = self._score_tables.get(context)
        if known and known[0] is ranked_arms and known[1] == played:
            return known[2]
        score_table = ranked_arms.blank_table.copy()
        score_table[:, STATISTICS] = [
            self._row_of.get((context, e.arm), 0) for e in ranked_arms
        ]
        if played:
            self._score_tables[context] = ranked_arms, played, score_table
        return score_table

    def count_plays(self, context: Context, ranked_arms: RankedArms) -> Floats:
        """Count how often each of some arms was played in one context; gives an array."""
        rows = self.make_score_table(context, ranked_arms)[:, STATISTICS].astype(np.int64)
        return np.ascontiguousarray(self.rows[rows, 0])

    def count_rounds(self, context: Context) -> int:
        """Count the rewards that came from this context, whatever the arm."""
        return self._rounds.get(context, 0)

    def take(self, decision: Decision, reward: float) -> None:
        """Learn one reward of UCB, KLUCB or TS: count it for the decision's arm and context."""
        self._add_count(decision.context, decision.arm, 1, reward)

    def take_many(self, batch: RewardBatch) -> None:
        """Learn several rewards of UCB, KLUCB or TS in their order."""
        rows = np.empty(len(batch.kinds), np.int64)
        for i, kind in enumerate(batch.kinds):
            context, arm = kind.context, kind.arm
            rows[i] = self._row_of.get((context, arm)) or self._append_row(context, arm)
        for kind, n in zip(batch.kinds, np.bincount(batch.places).tolist(), strict=True):
            self._rounds[kind.context] = self.count_rounds(kind.context) + n
        count_rewards(self.rows, rows, batch.places, batch.rewards)

    def add(self, context: Context, arm: Arm, reward: float) -> None:
        """Count one reward of an arm in a context."""
        self._add_count(context, arm, 1, reward)

    def join(self, other: "ArmCounts", shared: "ArmCounts") -> "ArmCounts":
        """Add up the counts of two policies; those in ``shared`` are in both and count once."""
        result = ArmCounts()
        for pair in dict.fromkeys((*self, *other)):
            one, two, base = self[pair], other[pair], shared[pair]
            n, total = one.n + two.n - base.n, one.total + two.total - base.total
            result._add_count(pair[0], pair[1], n, total)
        return result

    def to_record(self) -> list[list[object]]:
        """Write context, arm, count and sum of every pair for JSON."""
        return [
            [encode_values(context), encode_values(arm), count.n, count.total]
            for context, arm in self
            for count in (self[context, arm],)
        ]

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:  # noqa: ARG002
        """Give no features, as counting needs none; called by ``BasePolicy._explore_arms``."""
        return ()

    def settings(self) -> Record:
        """Give no options, as counting has none; called by ``BasePolicy.state``."""
        return {}

    def fresh(self, spec: BanditSpec) -> "ArmCounts":  # noqa: ARG002, pairs are pairs
        """Make empty counts; called by ``BasePolicy.fresh`` for a new policy."""
        return ArmCounts()

    def widen(self, spec: BanditSpec) -> "ArmCounts":  # noqa: ARG002, pairs are pairs
        """Give the same counts, as new arms and levels have none of their own yet."""
        return self

    def restore(self, record: list[list[object]], spec: BanditSpec) -> "ArmCounts":  # noqa: ARG002
        """Read the counts that ``to_record`` wrote; called by ``BasePolicy.restore``."""
        return ArmCounts.from_record(record)

    @classmethod
    def from_record(cls, record: list[list[object]]) -> "ArmCounts":
        """Read the counts that ``to_record`` wrote."""
        counts = cls()
        for context, arm, n, total in record:
            if not (isinstance(context, list) and isinstance(arm, list) and isinstance(n, int)):
                raise TypeError("a cell is no cell")
            if n < 1 or not isinstance(total, int | float):
                raise ValueError("a cell has no count or sum")
            counts._add_count(decode_values(context), decode_values(arm), n, float(total))
        return counts

    def _add_count(self, context: Context, arm: Arm, n: int, total: float) -> None:
        """Add a number of rewards and their sum to those of an arm in a context."""
        row = self._row_of.get((context, arm)) or self._append_row(context, arm)
        self._numbers[2 * row] += n
        self._numbers[2 * row + 1] += total
        self._rounds[context] = self._rounds.get(context, 0) + n

    def _append_row(self, context: Context, arm: Arm) -> int:
        """Give an arm its own row of counts in a context where it was never played.

        Gives the number of the row; the array doubles when it is full.
        """
        row = len(self._row_of) + 1
        if row == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self._numbers = _view_numbers(self.rows)
        self._row_of[context, arm] = row
        self._n_arms[context] = self._n_arms.get(context, 0) + 1
        return row

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_score_tables": {}, "_numbers": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._numbers = _view_numbers(self.rows)


def _view_numbers(rows: Floats) -> "memoryview[float]":
    """View an array as its numbers one after the other, to change one in half of NumPy's time."""
    return cast("memoryview[float]", rows.reshape(-1).data)
