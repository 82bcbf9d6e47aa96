"""Linear Thompson sampling with a model for each arm or one for all, cut to prior bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Self, final

import numpy as np

from boundit.bandit.codec import Record
from boundit.bandit.contest import Outcome
from boundit.bandit.decision import Decision
from boundit.bandit.desk import Desk
from boundit.bandit.encoding import Features, Vector, as_vector
from boundit.bandit.laws import CutNormal, Law, Numbers, uniform_of, win_chance
from boundit.bandit.options import flag, not_negative, whole
from boundit.bandit.prior import Entrant
from boundit.bandit.regression import Regression, Ridges
from boundit.bandit.sampling import Chance, draw_best
from boundit.bandit.scene import Arms, ContextNames
from boundit.bandit.state import State, opened, sealed
from boundit.bandit.stream import stream
from boundit.bandit.warm_start import WarmStart
from boundit.bandit.watch import Refutation, Watch
from boundit.terms.bound import Arm, Context
from boundit.terms.bound_table import BoundTable

_FURTHER_DRAWS = 999


@final
class LinTS:
    """Play an arm as often as its ridge model believes it best, within the prior's bounds.

    The belief about ``theta`` is normal around the ridge estimate with covariance
    ``scale^2 inverse(A)``, for each arm or one for all (``shared``); each arm's mean is drawn
    from its part of it, cut to ``[L, U]``. A draw hangs on the seed, the number of rewards
    learned and the context, so that a retry gives the same arm. Arms that share a model are
    drawn together, and their propensity is then the share of wins in this and 999 further
    draws; otherwise it is computed. ``propensities=False`` spares the work.

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
        )

    def decide(
        self,
        context: object = (),
        *,
        arms: Arms | None = None,
        id: str | None = None,  # noqa: A002, the word users know
    ) -> Decision:
        """Choose the arm with the highest draw; changes nothing."""
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
        seed: int | None = None,
    ) -> Self:
        """A new policy with the same settings and nothing learned; fills what is unbound."""
        return self._with(self.desk.fresh(arms=arms, context=context), seed)

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

    def _choose(self, context: Context, entrants: Sequence[Entrant]) -> Outcome:
        book = self.desk.book
        row = cache(lambda arm: book.vector(context, arm))
        rng = stream(self._seed, self.desk.events, context)
        chance: Chance = win_chance
        if book.how.shared:
            places = {entrant.arm: entrant.place for entrant in entrants}
            shares = self._together({place: row(arm) for arm, place in places.items()}, rng)
            chance = partial(_share_of_wins, shares, places)
        else:
            shares = rng.random((1, 1 + max(entrant.place for entrant in entrants)))

        def law_of(entrant: Entrant) -> CutNormal:
            x = row(entrant.arm)
            model = book.model(entrant.arm, x.size)
            spread = self._scale * model.spread(x)
            return CutNormal(model.mean(x), spread, entrant.lower, entrant.upper)

        wanted = chance if self._propensities else None
        found = draw_best(entrants, law_of, shares[0], wanted)
        return replace(found, features=tuple(row(found.arm).tolist()))

    def _together(self, rows: Mapping[int, Vector], rng: np.random.Generator) -> Numbers:
        """Draw ``theta`` for all arms at once: the same luck moves them together.

        One line for each draw, one column for each place: the share at which the draw's value
        lies in the belief about that arm.
        """
        size = next(iter(rows.values())).size
        root = np.linalg.cholesky(self.desk.book.model((), size).inverse)
        luck = rng.standard_normal((1 + _FURTHER_DRAWS * self._propensities, size))
        shares = np.full((len(luck), 1 + max(rows)), 0.5)
        for place, x in rows.items():
            along = root.T @ x
            if along.any():
                shares[:, place] = uniform_of(luck @ along / np.linalg.norm(along))
        return shares

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


def _share_of_wins(
    shares: Numbers, places: Mapping[Arm, int], laws: Mapping[Arm, Law], winner: Arm
) -> float:
    draws = np.array([law.quantile(shares[:, places[arm]]) for arm, law in laws.items()])
    return float((draws.argmax(axis=0) == list(laws).index(winner)).mean())
