"""What linear policies know: a ridge model for each arm, or one that all share."""

from copy import copy
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadOption, CannotMerge, DamagedState
from boundit.bandit.kernels.ridge import learn_row, learn_rows
from boundit.bandit.kernels.score_table import STATISTICS
from boundit.bandit.kernels.simd import pad_rows
from boundit.bandit.learned.feature_cache import ContextFeatures, FeatureCache
from boundit.bandit.learned.features import (
    FeatureEncoding,
    Features,
    Vector,
    require_length,
)
from boundit.bandit.learned.ridge import Ridge, RidgeStack
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.many.rewards import RewardBatch
from boundit.bandit.many.rows import name_row
from boundit.bandit.options import read_flag, read_positive
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.serialization import Record, decode_values, encode_values
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm, Context
from boundit.terms.errors import BounditError


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
        """Write the options as a JSON object; of a user's function only that there was one."""
        return {
            "ridge": self.ridge,
            "shared": self.shared,
            "features": self.features is not None,
            "warm_start": self.warm_start.to_record() if self.warm_start else None,
        }

    @staticmethod
    def restore_options(options: Record, features: Features | None, policy: str) -> Record:
        """Read a linear policy's options from the JSON object that ``to_record`` wrote.

        Gives them as the constructor takes them. JSON keeps no function, so a user's
        ``features`` must be given again, or this raises ``DamagedState`` in the name of
        ``policy``.
        """
        if options["features"] != (features is not None):
            wanted = "give its function again, features=" if options["features"] else "none"
            raise DamagedState(policy, f"its features were: {wanted}")
        warm = WarmStart.from_record(options["warm_start"]) if options["warm_start"] else None
        return {**options, "features": features, "warm_start": warm}


@final
class RidgeModels:
    """The models of a linear policy, and the features they are asked about."""

    def __init__(self, spec: BanditSpec, settings: RidgeSettings) -> None:
        self.ridge_settings = settings
        self.encoding = FeatureEncoding.of(spec, settings.features, sees_numbers=True)
        self.stack: RidgeStack | None = None
        self.learned_slots: dict[Arm | None, int] = {}
        self._start_slots: dict[Arm | None, int] = {}
        self._untrained_slot: int | None = None
        self._cache = FeatureCache(self.encoding)
        self._last: ContextFeatures | None = None

    def get_features(self, context: Context, ranked_arms: RankedArms) -> ContextFeatures:
        """Get the features of a context's arms, and where the ridge model of each lies."""
        features = self._cache.known.get(context)
        if features is None or features.ranked_arms is not ranked_arms:
            features = self._cache.encode(context, ranked_arms)
        if features.stack is not self.stack or features.n_learned != len(self.learned_slots):
            d = features.n_features
            self.require_known_length(features.x[:d], ranked_arms[0].arm)
            stack, last, n = self.get_stack(d), self._last, len(self.learned_slots)
            if last is None or not last.has_slots_of(ranked_arms, stack, n):
                slots = [self.find_slot(ranked.arm, d) for ranked in ranked_arms]
                features.point_at(stack, slots, n)
            else:
                features.point_at(stack, last.score_table[:, STATISTICS], n)
            self._last = features
        return features

    def require_known_length(self, x: Vector, arm: Arm) -> None:
        """Refuse features of another length than those learned from before."""
        require_length(x, self.n_features, arm)

    @property
    def n_features(self) -> int | None:
        """The length of the features learned from; None before the first reward."""
        return self.stack.n_features if self.stack is not None and self.learned_slots else None

    def get_model(self, arm: Arm, n_features: int) -> Ridge:
        """Get the ridge model of an arm, learned or not; it changes as the arm is learned."""
        return self.get_stack(n_features).get_model(self.find_slot(arm, n_features))

    def find_slot(self, arm: Arm, n_features: int) -> int:
        """Find where the ridge model of an arm begins in the stack's array.

        That is what was learned of it, or what it starts from; arms without a warm start all
        start from one slot.
        """
        key, warm = None if self.ridge_settings.shared else arm, self.ridge_settings.warm_start
        stack = self.get_stack(n_features)
        if key in self.learned_slots:
            return self.learned_slots[key]
        if warm and (key is None or key in warm.arms):
            if key not in self._start_slots:
                self._start_slots[key] = stack.push(self.make_start_model(key, n_features))
            return self._start_slots[key]
        if self._untrained_slot is None:
            self._untrained_slot = stack.push(
                Ridge.make_untrained(n_features, self.ridge_settings.ridge)
            )
        return self._untrained_slot

    def make_start_model(self, key: Arm | None, n_features: int) -> Ridge:
        """Make the model that an arm, or all for None, has before its first reward."""
        warm, ridge = self.ridge_settings.warm_start, self.ridge_settings.ridge
        if warm is None:
            return Ridge.make_untrained(n_features, ridge)
        return warm.start(self.encoding, key, n_features, ridge)

    def get_stack(self, n_features: int) -> RidgeStack:
        """Get the array with the ridge models of all arms (the stack).

        A new one if the features have another length, which may only be before the first
        reward.
        """
        if self.stack is None or self.stack.n_features != n_features:
            self.stack = RidgeStack(n_features)
            self._start_slots, self._untrained_slot = {}, None
        return self.stack

    def take(self, decision: Decision, reward: float) -> None:
        """Learn a decision's reward in the model of its arm, by the arm's features.

        Features of another length are refused. The row of a decision that a linear policy of
        this process made is at hand; of another it is read from its features.
        """
        x, row, stack = self._find_row(decision)
        slot = self.learned_slots.get(None if self.ridge_settings.shared else decision.arm)
        if slot is None:
            slot = self._find_learning_slot(decision.arm, stack)
        learn_row(stack.models, slot, x, row, stack.n_features, reward)

    def take_many(self, batch: RewardBatch) -> None:
        """Learn several rewards in their order, each in the model of its arm.

        All features are read before the first is learned.
        """
        found = list[Vector]()
        for kind, decision in enumerate(batch.kinds):
            try:
                x, row, stack = self._find_row(decision)
                d = stack.n_features
                require_length(x[row : row + d], found[0].size if found else d, decision.arm)
            except BounditError as error:
                raise name_row(error, batch.find_row(kind)) from None
            found.append(x[row : row + d])
        if not found:
            return
        slots = [self._find_learning_slot(decision.arm, stack) for decision in batch.kinds]
        models, rows = stack.models, pad_rows(np.array(found)).reshape(-1)
        learn_rows(models, np.array(slots), rows, batch.places, d, batch.rewards)

    def _find_row(self, decision: Decision) -> tuple[Vector, int, RidgeStack]:
        """Find the features of a decision: an array, where they begin, and the stack for them."""
        stack, reasons = self.stack, decision.reasons
        rows = reasons.rows
        if stack and isinstance(rows, ContextFeatures) and rows.n_features == stack.n_features:
            return rows.x, reasons.winner * rows.width, stack
        features = self.encoding.read_row(
            decision.features, decision.context, decision.arm, self.n_features
        )
        self.require_known_length(features, decision.arm)
        return pad_rows(features), 0, self.get_stack(features.size)

    def _find_learning_slot(self, arm: Arm, stack: RidgeStack) -> int:
        """Find the slot where the model of an arm learns; before its first reward, make it."""
        key = None if self.ridge_settings.shared else arm
        slot = self.learned_slots.get(key)
        if slot is None:
            start = self.get_model(arm, stack.n_features)
            slot = self.learned_slots[key] = stack.push(start)
        return slot

    def find_features(self, context: Context, arm: Arm) -> tuple[float, ...]:
        """Find the features of one arm in a context, as its model learns them."""
        x = self.encoding.encode(context, arm)
        self.require_known_length(x, arm)
        return tuple(x.tolist())

    def settings(self) -> Record:
        """Give how it learns (ridge, sharing, features, warm start) as a JSON object."""
        return self.ridge_settings.to_record()

    def fresh(self, spec: BanditSpec) -> "RidgeModels":
        """Make untrained models with the same settings; called by ``BasePolicy.fresh``."""
        return RidgeModels(spec, self.ridge_settings)

    def widen(self, spec: BanditSpec) -> "RidgeModels":
        """Carry what was learned over to a spec with further arms or levels.

        As if rows had had the features of the new levels from the start, all of them 0.
        """
        result = self.fresh(spec)
        if result.encoding == self.encoding:
            return self
        own, size = self.ridge_settings.features is None, self.n_features
        turn = self.encoding.map_into(result.encoding, size) if own and size else None
        for key in self.learned_slots:
            if model := self.get_learned(key):
                result.add_model(key, model if turn is None else self._turn_model(model, turn))
        return result

    def _turn_model(self, model: Ridge, turn: Vector) -> Ridge:
        """Make the model that would have been learned, had rows ``x`` been ``turn @ x``."""
        ridge = self.ridge_settings.ridge
        rows = model.A - ridge * np.eye(model.b.size)
        gram = ridge * np.eye(len(turn)) + turn @ rows @ turn.T
        return Ridge.from_statistics(gram, turn @ model.b)

    def join(self, other: "RidgeModels", shared: "RidgeModels") -> "RidgeModels":
        """Add up the ridge models of two policies, arm by arm; gives new models.

        What ``shared`` had learned, or the start, is in both and counts once.
        """
        if self.ridge_settings != other.ridge_settings:
            raise CannotMerge("the two policies learn with other features, ridge or warm start")
        result, size = copy(self), self.n_features or other.n_features or 0
        result.forget()
        for key in dict.fromkeys((*self.learned_slots, *other.learned_slots)):
            base = shared.get_learned(key) or self.make_start_model(key, size)
            one, two = self.get_learned(key) or base, other.get_learned(key) or base
            result.add_model(
                key, Ridge.from_statistics(one.A + two.A - base.A, one.b + two.b - base.b)
            )
        return result

    def to_record(self) -> list[list[object]]:
        """Write every learned model for JSON; its inverse too, so that it goes on bit for bit."""
        return [
            [
                None if key is None else encode_values(key),
                *(part.tolist() for part in (model.A, model.b, model.inverse, model.theta)),
            ]
            for key in self.learned_slots
            if (model := self.get_learned(key))
        ]

    def restore(self, record: list[list[object]], spec: BanditSpec) -> "RidgeModels":
        """Read the models that ``to_record`` wrote; called by ``BasePolicy.restore``."""
        result = self.fresh(spec)
        for key, *parts in record:
            model = Ridge(*(np.array(part, dtype=np.float64) for part in parts))
            size = result.n_features or model.b.size
            shapes = [part.shape for part in (model.A, model.b, model.inverse, model.theta)]
            if shapes != [(size, size), (size,), (size, size), (size,)]:
                raise ValueError("the matrices of a model do not fit each other")
            result.add_model(decode_values(key) if isinstance(key, list) else None, model)
        return result

    def get_learned(self, key: Arm | None) -> Ridge | None:
        """Get the learned model of an arm (None: of all arms), None before its first reward."""
        slot = self.learned_slots.get(key)
        return None if slot is None or self.stack is None else self.stack.get_model(slot)

    def add_model(self, key: Arm | None, model: Ridge) -> None:
        """Take over a ridge model that was learned elsewhere, as that of an arm (None: of all)."""
        self.learned_slots[key] = self.get_stack(model.b.size).push(model)

    def forget(self) -> None:
        """Drop all models and kept features; called by ``RidgeModels.join`` for its result."""
        self.stack, self.learned_slots = None, {}
        self._start_slots, self._untrained_slot = {}, None
        self._cache, self._last = FeatureCache(self.encoding), None
