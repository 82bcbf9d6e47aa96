"""What optimal allocation matching knows: one regression, counts, and how often it explored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.allocation import Numbers, allocate
from boundit.bandit.codec import Record, read_values, spelled_values
from boundit.bandit.encoding import Encoding, Features, Vector, require_length
from boundit.bandit.prior import Entrant, Prior
from boundit.bandit.scene import Scene
from boundit.bandit.tally import Tally
from boundit.terms.bound import Arm, Context

Pair: TypeAlias = tuple[Context, Arm]

_RIDGE = 1e-6  # of a squared feature: enough to invert with, too little to matter
_GROWTH = 1.05


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair worth pulling, with its features and the number of its context."""

    keys: tuple[Pair, ...]
    x: Numbers
    context: NDArray[np.intp]

    def gaps(self, theta: Vector) -> Numbers:
        """How far each pair falls short of the best of its context."""
        means = self.x @ theta
        best = np.full(self.context.max(initial=-1) + 1, -np.inf)
        np.maximum.at(best, self.context, means)
        return np.asarray(best[self.context] - means)


@final
class Matching:
    """Statistics that add up, and the allocation last worked out from them."""

    def __init__(self, scene: Scene, features: Features | None) -> None:
        self.features, self.scene = features, scene
        self.encoding = Encoding.of(scene, features)
        self.tally = Tally()
        self.explorations, self.due = 0, 1
        self.allocation: Mapping[Pair, float] = {}
        self.rows: tuple[Numbers, Vector] | None = None
        self._pairs: tuple[Prior, Pairs] | None = None

    def vector(self, context: Context, arm: Arm) -> Vector:
        """Write the features of an arm in a context, as long as those learned from before."""
        x = self.encoding.vector(context, arm)
        self.require(x, arm)
        return x

    def require(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        require_length(x, self.rows[1].size if self.rows else None, arm)

    def estimates(self, x: Numbers) -> tuple[Vector, Numbers, Numbers]:
        """``theta``, the spread of each row of ``x``, and its share that nothing measured."""
        size = np.square(x).sum(axis=1)
        ridge = _RIDGE * (float(size.max()) or 1.0)
        gram, moment = self.rows or (np.zeros((x.shape[1],) * 2), np.zeros(x.shape[1]))
        inverse = np.linalg.inv(gram + ridge * np.eye(x.shape[1]))
        spreads = np.maximum(np.einsum("ij,jk,ik->i", x, inverse, x), 0.0)
        unseen = np.divide(ridge * spreads, size, out=np.zeros_like(size), where=size > 0)
        return np.asarray(inverse @ moment), spreads, unseen

    def pairs(self, prior: Prior) -> Pairs:
        """Every pair of a context that was met and an arm that the bounds do not rule out."""
        if self._pairs is None or self._pairs[0] is not prior:
            self._pairs = prior, self._listed(prior)
        return self._pairs[1]

    def add(self, context: Context, arm: Arm, x: Vector, reward: float) -> None:
        """Take in one reward."""
        gram, moment = self.rows or (np.zeros((x.size,) * 2), np.zeros(x.size))
        self.rows = gram + np.outer(x, x), moment + reward * x
        if not self.tally[context, arm].n:
            self._pairs = None
        self.tally.add(context, arm, reward)

    def explored(self, prior: Prior, *, width: float, smallest_gap: float) -> None:
        """Count a round of exploration; work the allocation out anew when one is due."""
        self.explorations += 1
        if self.explorations < self.due:
            return
        self.due = max(self.explorations + 1, int(_GROWTH * self.explorations))
        pairs = self.pairs(prior)
        theta, _, _ = self.estimates(pairs.x)
        found = allocate(pairs.x, pairs.gaps(theta), width=width, smallest_gap=smallest_gap)
        self.allocation = dict(zip(pairs.keys, found.pulls.tolist(), strict=True))

    def fresh(self, scene: Scene) -> "Matching":
        """The same kind, nothing learned."""
        return Matching(scene, self.features)

    def joined(self, other: "Matching", shared: "Matching") -> "Matching":
        """Put two together; the allocation is worked out at the next exploration."""
        result = self.fresh(self.scene)
        result.tally = self.tally.joined(other.tally, shared.tally)
        result.explorations = self.explorations + other.explorations - shared.explorations
        result.due = result.explorations + 1
        parts = [book.rows for book in (self, other, shared)]
        known = [rows for rows in parts if rows]
        if known:
            none = np.zeros_like(known[0][0]), np.zeros_like(known[0][1])
            one, two, base = (rows or none for rows in parts)
            result.rows = one[0] + two[0] - base[0], one[1] + two[1] - base[1]
        return result

    def record(self) -> Record:
        """Spell it for JSON."""
        return {
            "tally": self.tally.record(),
            "gram": self.rows[0].tolist() if self.rows else None,
            "moment": self.rows[1].tolist() if self.rows else None,
            "explorations": self.explorations,
            "due": self.due,
            "allocation": [
                [spelled_values(context), spelled_values(arm), str(pulls)]
                for (context, arm), pulls in self.allocation.items()
            ],
        }

    def restored(self, record: object, scene: Scene) -> "Matching":
        """Read back what ``record`` wrote."""
        if not isinstance(record, dict):
            raise TypeError("the statistics are no object")
        result = self.fresh(scene)
        result.tally = Tally.read(record["tally"])
        result.explorations, result.due = int(record["explorations"]), int(record["due"])
        result.allocation = {
            (read_values(context), read_values(arm)): float(pulls)
            for context, arm, pulls in record["allocation"]
        }
        if record["gram"] is not None:
            gram, moment = np.array(record["gram"], float), np.array(record["moment"], float)
            if moment.ndim != 1 or gram.shape != (moment.size,) * 2:
                raise ValueError("the matrices do not fit each other")
            result.rows = gram, moment
        return result

    def _listed(self, prior: Prior) -> Pairs:
        arms: dict[Context, dict[Arm, None]] = {}
        for context, arm in self.tally:
            arms.setdefault(context, dict.fromkeys(self.scene.arms))[arm] = None
        keys, rows, numbers = [], [], []
        for i, (context, among) in enumerate(arms.items()):
            for entrant in worthwhile(prior.entrants(tuple(among), context, held=False)):
                keys.append((context, entrant.arm))
                rows.append(self.vector(context, entrant.arm))
                numbers.append(i)
        return Pairs(tuple(keys), np.array(rows), np.array(numbers, dtype=np.intp))


def worthwhile(entrants: Sequence[Entrant]) -> list[Entrant]:
    """Drop the arms whose upper end lies below the lower end of another (D-34), by place.

    >>> a, b = Entrant(("A",), 0.5, 0.9, 0), Entrant(("B",), 0.1, 0.4, 1)
    >>> worthwhile([a, b]) == [a]
    True
    """
    reached = max(entrant.lower for entrant in entrants)
    kept = [entrant for entrant in entrants if entrant.upper >= reached]
    return sorted(kept, key=lambda entrant: entrant.place)
