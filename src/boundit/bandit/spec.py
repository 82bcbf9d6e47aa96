"""What a policy chooses from: arms, context variables and the range of rewards; and how requests are read."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from boundit.terms.bound import Arm, Context, Value
from boundit.terms.bound_table import BoundTable
from boundit.terms.scalars import unwrap_scalar

from boundit.bandit.errors import BadArm, BadContext, BadOption, BadReward, ForeignBounds

Levels: TypeAlias = tuple[Value, ...]
Unseen: TypeAlias = Literal["error", "range"]
_PLAIN = frozenset({int, float, str, bool, type(None)})
_MOST_KNOWN = 2**14


@dataclass(frozen=True)
class Spec:
    """Arms, variables and range. `context` is None where the variables have no names: then any tuple is a context.

    `retired` are arms that a refreshed prior no longer has and whose rewards may still come. `unseen` is what a level
    outside the domain gets: an error, or the whole range of the reward.
    """

    arms: tuple[Arm, ...] = ()
    arm_levels: tuple[Levels, ...] = ()
    context: tuple[str, ...] | None = None
    context_levels: tuple[Levels, ...] = ()
    reward_range: tuple[float, float] = (0.0, 1.0)
    arms_given: bool = False
    retired: tuple[Arm, ...] = ()
    unseen: Unseen = "error"
    _known: set[Context] = field(default_factory=set, init=False, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        prior: BoundTable | None,
        arms: Iterable[object] | None,
        context: Sequence[str] | Mapping[str, Sequence[Value]] | None,
        reward_range: tuple[float, float] | None,
        unseen: Unseen,
    ) -> "Spec":
        if prior is not None and not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        if unseen not in ("error", "range"):
            raise BadOption("unseen", "'error' or 'range'", unseen)
        held = prior.arms if arms is None and prior else read_arms(arms or ())
        names = None if context is None else (context,) if isinstance(context, str) else tuple(context)
        given = context if isinstance(context, Mapping) else {}
        low, high = map(float, reward_range or (prior.outcome_range if prior else (0.0, 1.0)))
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise BadOption("reward_range", "two finite numbers, the lower first", reward_range)
        if prior:
            for what, mine, theirs in (
                ("contexts", names or prior.context, prior.context),
                ("rewards", (low, high), tuple(prior.outcome_range)),
            ):
                if mine != theirs:
                    raise ForeignBounds(what, mine, theirs)
            if not set(held) & set(prior.arms):
                raise ForeignBounds("arms", held, prior.arms)
            names = prior.context
        known = prior.levels if prior else {}
        levels = tuple(_unite(known.get(name, ()), given.get(name, ())) for name in names or ())
        n_treatments = len(held[0]) if held else 0
        declared = tuple(known[name] for name in prior.treatments) if prior else ((),) * n_treatments
        arm_levels = tuple(_unite(row, [arm[i] for arm in held]) for i, row in enumerate(declared))
        return cls(held, arm_levels, names, levels, (low, high), arms is not None, (), unseen)

    def bind(self, arms: Iterable[object] | None, context: Any) -> "Spec":
        """Fill in arms and context names where there are none: what `simulate` does on copies."""
        made = Spec.of(None, arms, context, None, "error")
        if not self.arms and arms is not None:
            self = replace(self, arms=made.arms, arm_levels=made.arm_levels)
        if self.context is None and context is not None:
            self = replace(self, context=made.context, context_levels=made.context_levels)
        return self

    def follow(self, prior: BoundTable, arms: Iterable[object] | None) -> "Spec":
        """The spec after `refresh`: arms come and go with the table, levels are only added."""
        kept = [arm for arm in self.arms if arm in set(prior.arms)]
        chosen = arms if arms is not None else self.arms if self.arms_given else (*kept, *prior.arms)
        made = Spec.of(prior, chosen, self.context, self.reward_range, self.unseen)
        gone = tuple(arm for arm in dict.fromkeys((*self.retired, *self.arms)) if arm not in made.arms)
        levels = tuple(map(_unite, self.context_levels, made.context_levels)) if self.context_levels else made.context_levels
        given = self.arms_given or arms is not None
        return replace(made, retired=gone, context_levels=levels, arms_given=given)

    def read_context(self, given: object) -> Context:
        """Read a context: a mapping, a tuple, or a scalar where there is one variable; known ones at once."""
        values = given
        if type(given) is dict and self.context and len(self.context) > 1:
            try:
                values = itemgetter(*self.context)(given)
            except KeyError:
                values = None
        if type(values) is tuple:
            for value in values:
                if type(value) not in _PLAIN:
                    break
            else:
                if values in self._known:
                    return values
        found = self._check_context(given)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known.add(found)
        return found

    def _check_context(self, given: object) -> Context:
        if isinstance(given, Mapping):
            if self.context is None:
                raise BadContext(given, "its variables have no names here: pass context=[...] to the policy")
            if missing := [name for name in self.context if name not in given]:
                raise BadContext(given, f"it has no value for {missing[0]!r}")
            given = tuple(given[name] for name in self.context)
        values = _read_values(given, BadContext)
        if self.context is not None and len(values) != len(self.context):
            raise BadContext(values, f"it has {len(values)} values, and the variables are {self.context}")
        for name, value, levels in zip(self.context or (), values, self.context_levels, strict=False):
            if levels and value not in levels and (self.unseen == "error" or str(value) in map(str, levels)):
                raise BadContext(values, f"{name} is {value!r}, and its domain is {levels}")
        return values

    def require_arm(self, arm: Arm) -> None:
        """Refuse an arm of the wrong length, and "1" where 1 was meant."""
        if self.arm_levels and len(arm) != len(self.arm_levels):
            raise BadArm(arm, f"an arm has {len(self.arm_levels)} values")
        for value, levels in zip(arm, self.arm_levels, strict=False):
            near = [level for level in levels if str(level) == str(value)]
            if near and value not in levels:
                raise BadArm(arm, f"did you mean {near[0]!r} ({type(near[0]).__name__})?")

    def read_reward(self, reward: object, name: str) -> float:
        low, high = self.reward_range
        if type(reward) is float and low <= reward <= high:
            return reward
        try:
            number = math.nan if isinstance(reward, str | bytes) else float(reward)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not low <= number <= high:
            raise BadReward(reward, self.reward_range, name)
        return number


def read_arms(given: Iterable[object]) -> tuple[Arm, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("arms", "a list such as [(0, 1), (1, 1)]", given)
    found = tuple(dict.fromkeys(_read_values(arm, BadArm) for arm in given))
    if len({len(arm) for arm in found}) > 1:
        raise BadOption("arms", "tuples of one length", found)
    return found


def _read_values(given: object, error: type[BadArm] | type[BadContext]) -> tuple[Value, ...]:
    values = given if isinstance(given, tuple | list) else (given,)
    found = tuple(unwrap_scalar(value) for value in values)
    for value in found:
        if not isinstance(value, Hashable) or value != value or (isinstance(value, float) and not math.isfinite(value)):
            raise error(found, f"{value!r} is not a level of a variable")
    return found


def _unite(one: Iterable[Value], other: Iterable[Value]) -> Levels:
    return tuple(dict.fromkeys((*one, *other)))
