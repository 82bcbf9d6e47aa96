"""What every policy does besides its algorithm: one desk that each of them sits at.

The desk reads contexts, arms and rewards, keeps the bounds, the algorithm's statistics and
the ids of what was learned. The algorithm sees only clean values, one call at a time: a lock is
held during every call, so a policy may be shared between threads. Calls then follow each other
in some order; what is learned does not depend on it but for rounding.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from threading import RLock
from typing import Generic, Protocol, Self, TypeAlias, TypeVar, final
from uuid import uuid4

from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption, CannotMerge, ForeignBounds, NotADecision
from boundit.bandit.guard import Guard
from boundit.bandit.prior import Entrant
from boundit.bandit.scene import Arms, ContextNames, Scene
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable

Choose: TypeAlias = Callable[[Context, Sequence[Entrant]], Outcome]
"""An algorithm's choice among arms, the highest cap first."""
Take: TypeAlias = Callable[[Decision, float], None]
"""An algorithm's learning; it raises before it changes anything."""


class Book(Protocol):
    """An algorithm's statistics: what it knows and nothing else."""

    def fresh(self, scene: Scene) -> Self:
        """The same kind of book for a scene, empty."""
        ...

    def joined(self, other: Self, shared: Self) -> Self:
        """Put two together; what is in ``shared`` is in both and counts once."""
        ...

    def record(self) -> object:
        """Spell it for JSON."""
        ...

    def restored(self, record: list[list[object]], scene: Scene) -> Self:
        """The same kind of book with what ``record`` wrote."""
        ...


B = TypeVar("B", bound=Book)


@final
class Desk(Generic[B]):
    """Scene, bounds, statistics, ids and the lock of one policy."""

    def __init__(self, scene: Scene, guard: Guard, book: B) -> None:
        self.scene, self.guard, self.book = scene, guard, book
        self.seen: dict[str, None] = {}
        self.lock = RLock()

    @classmethod
    def of(
        cls,
        book_for: Callable[[Scene], B],
        *,
        prior: BoundTable | None,
        arms: Arms | None,
        context: ContextNames | None,
        reward_range: tuple[float, float] | None,
        watch: bool | Watch,
    ) -> "Desk[B]":
        """Read the options that all policies share."""
        if prior is not None and not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        if not isinstance(watch, bool | Watch):
            raise BadOption("watch", "True, False or a Watch", watch)
        scene = Scene.of(prior=prior, arms=arms, context=context, reward_range=reward_range)
        watching = watch if isinstance(watch, Watch) else Watch() if watch else None
        return cls(scene, Guard(prior, watching), book_for(scene))

    @property
    def events(self) -> int:
        """How many rewards were learned."""
        return len(self.seen)

    def decide(
        self, context: object, arms: Arms | None, decision_id: str | None, choose: Choose
    ) -> Decision:
        """Read the call, let the algorithm choose, write the decision; changes nothing."""
        if decision_id is not None and not isinstance(decision_id, str):
            raise BadOption("id", "text", decision_id)
        with self.lock:
            where = self.scene.read_context(context)
            among = self.scene.read_among(arms)
            outcome = choose(where, self.guard.entrants(among, where, held=arms is None))
        return Decision(
            uuid4().hex if decision_id is None else decision_id,
            outcome.arm,
            where,
            outcome.features,
            outcome.index,
            outcome.capped,
            outcome.skipped,
            outcome.propensity,
        )

    def learn(self, decision: Decision, reward: object, take: Take) -> None:
        """Check, let the algorithm learn, remember the id; a repeat changes nothing."""
        if not isinstance(decision, Decision):
            raise NotADecision(f"{type(decision).__name__} is no decision")
        number = self.scene.read_reward(reward, decision.id)
        self.scene.require_arm(decision.arm)
        where = self.scene.read_context(decision.context)
        with self.lock:
            if decision.id in self.seen:
                return
            take(decision, number)
            self.seen[decision.id] = None
            self.guard.observe(where, decision.arm, self.scene.unit(number))

    def refresh(self, prior: BoundTable) -> None:
        """Go on with other bounds; what was learned stays, and is held against them."""
        if not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        old = self.guard.prior.table
        if old and old.treatments != prior.treatments:
            raise ForeignBounds("treatments", old.treatments, prior.treatments)
        arms, context = self.scene.arms or None, self.scene.context
        Scene.of(prior=prior, arms=arms, context=context, reward_range=self.scene.reward_range)
        with self.lock:
            self.guard.refresh(prior)

    def fresh(
        self, *, arms: Arms | None = None, context: ContextNames | None = None
    ) -> "Desk[B]":
        """A desk with the same bounds and nothing learned; fills arms and names if unbound."""
        guard = Guard(self.guard.prior.table, self.guard.watch)
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
        scene = Scene.read(record["scene"])
        book = self.book.restored(record["statistics"], scene)
        desk = Desk(scene, Guard.read(record["guard"]), book)
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
