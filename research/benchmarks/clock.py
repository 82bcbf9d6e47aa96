"""Measure calls, fairly and briefly."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def seconds(call: Callable[[], T], *, at_least: float = 0.2, rounds: int = 3) -> float:
    """Return the best mean time of one call over a few rounds."""
    started = time.perf_counter()
    call()
    once = max(time.perf_counter() - started, 1e-7)
    repeats = max(1, int(at_least / rounds / once))
    best = once if once > at_least else float("inf")
    for _ in range(rounds if once <= at_least else 0):
        started = time.perf_counter()
        for _ in range(repeats):
            call()
        best = min(best, (time.perf_counter() - started) / repeats)
    return best


def row(label: str, ours: float, peers: dict[str, float | None]) -> str:
    """Write our time and how many times longer each peer took."""
    ratios = "".join(
        f"{'-' if theirs is None else f'{theirs / ours:.1f}x':>12}" for theirs in peers.values()
    )
    return f"{label:<28}{ours * 1e6:>12,.0f}{ratios}"
