"""Buckets fill up at their rate, for each caller alone."""

import pytest

from boundit.service.http.errors import TooManyRequests
from boundit.service.http.limits import Limits, RateLimiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_caller_gets_its_rate_and_others_theirs() -> None:
    clock = Clock()
    limiter = RateLimiter(5.0, clock)
    for _ in range(5):
        limiter.take("a")
    with pytest.raises(TooManyRequests) as refused:
        limiter.take("a")
    limiter.take("b")
    clock.now = 0.2
    limiter.take("a")

    assert refused.value.retry_after == 1


def test_over_a_long_time_no_more_than_the_rate_is_taken() -> None:
    clock, taken = Clock(), 0
    limiter = RateLimiter(3.0, clock)
    for _ in range(1000):
        clock.now += 0.01
        try:
            limiter.take("a")
            taken += 1
        except TooManyRequests:
            pass

    assert 30 <= taken <= 33


def test_rows_are_counted_and_a_large_request_is_paid_for_later() -> None:
    clock = Clock()
    limiter = RateLimiter(5.0, clock)
    limiter.take("a")
    limiter.take("a", 20)
    with pytest.raises(TooManyRequests) as refused:
        limiter.take("a")
    with pytest.raises(TooManyRequests):  # one that was read meanwhile
        limiter.take("a", 20)
    clock.now = 3.3
    with pytest.raises(TooManyRequests):
        limiter.take("a")
    clock.now = 3.5
    limiter.take("a")

    assert refused.value.retry_after == 4


def test_no_rate_is_no_limit() -> None:
    limiter = RateLimiter(0.0)
    for _ in range(1000):
        limiter.take("a")

    assert Limits().rate == 0


def test_callers_who_are_idle_are_forgotten() -> None:
    limiter = RateLimiter(1.0, Clock())
    for i in range(20_000):
        limiter.take(f"caller {i}")

    assert len(limiter._filled) <= 10_000
