"""The options of all policies, each with one check, and what became of those of old."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from boundit.bandit.errors import BadOption, UnknownOption
from boundit.bandit.ids import IdStore
from boundit.results.bound import Value

UnknownLevels: TypeAlias = Literal["error", "range"]
Goal: TypeAlias = Literal["max", "min"]
Check: TypeAlias = Callable[[str, Any], Any]
ContextNames: TypeAlias = Sequence[str] | Mapping[str, Sequence[Value]]
"""Names of the context variables, with or without their levels."""
Arms: TypeAlias = Iterable[object]
"""Arms as users pass them: scalars, tuples or mappings of names."""


class CommonOptions(TypedDict, total=False):
    """The options that every policy has."""

    arms: Arms | None
    context: ContextNames | None
    reward_range: tuple[float, float] | None
    goal: Goal | None
    explore: float
    monitor: float | None
    unknown_levels: UnknownLevels
    id_window: int | IdStore
    seed: int | None


RENAMED = {"watch": "monitor", "remember": "id_window", "unseen": "unknown_levels"}
"""Options of release 0.2.0, and what they are called now."""


def require_common(policy: str, given: Mapping[str, object], own: Iterable[str]) -> None:
    """Refuse options that a policy does not have: constructors take the common ones by name."""
    known = CommonOptions.__annotations__
    for name in given:
        if name not in known:
            hint = f"write {RENAMED[name]}" if name in RENAMED else ""
            raise UnknownOption(policy, name, (*own, *known, "prior"), hint)


def make_number_check(expected: str, accept: Callable[[float], bool]) -> Check:
    """Make the check of an option that is a finite number."""

    def check(name: str, value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not accept(value):
            raise BadOption(name, expected, value)
        return float(value)

    return check


def _check_whole(least: int) -> Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BadOption(name, f"a whole number, {least} or more", value)
        return value

    return check


def _check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadOption(name, "True or False", value)
    return value


def _check_features(name: str, value: Any) -> Any:
    if not callable(value):
        raise BadOption(name, "a function of context and arm", value)
    return value


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


_not_negative = make_number_check("a number, 0 or more", lambda x: x >= 0)
_positive = make_number_check("a number above 0", lambda x: x > 0)
_probability = make_number_check("a probability between 0 and 1", lambda x: 0 < x < 1)
CHECKS: Mapping[str, Check] = {
    "seed": _or_none(_check_whole(0)),
    "explore": make_number_check("a probability from 0 to 1", lambda x: 0 <= x <= 1),
    "monitor": _or_none(_probability),
    "horizon": _or_none(_check_whole(1)),
    "delta": _or_none(_probability),
    "sigma": _or_none(_positive),
    "sigma2": _or_none(_positive),
    "alpha": _not_negative,
    "c": _not_negative,
    "epsilon": _or_none(_not_negative),
    "ridge": _positive,
    "scale": _positive,
    "shared": _check_flag,
    "features": _or_none(_check_features),
    "doubt": make_number_check("a number from 0 up to, but not, 1", lambda x: 0 <= x < 1),
    "spread": _positive,
}


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check options by their names; those without a check are the algorithm's own affair."""
    return {n: CHECKS[n](n, value) if n in CHECKS else value for n, value in given.items()}
