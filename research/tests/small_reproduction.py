"""The paper recomputed in a second, once for all tests of a worker."""

from functools import cache

from boundit_research.paper.reproduction import Reproduction, reproduce_paper


@cache
def reproduce_small() -> Reproduction:
    return reproduce_paper(points=2_000, runs=3, rounds=150, seed=4)
