"""Optimal allocation matching, with prior bounds (Algorithm 5, OAM-PCB)."""

import math
from collections.abc import Mapping
from typing import Self, final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.learned.features import Features, as_vector
from boundit.bandit.level_codec import Record
from boundit.bandit.oam.allocation import SMALLEST_GAP
from boundit.bandit.oam.batch import play_oam
from boundit.bandit.oam.candidates import CandidateArms
from boundit.bandit.oam.round import (
    BRANCHES,
    EXPLOIT,
    WASTED,
    Branch,
    MatchingChoice,
    MatchingConstants,
)
from boundit.bandit.oam.statistics import MatchingStatistics, offered
from boundit.bandit.options import not_negative, positive, rounds
from boundit.bandit.prior.monitor import LIVING
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import Scores
from boundit.bandit.spec import Arms, ContextNames
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class OAM(BasePolicy[MatchingStatistics]):
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
            lambda scene: MatchingStatistics(scene, features),
            prior=prior,
            arms=arms,
            context=context,
            reward_range=reward_range,
            watch=watch,
            living=living,
        )

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""

        def given(options: Record) -> Record:
            if options["features"] != (features is not None):
                reason = "features= must be given again if it was, and only then"
                raise DamagedState("OAM", reason)
            return {**options, "features": features}

        return cls._restored(state, given)

    def _play(self, board: BatchLayout, runs: BatchRuns) -> Places | None:
        offers = offered(self.desk.book.fresh(self.desk.scene), board)
        return offers and play_oam(self._rule(), offers, runs.visitors, runs.luck)

    def _choose(self, context: Context, lineup: RankedArms) -> Scores:
        offer = self.desk.book.offer(context, lineup)
        choice, sheet = self._choice(context, offer), offer.kept.blank.copy()
        sheet[:, SCORE] = sheet[:, FREE_SCORE] = choice.scores
        if choice.branch in (EXPLOIT, WASTED):
            sheet[:, FREE_SCORE] = choice.free
        out = len(lineup) - len(offer.kept) + len(lineup.beaten)
        branch = BRANCHES[choice.branch].value
        return Scores(offer.kept, (choice.place, out), sheet, offer, branch=branch)

    def _choice(self, context: Context, offer: CandidateArms) -> MatchingChoice:
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
        listed = book.listed_with(self.desk.guard.prior, decision.context, decision.arm)
        book.add(decision.context, decision.arm, x, reward, listed)
        if explored:
            book.explored(self.desk.guard.prior, rule)

    def _rule(self) -> MatchingConstants:
        if self._horizon is None:
            raise BadOption("horizon", "a whole number of rounds, 1 or more", None)
        low, high = self.desk.scene.reward_range
        return MatchingConstants(
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
