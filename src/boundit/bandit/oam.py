"""Optimal allocation matching, with prior bounds (Algorithm 5, OAM-PCB)."""

import math
from collections.abc import Mapping, Sequence
from typing import Self, final

import numpy as np

from boundit.bandit.allocation import SMALLEST_GAP, Numbers
from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, as_vector
from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.oam_book import Matching, worthwhile
from boundit.bandit.oam_core import Branch, Choice, Visit, choose, least_gap, width
from boundit.bandit.options import not_negative, positive, rounds
from boundit.bandit.prior import Entrant
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class OAM:
    """Match pulls to the cheapest allocation that tells the arms apart: OAM, and OAM-PCB.

    One regression is shared by all arms (Hao, Lattimore and Szepesvari 2020). A round exploits
    when every arm of the context is known well enough for its gap, and otherwise explores: an
    arm short of its share of the allocation (unwasted), one that was hardly ever pulled
    (forced), or, where all have their share, the most promising one (wasted). With a prior,
    means are clipped to ``[L, U]``, indices to ``U``, and arms whose ``U`` lies below another's
    ``L`` are out (D-34).

    ``horizon`` is the number of rounds. ``c`` scales the term of the dimension in the width,
    ``sigma2`` is the variance proxy of the noise (a quarter of the squared range, which holds
    for every reward in it, unless given), ``epsilon`` the share of exploration that is forced
    (None: 1 / log log t, the choice of the theory, which explores for very long).

    >>> policy = OAM(arms=["A", "B"], horizon=100)
    >>> decision = policy.decide()
    >>> policy.branch(decision)
    <Branch.START: 'start'>
    """

    def __init__(
        self,
        *,
        horizon: int | None = None,
        c: float = 0.0,
        sigma2: float | None = None,
        epsilon: float | None = 0.01,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
    ) -> None:
        self._horizon = rounds(horizon)
        self._c = not_negative("c", c)
        self._sigma2 = None if sigma2 is None else positive("sigma2", sigma2)
        self._epsilon = None if epsilon is None else not_negative("epsilon", epsilon)
        if features is not None and not callable(features):
            raise BadOption("features", "a function of context and arm", features)
        self.desk = Desk.of(
            lambda scene: Matching(scene, features),
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
        """Choose an arm (lines 3-25); changes nothing."""
        return self.desk.decide(context, arms, id, self._outcome)

    def learn(self, decision: Decision, reward: float) -> None:
        """Take in one reward (line 26); a repeat is a no-op.

        A round counts as exploration if the policy, as it stands now, would explore.
        """
        self.desk.learn(decision, reward, self._take)

    def branch(self, decision: Decision) -> Branch:
        """Say which branch a decision takes, as the policy stands."""
        with self.desk.lock:
            return self._again(decision).branch

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
        horizon: int | None = None,
        seed: int | None = None,  # noqa: ARG002, nothing is drawn
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        options = {**self._options(), "horizon": self._horizon or horizon}
        return self._with(options, self.desk.fresh(arms=arms, context=context))

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        joined = self.desk.joined(other.desk, since.desk if since else None)
        return self._with(self._options(), joined)

    def state(self) -> State:
        """Everything, as JSON keeps it exactly; of ``features`` only that there is one."""
        options = {**self._options(), "features": self.desk.book.features is not None}
        return sealed("OAM", {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("OAM", state) as body:
            options = dict(body["options"])
            if options.pop("features") != (features is not None):
                raise DamagedState(
                    "OAM", "features= must be given again if it was, and only then"
                )
            made = cls(**options, features=features)
            made.desk = made.desk.restored(body["desk"])
        return made

    def _outcome(self, context: Context, entrants: Sequence[Entrant]) -> Outcome:
        kept = worthwhile(entrants)
        x = self._features(context, kept)
        choice = self._choice(context, kept, x)
        lowered = (
            e.arm for e, i, f in zip(kept, choice.index, choice.free, strict=True) if i < f
        )
        return Outcome(
            kept[choice.place].arm,
            {e.arm: float(i) for e, i in zip(kept, choice.index, strict=True)},
            tuple(lowered) if choice.branch in (Branch.EXPLOIT, Branch.WASTED) else (),
            len(entrants) - len(kept),
            tuple(x[choice.place].tolist()),
        )

    def _again(self, decision: Decision) -> Choice:
        arms = tuple(decision.index) or (decision.arm,)
        entrants = self.desk.guard.prior.entrants(arms, decision.context, held=False)
        kept = worthwhile(entrants)
        return self._choice(decision.context, kept, self._features(decision.context, kept))

    def _features(self, context: Context, kept: Sequence[Entrant]) -> Numbers:
        return np.array([self.desk.book.vector(context, entrant.arm) for entrant in kept])

    def _choice(self, context: Context, kept: Sequence[Entrant], x: Numbers) -> Choice:
        book = self.desk.book
        theta, spreads, unseen = book.estimates(x)
        gap = least_gap(self._gaps(theta, x), self._smallest_gap())
        enough = self._width(x.shape[1]) / gap**2
        s = book.explorations
        visit = Visit(
            means=x @ theta,
            spreads=spreads,
            unseen=unseen,
            pulls=np.array([book.tally[context, e.arm].n for e in kept], float),
            needed=np.array(
                [min(book.allocation.get((context, e.arm), math.inf), enough) for e in kept]
            ),
            lower=np.array([e.lower for e in kept]),
            upper=np.array([e.upper for e in kept]),
        )
        return choose(
            visit,
            gap=gap,
            width=self._width(x.shape[1]),
            index_width=self._width(x.shape[1], delta=(s + 1) ** -2),
            quota=self._share() * s,
        )

    def _gaps(self, theta: Numbers, x: Numbers) -> Numbers:
        means = x @ theta
        pairs = self.desk.book.pairs(self.desk.guard.prior)
        here = means.max() - means
        return np.concatenate([here, pairs.gaps(theta)]) if pairs.keys else here

    def _take(self, decision: Decision, reward: float) -> None:
        book, x = self.desk.book, as_vector(decision.features, decision.arm)
        book.require(x, decision.arm)
        branch = self._again(decision).branch
        book.add(decision.context, decision.arm, x, reward)
        if branch not in (Branch.START, Branch.EXPLOIT):
            book.explored(
                self.desk.guard.prior,
                width=self._width(x.size),
                smallest_gap=self._smallest_gap(),
            )

    def _width(self, n_features: int, *, delta: float | None = None) -> float:
        n = self._horizon
        if n is None:
            raise BadOption("horizon", "a whole number of rounds, 1 or more", n)
        low, high = self.desk.scene.reward_range
        sigma2 = (high - low) ** 2 / 4 if self._sigma2 is None else self._sigma2
        return width(n, delta or 1 / n, n_features, c=self._c, sigma2=sigma2)

    def _smallest_gap(self) -> float:
        low, high = self.desk.scene.reward_range
        return SMALLEST_GAP * (high - low)

    def _share(self) -> float:
        if self._epsilon is not None:
            return self._epsilon
        return 1 / max(math.log(math.log(max(self.desk.events + 1, 16))), 1.0)

    def _options(self) -> Record:
        return {
            "horizon": self._horizon,
            "c": self._c,
            "sigma2": self._sigma2,
            "epsilon": self._epsilon,
        }

    def _with(self, options: Record, desk: Desk[Matching]) -> Self:
        made = type(self)(**options)
        made.desk = desk
        return made
