"""The options of all policies, each with one check: read by constructors, states and the command line."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from boundit.bandit.errors import BadOption


def _number(expected: str, accept: Callable[[float], bool]) -> Callable[[str, Any], float]:
    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not accept(value):
            raise BadOption(name, expected, value)
        return float(value)

    return check


def _whole(least: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BadOption(name, f"a whole number, {least} or more", value)
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadOption(name, "True or False", value)
    return value


def _maybe(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else check(name, value)


def _features(name: str, value: Any) -> Any:
    if not callable(value):
        raise BadOption(name, "a function of context and arm", value)
    return value


_not_negative = _number("a number, 0 or more", lambda x: x >= 0)
_positive = _number("a number above 0", lambda x: x > 0)
CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "seed": _maybe(_whole(0)),
    "explore": _number("a probability from 0 to 1", lambda x: 0 <= x <= 1),
    "horizon": _maybe(_whole(1)),
    "delta": _maybe(_number("a probability between 0 and 1", lambda x: 0 < x < 1)),
    "sigma": _maybe(_positive),
    "alpha": _not_negative,
    "ridge": _positive,
    "scale": _positive,
    "shared": _flag,
    "floor": _flag,
    "features": _maybe(_features),
    "doubt": _number("a number from 0 up to, but not, 1", lambda x: 0 <= x < 1),
    "spread": _positive,
}


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: CHECKS[name](name, value) for name, value in given.items()}
