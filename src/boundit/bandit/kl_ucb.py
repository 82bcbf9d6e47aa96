"""KL-UCB on each context by itself, with bounds (B-kl-UCB of Zhang and Bareinboim 2017)."""

import math
from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.board import as_runs
from boundit.bandit.contest import Outcome, settled
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_kl_ucb import decide_kl, play_kl
from boundit.bandit.kernel_kl_ucb import kl as kl
from boundit.bandit.kernel_kl_ucb import kl_upper as kl_upper
from boundit.bandit.lineup import Lineup
from boundit.bandit.options import not_negative
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class KLUCB(Seated[Tally]):
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
        living: float = LIVING,
    ) -> None:
        self._c = not_negative("c", c)
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
        horizon: int | None = None,  # noqa: ARG002, it plays as long as it is asked
        seed: int | None = None,  # noqa: ARG002, nothing is drawn
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        return self._with(self.desk.fresh(arms=arms, context=context))

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
        return play_kl(
            board.starts,
            board.lower,
            board.upper,
            board.place,
            self._c,
            *self.desk.scene.reward_range,
            board.means,
            board.target,
            *as_runs(visitors, luck),
        )

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

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        book, scores = self.desk.book, np.empty(len(lineup))
        winner, looked, entered = decide_kl(
            book.count,
            book.total,
            book.slots(context, lineup),
            lineup.lower,
            lineup.upper,
            lineup.place,
            book.plays(context) + 1.0,
            self._c,
            *self.desk.scene.reward_range,
            scores,
        )
        free: list[float] = scores.tolist()
        final = [min(f, upper) for f, (_, upper) in zip(free, lineup.ends, strict=True)]
        shown = [(i, arm) for i, arm in lineup.shown if not math.isnan(free[i])]
        return settled(lineup, winner, shown, free, final, skipped=entered - looked)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _with(self, desk: Desk[Tally]) -> Self:
        made = type(self)(c=self._c)
        made.desk = desk
        return made
