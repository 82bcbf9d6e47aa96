"""Lengths of time are seconds, or have a unit."""

import click
import pytest

from boundit.cli.service.durations import Duration, write_duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90.0), ("1.5h", 5400.0), ("30m", 1800.0), ("7d", 604_800.0)]
)
def test_units(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1w", "soon", "1e3", "nan"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no length of time"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize("seconds", [0.5, 1.0, 90.0, 3600.0, 86_400.0, 90_000.0])
def test_what_is_written_is_read_again(seconds: float) -> None:
    assert Duration().convert(write_duration(seconds), None, None) == seconds
