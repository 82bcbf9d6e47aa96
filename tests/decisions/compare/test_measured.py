"""What policies are compared with beside others."""

import copy
import pickle

import pytest

from boundit.decisions.compare.measured import LOGGED, BadMeasurement, Measured


def test_a_measurement_lies_within_its_error_or_its_interval() -> None:
    assert Measured(0.5, error=0.25).ends.lower == 0.25
    assert Measured(0.5, interval=(0.4, 0.7)).ends.upper == 0.7
    assert Measured(0.5).ends.width == 0


def test_the_chance_of_missing_is_that_of_its_confidence() -> None:
    assert Measured(0.5).chance == 0
    assert Measured(0.5, error=0.1, confidence=0.75).chance == 0.25


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"value": float("nan")}, "the value"),
        ({"value": 0.5, "error": -1}, "the error"),
        ({"value": True}, "no number"),
        ({"value": 0.5, "confidence": 1.5}, "a chance such as"),
        ({"value": 0.5, "error": 0.1, "interval": (0.4, 0.6)}, "either error or interval"),
        ({"value": 0.5, "interval": (0.6, 0.7)}, r"\(low, high\) around"),
        ({"value": 0.5, "interval": 0.6}, r"\(low, high\) around"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_line(
    options: dict[str, object], said: str
) -> None:
    with pytest.raises(BadMeasurement, match=said):
        Measured(**options)  # type: ignore[arg-type]


def test_what_the_log_did_stays_the_same_in_copies() -> None:
    assert copy.deepcopy(LOGGED) is LOGGED
    assert pickle.loads(pickle.dumps(LOGGED)) is LOGGED
    assert str(LOGGED) == "what the log did"
