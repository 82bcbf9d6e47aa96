"""What a reader should know of the rows, in one line each."""

import pytest

from boundit.counts.caveats import (
    MANY_LEVELS,
    warn_of_averages,
    warn_of_dropped_rows,
    warn_of_many_levels,
    warn_of_missing_words,
    warn_of_strange_levels,
)


def test_nothing_to_say_is_nothing_said() -> None:
    assert (
        warn_of_dropped_rows({}, 10)
        == warn_of_many_levels({"X": (0, 1)})
        == warn_of_missing_words({"X": ("a",)})
    )
    assert warn_of_strange_levels("X", (0, 1, None), (0, 1), "'a.csv'") == ()


def test_what_is_dropped_is_counted_by_variable() -> None:
    (said,) = warn_of_dropped_rows({"X": 1200, "Y": 1}, 34_000)

    assert said.startswith("of 34,000 rows, those with a null were dropped: X (1,200), Y (1);")


def test_averages_name_their_columns() -> None:
    assert "by n, with rewards" in warn_of_averages("Y", "n")[0]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (tuple(range(MANY_LEVELS)), False),
        ((*range(MANY_LEVELS), None), False),
        (tuple(range(MANY_LEVELS + 1)), True),
        (tuple(f"shop {i}" for i in range(99)), False),
    ],
)
def test_only_whole_numbers_with_many_levels_may_be_measurements(
    levels: tuple[object, ...], said: bool
) -> None:
    assert bool(warn_of_many_levels({"X": levels})) == said


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (("YOUNG",), "never 'YOUNG' in the log, only in 'a.csv': a slip for 'young'?"),
        (("yuong", "odl"), "never 'yuong', 'odl' in the log"),
        ((1, 2, 3, 4, 5), "never 1, 2, 3 and 2 more in the log, only in 'a.csv': if that is"),
    ],
)
def test_strange_levels_are_shown_and_the_nearest_known(
    found: tuple[object, ...], shown: str
) -> None:
    (said,) = warn_of_strange_levels("Age", found, ("old", "young"), "'a.csv'")

    assert shown in str(said)
