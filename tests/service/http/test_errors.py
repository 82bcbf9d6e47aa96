"""Every refusal has a status of its own kind and a line that says what would work."""

import inspect

from boundit.service.errors import ServiceError
from boundit.service.http import errors
from boundit.service.http.errors import BodyTooLarge, ExportRuns, TooSlow, WrongMediaType


def test_all_are_refusals_of_the_caller_or_say_when_to_come_again() -> None:
    found = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, ServiceError) and kind is not ServiceError
    ]

    assert all(400 <= kind.status < 500 for kind in found if kind is not ExportRuns)
    assert (ExportRuns.status, ExportRuns(10).retry_after) == (503, 10)
    assert len({kind.code for kind in found}) == len(found)


def test_lines_say_the_limit() -> None:
    assert str(BodyTooLarge(1000)) == "the body is larger than 1,000 bytes"
    assert "within 0.5 seconds" in str(TooSlow(0.5))
    assert "application/json" in str(WrongMediaType())
