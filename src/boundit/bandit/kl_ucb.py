"""KL-UCB on each context by itself, with bounds (B-kl-UCB of Zhang and Bareinboim 2017)."""

import math
from collections.abc import Mapping, Sequence
from typing import Self, final

from boundit.bandit.contest import Outcome, Score, contest
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.options import not_negative
from boundit.bandit.prior import Entrant
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class KLUCB:
    """Optimism by relative entropy: kl-UCB, and with a prior B-kl-UCB.

    Arms whose upper end lies below another's lower end are out. The others are played once in
    each context; then the index is the largest ``m`` with ``n kl(mean, m) <= log t + c log log
    t``, capped by ``U``, where ``t`` counts the rounds of this context.

    >>> policy = KLUCB(arms=["A", "B"])
    >>> for reward in (1.0, 0.0):
    ...     policy.learn(policy.decide(), reward)
    >>> policy.decide().arm
    ('A',)
    """

    def __init__(
        self,
        *,
        c: float = 3.0,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
    ) -> None:
        self._c = not_negative("c", c)
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
        """Choose an arm not played here yet, or the highest capped index; changes nothing."""
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
        seed: int | None = None,  # noqa: ARG002, nothing is drawn
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        return self._with(self.desk.fresh(arms=arms, context=context))

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        return self._with(self.desk.joined(other.desk, since.desk if since else None))

    def state(self) -> State:
        """Everything, as an object that JSON keeps exactly."""
        return sealed("KLUCB", {"options": {"c": self._c}, "desk": self.desk.record()})

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("KLUCB", state) as body:
            made = cls(**body["options"])
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, entrants: Sequence[Entrant]) -> Outcome:
        book, (low, high) = self.desk.book, self.desk.scene.reward_range
        surest = max(entrant.lower for entrant in entrants)
        kept = [entrant for entrant in entrants if entrant.upper >= surest]
        untried = [entrant for entrant in kept if not book[context, entrant.arm].n]
        budget = _log_of(book.plays(context) + 1, self._c)

        def score(entrant: Entrant) -> Score:
            cell = book[context, entrant.arm]
            if not cell.n:
                return Score(entrant.upper, math.inf)
            mean = self.desk.scene.unit(cell.mean)
            free = low + (high - low) * kl_upper(mean, budget / cell.n)
            return Score(min(free, entrant.upper), free)

        return contest(untried or kept, score)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _with(self, desk: Desk[Tally]) -> Self:
        made = type(self)(c=self._c)
        made.desk = desk
        return made


def kl(p: float, q: float) -> float:
    """Relative entropy of two coins.

    >>> kl(0.5, 0.5), round(kl(0.5, 0.9), 4), kl(0.5, 1.0)
    (0.0, 0.5108, inf)
    """
    return _part(p, q) + _part(1 - p, 1 - q)


def kl_upper(mean: float, budget: float) -> float:
    """The largest ``m`` with ``kl(mean, m) <= budget``, by bisection up to rounding.

    >>> round(kl_upper(0.5, 0.5108), 4)
    0.9
    """
    low, high = mean, min(1.0, mean + math.sqrt(budget / 2))  # Pinsker: it is not above this
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if kl(mean, middle) <= budget else (low, middle)
    return low


def _part(p: float, q: float) -> float:
    if p <= 0:
        return 0.0
    return p * math.log(p / q) if q > 0 else math.inf


def _log_of(t: int, c: float) -> float:
    return math.log(t) + c * math.log(max(math.log(t), 1.0))
