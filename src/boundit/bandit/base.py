"""What all policies do alike: they sit at a desk, and add the steps of their algorithms."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Generic, Self

from boundit.bandit.batch.environment import FiniteEnvironment
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.desk import B, Desk
from boundit.bandit.errors import CannotMerge
from boundit.bandit.kernels.arrays import Floats, Places, Seeds
from boundit.bandit.level_codec import Record
from boundit.bandit.prior.watch import Refutation
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.serialization import State, opened, sealed
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


class BasePolicy(ABC, Generic[B]):
    """The calls that go through the desk; an algorithm fills in the steps of its own."""

    desk: Desk[B]
    narrows: ClassVar[bool] = False
    """Whether it plays whole runs while what their rounds show narrows its bounds."""

    @abstractmethod
    def __init__(self, **options: object) -> None:
        """Read its own options, and take a seat."""

    @abstractmethod
    def _options(self) -> Record:
        """Its own options, those of its book apart, as it was given them."""

    @abstractmethod
    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        """Choose among the arms of one call."""

    @abstractmethod
    def _take(self, decision: Decision, reward: float) -> None:
        """Take in one reward, or raise before anything changes."""

    @abstractmethod
    def _play(self, board: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs; None if it would refuse what is on the board."""

    def __repr__(self) -> str:
        return self.desk.described(type(self).__name__)

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose an arm for one visitor; changes nothing, so it may be asked again.

        ``arms`` restricts or replaces the arms held, for this call. ``id`` names the decision;
        it never influences the choice.
        """
        return self.desk.decide(context, arms, id, self._choose)

    def learn(
        self,
        decision: Decision,
        reward: float,
        *,
        observed: Mapping[str, object] | None = None,
    ) -> None:
        """Take in what a decision earned: in any order, late or never; a repeat is a no-op.

        ``observed`` are other variables of that round, which narrow living bounds.
        """
        self.desk.learn(decision, reward, self._take, observed)

    def refresh(self, prior: BoundTable) -> None:
        """Go on with other bounds; what was learned stays."""
        self.desk.refresh(prior)

    @property
    def observes(self) -> tuple[str, ...]:
        """The variables that narrow its bounds when ``learn`` is told them."""
        return self.desk.guard.observes

    @property
    def refutation(self) -> Refutation | None:
        """What contradicted the bounds, once they were dropped."""
        return self.desk.guard.refutation

    def fresh(
        self,
        *,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        horizon: int | None = None,
        seed: int | None = None,
    ) -> Self:
        """A new policy with the same settings and nothing learned.

        Arms, context names and horizon fill what is unbound; a seed replaces the old one.
        """
        options = self._options()
        if options.get("horizon", 0) is None:
            options["horizon"] = horizon
        if "seed" in options and seed is not None:
            options["seed"] = seed
        return self._with(options, self.desk.fresh(arms=arms, context=context))

    def play(
        self,
        stage: FiniteEnvironment,
        visitors: Places,
        luck: Floats,
        seeds: Seeds,
        seeing: Floats | None = None,
    ) -> Places | None:
        """Play whole runs in compiled code; own features are asked once for each pair."""
        board = self.desk.board(stage, living=self.narrows)
        return board and self._play(board, BatchRuns.of(visitors, luck, seeds, seeing))

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        for found in (other, since):
            if found is not None and type(found) is not type(self):
                raise CannotMerge(f"a {type(self).__name__} and a {type(found).__name__}")
        if other is None or self._settings() != other._settings():
            raise CannotMerge("the two policies have other settings")
        joined = self.desk.joined(other.desk, since.desk if since else None)
        return self._with(self._options(), joined)

    def _settings(self) -> Record:
        """How it decides and learns; a seed makes no difference to what was learned."""
        options = {**self._options(), **self.desk.book.settings()}
        return {name: value for name, value in options.items() if name != "seed"}

    def state(self) -> State:
        """Everything but functions, as an object that JSON keeps exactly."""
        options = {**self._options(), **self.desk.book.settings()}
        return sealed(type(self).__name__, {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        return cls._restored(state, dict)

    @classmethod
    def _restored(cls, state: Mapping[str, object], read: Callable[[Record], Record]) -> Self:
        """Make what a state describes, with its options as ``read`` reads them."""
        with opened(cls.__name__, state) as body:
            made = cls(**read(body["options"]))
            made.desk = made.desk.restored(body["desk"])
        return made

    def _with(self, options: Record, desk: Desk[B]) -> Self:
        made = type(self)(**options)
        made.desk = desk
        return made
