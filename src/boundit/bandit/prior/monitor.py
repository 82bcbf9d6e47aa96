"""The bounds in force: believed until rewards refute them, then dropped."""

import logging
from collections.abc import Sequence
from copy import deepcopy
from typing import final

from boundit.bandit.errors import BadOption
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.watch import Refutation, Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.saving.codec import decode, encode

_log = logging.getLogger(__name__)


@final
class BoundMonitor:
    """Bounds with what was seen of them; a contradiction drops the whole table.

    A table is what one graph and one log gave, so that what refutes one row refutes them all.
    """

    def __init__(self, table: BoundTable | None, watch: Watch | None) -> None:
        self.watch, self.prior = watch, PriorBounds(table)
        self.refutation: Refutation | None = None
        self.evidence = ArmCounts()

    def copy(self) -> "BoundMonitor":
        """Copy what was seen; the table, which never changes, is the same."""
        return deepcopy(self, {id(self.prior.table): self.prior.table})

    @classmethod
    def of(cls, prior: BoundTable | None, *, watch: bool | Watch) -> "BoundMonitor":
        """Make the monitor of a policy's bounds from ``prior`` and ``watch``."""
        if not isinstance(watch, bool | Watch):
            raise BadOption("watch", "True, False or a Watch", watch)
        chosen = watch if isinstance(watch, Watch) else Watch() if watch else None
        return cls(prior, chosen)

    def fresh(self) -> "BoundMonitor":
        """Make a monitor of the same table that has seen no reward."""
        return BoundMonitor(self.prior.table, self.watch)

    def rank(
        self,
        arms: Sequence[Arm],
        context: Context,
        held: bool,  # noqa: FBT001, a word takes time
    ) -> RankedArms:
        """Rank the arms of one visitor, the highest upper end first.

        Only one arm is given if ``watch`` demands that it be played first, to test its bound.
        ``held`` says that they are all arms of the policy.
        """
        found, watch = self.prior.rank(arms, context, held), self.watch
        if watch is None or not watch.plays:
            return found
        owed = [
            (self.evidence[context, ranked.arm].n, ranked.place, ranked)
            for ranked in (*found, *found.beaten)
            if (ranked.arm, context) in self.prior.informative
            and self.evidence[context, ranked.arm].n < watch.plays
        ]
        return RankedArms((min(owed)[2],)) if owed else found

    def describe(self) -> str:
        """Say in a few words how many bounds a policy has, and whether refuted."""
        table = self.prior.table
        bounds = "no bounds" if table is None else f"{len(table.bounds)} bounds"
        return f"{bounds}, refuted" if self.refutation else bounds

    def watch_reward(self, context: Context, arm: Arm, reward: float) -> None:
        """Count one reward for its arm and context, and drop all bounds if it refutes theirs."""
        table = self.prior.binding
        if self.watch and table and (arm, context) in self.prior.informative:
            low, high = table.outcome_range
            # Evidence is kept on the scale from 0 to 1.
            self.evidence.add(context, arm, min(max((reward - low) / (high - low), 0.0), 1.0))
            self._judge(context, arm)

    def refresh(self, table: BoundTable) -> None:
        """Believe another table of bounds, unless rewards so far contradict it."""
        self.prior, self.refutation = PriorBounds(table), None
        self.judge_all()

    def join(self, other: "BoundMonitor", shared: "BoundMonitor") -> "BoundMonitor":
        """Make a monitor with the rewards of both policies to be merged.

        What ``shared`` has seen is in both and counts once.
        """
        monitor = self.fresh()
        monitor.evidence = self.evidence.join(other.evidence, shared.evidence)
        monitor.drop(self.refutation or other.refutation)
        monitor.judge_all()
        return monitor

    def to_record(self) -> Record:
        """Write bounds, watch and evidence as a JSON object; called by ``BasePolicy.state``."""
        return {
            "prior": self.prior.table.record() if self.prior.table else None,
            "watch": encode(self.watch, Watch | None),
            "refutation": encode(self.refutation, Refutation | None),
            "evidence": self.evidence.to_record(),
        }

    @classmethod
    def from_record(cls, record: Record) -> "BoundMonitor":
        """Read the monitor that ``to_record`` wrote; called by ``BasePolicy.restore``."""
        monitor = cls(
            BoundTable.from_record(record["prior"]) if record["prior"] else None,
            decode(Watch | None, record["watch"]),
        )
        monitor.evidence = ArmCounts.from_record(record["evidence"])
        monitor.drop(decode(Refutation | None, record["refutation"]))
        return monitor

    def judge_all(self) -> None:
        """Judge the bounds by all rewards so far, and drop them if refuted."""
        for context, arm in self.evidence:
            self._judge(context, arm)

    def _judge(self, context: Context, arm: Arm) -> None:
        """Drop all bounds if the rewards of an arm in a context refute the bound of that pair."""
        if self.watch is None or self.refutation:
            return
        found = self.watch.refutes(self.prior, context, arm, self.evidence[context, arm])
        self.drop(found, warn=True)

    def drop(self, refutation: Refutation | None, *, warn: bool = False) -> None:
        """Stop believing all bounds and keep the refutation; nothing happens if that is None."""
        if refutation is None:
            return
        self.prior = PriorBounds(self.prior.table, dropped=True)
        self.refutation = refutation
        if warn:
            _log.warning("%s", refutation.write_without_context())
            _log.debug("%s", refutation)
