"""Arms and contexts between JSON and a policy: read strictly, written by name.

JSON has no dates: a level of another type is matched by its text, and written as that text. It
has one kind of number: 1.0 is the level 1, and is kept as that. ``true`` is not a number.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from boundit.bandit.policy import Policy
from boundit.core.codec import decode, encode
from boundit.core.errors import BounditError, shorten
from boundit.results.bound import Arm, Context, Value
from boundit.service.config import Values
from boundit.service.errors import Unprocessable

PLAIN = frozenset({int, float, str, bool, type(None)})
"""Types whose values JSON has as they are."""
_MOST_KEPT = 4096
MOST_CONTEXTS = 100_000
"""How many distinct contexts a policy keeps statistics of, at most."""
MOST_VALUES, LONGEST_VALUE = 1000, 1000
"""How many values an arm or a context has, and how many characters one of them, at most."""


class VariableNames:
    """The names and levels of a policy's treatments and context variables.

    Made anew when the bounds are refreshed, which may add levels.
    """

    def __init__(self, policy: Policy) -> None:
        table, self.spec, self._policy = policy.prior.table, policy.spec, policy
        self._new = set[Context]()
        self.treatments = self.spec.treatments or None
        self.context = self.spec.context
        self.outcome = table.outcome if table else None
        self._arm_levels = _list_levels(self.spec.arm_levels)
        self._context_levels = _list_levels(self.spec.context_levels)
        self._written: dict[Arm, Any] = {}
        self._read: dict[tuple[Any, ...], Context] = {}

    def read_context(self, given: Values | None, *, is_new: bool = True) -> Context:
        """Read the context of a decision, or raise ``Unprocessable`` and say why."""
        if given is None:
            values: tuple[Value, ...] = ()
        elif isinstance(given, dict):
            if self.context is None or given.keys() != set(self.context):
                _refuse_names("context", given, self.context, "$.context")
            values = tuple([given[name] for name in self.context])
        else:
            values = tuple(given) if isinstance(given, list) else (given,)
        # Equal is not enough to be the same, so types count; and -0.0 equals 0.0.
        types = tuple(map(type, values))
        if float in types:
            return self._check_context(values, is_new=is_new)
        found = self._read.get((values, types))
        if found is None:
            found = self._check_context(values, is_new=is_new)
            if len(self._read) >= _MOST_KEPT:
                self._read.clear()
            self._read[values, types] = found
        return found

    def _check_context(self, values: tuple[Value, ...], *, is_new: bool) -> Context:
        """Check the values of a context, and give the levels that they stand for."""
        _require_small(values, "$.context")
        if self._context_levels:
            values = _match_levels(values, self._context_levels, "$.context")
        try:
            context = self.spec.read_context(values)
        except BounditError as error:
            raise Unprocessable(str(error), field="$.context") from None
        if is_new and not self._policy.knows(context):
            self._admit(self.spec.find_cell(context))
        return context

    def _admit(self, cell: Context) -> None:
        """Refuse a context past the most that a policy keeps, those not yet learned included."""
        policy, new = self._policy, self._new
        if policy.n_contexts + len(new) >= MOST_CONTEXTS:
            new -= {one for one in new if policy.knows(one)}
        if cell not in new and policy.n_contexts + len(new) >= MOST_CONTEXTS:
            raise Unprocessable(
                f"a policy keeps {MOST_CONTEXTS:,} distinct contexts at most, and this one would "
                "be another: send fewer variables, or numbers in bins",
                field="$.context",
                code="too_many_contexts",
            )
        new.add(cell)

    def read_arm(self, given: Values, where: str = "$.played") -> Arm:
        """Read one arm, or raise ``Unprocessable`` and say why."""
        values: tuple[Value, ...]
        if isinstance(given, dict):
            if self.treatments is None or given.keys() != set(self.treatments):
                _refuse_names("arm", given, self.treatments, where)
            values = tuple([given[name] for name in self.treatments])
        else:
            values = tuple(given) if isinstance(given, list) else (given,)
        _require_small(values, where)
        if self._arm_levels:
            values = _match_levels(values, self._arm_levels, where)
        try:
            self.spec.require_arm(values)
        except BounditError as error:
            raise Unprocessable(str(error), field=where) from None
        return values

    def write_arm(self, arm: Arm) -> Any:
        """Write an arm for an answer: an object by treatment, or a list where none are named."""
        # Equal is not enough to be the same: True equals 1, and is another text.
        found = self._written.get(arm)
        if found is None or isinstance(arm[0] if arm else None, bool):
            found = write_named(self.treatments, arm)
            if len(self._written) < _MOST_KEPT:
                self._written[arm] = found
        return found


def _require_small(values: Sequence[Value], where: str) -> None:
    """Refuse arms and contexts of many or long values: policies keep every different one."""
    if len(values) > MOST_VALUES:
        reason = (
            f"an arm or a context has {MOST_VALUES:,} values at most, found {len(values):,}"
        )
        raise Unprocessable(reason, field=where)
    for value in values:
        if isinstance(value, str) and len(value) > LONGEST_VALUE:
            reason = f"a value has {LONGEST_VALUE:,} characters at most, found {len(value):,}"
            raise Unprocessable(reason, field=where)


def encode_level_list(values: Sequence[Value]) -> list[Any]:
    """Write an arm or a context for an event, so that the types of its levels are kept."""
    if PLAIN.issuperset(map(type, values)):
        return list(values)
    found: list[Any] = encode(tuple(values), Arm)
    return found


def decode_level_list(record: Sequence[Any]) -> tuple[Value, ...]:
    """Read an arm or a context of an event."""
    if PLAIN.issuperset(map(type, record)):
        return tuple(record)
    found: tuple[Value, ...] = decode(Arm, record)
    return found


def write_value(value: Value) -> Any:
    """Write one level for an answer: itself, or its text where JSON has no such type."""
    if type(value) in PLAIN:
        return value
    write = getattr(value, "isoformat", None)
    return str(value) if write is None else write()


def is_same(one: Any, other: Any) -> bool:
    """Return True if two values are one payload: Python takes ``True`` for 1, a caller does not.

    >>> is_same((1, "a"), (1.0, "a")), is_same(1, True), is_same([1], [True])
    (True, False, False)
    """
    if one != other:
        return False
    if isinstance(one, (list, tuple)):
        return all(map(is_same, one, other))
    return (type(one) is bool) == (type(other) is bool)


def write_named(names: Sequence[str] | None, values: Sequence[Value]) -> Any:
    """Write values by name, or as a list where they have no names."""
    if not PLAIN.issuperset(map(type, values)):
        values = [write_value(value) for value in values]
    if names is None or len(names) != len(values):
        return list(values)
    return dict(zip(names, values, strict=True))


def _list_levels(levels: Sequence[Sequence[Value]]) -> Sequence[Mapping[Any, Value]]:
    """List for each variable its levels by what JSON has for them, which may be their text.

    Empty where all levels are texts, which nothing else is equal to.
    """
    if all(type(level) is str for one in levels for level in one):
        return ()
    return [{write_value(level): level for level in one} for one in levels]


def _match_levels(
    values: tuple[Value, ...], levels: Sequence[Mapping[Any, Value]], where: str
) -> tuple[Value, ...]:
    """Replace values by the levels that they stand for, or refuse a truth value for a number.

    Python takes ``True`` for 1, which no caller means.
    """
    if len(values) != len(levels):
        return values
    found = [known.get(value, value) for value, known in zip(values, levels, strict=True)]
    for value, level in zip(values, found, strict=True):
        if (type(value) is bool) != (type(level) is bool):
            sent, meant = (msgspec.json.encode(one).decode() for one in (value, level))
            raise Unprocessable(f"{sent} is not a level here; send {meant}", field=where)
    return tuple(found)


def _refuse_names(
    what: str, given: Mapping[str, Value], names: Sequence[str] | None, where: str
) -> NoReturn:
    """Refuse an object whose keys are not exactly the names of the variables."""
    if names is None:
        reason = f"the variables of this policy's {what} have no names; give a list"
    elif missing := [name for name in names if name not in given]:
        reason = f"the {what} has no value for {missing[0]!r}"
    else:
        unknown = next(name for name in given if name not in names)
        shown = ", ".join(names)
        reason = f"the {what} has no variable {shorten(repr(unknown), 40)}; it has {shown}"
    raise Unprocessable(reason, field=where)
