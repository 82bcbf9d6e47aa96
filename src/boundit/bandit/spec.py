"""What a policy chooses from and is asked about: arms, context variables, range of rewards."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, TypeAlias, final, get_args

from boundit.bandit.bins import Edges, find_bin, list_bins
from boundit.bandit.errors import (
    BadArm,
    BadContext,
    BadOption,
    BadReward,
    ForeignBounds,
    NeedsArms,
    OtherArms,
)
from boundit.terms.bound import Arm, Context, Value
from boundit.terms.bound_errors import OutsideDomain, WrongLength
from boundit.terms.bound_table import BoundTable
from boundit.terms.scalars import unwrap_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

Arms: TypeAlias = Iterable[object]
"""What a policy accepts for arms: tuples, or scalars where there is one treatment."""
ContextNames: TypeAlias = Sequence[str] | Mapping[str, Sequence[object]]
"""Names of the context variables, with or without their levels."""
Levels: TypeAlias = tuple[Value, ...]
Unseen: TypeAlias = Literal["error", "range"]
"""What a context level outside the domain gets: an error, or the whole range of the reward."""
UNIT = (0.0, 1.0)
PLAIN = frozenset({int, float, str, bool, type(None)})
"""Types whose values are levels as they are, and cheap to look up."""
_WIDEST = 1e100
"""How wide a range of rewards may be: differences and squares of them must be numbers."""
_MOST_CONTEXTS = 2**14
"""How many contexts are remembered as read."""


@final
@dataclass(frozen=True)
class BanditSpec:
    """The arms and context variables of a policy, and how what a user passes is read.

    ``context`` is None when nobody named the variables: a context is then a tuple of any
    length. ``context_levels`` and ``arm_levels`` hold one entry a variable, empty if unknown.
    ``arms_given`` says that the arms are the user's own choice and not the prior's; ``retired``
    are arms that a later table of bounds has no more, and whose rewards may still come.
    ``bins`` has the edges of each context variable that the prior has in bins, of which
    visitors may bring numbers. ``unseen`` says what becomes of levels that nobody declared:
    an error, or a visitor without bounds.
    """

    arms: tuple[Arm, ...] = ()
    arm_levels: tuple[Levels, ...] = ()
    context: tuple[str, ...] | None = None
    context_levels: tuple[Levels, ...] = ()
    reward_range: tuple[float, float] = UNIT
    arms_given: bool = False
    retired: tuple[Arm, ...] = ()
    bins: tuple[Edges, ...] = ()
    unseen: Unseen = "error"
    _known_contexts: set[Context] = field(
        default_factory=set, init=False, compare=False, repr=False
    )

    @classmethod
    def of(
        cls,
        *,
        prior: BoundTable | None,
        arms: Arms | None,
        context: ContextNames | None,
        reward_range: tuple[float, float] | None,
        unseen: Unseen = "error",
    ) -> "BanditSpec":
        """Make a spec from a policy's options; what is missing comes from its prior.

        What is given must agree with the prior.
        """
        if prior is not None and not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        if unseen not in get_args(Unseen):
            raise BadOption("unseen", "'error' or 'range'", unseen)
        held = parse_arms(arms) if arms is not None else (prior.arms if prior else ())
        names, context_levels = _agree_on_context(context, prior)
        bins = _collect_bins(prior)
        spec = cls(
            held,
            _collect_arm_levels(held, prior),
            names,
            _unite_all(context_levels, tuple(map(list_bins, bins))),
            _agree_on_range(reward_range, prior),
            arms_given=arms is not None,
            bins=bins,
            unseen=unseen,
        )
        spec._require_arms_fit(prior)
        return spec

    @cached_property
    def held_arms(self) -> frozenset[Arm]:
        """The arms as a set; ``BasePolicy.learn`` looks up every decision's arm in it."""
        return frozenset(self.arms)

    @cached_property
    def _pick(self) -> "Callable[[Mapping[str, object]], object] | None":
        """A function that takes several context values from a mapping; None if not several."""
        # Of one name, itemgetter would give the bare value.
        return itemgetter(*self.context) if self.context and len(self.context) > 1 else None

    def fill(self, arms: Arms | None, context: ContextNames | None) -> "BanditSpec":
        """Make a spec with these arms and context names where this one has none."""
        found = BanditSpec.of(prior=None, arms=arms, context=context, reward_range=None)
        spec = self
        if not spec.arms and arms is not None:
            levels = found.arm_levels
            spec = replace(spec, arms=found.arms, arm_levels=levels, arms_given=True)
        if spec.context is None and context is not None:
            names, levels = found.context, found.context_levels
            spec = replace(spec, context=names, context_levels=levels)
        return spec

    def follow(
        self, prior: BoundTable, old: BoundTable | None, arms: Arms | None
    ) -> "BanditSpec":
        """Make the spec of a policy whose bounds are replaced: arms come and go with them.

        Arms of the new table that ``old`` had not are held from now on, those that it lacks are
        retired; levels are only added, so that what was decided before is still understood.
        Where users gave the arms, they must say so in ``arms``.
        """
        if arms is None and self.arms_given:
            self._require_same_arms(prior, old)
        chosen = self._choose_arms(prior) if arms is None else parse_arms(arms)
        found = BanditSpec.of(
            prior=prior, arms=chosen, context=self.context, reward_range=self.reward_range
        )
        for arm in found.arms:
            self.require_arm(arm)
        gone = dict.fromkeys((*self.retired, *self.arms))
        return replace(
            found,
            arm_levels=_unite_all(self.arm_levels, found.arm_levels),
            context_levels=_unite_all(self.context_levels, found.context_levels),
            arms_given=self.arms_given or arms is not None,
            retired=tuple(arm for arm in gone if arm not in found.held_arms),
            bins=found.bins or self.bins,
            unseen=self.unseen,
        )

    def _choose_arms(self, prior: BoundTable) -> tuple[Arm, ...]:
        """Choose the arms held from now on: those given, else the table's, old ones first."""
        if self.arms_given:
            return self.arms
        kept = tuple(arm for arm in self.arms if arm in set(prior.arms))
        if self.arms and not kept:
            raise ForeignBounds("arms", self.arms, prior.arms)
        return tuple(dict.fromkeys((*kept, *prior.arms)))

    def _require_same_arms(self, prior: BoundTable, old: BoundTable | None) -> None:
        """Refuse a table with new arms, or without some held, where users gave the arms.

        Neither can be meant silently: a new arm would never be played, and an arm without its
        bound would be.
        """
        bounded = set(old.arms if old else ())
        new = [arm for arm in prior.arms if arm not in bounded | self.held_arms]
        gone = [arm for arm in self.arms if arm in bounded and arm not in set(prior.arms)]
        if self.held_arms.isdisjoint(prior.arms):
            raise ForeignBounds("arms", self.arms, prior.arms)
        if new or gone:
            raise OtherArms(new, gone)

    def read_context(self, given: object) -> Context:
        """Read a visitor's context: a mapping, a tuple, a scalar where there is one variable.

        Gives the values as a tuple. What was read before is known at once. Equal is not enough:
        ``(True,)`` equals ``(1,)`` and a decision shows what was given, so it is the given
        values that are returned.
        """
        values = given
        if type(given) is dict and self._pick:
            try:
                values = self._pick(given)
            except KeyError:
                values = None
        if type(values) is not tuple:
            return self._check_context(given)
        for value in values:  # of which there are few: a set's method is slower to start
            if type(value) not in PLAIN:
                return self._check_context(given)
        if values not in self._known_contexts:
            values = self._check_context(given)
            if len(self._known_contexts) >= _MOST_CONTEXTS:
                self._known_contexts.clear()
            self._known_contexts.add(values)
        return values

    def _check_context(self, given: object) -> Context:
        """Read a visitor's context value by value, or raise ``BadContext`` and say why."""
        if isinstance(given, Mapping):
            values = self._order_named_values(given)
        else:
            values = parse_values(given, BadContext)
        if self.context is None:
            return values
        if len(values) != len(self.context):
            raise WrongLength("context", values, self.context)
        cell = self.find_cell(values)
        for name, value, levels in zip(self.context, cell, self.context_levels, strict=True):
            if levels and value not in levels and not self._may_be(value, levels):
                raise OutsideDomain(name, value, levels)
        return values

    def _may_be(self, value: Value, levels: Levels) -> bool:
        """Tell whether a value outside its domain is let through, as asked by ``unseen``.

        Not ``"1"`` where ``1`` was meant, which is a mistake and no new level.
        """
        return self.unseen == "range" and str(value) not in map(str, levels)

    def find_cell(self, values: Context) -> Context:
        """Find the context of the table that a visitor is in: numbers become their bins."""
        return tuple(map(find_bin, self.bins, values)) if self.bins else values

    def _order_named_values(self, given: Mapping[str, object]) -> Context:
        """Put the values of a mapping in the order of the context variables."""
        if self.context is None:
            raise BadContext(
                dict(given),
                "nobody told the order of its variables; name them with context=[...] "
                "when making the policy, or pass a tuple",
            )
        for name in self.context:
            if name not in given:
                raise BadContext(dict(given), f"it has no value for {name!r}")
        return tuple(_parse_value(given[name], BadContext) for name in self.context)

    def read_arms(self, given: Arms) -> tuple[Arm, ...]:
        """Read the arms passed to one call, the held ones first and in their order."""
        allowed = parse_arms(given)
        if not allowed:
            raise NeedsArms
        place = {arm: i for i, arm in enumerate(self.arms)}
        for arm in allowed:
            self.require_arm(arm)
        return tuple(sorted(allowed, key=lambda arm: (place.get(arm, len(place)), repr(arm))))

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

    def _require_arms_fit(self, prior: BoundTable | None) -> None:
        """Refuse arms of several lengths, and arms that the prior says nothing of."""
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

    def __reduce__(self) -> tuple[type["BanditSpec"], tuple[object, ...]]:
        # A copy remembers no contexts: another thread may be adding some.
        return BanditSpec, tuple(getattr(self, part.name) for part in fields(self) if part.init)


def parse_arms(given: Arms) -> tuple[Arm, ...]:
    """Read arms as a user passes them, each once.

    >>> parse_arms(["A", "B", "A"]), parse_arms([(0, 1)])
    ((('A',), ('B',)), ((0, 1),))
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("arms", "a list such as [(0, 1), (1, 1)]", given)
    return tuple(dict.fromkeys(parse_values(arm, BadArm) for arm in given))


def parse_values(
    given: object, error: type[BadArm] | type[BadContext] = BadContext
) -> tuple[Value, ...]:
    """Read one arm or context: a tuple or list as it is, anything else as its only value."""
    if isinstance(given, tuple | list):
        return tuple(_parse_value(value, error) for value in given)
    return (_parse_value(given, error),)


def _parse_value(value: object, error: type[BadArm] | type[BadContext]) -> Value:
    """Turn one value of an arm or context into plain Python, from NumPy's scalars too."""
    plain = unwrap_scalar(value)
    if not isinstance(plain, Hashable):
        raise error(plain, f"{type(plain).__name__} is no level of a variable")
    if isinstance(plain, float) and not math.isfinite(plain):
        raise error(plain, "its values must be finite")
    if not _equals_itself(plain):
        raise error(plain, f"{type(plain).__name__} is no level of a variable")
    return plain


def _equals_itself(value: object) -> bool:
    """Tell whether a value could be found among levels; missing values of pandas never are."""
    try:
        return bool(value == value)
    except (TypeError, ValueError):
        return False


def _agree_on_context(
    given: ContextNames | None, prior: BoundTable | None
) -> tuple[tuple[str, ...] | None, tuple[Levels, ...]]:
    """Find the names of the context variables, and the levels of each, for a policy.

    From the option ``context`` and from the prior's table, which must agree.
    """
    names, levels = _read_names(given)
    if prior is None:
        return names, tuple(levels.get(name, ()) for name in names or ())
    if names is not None and names != prior.context:
        raise ForeignBounds("contexts", names, prior.context)
    known = (_unite_levels(prior.levels.get(n, ()), levels.get(n, ())) for n in prior.context)
    return prior.context, tuple(known)


def _collect_bins(prior: BoundTable | None) -> tuple[Edges, ...]:
    """Collect the edges of the prior's context variables, none where no variable is in bins."""
    found = tuple(tuple(prior.bins.get(n, ())) for n in prior.context) if prior else ()
    return found if any(found) else ()


def _read_names(
    given: ContextNames | None,
) -> tuple[tuple[str, ...] | None, Mapping[str, Levels]]:
    """Read names of context variables, with their levels where these are given."""
    if given is None:
        return None, {}
    names = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadOption("context", "names such as ['U1', 'U2'], each once", given)
    if isinstance(given, Mapping):
        return names, {name: _unite_levels(levels, ()) for name, levels in given.items()}
    return names, {}


def _collect_arm_levels(arms: Sequence[Arm], prior: BoundTable | None) -> tuple[Levels, ...]:
    """Collect the levels of each treatment: the prior's, then further ones of the arms."""
    if prior is None:
        declared: tuple[Levels, ...] = ((),) * len(arms[0]) if arms else ()
    else:
        declared = tuple(prior.levels[name] for name in prior.treatments)
    return tuple(
        _unite_levels(levels, [arm[i] for arm in arms if i < len(arm)])
        for i, levels in enumerate(declared)
    )


def _agree_on_range(
    given: tuple[float, float] | None, prior: BoundTable | None
) -> tuple[float, float]:
    """Find the range of the rewards from the option ``reward_range`` and from the prior.

    They must agree; with neither it is 0 to 1.
    """
    if given is None:
        given = prior.outcome_range if prior else UNIT
    try:
        low, high = map(float, given)
    except (TypeError, ValueError, OverflowError):
        raise BadOption("reward_range", "two numbers (low, high)", given) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadOption("reward_range", "two finite numbers, the lower first", given)
    if high - low > _WIDEST:
        raise BadOption("reward_range", f"at most {_WIDEST:g} wide", given)
    if prior and (low, high) != tuple(prior.outcome_range):
        raise ForeignBounds("rewards", (low, high), tuple(prior.outcome_range))
    return low, high


def _unite_levels(one: Sequence[Value], other: Sequence[Value]) -> Levels:
    """Put two lists of a variable's levels together, each level once."""
    return tuple(dict.fromkeys((*one, *other)))


def _unite_all(one: Sequence[Levels], other: Sequence[Levels]) -> tuple[Levels, ...]:
    """Put the levels of several variables together; either side may know no variables."""
    pairs = zip_longest(one, other, fillvalue=())
    return tuple(_unite_levels(mine, theirs) for mine, theirs in pairs)
