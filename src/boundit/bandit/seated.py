"""What all policies do alike: they sit at a desk, and add how to choose and what to take in."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic

from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import B, Desk
from boundit.bandit.lineup import Lineup
from boundit.bandit.scene import Arms
from boundit.bandit.watch import Refutation
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


class Seated(ABC, Generic[B]):
    """The calls that go through the desk; an algorithm fills in the two steps of its own."""

    desk: Desk[B]

    @abstractmethod
    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        """Choose among the arms of one call."""

    @abstractmethod
    def _take(self, decision: Decision, reward: float) -> None:
        """Take in one reward, or raise before anything changes."""

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
