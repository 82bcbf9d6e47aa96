import json
from datetime import date, datetime, timedelta

import pytest

from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.serialization import (
    FORMAT,
    VERSION,
    decode_values,
    encode_values,
    open_state,
    seal_state,
)
from boundit.terms.bound_errors import CannotSave

STATE = seal_state("UCB", {"options": {"horizon": 5}})


def test_a_sealed_state_opens() -> None:
    assert (STATE["format"], STATE["version"], STATE["policy"]) == (FORMAT, VERSION, "UCB")
    with open_state("UCB", json.loads(json.dumps(STATE))) as body:
        assert body == {"options": {"horizon": 5}}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({}, "it does not say so; give what state"),
        ({**STATE, "version": 9}, "it has version 9, and this release reads 4"),
        ({**STATE, "policy": "TS"}, "it is one of TS"),
        ({**STATE, "options": {"horizon": 6}}, "it was changed after it was made"),
        ({**STATE, "options": {1, 2}}, "it was changed after it was made"),
    ],
)
def test_anything_else_is_refused(state: dict[str, object], reason: str) -> None:
    with pytest.raises(DamagedState, match=reason), open_state("UCB", state):
        pass


@pytest.mark.parametrize(
    "error", [KeyError("x"), IndexError("x"), RecursionError("x"), BadOption("a", "b", 1)]
)
def test_what_goes_wrong_inside_is_a_damaged_state(error: Exception) -> None:
    with (
        pytest.raises(DamagedState, match="this is no state of UCB: "),
        open_state("UCB", STATE),
    ):
        raise error
    with pytest.raises(DamagedState, match="it has no 'x'; was"), open_state("UCB", STATE):
        raise KeyError("x")
    with pytest.raises(DamagedState, match="own words"), open_state("UCB", STATE):
        raise DamagedState("UCB", "own words")


def test_values_keep_their_types_through_json() -> None:
    values = ("1", 1, True, 0.5, None, date(2024, 2, 29), datetime(2024, 1, 1), timedelta(3))  # noqa: DTZ001

    back = decode_values(json.loads(json.dumps(encode_values(values))))

    assert back == values
    assert list(map(type, back)) == list(map(type, values))
    with pytest.raises(CannotSave):
        encode_values([object()])
