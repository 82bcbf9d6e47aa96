"""The bounds in force: believed, narrowed by what rounds show, dropped once refuted."""

import logging
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import final

from boundit.bandit.errors import BadOption
from boundit.bandit.learned.arm_counts import ArmCounts
from boundit.bandit.options import read_chance
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.narrowing import Cells, NarrowingBounds
from boundit.bandit.prior.watch import Refutation, Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable
from boundit.terms.living import Living
from boundit.terms.saving.codec import decode, encode

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
        self.narrowing = NarrowingBounds(table, living) if table and table.living else None
        self.prior = PriorBounds(table, narrowing=self.narrowing)
        self.refutation: Refutation | None = None
        self.evidence = ArmCounts()

    def copy(self) -> "BoundMonitor":
        """Copy what was seen; the table, which never changes, is the same.

        Called by ``BasePolicy._learn_in_turn``.
        """
        table = self.prior.table
        parts = (table, *table.living) if table else ()
        return deepcopy(self, {id(part): part for part in parts})

    @classmethod
    def of(
        cls, prior: BoundTable | None, *, watch: bool | Watch, living: float
    ) -> "BoundMonitor":
        """Make the monitor of a policy's bounds from ``prior``, ``watch`` and ``living``.

        Called by ``LinUCB.__init__`` and the constructors of the others.
        """
        if not isinstance(watch, bool | Watch):
            raise BadOption("watch", "True, False or a Watch", watch)
        chosen = watch if isinstance(watch, Watch) else Watch() if watch else None
        return cls(prior, chosen, read_chance("living", living))

    def fresh(self) -> "BoundMonitor":
        """Make a monitor of the same table that has seen no reward or observation.

        Called by ``BasePolicy.fresh``, ``BoundMonitor.join`` and ``LinUCB.play_batch``.
        """
        return BoundMonitor(self.prior.table, self.watch, self.living)

    def rank(
        self,
        arms: Sequence[Arm],
        context: Context,
        held: bool,  # noqa: FBT001, a word takes time
    ) -> RankedArms:
        """Rank the arms of one visitor, the highest upper end first.

        Only one arm is given if ``watch`` demands that it be played first, to test its bound.
        ``held`` says that they are all arms of the policy. Called by ``BasePolicy.decide``.
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
        """Say in a few words how many bounds a policy has, and whether refuted or narrowed.

        Called by ``BasePolicy.__repr__``.
        """
        table = self.prior.table
        bounds = "no bounds" if table is None else f"{len(table.bounds)} bounds"
        if self.refutation:
            return f"{bounds}, refuted"
        if self.narrowing:
            n = self.narrowing.n_seen
            return f"{bounds} narrowed by {n} observation{'s' * (n != 1)}"
        return bounds

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that narrow the bounds online; none once these are dropped.

        Read by ``BasePolicy.observes``.
        """
        return self.narrowing.variables if self.narrowing and not self.prior.dropped else ()

    def read_observed(self, observed: Mapping[str, object] | None) -> Cells:
        """Read what a round showed besides its reward, as cells (combinations of levels).

        One cell for each plan of the living bounds (those that observations narrow). Called by
        ``BasePolicy._read`` and ``BasePolicy._read_shown`` before anything changes.
        """
        if observed is None or self.narrowing is None:
            return ()
        return self.narrowing.read_cells(observed)

    def note_round(self, context: Context, arm: Arm, reward: float, cells: Cells) -> None:
        """Narrow the bounds by what a round showed, and hold its reward against them.

        Called by ``BasePolicy.learn``, ``BasePolicy.learn_many`` and
        ``BasePolicy._learn_in_turn`` for a reward that was learned.
        """
        if cells:
            self.narrow(context, arm, cells, reward)
        if self.watch:
            self.watch_reward(context, arm, reward)

    def narrow(self, context: Context, arm: Arm, cells: Cells, reward: float) -> None:
        """Narrow the bounds by what a round showed with its reward; drop them if refuted.

        ``cells`` are what ``read_observed`` gave. Called by ``BoundMonitor.note_round`` for
        every reward that comes with an observation.
        """
        if self.narrowing is None or self.prior.dropped:
            return
        found = self.narrowing.learn_cells(arm, context, cells, reward)
        if isinstance(found, Living):
            self.drop(self._make_refutation(found, context, arm), warn=True)
        else:
            self.prior.forget(found)

    def watch_reward(self, context: Context, arm: Arm, reward: float) -> None:
        """Count one reward for its arm and context, and drop all bounds if it refutes theirs.

        Called by ``BoundMonitor.note_round`` where the bounds are watched.
        """
        table = self.prior.binding
        if self.watch and table and (arm, context) in self.prior.informative:
            low, high = table.reward_range
            # Evidence is kept on the scale from 0 to 1.
            self.evidence.add(context, arm, min(max((reward - low) / (high - low), 0.0), 1.0))
            self._judge(context, arm)

    def refresh(self, table: BoundTable) -> None:
        """Believe another table of bounds, unless rewards or observations so far contradict it.

        Called by ``BasePolicy.refresh``.
        """
        old, self.refutation = self.narrowing, None
        self.narrowing = NarrowingBounds(table, self.living) if table.living else None
        if old and self.narrowing:
            self.narrowing = old.resume(table)
        self.prior = PriorBounds(table, narrowing=self.narrowing)
        self.judge_all()

    def join(self, other: "BoundMonitor", shared: "BoundMonitor") -> "BoundMonitor":
        """Make a monitor with the rewards and observations of both policies to be merged.

        What ``shared`` has seen is in both and counts once. Called by ``BasePolicy.merged``.
        """
        table, monitor = self.prior.table, self.fresh()
        monitor.evidence = self.evidence.join(other.evidence, shared.evidence)
        if table and self.narrowing and other.narrowing:
            base = shared.narrowing or NarrowingBounds(table, self.living)
            monitor.narrowing = self.narrowing.join(other.narrowing, base, table)
            monitor.prior = PriorBounds(table, narrowing=monitor.narrowing)
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
            "living": self.living,
            "narrowing": self.narrowing.to_record() if self.narrowing else None,
        }

    @classmethod
    def from_record(cls, record: Record) -> "BoundMonitor":
        """Read the monitor that ``to_record`` wrote; called by ``BasePolicy.restore``."""
        monitor = cls(
            BoundTable.from_record(record["prior"]) if record["prior"] else None,
            decode(Watch | None, record["watch"]),
            read_chance("living", record["living"]),
        )
        if monitor.narrowing and record["narrowing"]:
            monitor.narrowing.restore(record["narrowing"])
        monitor.evidence = ArmCounts.from_record(record["evidence"])
        monitor.drop(decode(Refutation | None, record["refutation"]))
        return monitor

    def judge_all(self) -> None:
        """Judge the bounds by all rewards and observations so far, and drop them if refuted.

        Called by ``BoundMonitor.refresh`` and ``BoundMonitor.join``.
        """
        for context, arm in self.evidence:
            self._judge(context, arm)
        plan = self.narrowing.settle() if self.narrowing and not self.refutation else None
        if plan is not None:
            arm, context = next(iter(plan.pools))
            self.drop(self._make_refutation(plan, context, arm), warn=True)

    def _make_refutation(self, plan: Living, context: Context, arm: Arm) -> Refutation:
        """Make the ``Refutation`` that says which observations contradict the bounds.

        ``plan`` is the part of the living bounds that they refute. Called by
        ``BoundMonitor.narrow`` and ``BoundMonitor.judge_all``.
        """
        table = self.prior.table
        if table is None or self.narrowing is None:
            raise ValueError("there is nothing to refute")
        n = self.narrowing.count_rounds(plan, arm, context)
        level = self.living + self.narrowing.offline_error
        bound = table[arm, context]
        return Refutation(arm, context, bound, n, None, level, plan.variables)

    def _judge(self, context: Context, arm: Arm) -> None:
        """Drop all bounds if the rewards of an arm in a context refute the bound of that pair.

        Called by ``BoundMonitor.watch_reward`` and ``BoundMonitor.judge_all``.
        """
        if self.watch is None or self.refutation:
            return
        found = self.watch.refutes(self.prior, context, arm, self.evidence[context, arm])
        self.drop(found, warn=True)

    def drop(self, refutation: Refutation | None, *, warn: bool = False) -> None:
        """Stop believing all bounds and keep the refutation; nothing happens if that is None.

        Called by ``BoundMonitor._judge``, ``BoundMonitor.narrow`` and ``BoundMonitor.join``.
        """
        if refutation is None:
            return
        self.prior = PriorBounds(self.prior.table, dropped=True)
        self.refutation = refutation
        if warn:
            _log.warning("%s", refutation)
