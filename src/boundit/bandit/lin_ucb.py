"""LinUCB with a model for each arm or one for all, capped by prior bounds (Algorithm 4)."""

from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.board import Board, as_runs
from boundit.bandit.contest import Outcome, settled
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, as_vector
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_lin_ucb import decide_linear, play_linear
from boundit.bandit.kernel_narrowing import play_narrowing
from boundit.bandit.layout import Layout, laid_out
from boundit.bandit.lineup import Lineup
from boundit.bandit.living_board import living_board
from boundit.bandit.options import flag, not_negative
from boundit.bandit.regression import Regression, Ridges
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.warm_start import WarmStart
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class LinUCB(Seated[Ridges]):
    """Optimism on a ridge model, capped by prior bounds: LinUCB, and with a prior LinUCB-PCB.

    The index of an arm is ``min(theta' x + alpha sqrt(x' inverse(A) x), U)``, from a model of
    its own, or from one for all (``shared``). With a ``floor`` it is at least ``L``, which the
    paper's algorithm leaves out. Features are ``[1, context, treatments]``, or what the
    function ``features(context, arm)`` gives. A ``warm_start`` puts point estimates into the
    models: with those of the log the paper's LinUCB_CP and LinUCB_Biased.

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
        floor: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._alpha = not_negative("alpha", alpha)
        self._floor = flag("floor", floor)
        how = Regression(ridge, shared, features, warm_start)
        self.desk = Desk.of(
            lambda scene: Ridges(scene, how),
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
        seeing: Floats | None = None,
    ) -> Places | None:
        """Play whole runs in compiled code; own features are asked once for each pair."""
        board = self.desk.board(stage, living=True)
        start = board and laid_out(self.desk.book.fresh(self.desk.scene), board)
        if board is None or start is None:
            return None
        if seeing is not None and self.desk.narrows_on(stage):
            return self._play_narrowing(stage, board, start, visitors, luck, seeing)
        return play_linear(
            start.stack.inverse,
            start.stack.theta,
            start.slots,
            start.x,
            board.lower,
            board.upper,
            board.place,
            start.stack.n_features,
            self._alpha,
            self._floor,
            board.starts,
            board.means,
            board.target,
            *as_runs(visitors, luck),
        )

    def _play_narrowing(
        self,
        stage: Stage,
        board: Board,
        start: Layout,
        visitors: Places,
        luck: Floats,
        seeing: Floats,
    ) -> Places | None:
        """Play whole runs whose rounds narrow the bounds."""
        rounds = living_board(self.desk.fresh().guard.ends, board, stage.shows)
        if rounds is None:
            return None
        return play_narrowing(
            start.stack.inverse,
            start.stack.theta,
            start.slots,
            start.x,
            board.lower,
            board.upper,
            board.place,
            start.stack.n_features,
            self._alpha,
            self._floor,
            board.starts,
            board.means,
            board.target,
            rounds,
            *as_runs(visitors, luck),
            np.require(seeing, np.float64, ["C", "W", "A"]),
        )

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        return self._with(self.desk.joined(other.desk, since.desk if since else None))

    def state(self) -> State:
        """Everything but the function ``features``, as an object that JSON keeps exactly."""
        options = {"alpha": self._alpha, "floor": self._floor, **self.desk.book.how.record()}
        return sealed("LinUCB", {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("LinUCB", state) as body:
            options = body["options"]
            how = Regression.read(options, features, "LinUCB")
            made = cls(alpha=options["alpha"], floor=options.get("floor", False))
            made.desk.book = Ridges(made.desk.scene, how)
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        sight = self.desk.book.sight(context, lineup)
        stack = self.desk.book.stack_of(sight.n_features)
        winner, looked = decide_linear(
            stack.inverse,
            stack.theta,
            stack.version,
            sight.slots,
            sight.x,
            lineup.lower,
            lineup.upper,
            lineup.place,
            sight.n_features,
            self._alpha,
            self._floor,
            sight.free,
            sight.scored,
        )
        free: list[float] = sight.free.tolist()
        final = free
        if lineup.bounded:
            final = [min(f, upper) for f, (_, upper) in zip(free, lineup.ends, strict=True)]
        if self._floor:
            final = [max(f, lower) for f, (lower, _) in zip(final, lineup.ends, strict=True)]
        return settled(
            lineup,
            winner,
            lineup.first(looked),
            free,
            final,
            skipped=len(lineup) - looked,
            features=sight.row(winner),
        )

    def _take(self, decision: Decision, reward: float) -> None:
        x = as_vector(decision.features, decision.arm)
        self.desk.book.require(x, decision.arm)
        self.desk.book.add(decision.arm, x, reward)

    def _with(self, desk: Desk[Ridges]) -> Self:
        made = type(self)(alpha=self._alpha, floor=self._floor)
        made.desk = desk
        return made
