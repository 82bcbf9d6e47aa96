"""The bounds a policy believes, and the watch over them."""

import logging
from collections.abc import Mapping, Sequence
from typing import final

from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.level_codec import Record
from boundit.bandit.options import chance
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.narrowing import Cells, NarrowingBounds
from boundit.bandit.prior.watch import Refutation, Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.living import Living

LIVING = 0.05
"""The chance that bounds narrowed online ever miss, unless told."""
_log = logging.getLogger(__name__)


@final
class BoundMonitor:
    """Bounds with what was seen of them; a contradiction drops the whole table.

    A table is what one graph and one log gave, so that what refutes one row refutes them all.
    ``living`` is the chance that ends narrowed online ever miss.
    """

    def __init__(
        self, table: BoundTable | None, watch: Watch | None, living: float = LIVING
    ) -> None:
        self.watch, self.living = watch, living
        self.ends = NarrowingBounds(table, living) if table and table.living else None
        self.prior = PriorBounds(table, living=self.ends)
        self.refutation: Refutation | None = None
        self.evidence = ArmCounts()

    def entrants(self, among: Sequence[Arm], context: Context, *, held: bool) -> RankedArms:
        """List the arms, the highest cap first; only one if watching owes it a play."""
        found = self.prior.entrants(among, context, held=held)
        if self.watch is None or not self.watch.plays:
            return found
        owed = [
            (self.evidence[context, e.arm].n, e.place, e)
            for e in (*found, *found.beaten)
            if self.prior.bounds_more(e.arm, context)
            and self.evidence[context, e.arm].n < self.watch.plays
        ]
        return RankedArms((min(owed)[2],)) if owed else found

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that narrow the bounds online; none once these are dropped."""
        return self.ends.variables if self.ends and not self.prior.dropped else ()

    def read_observed(self, observed: Mapping[str, object] | None) -> Cells:
        """Read what was observed as far as it can narrow anything."""
        return () if observed is None or self.ends is None else self.ends.read(observed)

    def see(self, context: Context, arm: Arm, cells: Cells) -> None:
        """Narrow the bounds by what a round showed; what cannot be drops them."""
        if self.ends is None or self.prior.dropped:
            return
        came = self.ends.see(arm, context, cells)
        if isinstance(came, Living):
            self._drop(self._living_refutation(came, context, arm), told=True)
        else:
            self.prior.forget(came)

    def observe(self, context: Context, arm: Arm, unit_reward: float) -> None:
        """Hold one reward, on the scale from 0 to 1, against the bound it should obey."""
        if self.watch and self.prior.bounds_more(arm, context):
            self.evidence.add(context, arm, unit_reward)
            self._judge(context, arm)

    def refresh(self, table: BoundTable) -> None:
        """Believe another table, unless what was seen so far contradicts it."""
        old, self.refutation = self.ends, None
        self.ends = NarrowingBounds(table, self.living) if table.living else None
        if old and self.ends:
            self.ends = old.resumed(table)
        self.prior = PriorBounds(table, living=self.ends)
        self._judge_all()

    def joined(self, other: "BoundMonitor", shared: "BoundMonitor") -> "BoundMonitor":
        """Put together what two have seen of the same bounds."""
        table = self.prior.table
        guard = BoundMonitor(table, self.watch, self.living)
        guard.evidence = self.evidence.joined(other.evidence, shared.evidence)
        if table and self.ends and other.ends:
            base = shared.ends or NarrowingBounds(table, self.living)
            guard.ends = self.ends.joined(other.ends, base, table)
            guard.prior = PriorBounds(table, living=guard.ends)
        guard._drop(self.refutation or other.refutation)
        guard._judge_all()
        return guard

    def record(self) -> Record:
        """Spell it as a JSON object."""
        return {
            "prior": self.prior.table.record() if self.prior.table else None,
            "watch": self.watch.record() if self.watch else None,
            "refutation": self.refutation.record() if self.refutation else None,
            "evidence": self.evidence.record(),
            "living": self.living,
            "observed": self.ends.record() if self.ends else None,
        }

    @classmethod
    def read(cls, record: Record) -> "BoundMonitor":
        """Read back what ``record`` wrote."""
        guard = cls(
            BoundTable.from_record(record["prior"]) if record["prior"] else None,
            Watch(**record["watch"]) if record["watch"] else None,
            chance("living", record.get("living", LIVING)),
        )
        if guard.ends and record.get("observed"):
            guard.ends.restore(record["observed"])
        guard.evidence = ArmCounts.read(record["evidence"])
        guard._drop(Refutation.read(record["refutation"]) if record["refutation"] else None)
        return guard

    def _judge_all(self) -> None:
        for context, arm in self.evidence:
            self._judge(context, arm)
        plan = self.ends.settled() if self.ends and not self.refutation else None
        if plan is not None:
            arm, context = next(iter(plan.pools))
            self._drop(self._living_refutation(plan, context, arm), told=True)

    def _living_refutation(self, plan: Living, context: Context, arm: Arm) -> Refutation:
        table, n = self.prior.table, 0
        if table is None or self.ends is None:
            raise ValueError("there is nothing to refute")
        n = self.ends.n_of(plan, arm, context)
        # The bounds of the table and those of the cells each hold with its confidence.
        level = self.living + (2 * (1 - table.confidence) if table.confidence else 0.0)
        bound = table[arm, context]
        return Refutation(arm, context, bound, n, None, level, plan.variables)

    def _judge(self, context: Context, arm: Arm) -> None:
        if self.watch is None or self.refutation:
            return
        found = self.watch.refutes(self.prior, context, arm, self.evidence[context, arm])
        self._drop(found, told=True)

    def _drop(self, refutation: Refutation | None, *, told: bool = False) -> None:
        if refutation is None:
            return
        self.prior = PriorBounds(self.prior.table, dropped=True)
        self.refutation = refutation
        if told:
            _log.warning("%s", refutation)
