"""What linear policies know: a ridge model for each arm, or one that all share."""

from copy import copy
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.codec import Record, read_values, spelled_values
from boundit.bandit.encoding import Encoding, Features, Vector, require_length
from boundit.bandit.errors import BadOption, CannotMerge, DamagedState
from boundit.bandit.options import flag, positive
from boundit.bandit.ridge import Ridge
from boundit.bandit.scene import Scene
from boundit.bandit.warm_start import WarmStart
from boundit.terms.bound import Arm, Context


@final
@dataclass(frozen=True)
class Regression:
    """How a linear policy learns: the options of its models."""

    ridge: float = 1.0
    shared: bool = False
    features: Features | None = None
    warm_start: WarmStart | None = None

    def __post_init__(self) -> None:
        positive("ridge", self.ridge)
        flag("shared", self.shared)
        if self.features is not None and not callable(self.features):
            raise BadOption("features", "a function of context and arm", self.features)
        if not isinstance(self.warm_start, WarmStart | None):
            raise BadOption("warm_start", "a WarmStart", self.warm_start)

    def record(self) -> Record:
        """Spell it as a JSON object; a function cannot be spelled, only that there was one."""
        return {
            "ridge": self.ridge,
            "shared": self.shared,
            "features": self.features is not None,
            "warm_start": self.warm_start.record() if self.warm_start else None,
        }

    @classmethod
    def read(cls, record: Record, features: Features | None, policy: str) -> "Regression":
        """Read back what ``record`` wrote; the function must be given again."""
        if record["features"] != (features is not None):
            wanted = "give its function again, features=" if record["features"] else "none"
            raise DamagedState(policy, f"its features were: {wanted}")
        warm = WarmStart.read(record["warm_start"]) if record["warm_start"] else None
        return cls(record["ridge"], record["shared"], features, warm)


@final
class Ridges:
    """The models of a linear policy, and the features they are asked about."""

    def __init__(self, scene: Scene, how: Regression) -> None:
        self.how = how
        self.models: dict[Arm | None, Ridge] = {}
        self._encoding = Encoding.of(scene, how.features)
        self._starts: dict[tuple[Arm | None, int], Ridge] = {}

    def vector(self, context: Context, arm: Arm) -> Vector:
        """Write the features of an arm in a context, as long as those learned from before."""
        x = self._encoding.vector(context, arm)
        self.require(x, arm)
        return x

    def require(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        known = next((model.b.size for model in self.models.values()), None)
        require_length(x, known, arm)

    def model(self, arm: Arm, n_features: int) -> Ridge:
        """What is known of an arm."""
        key = None if self.how.shared else arm
        return self.models.get(key) or self.start(key, n_features)

    def start(self, key: Arm | None, n_features: int) -> Ridge:
        """What is known before the first reward; worked out once."""
        if (key, n_features) not in self._starts:
            warm, ridge = self.how.warm_start, self.how.ridge
            self._starts[key, n_features] = (
                warm.start(self._encoding, key, n_features, ridge)
                if warm
                else Ridge.untried(n_features, ridge)
            )
        return self._starts[key, n_features]

    def add(self, arm: Arm, x: Vector, reward: float) -> None:
        """Take in one reward."""
        key = None if self.how.shared else arm
        self.models[key] = self.model(arm, x.size).seeing(x, reward)

    def fresh(self, scene: Scene) -> "Ridges":
        """The same kind, nothing learned."""
        return Ridges(scene, self.how)

    def joined(self, other: "Ridges", shared: "Ridges") -> "Ridges":
        """Put two together; what ``shared`` knew, or the start, is in both and counts once."""
        if self.how != other.how:
            raise CannotMerge("the two policies learn with other features, ridge or warm start")
        result = self._emptied()
        for key in dict.fromkeys((*self.models, *other.models)):
            size = (self.models.get(key) or other.models[key]).b.size
            base = shared.models.get(key) or self.start(key, size)
            one, two = self.models.get(key, base), other.models.get(key, base)
            result.models[key] = Ridge.of(one.A + two.A - base.A, one.b + two.b - base.b)
        return result

    def record(self) -> list[list[object]]:
        """Spell it for JSON; the inverse too, so that a restored policy goes on bit for bit."""
        return [
            [
                None if key is None else spelled_values(key),
                *(part.tolist() for part in (model.A, model.b, model.inverse, model.theta)),
            ]
            for key, model in self.models.items()
        ]

    def restored(self, record: list[list[object]], scene: Scene) -> "Ridges":
        """Read back what ``record`` wrote."""
        result = self.fresh(scene)
        for key, *parts in record:
            model = Ridge(*(np.array(part, dtype=np.float64) for part in parts))
            square = (model.b.size, model.b.size)
            if not model.A.shape == model.inverse.shape == square:
                raise ValueError("the matrices of a model do not fit each other")
            result.models[read_values(key) if isinstance(key, list) else None] = model
        return result

    def _emptied(self) -> "Ridges":
        result = copy(self)
        result.models = {}
        return result
