"""Where a policy plays: its arms, its context variables, the range of its rewards."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, final

from boundit.bandit.errors import (
    BadArm,
    BadContext,
    BadOption,
    BadReward,
    ForeignBounds,
    NeedsArms,
)
from boundit.bandit.level_codec import Record, read_values, spelled_values
from boundit.terms.bound import Arm, Context, Value
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.bound_table import BoundTable
from boundit.terms.scalars import unwrap_scalar

Arms: TypeAlias = Iterable[object]
"""What a door accepts for arms: tuples, or scalars where there is one treatment."""
ContextNames: TypeAlias = Sequence[str] | Mapping[str, Sequence[object]]
"""Names of the context variables, with or without their levels."""
Levels: TypeAlias = tuple[Value, ...]
UNIT = (0.0, 1.0)


@final
@dataclass(frozen=True)
class BanditSpec:
    """What is fixed for as long as a policy lives.

    ``context`` is None when nobody named the variables: a context is then a tuple of any
    length. ``context_levels`` and ``arm_levels`` hold one entry a variable, empty if unknown.
    """

    arms: tuple[Arm, ...] = ()
    arm_levels: tuple[Levels, ...] = ()
    context: tuple[str, ...] | None = None
    context_levels: tuple[Levels, ...] = ()
    reward_range: tuple[float, float] = UNIT

    @classmethod
    def of(
        cls,
        *,
        prior: BoundTable | None,
        arms: Arms | None,
        context: ContextNames | None,
        reward_range: tuple[float, float] | None,
    ) -> "BanditSpec":
        """Take from the prior what was not given; what was given must agree with it."""
        held = read_arms(arms) if arms is not None else (prior.arms if prior else ())
        names, levels = _read_names(context)
        levels_of: Mapping[str, Levels] = dict(prior.levels) if prior else {}
        if prior and names is not None and names != prior.context:
            raise ForeignBounds("contexts", names, prior.context)
        names = prior.context if prior else names
        known = tuple(_both(levels_of.get(n, ()), levels.get(n, ())) for n in names or ())
        width = len(prior.treatments) if prior else len(held[0]) if held else 0
        columns = tuple(tuple(arm[i] for arm in held if i < len(arm)) for i in range(width))
        told = tuple(levels_of[n] for n in prior.treatments) if prior else ((),) * width
        scene = cls(
            held,
            tuple(_both(a, b) for a, b in zip(told, columns, strict=True)),
            names,
            known,
            _read_range(reward_range, prior),
        )
        scene._require_arms_fit(prior)
        return scene

    @cached_property
    def held(self) -> frozenset[Arm]:
        """The arms, to be looked up."""
        return frozenset(self.arms)

    def filled(self, arms: Arms | None, context: ContextNames | None) -> "BanditSpec":
        """Put in arms and context names where there are none."""
        found = BanditSpec.of(prior=None, arms=arms, context=context, reward_range=None)
        scene = self
        if not scene.arms and arms is not None:
            scene = replace(scene, arms=found.arms, arm_levels=found.arm_levels)
        if scene.context is None and context is not None:
            names, levels = found.context, found.context_levels
            scene = replace(scene, context=names, context_levels=levels)
        return scene

    def read_context(self, given: object) -> Context:
        """Read a context: a mapping, a tuple, a scalar where there is one variable."""
        if isinstance(given, Mapping):
            values = self._named(given)
        else:
            values = as_values(given, BadContext)
        if self.context is None:
            return values
        if len(values) != len(self.context):
            raise WrongLength("context", values, self.context)
        for name, value, levels in zip(self.context, values, self.context_levels, strict=True):
            if levels and value not in levels:
                raise OutsideDomain(name, value, levels)
        return values

    def read_among(self, given: Arms | None) -> tuple[Arm, ...]:
        """Read the arms of one call, the held ones first and in their order."""
        among = self.arms if given is None else read_arms(given)
        if not among:
            raise NeedsArms
        if given is None:
            return among
        place = {arm: i for i, arm in enumerate(self.arms)}
        for arm in among:
            self.require_arm(arm)
        return tuple(sorted(among, key=lambda arm: (place.get(arm, len(place)), repr(arm))))

    def require_arm(self, arm: Arm) -> None:
        """Refuse an arm of the wrong length, and ``"1"`` where ``1`` was meant."""
        if not self.arm_levels:
            return
        if len(arm) != len(self.arm_levels):
            raise BadArm(arm, f"an arm has {len(self.arm_levels)} values")
        for value, levels in zip(arm, self.arm_levels, strict=True):
            if value not in levels and (near := [v for v in levels if str(v) == str(value)]):
                hint = f"did you mean {near[0]!r} ({type(near[0]).__name__})"
                raise BadArm(arm, f"{hint} for {value!r} ({type(value).__name__})?")

    def read_reward(self, reward: object, where: str) -> float:
        """Take a reward that is a number inside the range; refuse any other."""
        low, high = self.reward_range
        if type(reward) is float and low <= reward <= high:
            return reward
        try:
            number = float(reward)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise BadReward(reward, self.reward_range, where) from None
        if isinstance(reward, str | bytes) or not low <= number <= high:
            raise BadReward(reward, self.reward_range, where)
        return number

    def unit(self, number: float) -> float:
        """Bring a reward to the scale from 0 to 1; what lies outside is clipped."""
        low, high = self.reward_range
        return min(max((number - low) / (high - low), 0.0), 1.0)

    def record(self) -> Record:
        """Spell it as a JSON object."""
        return {
            "arms": [spelled_values(arm) for arm in self.arms],
            "arm_levels": [spelled_values(levels) for levels in self.arm_levels],
            "context": None if self.context is None else list(self.context),
            "context_levels": [spelled_values(levels) for levels in self.context_levels],
            "reward_range": list(self.reward_range),
        }

    @classmethod
    def read(cls, record: Record) -> "BanditSpec":
        """Read back what ``record`` wrote."""
        names, (low, high) = record["context"], record["reward_range"]
        return cls(
            tuple(map(read_values, record["arms"])),
            tuple(map(read_values, record["arm_levels"])),
            None if names is None else tuple(map(str, names)),
            tuple(map(read_values, record["context_levels"])),
            (float(low), float(high)),
        )

    def _named(self, given: Mapping[str, object]) -> Context:
        if self.context is None:
            raise BadContext(
                dict(given),
                "nobody told the order of its variables; name them with context=[...] "
                "when making the policy, or pass a tuple",
            )
        for name in self.context:
            if name not in given:
                raise BadContext(dict(given), f"it has no value for {name!r}")
        return tuple(_plain(given[name], BadContext) for name in self.context)

    def _require_arms_fit(self, prior: BoundTable | None) -> None:
        width = {len(arm) for arm in self.arms}
        if len(width) > 1:
            raise BadOption("arms", "tuples of one length", self.arms)
        if prior is None:
            return
        if width and width != {len(prior.treatments)}:
            raise WrongLength("arm", self.arms[0], prior.treatments)
        levels = BanditSpec((), tuple(prior.levels[n] for n in prior.treatments))
        for arm in self.arms:
            levels.require_arm(arm)
        if not set(self.arms) & set(prior.arms):
            raise ForeignBounds("arms", self.arms, prior.arms)


def read_arms(given: Arms) -> tuple[Arm, ...]:
    """Read arms as a door meets them, each once.

    >>> read_arms(["A", "B", "A"]), read_arms([(0, 1)])
    ((('A',), ('B',)), ((0, 1),))
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("arms", "a list such as [(0, 1), (1, 1)]", given)
    return tuple(dict.fromkeys(as_values(arm, BadArm) for arm in given))


def as_values(
    given: object, error: type[BadArm] | type[BadContext] = BadContext
) -> tuple[Value, ...]:
    """Read one arm or context: a tuple or list as it is, anything else as its only value."""
    if isinstance(given, tuple | list):
        return tuple(_plain(value, error) for value in given)
    return (_plain(given, error),)


def _plain(value: object, error: type[BadArm] | type[BadContext]) -> Value:
    """Take a level as Python has it; NumPy's scalars know how to become that."""
    plain = unwrap_scalar(value)
    if not isinstance(plain, Hashable):
        raise error(plain, f"{type(plain).__name__} is no level of a variable")
    if isinstance(plain, float) and not math.isfinite(plain):
        raise error(plain, "its values must be finite")
    return plain


def _read_names(
    given: ContextNames | None,
) -> tuple[tuple[str, ...] | None, Mapping[str, Levels]]:
    if given is None:
        return None, {}
    names = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadOption("context", "names such as ['U1', 'U2'], each once", given)
    if isinstance(given, Mapping):
        return names, {name: tuple(levels) for name, levels in given.items()}
    return names, {}


def _read_range(
    given: tuple[float, float] | None, prior: BoundTable | None
) -> tuple[float, float]:
    if given is None:
        low, high = prior.reward_range if prior else UNIT
        return float(low), float(high)
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        raise BadOption("reward_range", "two numbers (low, high)", given) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadOption("reward_range", "two finite numbers, the lower first", given)
    if prior and (low, high) != tuple(prior.reward_range):
        raise ForeignBounds("rewards", (low, high), tuple(prior.reward_range))
    return low, high


def _both(one: Sequence[Value], other: Sequence[Value]) -> Levels:
    return tuple(dict.fromkeys((*one, *other)))
