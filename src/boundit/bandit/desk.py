"""What every policy does besides its algorithm: one desk that each of them sits at.

The desk reads contexts, arms and rewards, keeps the bounds, the algorithm's statistics and
the ids of what was learned. The algorithm sees only clean values, one call at a time: a lock is
held during every call, so a policy may be shared between threads. Calls then follow each other
in some order; what is learned does not depend on it but for rounding.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from threading import RLock
from typing import Generic, Protocol, Self, TypeAlias, TypeVar, final

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout
from boundit.bandit.context_reader import ContextReader
from boundit.bandit.decision import Decision
from boundit.bandit.decision_ids import DecisionIds
from boundit.bandit.errors import (
    BadArm,
    BadOption,
    CannotMerge,
    ForeignBounds,
    NotADecision,
)
from boundit.bandit.level_codec import Record
from boundit.bandit.options import chance
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, BanditSpec, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable

Choose: TypeAlias = Callable[[Context, RankedArms], Scores]
"""An algorithm's choice among arms, the highest cap first."""
Take: TypeAlias = Callable[[Decision, float], None]
"""An algorithm's learning; it raises before it changes anything."""


class Statistics(Protocol):
    """An algorithm's statistics: what it knows and nothing else."""

    def settings(self) -> Record:
        """How it learns, as JSON keeps it."""
        ...

    def fresh(self, scene: BanditSpec) -> Self:
        """The same kind of book for a scene, empty."""
        ...

    def joined(self, other: Self, shared: Self) -> Self:
        """Put two together; what is in ``shared`` is in both and counts once."""
        ...

    def record(self) -> object:
        """Spell it for JSON."""
        ...

    def restored(self, record: list[list[object]], scene: BanditSpec) -> Self:
        """The same kind of book with what ``record`` wrote."""
        ...


B = TypeVar("B", bound=Statistics)


@final
class Desk(Generic[B]):
    """Scene, bounds, statistics, ids and the lock of one policy."""

    def __init__(self, scene: BanditSpec, guard: BoundMonitor, book: B) -> None:
        self.scene, self.guard, self.book = scene, guard, book
        self.seen: dict[str, None] = {}
        self.lock = RLock()
        self._reader, self._ids = ContextReader(scene), DecisionIds()

    @classmethod
    def of(
        cls,
        book_for: Callable[[BanditSpec], B],
        *,
        prior: BoundTable | None,
        arms: Arms | None,
        context: ContextNames | None,
        reward_range: tuple[float, float] | None,
        watch: bool | Watch,
        living: float,
    ) -> "Desk[B]":
        """Read the options that all policies share."""
        if prior is not None and not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        if not isinstance(watch, bool | Watch):
            raise BadOption("watch", "True, False or a Watch", watch)
        scene = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range
        )
        watching = watch if isinstance(watch, Watch) else Watch() if watch else None
        error = chance("living", living)
        return cls(scene, BoundMonitor(prior, watching, error), book_for(scene))

    @property
    def events(self) -> int:
        """How many rewards were learned."""
        return len(self.seen)

    def described(self, policy: str) -> str:
        """Say in one line what a policy plays, how much it knows and what it started from."""
        table = self.guard.prior.table
        bounds = "no bounds" if table is None else f"{len(table.bounds)} bounds"
        if self.guard.refutation:
            bounds += ", refuted"
        elif self.guard.ends:
            n = self.guard.ends.n_seen
            bounds += f" narrowed by {n} observation{'s' * (n != 1)}"
        learned = f"{self.events} reward{'s' * (self.events != 1)} learned"
        arms = len(self.scene.arms)
        return f"{policy}({arms or 'no'} arm{'s' * (arms != 1)}, {learned}, {bounds})"

    def decide(
        self, context: object, arms: Arms | None, decision_id: str | None, choose: Choose
    ) -> Decision:
        """Read the call, let the algorithm choose, write the decision; changes nothing."""
        if decision_id is not None and not isinstance(decision_id, str):
            raise BadOption("id", "text", decision_id)
        with self.lock:
            where = self._reader.read(context)
            among = self.scene.read_among(arms)
            lineup = self.guard.entrants(among, where, held=arms is None)
            outcome = choose(where, lineup)
        name = self._ids.fresh() if decision_id is None else decision_id
        return Decision.of(name, where, outcome)

    def learn(
        self,
        decision: Decision,
        reward: object,
        take: Take,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Check, let the algorithm learn, remember the id; a repeat changes nothing."""
        if not isinstance(decision, Decision):
            raise NotADecision(f"{type(decision).__name__} is no decision")
        number = self.scene.read_reward(reward, decision.id)
        try:
            held = decision.arm in self.scene.held
        except TypeError:
            raise NotADecision("its arm is no tuple of values") from None
        if not held:
            self.scene.require_arm(decision.arm)
            if decision.arm not in decision.index:
                raise BadArm(decision.arm, "it is not held, and was not among those passed")
        with self.lock:
            if not self._reader.knows(decision.context):
                self._reader.read(decision.context)
            if decision.id in self.seen:
                return
            cells = () if observed is None else self.guard.read_observed(observed)
            take(decision, number)
            self.seen[decision.id] = None
            if cells:
                self.guard.see(decision.context, decision.arm, cells)
            if self.guard.watch:
                where = self._reader.read(decision.context)
                self.guard.observe(where, decision.arm, self.scene.unit(number))

    def board(self, stage: FiniteEnvironment, *, living: bool = False) -> BatchLayout | None:
        """Lay a stage out for whole runs; None if this desk must see each round by itself.

        It must when it watches its bounds, and, unless they are ``living``, when what a round
        shows narrows them.
        """
        if self.guard.watch or (self.narrows_on(stage) and not living):
            return None
        return BatchLayout.of(self.scene, PriorBounds(self.guard.prior.table), stage)

    def narrows_on(self, stage: FiniteEnvironment) -> bool:
        """Tell whether a stage shows variables that narrow the bounds."""
        return stage.shows is not None and self.guard.ends is not None

    def refresh(self, prior: BoundTable) -> None:
        """Go on with other bounds; what was learned stays, and is held against them."""
        if not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        old = self.guard.prior.table
        if old and old.treatments != prior.treatments:
            raise ForeignBounds("treatments", old.treatments, prior.treatments)
        arms, context = self.scene.arms or None, self.scene.context
        BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=self.scene.reward_range
        )
        with self.lock:
            self.guard.refresh(prior)

    def fresh(
        self, *, arms: Arms | None = None, context: ContextNames | None = None
    ) -> "Desk[B]":
        """A desk with the same bounds and nothing learned; fills arms and names if unbound."""
        guard = BoundMonitor(self.guard.prior.table, self.guard.watch, self.guard.living)
        scene = self.scene.filled(arms, context)
        return Desk(scene, guard, self.book.fresh(scene))

    def joined(self, other: "Desk[B]", since: "Desk[B] | None") -> "Desk[B]":
        """Put two desks together that both began as ``since``, or with nothing."""
        one, two = self.copied(), other.copied()
        base = since.copied() if since else self.fresh()
        _require_joinable(one, two, base)
        desk = Desk(
            one.scene,
            one.guard.joined(two.guard, base.guard),
            one.book.joined(two.book, base.book),
        )
        desk.seen = {**one.seen, **two.seen}
        return desk

    def record(self) -> Record:
        """Spell everything for JSON."""
        with self.lock:
            return {
                "scene": self.scene.record(),
                "guard": self.guard.record(),
                "seen": list(self.seen),
                "statistics": self.book.record(),
            }

    def restored(self, record: Record) -> "Desk[B]":
        """Read back what ``record`` wrote, with the settings of this desk's book."""
        scene = BanditSpec.read(record["scene"])
        book = self.book.restored(record["statistics"], scene)
        desk = Desk(scene, BoundMonitor.read(record["guard"]), book)
        desk.seen = dict.fromkeys(map(str, record["seen"]))
        return desk

    def copied(self) -> "Desk[B]":
        """A desk of its own, as this one is now."""
        with self.lock:
            return deepcopy(self)

    def __getstate__(self) -> dict[str, object]:
        # A lock cannot be copied; a copy is another policy's desk and gets its own.
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, lock=RLock())


def _require_joinable(one: Desk[B], other: Desk[B], base: Desk[B]) -> None:
    mine, theirs, both = set(one.seen), set(other.seen), set(base.seen)
    if (one.scene, one.guard.prior.table) != (other.scene, other.guard.prior.table):
        raise CannotMerge("the two policies have other arms, contexts, rewards or bounds")
    if not both <= mine & theirs:
        raise CannotMerge("since= has learned what one of the two has not")
    if twice := sorted((mine & theirs) - both):
        raise CannotMerge(
            f"both have learned decision {twice[0]!r}; "
            "since= tells what they shared when they parted"
        )
    if one.guard.watch != other.guard.watch or one.guard.living != other.guard.living:
        raise CannotMerge("the two policies watch or narrow their bounds in other ways")
