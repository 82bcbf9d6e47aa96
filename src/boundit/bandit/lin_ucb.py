"""LinUCB with a model for each arm or one for all, capped by prior bounds (Algorithm 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self, final

from boundit.bandit.contest import Outcome, Score, contest
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, as_vector
from boundit.bandit.options import not_negative
from boundit.bandit.prior import Entrant
from boundit.bandit.regression import Regression, Ridges
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.warm_start import WarmStart
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class LinUCB:
    """Optimism on a ridge model, capped by prior bounds: LinUCB, and with a prior LinUCB-PCB.

    The index of an arm is ``min(theta' x + alpha sqrt(x' inverse(A) x), U)``, from a model of
    its own, or from one for all (``shared``). Features are ``[1, context, treatments]``, or
    what the function ``features(context, arm)`` gives. A ``warm_start`` puts point estimates
    into the models: with those of the log the paper's LinUCB_CP and LinUCB_Biased.

    >>> policy = LinUCB(arms=["A", "B"], context=["Age"])
    >>> decision = policy.decide({"Age": 0.3})
    >>> policy.learn(decision, 0.0)
    >>> decision.arm, policy.decide({"Age": 0.3}).arm
    (('B',), ('A',))
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        shared: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
    ) -> None:
        self._alpha = not_negative("alpha", alpha)
        how = Regression(ridge, shared, features, warm_start)
        self.desk = Desk.of(
            lambda scene: Ridges(scene, how),
            prior=prior,
            arms=arms,
            context=context,
            reward_range=reward_range,
            watch=watch,
        )

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose the arm whose capped index is highest (lines 3-13); changes nothing."""
        return self.desk.decide(context, arms, id, self._choose)

    def learn(self, decision: Decision, reward: float) -> None:
        """Take in one reward (line 14); a repeat is a no-op."""
        self.desk.learn(decision, reward, self._take)

    def refresh(self, prior: BoundTable) -> None:
        """Go on with other bounds; what was learned stays."""
        self.desk.refresh(prior)

    @property
    def refutation(self) -> Refutation | None:
        """What contradicted the bounds, once they were dropped."""
        return self.desk.guard.refutation

    def fresh(
        self,
        *,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        horizon: int | None = None,  # noqa: ARG002, it plays as long as it is asked
        seed: int | None = None,  # noqa: ARG002, nothing is drawn
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        return self._with(self.desk.fresh(arms=arms, context=context))

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        return self._with(self.desk.joined(other.desk, since.desk if since else None))

    def state(self) -> State:
        """Everything but the function ``features``, as an object that JSON keeps exactly."""
        options = {"alpha": self._alpha, **self.desk.book.how.record()}
        return sealed("LinUCB", {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("LinUCB", state) as body:
            options = body["options"]
            how = Regression.read(options, features, "LinUCB")
            made = cls(alpha=options["alpha"])
            made.desk.book = Ridges(made.desk.scene, how)
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, entrants: Sequence[Entrant]) -> Outcome:
        book, rows = self.desk.book, {}

        def score(entrant: Entrant) -> Score:
            rows[entrant.arm] = x = book.vector(context, entrant.arm)
            model = book.model(entrant.arm, x.size)
            free = model.mean(x) + self._alpha * model.spread(x)
            return Score(min(free, entrant.upper), free)

        outcome = contest(entrants, score)
        return replace(outcome, features=tuple(rows[outcome.arm].tolist()))

    def _take(self, decision: Decision, reward: float) -> None:
        x = as_vector(decision.features, decision.arm)
        self.desk.book.require(x, decision.arm)
        self.desk.book.add(decision.arm, x, reward)

    def _with(self, desk: Desk[Ridges]) -> Self:
        made = type(self)(alpha=self._alpha)
        made.desk = desk
        return made
