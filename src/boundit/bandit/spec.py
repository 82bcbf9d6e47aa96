"""What a policy chooses from: arms, context variables, range of rewards; how requests are read."""

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import zip_longest
from operator import itemgetter
from typing import Any, TypeAlias, get_args

from boundit.bandit.errors import (
    BadArm,
    BadContext,
    BadOption,
    BadReward,
    ForeignBounds,
    OtherArms,
)
from boundit.bandit.options import Arms, CommonOptions, ContextNames, Goal, UnknownLevels
from boundit.core.errors import OutsideDomain, WrongLength
from boundit.core.names import name_bins, unwrap_scalar
from boundit.results.bound import Arm, Context, Value
from boundit.results.bound_table import BoundTable

Levels: TypeAlias = tuple[Value, ...]
Edges: TypeAlias = tuple[float, ...]
"""Where a variable was cut into bins, in increasing order; none if it was not."""
_PLAIN = frozenset({int, float, str, bool, type(None)})
"""Types whose values are levels as they are, and cheap to look up."""
_WIDEST = 1e100
"""How wide a range of rewards may be: differences and squares of them must be numbers."""
_MOST_KNOWN = 2**14


@dataclass(frozen=True)
class Spec:
    """Arms, variables and range of a policy.

    ``context`` is None where the variables have no names: then any tuple is a context.
    ``retired`` are arms that a refreshed prior no longer has and whose rewards may still come.
    ``bins`` has the edges of each context variable that the prior has in bins. ``unknown_levels``
    is what a level outside the domain gets: an error, or the whole range of the reward.
    """

    arms: tuple[Arm, ...] = ()
    treatments: tuple[str, ...] = ()
    arm_levels: tuple[Levels, ...] = ()
    context: tuple[str, ...] | None = None
    context_levels: tuple[Levels, ...] = ()
    reward_range: tuple[float, float] = (0.0, 1.0)
    goal: Goal = "max"
    arms_given: bool = False
    range_given: bool = False
    retired: tuple[Arm, ...] = ()
    bins: tuple[Edges, ...] = ()
    unknown_levels: UnknownLevels = "error"
    _known: set[Context] = field(default_factory=set, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, prior: BoundTable | None, given: CommonOptions) -> "Spec":
        """Read the options of a policy; what is missing comes from its prior."""
        if prior is not None and not isinstance(prior, BoundTable):
            raise BadOption("prior", "a BoundTable", prior)
        unknown_levels: UnknownLevels = given.get("unknown_levels", "error")
        if unknown_levels not in get_args(UnknownLevels):
            raise BadOption("unknown_levels", "'error' or 'range'", unknown_levels)
        goal = given.get("goal") or (prior.goal if prior else "max")
        if goal not in get_args(Goal):
            raise BadOption("goal", "'max' or 'min'", goal)
        arms = given.get("arms")
        names = prior.treatments if prior else ()
        if arms is None:
            held = prior.arms if prior else ()
        else:
            if isinstance(arms, Iterable) and not isinstance(arms, str | bytes | Mapping):
                arms = list(arms)
            names = names or _find_names(arms)
            held = read_arms(arms, names)
        context, levels = _agree_on_context(given.get("context"), prior)
        bins = tuple(tuple(prior.bins.get(n, ())) for n in prior.context) if prior else ()
        bins = bins if any(bins) else ()
        made = cls(
            arms=held,
            treatments=names,
            arm_levels=_collect_arm_levels(held, prior),
            context=context,
            context_levels=_unite_all(levels, tuple(map(list_bins, bins))),
            reward_range=_agree_on_range(given.get("reward_range"), prior),
            goal=goal,
            arms_given=arms is not None,
            range_given=prior is not None or given.get("reward_range") is not None,
            bins=bins,
            unknown_levels=unknown_levels,
        )
        made._require_arms_fit(prior)
        return made

    def bind(
        self,
        arms: Arms | None,
        context: ContextNames | None,
        reward_range: tuple[float, float] | None,
    ) -> "Spec":
        """Fill in arms, context names and range where there are none."""
        given: CommonOptions = {"arms": arms, "context": context, "reward_range": reward_range}
        made, spec = Spec.of(None, given), self
        if not spec.range_given and reward_range is not None:
            spec = replace(spec, reward_range=made.reward_range, range_given=True)
        if not spec.arms and arms is not None:
            names, levels = made.treatments or spec.treatments, made.arm_levels
            spec = replace(
                spec, arms=made.arms, treatments=names, arm_levels=levels, arms_given=True
            )
        if spec.context is None and context is not None:
            spec = replace(spec, context=made.context, context_levels=made.context_levels)
        return spec

    def follow(self, prior: BoundTable, old: BoundTable | None, arms: Arms | None) -> "Spec":
        """Make the spec after a refresh: arms come and go with the table, levels are only added.

        Where users gave the arms, they must say so in ``arms``: a new arm would never be
        played, and an arm without its bound would be.
        """
        if old and old.treatments != prior.treatments:
            raise ForeignBounds("treatments", old.treatments, prior.treatments)
        if arms is None:
            chosen: Arms = self._choose_arms(prior, old)
        else:
            chosen = read_arms(arms, prior.treatments)
        made = Spec.of(
            prior,
            {
                "arms": chosen,
                "context": self.context,
                "reward_range": self.reward_range,
                "unknown_levels": self.unknown_levels,
                "goal": self.goal,
            },
        )
        for arm in made.arms:
            self.require_arm(arm)
        gone = dict.fromkeys((*self.retired, *self.arms))
        return replace(
            made,
            arm_levels=_unite_all(self.arm_levels, made.arm_levels),
            context_levels=_unite_all(self.context_levels, made.context_levels),
            arms_given=self.arms_given or arms is not None,
            retired=tuple(arm for arm in gone if arm not in made.held),
            bins=made.bins or self.bins,
        )

    def _choose_arms(self, prior: BoundTable, old: BoundTable | None) -> tuple[Arm, ...]:
        kept = tuple(arm for arm in self.arms if arm in set(prior.arms))
        if self.arms and not kept:
            raise ForeignBounds("arms", self.arms, prior.arms)
        if not self.arms_given:
            return tuple(dict.fromkeys((*kept, *prior.arms)))
        bounded = set(old.arms if old else ())
        new = [arm for arm in prior.arms if arm not in bounded | self.held]
        gone = [arm for arm in self.arms if arm in bounded and arm not in set(prior.arms)]
        if new or gone:
            raise OtherArms(new, gone)
        return self.arms

    @cached_property
    def held(self) -> frozenset[Arm]:
        """The arms as a set."""
        return frozenset(self.arms)

    # -- contexts ---------------------------------------------------------------------------

    @cached_property
    def _pick(self) -> Any:
        """Takes several values from a mapping; of one name, itemgetter gives the bare value."""
        return itemgetter(*self.context) if self.context and len(self.context) > 1 else None

    def read_context(self, given: object) -> Context:
        """Read a context: a mapping, a tuple, or a scalar where there is one variable.

        What was read before is known at once. Equal is not enough: ``(True,)`` equals ``(1,)``,
        so it is the given values that are returned.
        """
        values = given
        if type(given) is dict and self._pick:
            try:
                values = self._pick(given)
            except KeyError:
                values = None
        if type(values) is not tuple:
            if type(values) is not str:
                return self._check_context(given)
            values = (values,)
        for value in values:
            if type(value) not in _PLAIN:
                return self._check_context(given)
        if values not in self._known:
            values = self._check_context(given)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add(values)
        return values

    def _check_context(self, given: object) -> Context:
        if isinstance(given, Mapping):
            given = self._order_values(given)
        values = _read_values(given, BadContext)
        if self.context is None:
            return values
        if len(values) != len(self.context):
            raise WrongLength("context", values, self.context)
        cell = self.find_cell(values)
        for name, value, levels in zip(self.context, cell, self.context_levels, strict=False):
            if levels and value not in levels and not self._may_be(value, levels):
                raise OutsideDomain(name, value, levels)
        return values

    def _may_be(self, value: Value, levels: Levels) -> bool:
        """Tell whether a new level is let through; ``"1"`` for ``1`` is a mistake, and not new."""
        return self.unknown_levels == "range" and str(value) not in map(str, levels)

    def _order_values(self, given: Mapping[Any, object]) -> tuple[object, ...]:
        if self.context is None:
            reason = "its variables have no names; name them with context=[...] or pass a tuple"
            raise BadContext(dict(given), reason)
        if missing := [name for name in self.context if name not in given]:
            raise BadContext(dict(given), f"it has no value for {missing[0]!r}")
        return tuple(given[name] for name in self.context)

    def find_cell(self, values: Context) -> Context:
        """Find the context of the table that a request is in: numbers become their bins."""
        return tuple(map(find_bin, self.bins, values)) if self.bins else values

    # -- arms and rewards -------------------------------------------------------------------

    def read_arm(self, given: object) -> Arm:
        """Read an arm as a user wrote it: a scalar, a tuple or a mapping of names."""
        arm = _read_arm(given, self.treatments)
        self.require_arm(arm)
        return arm

    def require_arm(self, arm: Arm) -> None:
        """Refuse an arm of the wrong length, and ``"1"`` where ``1`` was meant."""
        if not self.arm_levels:
            return
        if len(arm) != len(self.arm_levels):
            raise BadArm(show(arm), f"an arm has {len(self.arm_levels)} values")
        for value, levels in zip(arm, self.arm_levels, strict=True):
            if value not in levels and (near := [v for v in levels if str(v) == str(value)]):
                hint = f"did you mean {near[0]!r} ({type(near[0]).__name__})"
                raise BadArm(show(arm), f"{hint} for {value!r} ({type(value).__name__})?")

    def _require_arms_fit(self, prior: BoundTable | None) -> None:
        widths = {len(arm) for arm in self.arms}
        if len(widths) > 1:
            raise BadOption("arms", "tuples of one length", self.arms)
        if prior is None:
            return
        if widths and widths != {len(prior.treatments)}:
            raise WrongLength("arm", self.arms[0], prior.treatments)
        declared = Spec(arm_levels=tuple(prior.levels[name] for name in prior.treatments))
        for arm in self.arms:
            declared.require_arm(arm)
        if self.held.isdisjoint(prior.arms):
            raise ForeignBounds("arms", self.arms, prior.arms)

    def read_reward(self, reward: object, where: str) -> float:
        """Read a reward of the range, turned so that more is better; refuse any other."""
        low, high = self.reward_range
        if type(reward) is not float or not low <= reward <= high:
            try:
                number = float(reward)  # type: ignore[arg-type]
            except (TypeError, ValueError, OverflowError):
                raise BadReward(reward, self.reward_range, where) from None
            if isinstance(reward, str | bytes) or not low <= number <= high:
                raise BadReward(reward, self.reward_range, where)
            reward = number
        return reward if self.turn is None else self.turn - reward

    @cached_property
    def turn(self) -> float | None:
        """What a turned reward and the reward itself add up to; None where none is turned."""
        return None if self.goal == "max" else sum(self.reward_range)

    def orient(self, value: float) -> float:
        """Turn a mean or reward so that more is better; the same turns it back."""
        return value if self.turn is None else self.turn - value

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy remembers no contexts: another thread may be adding some.
        return Spec, tuple(getattr(self, part.name) for part in fields(self) if part.init)


def show(values: tuple[Value, ...]) -> object:
    """Show an arm or context as users write it: a scalar where there is one variable.

    >>> show(("call",)), show((0, 1)), show(())
    ('call', (0, 1), ())
    """
    return values[0] if len(values) == 1 else values


def read_arms(given: object, names: Sequence[str] = ()) -> tuple[Arm, ...]:
    """Read arms as a user passes them, each once.

    >>> read_arms(["A", "B", "A"]), read_arms([(0, 1)]), read_arms([{"X": 1}], ["X"])
    ((('A',), ('B',)), ((0, 1),), ((1,),))
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadOption("arms", "a list such as ['A', 'B'] or [(0, 1), (1, 1)]", given)
    return tuple(dict.fromkeys(_read_arm(arm, names) for arm in given))


def _read_arm(given: object, names: Sequence[str]) -> Arm:
    if isinstance(given, Mapping):
        if given.keys() != set(names):
            treatments = ", ".join(names) or "without names; pass a tuple"
            raise BadArm(dict(given), f"the treatments are {treatments}")
        given = tuple(given[name] for name in names)
    return _read_values(given, BadArm)


def _find_names(arms: object) -> tuple[str, ...]:
    first = arms[0] if isinstance(arms, list) and arms else None
    return tuple(first) if isinstance(first, Mapping) else ()


def _read_values(given: object, error: type[BadArm] | type[BadContext]) -> tuple[Value, ...]:
    """Read one arm or context: a tuple or list as it is, anything else as its only value."""
    if isinstance(given, tuple | list):
        return tuple([_read_value(value, error) for value in given])
    return (_read_value(given, error),)


def _read_value(value: object, error: type[BadArm] | type[BadContext]) -> Value:
    plain: Any = unwrap_scalar(value)
    try:
        # Missing values of pandas equal nothing, not even themselves.
        usable = isinstance(plain, Hashable) and bool(plain == plain)
    except (TypeError, ValueError):
        usable = False
    if isinstance(plain, float) and not math.isfinite(plain):
        raise error(plain, "its values must be finite")
    if not usable:
        raise error(plain, f"{type(plain).__name__} is not a level of a variable")
    return plain


# -- bins -------------------------------------------------------------------------------------


@lru_cache
def list_bins(edges: Edges) -> tuple[str, ...]:
    """List the names of the bins that edges cut the numbers into; none for no edges."""
    return name_bins(edges) if edges else ()


def find_bin(edges: Edges, value: Value) -> Value:
    """Find the name of the bin that a number is in; what is not a number is given back.

    >>> find_bin((30.0, 50.0), 41.5), find_bin((30.0, 50.0), 50), find_bin((), 41.5)
    ('[30, 50)', '>= 50', 41.5)
    """
    if not edges or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value if value != value else list_bins(edges)[bisect_right(edges, value)]


# -- what options and a prior say together ------------------------------------------------------


def _agree_on_context(
    given: ContextNames | None, prior: BoundTable | None
) -> tuple[tuple[str, ...] | None, tuple[Levels, ...]]:
    """Find the names of the context variables and the levels of each."""
    names = None if given is None else (given,) if isinstance(given, str) else tuple(given)
    bad = names is not None and not all(isinstance(name, str) for name in names)
    if bad or len(set(names or ())) < len(names or ()):
        raise BadOption("context", "names such as ['U1', 'U2'], each once", given)
    declared = given if isinstance(given, Mapping) else {}
    if prior is not None and names is not None and names != prior.context:
        raise ForeignBounds("contexts", names, prior.context)
    names = prior.context if prior is not None else names
    known = prior.levels if prior is not None else {}
    return names, tuple(_unite(known.get(n, ()), declared.get(n, ())) for n in names or ())


def _agree_on_range(
    given: tuple[float, float] | None, prior: BoundTable | None
) -> tuple[float, float]:
    """Find the range of the rewards; with neither option nor prior it is 0 to 1."""
    if given is None:
        given = prior.outcome_range if prior else (0.0, 1.0)
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


def _collect_arm_levels(arms: Sequence[Arm], prior: BoundTable | None) -> tuple[Levels, ...]:
    """Collect the levels of each treatment: the prior's, then further ones of the arms."""
    if prior is None:
        declared: tuple[Levels, ...] = ((),) * len(arms[0]) if arms else ()
    else:
        declared = tuple(prior.levels[name] for name in prior.treatments)
    return tuple(
        _unite(levels, [arm[i] for arm in arms if i < len(arm)])
        for i, levels in enumerate(declared)
    )


def _unite(one: Sequence[Value], other: Sequence[Value]) -> Levels:
    return tuple(dict.fromkeys((*one, *other)))


def _unite_all(one: Sequence[Levels], other: Sequence[Levels]) -> tuple[Levels, ...]:
    return tuple(_unite(*pair) for pair in zip_longest(one, other, fillvalue=()))
