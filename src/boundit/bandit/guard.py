"""The bounds a policy believes, and the watch over them."""

import logging
from collections.abc import Sequence
from typing import final

from boundit.bandit.codec import Record, read_table, spelled_table
from boundit.bandit.prior import Entrant, Prior
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable

_log = logging.getLogger(__name__)


@final
class Guard:
    """Bounds with what was seen of them; a contradiction drops the whole table.

    A table is what one graph and one log gave, so that what refutes one row refutes them all.
    """

    def __init__(self, table: BoundTable | None, watch: Watch | None) -> None:
        self.prior, self.watch = Prior(table), watch
        self.refutation: Refutation | None = None
        self.evidence = Tally()

    def entrants(
        self, among: Sequence[Arm], context: Context, *, held: bool
    ) -> Sequence[Entrant]:
        """List the arms, the highest cap first; only one if watching owes it a play."""
        found = self.prior.entrants(among, context, held=held)
        if self.watch is None or not self.watch.plays:
            return found
        owed = [
            (self.evidence[context, e.arm].n, e.place, e)
            for e in found
            if self.prior.bounds_more(e.arm, context)
            and self.evidence[context, e.arm].n < self.watch.plays
        ]
        return (min(owed)[2],) if owed else found

    def observe(self, context: Context, arm: Arm, unit_reward: float) -> None:
        """Hold one reward, on the scale from 0 to 1, against the bound it should obey."""
        if self.watch and self.prior.bounds_more(arm, context):
            self.evidence.add(context, arm, unit_reward)
            self._judge(context, arm)

    def refresh(self, table: BoundTable) -> None:
        """Believe another table, unless what was seen so far contradicts it."""
        self.prior, self.refutation = Prior(table), None
        self._judge_all()

    def joined(self, other: "Guard", shared: "Guard") -> "Guard":
        """Put together what two have seen of the same bounds."""
        guard = Guard(self.prior.table, self.watch)
        guard.evidence = self.evidence.joined(other.evidence, shared.evidence)
        guard._drop(self.refutation or other.refutation)
        guard._judge_all()
        return guard

    def record(self) -> Record:
        """Spell it as a JSON object."""
        return {
            "prior": spelled_table(self.prior.table) if self.prior.table else None,
            "watch": self.watch.record() if self.watch else None,
            "refutation": self.refutation.record() if self.refutation else None,
            "evidence": self.evidence.record(),
        }

    @classmethod
    def read(cls, record: Record) -> "Guard":
        """Read back what ``record`` wrote."""
        guard = cls(
            read_table(record["prior"]) if record["prior"] else None,
            Watch(**record["watch"]) if record["watch"] else None,
        )
        guard.evidence = Tally.read(record["evidence"])
        guard._drop(Refutation.read(record["refutation"]) if record["refutation"] else None)
        return guard

    def _judge_all(self) -> None:
        for context, arm in self.evidence:
            self._judge(context, arm)

    def _judge(self, context: Context, arm: Arm) -> None:
        if self.watch is None or self.refutation:
            return
        found = self.watch.refutes(self.prior, context, arm, self.evidence[context, arm])
        self._drop(found)
        if found:
            _log.warning("%s", found)

    def _drop(self, refutation: Refutation | None) -> None:
        if refutation is not None:
            self.prior = Prior(self.prior.table, dropped=True)
            self.refutation = refutation
