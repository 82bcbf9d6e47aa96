"""UCB on each context by itself, clipped by prior bounds (Algorithm 6, UCB-PCB)."""

import math
from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.board import as_runs
from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome, settled
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.errors import NeedsHorizon
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_ucb import decide_ucb, play_ucb
from boundit.bandit.lineup import Lineup
from boundit.bandit.options import chance, positive, rounds
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class UCB(Seated[Tally]):
    """Optimism about the mean of every (context, arm): UCB, and with a prior UCB-PCB.

    The index is ``mean + sigma sqrt(2 log(1/delta) / n)``, clipped to the prior's ``[L, U]``;
    an arm not yet played there has index ``U``. ``delta`` is ``1/horizon**2`` unless given. The
    paper's noise is 1-sub-Gaussian for rewards from 0 to 1, so ``sigma`` is the width of the
    reward's range; half of it suffices.

    >>> policy = UCB(arms=["A", "B"], horizon=100)
    >>> decision = policy.decide()
    >>> policy.learn(decision, 1.0)
    >>> decision.arm, policy.decide().arm
    (('A',), ('B',))
    """

    def __init__(
        self,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        sigma: float | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._horizon = rounds(horizon)
        self._delta = None if delta is None else chance("delta", delta)
        self._sigma = None if sigma is None else positive("sigma", sigma)
        self.desk = Desk.of(
            lambda _: Tally(),
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
        """Play whole runs in compiled code."""
        board = self.desk.board(stage)
        if board is None:
            return None
        return play_ucb(
            board.starts,
            board.lower,
            board.upper,
            board.place,
            self._width(),
            board.means,
            board.target,
            *as_runs(visitors, luck),
        )

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        joined = self.desk.joined(other.desk, since.desk if since else None)
        return self._with(self._options(), joined)

    def state(self) -> State:
        """Everything, as an object that JSON keeps exactly."""
        return sealed("UCB", {"options": self._options(), "desk": self.desk.record()})

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("UCB", state) as body:
            made = cls(**body["options"])
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        book, scores = self.desk.book, np.empty(len(lineup))
        winner, looked = decide_ucb(
            book.count,
            book.total,
            book.slots(context, lineup),
            lineup.lower,
            lineup.upper,
            lineup.place,
            self._width(),
            scores,
        )
        free: list[float] = scores.tolist()
        final = free
        if lineup.bounded:
            final = [
                max(min(f, upper), lower)
                for f, (lower, upper) in zip(free, lineup.ends, strict=True)
            ]
        shown, skipped = lineup.first(looked), len(lineup) - looked
        return settled(lineup, winner, shown, free, final, skipped=skipped)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _width(self) -> float:
        if self._delta is None and self._horizon is None:
            raise NeedsHorizon("UCB", "delta")
        low, high = self.desk.scene.reward_range
        sigma = high - low if self._sigma is None else self._sigma
        surprise = -math.log(self._delta) if self._delta else 2 * math.log(self._horizon or 1)
        return sigma * math.sqrt(2 * surprise)

    def _options(self) -> Record:
        return {"horizon": self._horizon, "delta": self._delta, "sigma": self._sigma}

    def _with(self, options: Record, desk: Desk[Tally]) -> Self:
        made = type(self)(**options)
        made.desk = desk
        return made
