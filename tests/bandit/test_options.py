import math
from collections.abc import Callable

import pytest

from boundit.bandit.errors import BadOption
from boundit.bandit.options import (
    read_chance,
    read_flag,
    read_horizon,
    read_not_negative,
    read_positive,
    read_whole_number,
)


@pytest.mark.parametrize("read", [read_positive, read_not_negative, read_chance])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1, "1", None, True])
def test_what_is_no_such_number_is_refused(
    read: Callable[[str, float], float], value: float
) -> None:
    with pytest.raises(BadOption, match="alpha must be a"):
        read("alpha", value)


def test_numbers_at_the_edge() -> None:
    assert read_not_negative("a", 0) == 0.0
    assert read_chance("a", 0.5) == read_positive("a", 0.5) == 0.5
    for read, value in ((read_positive, 0), (read_chance, 1), (read_chance, 0)):
        with pytest.raises(BadOption):
            read("a", value)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "9"])
def test_a_horizon_is_a_number_of_rounds(value: int) -> None:
    with pytest.raises(BadOption, match="horizon must be a whole number of rounds"):
        read_horizon(value)
    assert (read_horizon(None), read_horizon(3)) == (None, 3)


def test_whole_numbers_and_flags() -> None:
    assert (read_whole_number("seed", 0), read_flag("shared", True)) == (0, True)
    for value in (-1, 1.0, True):
        with pytest.raises(BadOption, match="seed must be a whole number"):
            read_whole_number("seed", value)  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="shared must be True or False"):
        read_flag("shared", 1)  # type: ignore[arg-type]
