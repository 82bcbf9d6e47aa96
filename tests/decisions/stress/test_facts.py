"""The options that are passed on are those of ``derive_bounds``."""

from inspect import signature

from boundit.bounds.derive import derive_bounds
from boundit.decisions.stress.facts import Facts


def test_every_option_of_derive_bounds_can_be_passed_on() -> None:
    options = signature(derive_bounds).parameters.keys() - {"graph", "query", "log", "progress"}

    assert Facts.__annotations__.keys() == options
