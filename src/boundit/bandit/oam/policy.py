"""Optimal allocation matching, with prior bounds (Algorithm 5, OAM-PCB)."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Self, final

from boundit.bandit.base import BasePolicy
from boundit.bandit.batch.layout import BatchLayout, BatchRuns
from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.rng import StreamKey
from boundit.bandit.kernels.score_table import FREE_SCORE, SCORE
from boundit.bandit.learned.features import Features
from boundit.bandit.learned_ids import REMEMBERED, IdStore
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
    set_horizon,
)
from boundit.bandit.oam.statistics import MatchingStatistics, lay_out_candidates
from boundit.bandit.options import read_horizon, read_not_negative, read_positive
from boundit.bandit.prior.monitor import BoundMonitor
from boundit.bandit.prior.watch import Watch
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.scores import EXPLORED, Scores
from boundit.bandit.serialization import Record
from boundit.bandit.spec import Arms, BanditSpec, ContextNames, Unseen
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

    ``horizon`` is the number of rounds; without one it is twice the rewards learned so far, up
    to the next power of two and at least 1,024. ``c`` scales the term of the dimension in the
    width, ``sigma2`` is the variance proxy of the noise (a quarter of the squared range, which
    holds for every reward in it, unless given), ``epsilon`` the share of exploration that is
    forced (None: 1 / log log t, the choice of the theory, which explores for very long).

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
        seed: int | None = None,
        explore: float = 0.0,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        remember: int | IdStore = REMEMBERED,
        unseen: Unseen = "error",
    ) -> None:
        self._horizon = read_horizon(horizon)
        self._c = read_not_negative("c", c)
        self._sigma2 = None if sigma2 is None else read_positive("sigma2", sigma2)
        self._epsilon = None if epsilon is None else read_not_negative("epsilon", epsilon)
        if features is not None and not callable(features):
            raise BadOption("features", "a function of context and arm", features)
        spec = BanditSpec.of(
            prior=prior, arms=arms, context=context, reward_range=reward_range, unseen=unseen
        )
        monitor = BoundMonitor.of(prior, watch=watch)
        super().__init__(
            spec,
            monitor,
            MatchingStatistics(spec, features),
            seed=seed,
            explore=explore,
            remember=remember,
        )

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, object],
        *,
        features: Features | None = None,
        remember: IdStore | None = None,
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""

        def read_options(options: Record) -> Record:
            if options["features"] != (features is not None):
                reason = "features= must be given again if it was, and only then"
                raise DamagedState("OAM", reason)
            return {**options, "features": features}

        return cls.restore(state, read_options, remember)

    def play_batch(self, layout: BatchLayout, runs: BatchRuns) -> Places | None:
        """Play whole runs of OAM from nothing learned; gives the arm of every round of each.

        In compiled code; None where a user's features would be refused.
        """
        candidates = lay_out_candidates(self.statistics.fresh(self.spec), layout)
        if candidates is None:
            return None
        return play_oam(self._constants, candidates, layout.make_arrays(runs))

    def choose(
        self,
        context: Context,
        ranked_arms: RankedArms,
        stream_key: StreamKey,  # noqa: ARG002, nothing is drawn
    ) -> Scores:
        """Choose an arm by optimal allocation matching (Algorithm 5 of the paper).

        Gives the arm, all scores and the branch that chose: start, exploit, wasted, forced or
        unwasted (``Branch``).
        """
        candidates = self.statistics.find_candidates(context, ranked_arms)
        kept, choice = candidates.kept, self._match(context, candidates)
        score_table = kept.blank_table.copy()
        score_table[:, SCORE] = score_table[:, FREE_SCORE] = choice.scores
        if choice.branch in (EXPLOIT, WASTED):
            score_table[:, FREE_SCORE] = choice.free
        skipped = len(ranked_arms) - len(kept) + len(ranked_arms.beaten)
        branch = BRANCHES[choice.branch].value
        return Scores(kept, (choice.place, skipped), score_table, candidates, branch=branch)

    def _match(self, context: Context, candidates: CandidateArms) -> MatchingChoice:
        """Decide whether to exploit or to explore in one context, and which arm to pull.

        That is Algorithm 5 of the paper, optimal allocation matching: exploit where every arm
        is known well enough; else pull an arm that has fewer pulls than the cheapest allocation
        wants, or one that was hardly ever pulled. Gives the arm, the branch taken and the
        scores compared.
        """
        prior, constants = self.monitor.prior, self._get_constants()
        return self.statistics.choose(constants, prior, context, candidates, self.n_learned)

    def _has_explored(self, decision: Decision) -> bool:
        """Tell whether a decision was made to explore, not to exploit or to start.

        By its ``branch``; of a decision that has none, by what OAM would do now.
        """
        branch = decision.branch
        if branch == EXPLORED:  # not by its own account
            return False
        if branch not in BRANCHES:
            arms = tuple(decision.index) or (decision.arm,)
            ranked_arms = self.monitor.prior.rank(arms, decision.context, held=False)
            candidates = self.statistics.find_candidates(decision.context, ranked_arms)
            branch = BRANCHES[self._match(decision.context, candidates).branch]
        return branch not in (Branch.START, Branch.EXPLOIT)

    def take(
        self,
        decision: Decision,
        reward: float,
        observed: Mapping[str, object] | None,  # noqa: ARG002, it has no use for it
    ) -> None:
        """Learn one reward; if its decision explored, count that too, for the next allocation."""
        statistics, prior = self.statistics, self.monitor.prior
        explored = self._has_explored(decision)
        listed = statistics.list_pairs_with(prior, decision.context, decision.arm)
        statistics.take(decision, reward, listed)
        if explored:
            statistics.count_exploration(prior, self._get_constants())

    def _get_constants(self) -> MatchingConstants:
        """Put horizon, noise and the other constants of OAM into a tuple that kernels take."""
        given = self._constants
        return given if self._horizon else set_horizon(given, self.n_learned)

    @cached_property
    def _constants(self) -> MatchingConstants:
        """The constants of OAM as they were given, with a horizon of 0 if none was."""
        low, high = self.spec.reward_range
        return MatchingConstants(
            float(self._horizon or 0),
            self._c,
            (high - low) ** 2 / 4 if self._sigma2 is None else self._sigma2,
            math.nan if self._epsilon is None else self._epsilon,
            SMALLEST_GAP * (high - low),
        )

    def options(self) -> Record:
        """Give horizon, c, sigma2 and epsilon as the constructor took them."""
        return {
            "horizon": self._horizon,
            "c": self._c,
            "sigma2": self._sigma2,
            "epsilon": self._epsilon,
        }
