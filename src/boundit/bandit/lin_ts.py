"""Linear Thompson sampling with a model for each arm or one for all, cut to prior bounds."""

from collections.abc import Mapping
from typing import Self, final

import numpy as np

from boundit.bandit.board import as_runs
from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, as_vector
from boundit.bandit.guard import LIVING
from boundit.bandit.kernel_lin_ts import Rows, decide_lin_ts, play_lin_ts
from boundit.bandit.laws import CutNormal, win_chance
from boundit.bandit.layout import laid_out
from boundit.bandit.lineup import Entrant, Lineup
from boundit.bandit.options import flag, not_negative, whole
from boundit.bandit.regression import Regression, Ridges
from boundit.bandit.sampling import drawn, winning_chance
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.seated import Seated
from boundit.bandit.sight import Sight
from boundit.bandit.stage import Floats, Places, Seeds, Stage
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.stream import context_word, seed_word
from boundit.bandit.warm_start import WarmStart
from boundit.bandit.watch import Watch
from boundit.terms.bound import Context
from boundit.terms.bound_table import BoundTable

_FURTHER_DRAWS = 999


@final
class LinTS(Seated[Ridges]):
    """Play an arm as often as its ridge model believes it best, within the prior's bounds.

    The belief about ``theta`` is normal around the ridge estimate with covariance
    ``scale^2 inverse(A)``, for each arm or one for all (``shared``); an arm's mean is drawn
    from it, and drawn again inside ``[L, U]`` if it lies outside. Draws hang on the seed, the
    number of rewards learned, the context and the place of the arm, so that a retry gives the
    same arm. Arms that share a model are drawn together, and their propensity is then the share
    of wins in this and 999 further draws; otherwise it is computed. ``propensities=False``
    spares the work.

    >>> policy = LinTS(arms=["A", "B"], context=["Age"], seed=1)
    >>> policy.decide(0.3, id="7") == policy.decide(0.3, id="7")
    True
    """

    def __init__(
        self,
        *,
        scale: float = 1.0,
        seed: int = 0,
        propensities: bool = True,
        ridge: float = 1.0,
        shared: bool = False,
        warm_start: WarmStart | None = None,
        features: Features | None = None,
        prior: BoundTable | None = None,
        arms: Arms | None = None,
        context: ContextNames | None = None,
        reward_range: tuple[float, float] | None = None,
        watch: bool | Watch = False,
        living: float = LIVING,
    ) -> None:
        self._scale = not_negative("scale", scale)
        self._seed = whole("seed", seed)
        self._propensities = flag("propensities", propensities)
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
        """Play whole runs in compiled code; own features are asked once for each pair."""
        board = self.desk.board(stage)
        start = board and laid_out(self.desk.book.fresh(self.desk.scene), board)
        if board is None or start is None:
            return None
        return play_lin_ts(
            start.stack.inverse,
            start.stack.theta,
            Rows(start.slots, start.x, board.lower, board.upper, board.place),
            start.stack.n_features,
            self._scale,
            self.desk.book.how.shared,
            np.array([context_word(context) for context in board.contexts]),
            board.starts,
            board.means,
            board.target,
            *as_runs(visitors, luck),
            np.ascontiguousarray(seeds, np.uint64),
        )

    def merged(self, other: Self, *, since: Self | None = None) -> Self:
        """A new policy that has learned what both have; ``since`` is what they share."""
        return self._with(self.desk.joined(other.desk, since.desk if since else None))

    def state(self) -> State:
        """Everything but the function ``features``, as an object that JSON keeps exactly."""
        options = {**self._options(), **self.desk.book.how.record()}
        return sealed("LinTS", {"options": options, "desk": self.desk.record()})

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], *, features: Features | None = None
    ) -> Self:
        """Make the policy that ``state()`` described; it goes on bit for bit."""
        with opened("LinTS", state) as body:
            options = body["options"]
            how = Regression.read(options, features, "LinTS")
            made = cls(**{name: options[name] for name in ("scale", "seed", "propensities")})
            made.desk.book = Ridges(made.desk.scene, how)
            made.desk = made.desk.restored(body["desk"])
        return made

    def _choose(self, context: Context, lineup: Lineup) -> Outcome:
        book = self.desk.book
        sight, shared = book.sight(context, lineup), book.how.shared
        stack = book.stack_of(sight.n_features)
        draws, free = np.empty(len(lineup)), np.empty(len(lineup))
        winner, looked, share = decide_lin_ts(
            seed_word(self._seed),
            self.desk.events,
            context_word(context),
            stack.inverse,
            stack.theta,
            sight.slots,
            sight.x,
            lineup.lower,
            lineup.upper,
            lineup.place,
            sight.n_features,
            self._scale,
            shared,
            _FURTHER_DRAWS if shared and self._propensities else 0,
            draws,
            free,
        )
        propensity = share if self._propensities else None
        if self._propensities and not shared:
            propensity = self._chance(sight, winner)
        row = sight.row(winner)
        return drawn(lineup, (winner, looked), draws, free, features=row, propensity=propensity)

    def _chance(self, sight: Sight, winner: int) -> float:
        rows = {entrant.arm: sight.row(i) for i, entrant in enumerate(sight.lineup)}

        def law_of(entrant: Entrant) -> CutNormal:
            x = np.array(rows[entrant.arm])
            model = self.desk.book.model(entrant.arm, x.size)
            spread = self._scale * model.spread(x)
            return CutNormal(model.mean(x), spread, entrant.lower, entrant.upper)

        return winning_chance(sight.lineup, winner, law_of, win_chance)

    def _take(self, decision: Decision, reward: float) -> None:
        x = as_vector(decision.features, decision.arm)
        self.desk.book.require(x, decision.arm)
        self.desk.book.add(decision.arm, x, reward)

    def _options(self) -> Record:
        return {
            "scale": self._scale,
            "seed": self._seed,
            "propensities": self._propensities,
        }

    def _with(self, desk: Desk[Ridges], seed: int | None = None) -> Self:
        options = self._options()
        made = type(self)(**{**options, "seed": options["seed"] if seed is None else seed})
        made.desk = desk
        return made
