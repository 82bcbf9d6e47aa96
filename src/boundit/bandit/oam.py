"""Optimal allocation matching, with prior bounds (Algorithm 5, OAM-PCB)."""

import math
from collections.abc import Mapping
from typing import Self, final

from boundit.bandit.allocation import SMALLEST_GAP
from boundit.bandit.board import as_runs
from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, as_vector
from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_oam import play_oam
from boundit.bandit.lineup import Lineup
from boundit.bandit.oam_book import Matching, offered
from boundit.bandit.oam_core import BRANCHES, EXPLOIT, WASTED, Branch, Choice, Rule
from boundit.bandit.oam_offer import Offer
from boundit.bandit.options import not_negative, positive, rounds
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class OAM(Seated[Matching]):
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

    >>> OAM(arms=["A", "B"], horizon=100).decide().branch
    'start'
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
        living: float = LIVING,
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
            living=living,
        )

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

    def play(
        self,
        stage: Stage,
        visitors: Places,
        luck: Floats,
        seeds: Seeds,  # noqa: ARG002, nothing is drawn
        seeing: Floats | None = None,  # noqa: ARG002, it then plays round by round
    ) -> Places | None:
        """Play whole runs in compiled code; own features are asked once for each pair."""
        board = self.desk.board(stage)
        offers = board and offered(self.desk.book.fresh(self.desk.scene), board)
        if offers is None:
            return None
        return play_oam(self._rule(), offers, *as_runs(visitors, luck))

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

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        offer = self.desk.book.offer(context, lineup)
        choice = self._choice(context, offer)
        index, free, kept = choice.scores.tolist(), choice.free.tolist(), offer.kept
        lowered = [e.arm for e, i, f in zip(kept, index, free, strict=True) if i < f]
        return Outcome(
            kept[choice.place].arm,
            {e.arm: i for e, i in zip(kept, index, strict=True)},
            tuple(lowered) if choice.branch in (EXPLOIT, WASTED) else (),
            len(lineup) - len(kept),
            tuple(offer.x[choice.place].tolist()),
            branch=BRANCHES[choice.branch].value,
        )

    def _choice(self, context: Context, offer: Offer) -> Choice:
        prior, events = self.desk.guard.prior, self.desk.events
        return self.desk.book.choice(self._rule(), prior, context, offer, events)

    def _explored(self, decision: Decision) -> bool:
        """Tell whether a decision explored, by its word or by what it would be now."""
        branch = decision.branch
        if branch not in BRANCHES:
            arms = tuple(decision.index) or (decision.arm,)
            lineup = self.desk.guard.prior.entrants(arms, decision.context, held=False)
            offer = self.desk.book.offer(decision.context, lineup)
            branch = BRANCHES[self._choice(decision.context, offer).branch]
        return branch not in (Branch.START, Branch.EXPLOIT)

    def _take(self, decision: Decision, reward: float) -> None:
        book, x = self.desk.book, as_vector(decision.features, decision.arm)
        book.require(x, decision.arm)
        rule, explored = self._rule(), self._explored(decision)
        book.add(decision.context, decision.arm, x, reward)
        if explored:
            book.explored(self.desk.guard.prior, rule)

    def _rule(self) -> Rule:
        if self._horizon is None:
            raise BadOption("horizon", "a whole number of rounds, 1 or more", None)
        low, high = self.desk.scene.reward_range
        return Rule(
            float(self._horizon),
            self._c,
            (high - low) ** 2 / 4 if self._sigma2 is None else self._sigma2,
            math.nan if self._epsilon is None else self._epsilon,
            SMALLEST_GAP * (high - low),
        )

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
