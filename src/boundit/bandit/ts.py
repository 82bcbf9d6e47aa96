"""Thompson sampling on each context by itself, with bounds (B-TS, Zhang and Bareinboim)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self, final

from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.laws import CutBeta, win_chance
from boundit.bandit.options import flag, whole
from boundit.bandit.prior import Entrant
from boundit.bandit.sampling import draw_best
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.stream import stream
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class TS:
    """Play an arm as often as it is believed best: Beta beliefs, cut to the prior's bounds.

    The belief about a mean starts uniform; a reward between 0 and 1 counts as that much success
    and the rest failure. Draws outside ``[L, U]`` are rejected, here in one step by quantiles.
    A draw hangs on the seed, the number of rewards learned and the context, so that a retry
    gives the same arm. ``propensities=False`` spares the work of computing them.

    >>> policy = TS(arms=["A", "B"], seed=1)
    >>> policy.decide(id="7") == policy.decide(id="7"), round(policy.decide().propensity, 3)
    (True, 0.5)
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        propensities: bool = True,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
    ) -> None:
        self._seed = whole("seed", seed)
        self._propensities = flag("propensities", propensities)
        self.desk = Desk.of(
            lambda _: Tally(),
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
        """Choose the arm with the highest draw; changes nothing."""
        return self.desk.decide(context, arms, id, self._choose)

    def learn(self, decision: Decision, reward: float) -> None:
        """Take in one reward; a repeat is a no-op."""
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
        seed: int | None = None,
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        return self._with(self.desk.fresh(arms=arms, context=context), seed)

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        return self._with(self.desk.joined(other.desk, since.desk if since else None))

    def state(self) -> State:
        """Everything, as an object that JSON keeps exactly."""
        options = {"seed": self._seed, "propensities": self._propensities}
        return sealed("TS", {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("TS", state) as body:
            made = cls(**body["options"])
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, entrants: Sequence[Entrant]) -> Outcome:
        scene, book = self.desk.scene, self.desk.book
        low, high = scene.reward_range

        def law_of(entrant: Entrant) -> CutBeta:
            cell = book[context, entrant.arm]
            wins = cell.n * scene.unit(cell.mean) if cell.n else 0.0
            return CutBeta(1 + wins, 1 + cell.n - wins, entrant.lower, entrant.upper)

        on_unit = [
            e._replace(lower=scene.unit(e.lower), upper=scene.unit(e.upper)) for e in entrants
        ]
        n = 1 + max(entrant.place for entrant in entrants)
        shares = stream(self._seed, self.desk.events, context).random(n)
        chance = win_chance if self._propensities else None
        found = draw_best(on_unit, law_of, shares, chance)
        index = {arm: low + (high - low) * draw for arm, draw in found.index.items()}
        return replace(found, index=index)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _with(self, desk: Desk[Tally], seed: int | None = None) -> Self:
        made = type(self)(
            seed=self._seed if seed is None else seed, propensities=self._propensities
        )
        made.desk = desk
        return made
