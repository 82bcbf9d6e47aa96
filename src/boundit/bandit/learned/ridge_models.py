"""What linear policies know: a ridge model for each arm, or one that all share."""

from copy import copy
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption, CannotMerge, DamagedState
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.feature_cache import ContextFeatures, FeatureCache
from boundit.bandit.learned.features import (
    FeatureEncoding,
    Features,
    Vector,
    as_vector,
    require_length,
)
from boundit.bandit.learned.ridge import Ridge
from boundit.bandit.learned.ridge_stack import RidgeStack
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.options import read_flag, read_positive
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context


@final
@dataclass(frozen=True)
class RidgeSettings:
    """How a linear policy learns: the options of its models."""

    ridge: float = 1.0
    shared: bool = False
    features: Features | None = None
    warm_start: WarmStart | None = None

    def __post_init__(self) -> None:
        read_positive("ridge", self.ridge)
        read_flag("shared", self.shared)
        if self.features is not None and not callable(self.features):
            raise BadOption("features", "a function of context and arm", self.features)
        if not isinstance(self.warm_start, WarmStart | None):
            raise BadOption("warm_start", "a WarmStart", self.warm_start)

    def to_record(self) -> Record:
        """Spell it as a JSON object; a function cannot be spelled, only that there was one."""
        return {
            "ridge": self.ridge,
            "shared": self.shared,
            "features": self.features is not None,
            "warm_start": self.warm_start.to_record() if self.warm_start else None,
        }

    @staticmethod
    def given(options: Record, features: Features | None, policy: str) -> Record:
        """Options as a policy takes them, of a record; the function must be given again."""
        if options["features"] != (features is not None):
            wanted = "give its function again, features=" if options["features"] else "none"
            raise DamagedState(policy, f"its features were: {wanted}")
        warm = WarmStart.from_record(options["warm_start"]) if options["warm_start"] else None
        return {**options, "features": features, "warm_start": warm}


@final
class RidgeModels:
    """The models of a linear policy, and the features they are asked about."""

    def __init__(self, scene: BanditSpec, how: RidgeSettings) -> None:
        self.how = how
        self.encoding = FeatureEncoding.of(scene, how.features)
        self.stack: RidgeStack | None = None
        self.learned: dict[Arm | None, int] = {}
        self._starts: dict[Arm | None, int] = {}
        self._cold: int | None = None
        self._sights = FeatureCache(self.encoding)
        self._last: ContextFeatures | None = None

    def sight(self, context: Context, lineup: RankedArms) -> ContextFeatures:
        """Look at the arms of a context, each with the slot of its model."""
        sight = self._sights.of(context, lineup)
        if sight.stack is not self.stack or sight.n_learned != len(self.learned):
            d = sight.n_features
            self.require(sight.x[:d], lineup[0].arm)
            stack, last = self.stack_of(d), self._last
            if last is None or not last.points(lineup, stack, len(self.learned)):
                slots = [self.slot(entrant.arm, d) for entrant in lineup]
                sight.point(stack, slots, len(self.learned))
            else:
                sight.point(stack, last.sheet[:, STATISTICS], len(self.learned))
            self._last = sight
        return sight

    def vector(self, context: Context, arm: Arm) -> Vector:
        """Write the features of an arm in a context, as long as those learned from before."""
        x = self.encoding.vector(context, arm)
        self.require(x, arm)
        return x

    def require(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        require_length(x, self.n_features, arm)

    @property
    def n_features(self) -> int | None:
        """How many features were learned from, once there was a reward."""
        return self.stack.n_features if self.stack is not None and self.learned else None

    def model(self, arm: Arm, n_features: int) -> Ridge:
        """What is known of an arm; it changes as the arm is learned."""
        return self.stack_of(n_features).at(self.slot(arm, n_features))

    def slot(self, arm: Arm, n_features: int) -> int:
        """Where the model of an arm lies: what was learned of it, or what it starts from.

        Arms that nobody estimated all start alike, and from one slot.
        """
        key, warm = None if self.how.shared else arm, self.how.warm_start
        stack = self.stack_of(n_features)
        if key in self.learned:
            return self.learned[key]
        if warm and (key is None or key in warm.arms):
            if key not in self._starts:
                self._starts[key] = stack.push(self.start(key, n_features))
            return self._starts[key]
        if self._cold is None:
            self._cold = stack.push(Ridge.untried(n_features, self.how.ridge))
        return self._cold

    def start(self, key: Arm | None, n_features: int) -> Ridge:
        """What is known before the first reward."""
        warm, ridge = self.how.warm_start, self.how.ridge
        if warm is None:
            return Ridge.untried(n_features, ridge)
        return warm.start(self.encoding, key, n_features, ridge)

    def stack_of(self, n_features: int) -> RidgeStack:
        """Where the models lie; before the first reward features may still change length."""
        if self.stack is None or self.stack.n_features != n_features:
            self.stack, self._starts, self._cold = RidgeStack(n_features), {}, None
        return self.stack

    def take(self, decision: Decision, reward: float) -> None:
        """Take in what a decision earned; features of another length are refused."""
        stack, rows = self.stack, decision.reasons.rows
        if stack and rows and rows.n_features == stack.n_features:
            x, at = rows.padded_row(decision.reasons.winner)
        else:
            features = as_vector(decision.features, decision.arm)
            self.require(features, decision.arm)
            stack, x, at = self.stack_of(features.size), pad_rows(features), 0
        key = None if self.how.shared else decision.arm
        slot = self.learned.get(key)
        if slot is None:
            slot = stack.push(self.model(decision.arm, stack.n_features))
            self.learned[key] = slot
        stack.learn(slot, x, at, reward)

    def settings(self) -> Record:
        """How it learns."""
        return self.how.to_record()

    def fresh(self, scene: BanditSpec) -> "RidgeModels":
        """The same kind, nothing learned."""
        return RidgeModels(scene, self.how)

    def join(self, other: "RidgeModels", shared: "RidgeModels") -> "RidgeModels":
        """Put two together; what ``shared`` knew, or the start, is in both and counts once."""
        if self.how != other.how:
            raise CannotMerge("the two policies learn with other features, ridge or warm start")
        result, size = copy(self), self.n_features or other.n_features or 0
        result.forget()
        for key in dict.fromkeys((*self.learned, *other.learned)):
            base = shared.known(key) or self.start(key, size)
            one, two = self.known(key) or base, other.known(key) or base
            result.put(key, Ridge.of(one.A + two.A - base.A, one.b + two.b - base.b))
        return result

    def to_record(self) -> list[list[object]]:
        """Spell it for JSON; the inverse too, so that a restored policy goes on bit for bit."""
        return [
            [
                None if key is None else encode_values(key),
                *(part.tolist() for part in (model.A, model.b, model.inverse, model.theta)),
            ]
            for key in self.learned
            if (model := self.known(key))
        ]

    def restore(self, record: list[list[object]], scene: BanditSpec) -> "RidgeModels":
        """Read back what ``record`` wrote."""
        result = self.fresh(scene)
        for key, *parts in record:
            model = Ridge(*(np.array(part, dtype=np.float64) for part in parts))
            size = result.n_features or model.b.size
            shapes = [part.shape for part in (model.A, model.b, model.inverse, model.theta)]
            if shapes != [(size, size), (size,), (size, size), (size,)]:
                raise ValueError("the matrices of a model do not fit each other")
            result.put(decode_values(key) if isinstance(key, list) else None, model)
        return result

    def known(self, key: Arm | None) -> Ridge | None:
        """What was learned of an arm, or of all."""
        slot = self.learned.get(key)
        return None if slot is None or self.stack is None else self.stack.at(slot)

    def put(self, key: Arm | None, model: Ridge) -> None:
        """Take over what was learned elsewhere."""
        self.learned[key] = self.stack_of(model.b.size).push(model)

    def forget(self) -> None:
        """Be as if nothing was learned."""
        self.stack, self.learned, self._starts, self._cold = None, {}, {}, None
        self._sights, self._last = FeatureCache(self.encoding), None
