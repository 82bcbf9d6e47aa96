"""Thompson sampling on each context by itself, with bounds (B-TS, Zhang and Bareinboim)."""

from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.board import as_runs
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_ts import Table, decide_ts, play_ts
from boundit.bandit.laws import CutBeta, win_chance
from boundit.bandit.lineup import Entrant, Lineup
from boundit.bandit.options import flag, whole
from boundit.bandit.sampling import drawn, winning_chance
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.stream import context_word, seed_word
from boundit.bandit.tally import Tally
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable


@final
class TS(Seated[Tally]):
    """Play an arm as often as it is believed best: Beta beliefs, cut to the prior's bounds.

    The belief about a mean starts uniform; a reward between 0 and 1 counts as that much success
    and the rest failure. A draw outside ``[L, U]`` is rejected and drawn again inside. Draws
    hang on the seed, the number of rewards learned, the context and the place of the arm, so
    that a retry gives the same arm. ``propensities=False`` spares the work of computing them.

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
        living: float = LIVING,
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
            living=living,
        )

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

    def play(
        self,
        stage: Stage,
        visitors: Places,
        luck: Floats,
        seeds: Seeds,
        seeing: Floats | None = None,  # noqa: ARG002, it then plays round by round
    ) -> Places | None:
        """Play whole runs in compiled code."""
        board = self.desk.board(stage)
        if board is None:
            return None
        slots = np.arange(board.place.size)
        return play_ts(
            board.starts,
            Table(slots, board.lower, board.upper, board.place),
            np.array([context_word(context) for context in board.contexts]),
            *self.desk.scene.reward_range,
            board.means,
            board.target,
            *as_runs(visitors, luck),
            np.ascontiguousarray(seeds, np.uint64),
        )

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

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        book, (low, high) = self.desk.book, self.desk.scene.reward_range
        draws, free = np.empty(len(lineup)), np.empty(len(lineup))
        found = decide_ts(
            seed_word(self._seed),
            self.desk.events,
            context_word(context),
            book.count,
            book.total,
            book.slots(context, lineup),
            lineup.lower,
            lineup.upper,
            lineup.place,
            low,
            high,
            draws,
            free,
        )
        propensity = self._chance(context, lineup, found[0]) if self._propensities else None
        return drawn(lineup, found, draws, free, propensity=propensity)

    def _chance(self, context: Context, lineup: Lineup, winner: int) -> float:
        unit = self.desk.scene.unit

        def law_of(entrant: Entrant) -> CutBeta:
            cell = self.desk.book[context, entrant.arm]
            wins = cell.n * unit(cell.mean) if cell.n else 0.0
            ends = unit(entrant.lower), unit(entrant.upper)
            return CutBeta(1 + wins, 1 + cell.n - wins, *ends)

        return winning_chance(lineup, winner, law_of, win_chance)

    def _take(self, decision: Decision, reward: float) -> None:
        self.desk.book.add(decision.context, decision.arm, reward)

    def _with(self, desk: Desk[Tally], seed: int | None = None) -> Self:
        made = type(self)(
            seed=self._seed if seed is None else seed, propensities=self._propensities
        )
        made.desk = desk
        return made
