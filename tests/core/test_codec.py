"""Values survive JSON by the types of their fields, and what does not fit is refused."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundit.core.codec import decode, encode
from boundit.core.errors import BounditError, CannotSave
from boundit.core.interval import Interval
from boundit.results.bound import Arm
from boundit.results.contrast import Pair


class Cell(NamedTuple):
    """A count and a sum."""

    n: int
    total: float


@dataclass(frozen=True)
class Inner:
    """Something inside another thing."""

    name: str
    on: bool = True


@dataclass(frozen=True)
class Outer:
    """One field of every type that records hold."""

    arm: Arm
    mean: float | None
    inner: Inner
    cell: Cell
    bound: Interval
    many: tuple[Inner, ...] = ()
    names: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    pairs: Mapping[Pair, float] = field(default_factory=dict)
    index: Mapping[Arm, float] = field(default_factory=dict)
    rows: float | Literal["counts"] = "counts"
    nested: "Outer | None" = None


SMALL = Outer(("a",), None, Inner("x"), Cell(1, 0.5), Interval(0.0, 1.0))
LARGE = Outer(
    ("a", 1, True, None, date(2024, 2, 29)),
    math.inf,
    Inner("y", on=False),
    Cell(3, -math.inf),
    Interval(-math.inf, 0.25),
    (Inner("z"), Inner("")),
    frozenset({"U", "V"}),
    {"U": (0, 1.5, math.inf)},
    {((0, "x"), ("a",), ("b",)): -0.125, ((), (), ()): 1.0},
    {("a", 1): 0.5, (): math.inf},
    rows=2.0,
    nested=SMALL,
)


def through_json(value: object, kind: object = None) -> object:
    text = json.dumps(encode(value, kind), allow_nan=False)
    return decode(kind or type(value), json.loads(text))


@pytest.mark.parametrize("value", [SMALL, LARGE, Cell(2, 1.0), Interval(0.5, 0.5)])
def test_json_keeps_values_exactly(value: object) -> None:
    found = through_json(value)

    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "level",
    [
        0,
        1.5,
        True,
        None,
        math.inf,
        -math.inf,
        "2024-01-01",
        "inf",
        date(2024, 2, 29),
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        time(12, 30),
        timedelta(days=-1, microseconds=3),
        ("a", (1, date(2024, 2, 29))),
    ],
)
def test_a_level_keeps_its_type(level: object) -> None:
    found = through_json(level, object)

    assert (type(found), found) == (type(level), level)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
        lambda inner: st.tuples(inner, inner),
    )
)
def test_any_level_survives(level: object) -> None:
    assert repr(through_json(level, object)) == repr(level)


def test_what_json_has_no_form_for_is_refused() -> None:
    for value, kind in [
        (object(), object),
        (1, str),
        (True, int),
        (True, float),
        ("a", float),
        ("other", Literal["counts"]),
        ((1,), tuple[int, int]),
        ({1: 2}, Mapping[str, int]),
        ("x", int | None),
        (Inner("x"), Outer),
        (0.5, Interval),
        ([1], tuple[int, ...]),
    ]:
        with pytest.raises(CannotSave):
            encode(value, kind)


@pytest.mark.parametrize("kind", [complex, tuple, Mapping[str, complex]])
def test_a_type_that_records_do_not_hold_is_our_own_mistake(kind: object) -> None:
    with pytest.raises(TypeError, match="records hold no"):
        encode((), kind)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"arm": 3}, "at arm: a list was expected, found 3"),
        ({"arm": [[1]]}, "at arm[0]: a level was expected, found [1]"),
        ({"arm": [{"moon": 1}]}, "at arm[0]: a level was expected, found {'moon': 1}"),
        ({"mean": "0"}, "at mean: a number or null was expected, found '0'"),
        ({"mean": True}, "at mean: a number or null was expected, found True"),
        ({"inner": []}, "at inner: an object was expected, found []"),
        ({"inner": {"name": 1}}, "at inner.name: text was expected, found 1"),
        ({"inner": {}}, "at inner: 'name' is missing"),
        ({"inner": {"name": "x", "of": 1}}, "at inner: nothing is called 'of' here"),
        ({"many": [{"name": "x"}, 1]}, "at many[1]: an object was expected, found 1"),
        ({"cell": [1]}, "at cell: a list of 2 was expected, found [1]"),
        ({"cell": [1.5, 0]}, "at cell[0]: a whole number was expected, found 1.5"),
        (
            {"bound": [1, 0]},
            "at bound: [1, 0] is not an interval; the lower endpoint comes first",
        ),
        ({"levels": {"U": 1}}, "at levels['U']: a list was expected, found 1"),
        ({"levels": []}, "at levels: an object was expected, found []"),
        ({"pairs": [[[], [], 1.0]]}, "at pairs[0]: a list of 4 was expected, found [[], [], 1"),
        ({"rows": "none"}, "at rows: a number or 'counts' was expected, found 'none'"),
        ({"nested": {"arm": []}}, "at nested: "),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    changed: dict[str, object], reason: str
) -> None:
    with pytest.raises(BounditError) as caught:
        decode(Outer, {**encode(SMALL), **changed}, error=BounditError)

    assert str(caught.value).startswith(reason)
    assert "\n" not in str(caught.value)


def test_the_error_is_the_callers_own() -> None:
    with pytest.raises(KeyError):
        decode(Inner, {}, error=KeyError)
    with pytest.raises(ValueError, match="an object was expected, found 1"):
        decode(Inner, 1)


def test_a_field_with_a_default_may_be_missing() -> None:
    assert decode(Inner, {"name": "x"}) == Inner("x")
