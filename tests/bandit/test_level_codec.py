import json
from datetime import date, datetime, timedelta

import pytest

from boundit.bandit.level_codec import read_values, spelled_number, spelled_values
from boundit.terms.bound_errors import CannotSave


def test_values_keep_their_types_through_json() -> None:
    values = ("1", 1, True, 0.5, None, date(2024, 2, 29), datetime(2024, 1, 1), timedelta(3))  # noqa: DTZ001

    back = read_values(json.loads(json.dumps(spelled_values(values))))

    assert back == values
    assert list(map(type, back)) == list(map(type, values))
    with pytest.raises(CannotSave):
        spelled_values([object()])


def test_infinity_is_spelled() -> None:
    assert json.dumps([spelled_number(x) for x in (0.25, float("inf"), float("-inf"))]) == (
        '[0.25, "inf", "-inf"]'
    )
