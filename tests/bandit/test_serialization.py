import json

import pytest

from boundit.bandit.errors import BadOption, DamagedState
from boundit.bandit.serialization import FORMAT, VERSION, opened, sealed

STATE = sealed("UCB", {"options": {"horizon": 5}})


def test_what_was_sealed_is_opened() -> None:
    assert (STATE["format"], STATE["version"], STATE["policy"]) == (FORMAT, VERSION, "UCB")
    with opened("UCB", json.loads(json.dumps(STATE))) as body:
        assert body == {"options": {"horizon": 5}}


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({}, "it does not say so; give what state"),
        ({**STATE, "version": 9}, "it has version 9, and this release reads 1"),
        ({**STATE, "policy": "TS"}, "it is one of TS"),
        ({**STATE, "options": {"horizon": 6}}, "it was changed after it was made"),
        ({**STATE, "options": {1, 2}}, "it was changed after it was made"),
    ],
)
def test_anything_else_is_refused(state: dict[str, object], reason: str) -> None:
    with pytest.raises(DamagedState, match=reason), opened("UCB", state):
        pass


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), BadOption("a", "b", 1)])
def test_what_goes_wrong_inside_is_a_damaged_state(error: Exception) -> None:
    with pytest.raises(DamagedState, match="this is no state of UCB: "), opened("UCB", STATE):
        raise error
    with pytest.raises(DamagedState, match="own words"), opened("UCB", STATE):
        raise DamagedState("UCB", "own words")
