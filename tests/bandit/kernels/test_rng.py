"""Streams of random numbers: what they hang on, and that they look random."""

import math
from hashlib import blake2b

import numpy as np
import pytest
from scipy import stats

from boundit.bandit.kernels.rng import (
    branch_stream,
    draw_explored,
    draw_many_explored,
    draw_uniform,
    hash_id,
    hash_many_ids,
    mix_bits,
    open_stream,
    wrap_seed,
)

_MASK = (1 << 64) - 1


def draw_first(seed: int, name: str, place: int = 0) -> float:
    whole = open_stream(wrap_seed(seed), hash_id(name))
    return draw_uniform(np.uint64(branch_stream(np.uint64(whole), place)))[0]


def mix_plainly(word: int) -> int:
    """SplitMix64's last step in Python's whole numbers."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


def test_the_generator_is_splitmix() -> None:
    """The first outputs from 1234567, as the reference implementation prints them."""
    word, found = np.uint64(1234567), []
    for _ in range(3):
        word = np.uint64((int(word) + 0x9E3779B97F4A7C15) & _MASK)
        found.append(int(mix_bits(word)))

    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert all(
        int(mix_bits(np.uint64(w))) == mix_plainly(w) for w in (0, 1, _MASK, 0x123456789ABCDEF)
    )


def test_it_hangs_on_seed_id_and_place() -> None:
    draw = draw_first(0, "a", 2)

    assert draw == draw_first(0, "a", 2)
    others = [draw_first(1, "a", 2), draw_first(0, "b", 2), draw_first(0, "a", 3)]
    assert len({draw, *others}) == 4


def test_a_plain_number_is_its_own_hash() -> None:
    """Whole runs in compiled code know a round by its number alone."""
    numbers = [0, 7, 15_000, 10**18 - 1]
    assert [hash_id(str(n)) for n in numbers] == numbers
    strange = ["007", "+7", "7.0", " 7", "\u0667", "\u00b2", str(2**64), "-1", ""]
    assert not {hash_id(name) for name in strange} & {0, 1, 2, 7}


def test_an_id_has_the_same_hash_on_every_machine() -> None:
    digest = blake2b("née".encode(), digest_size=8).digest()

    assert hash_id("née") == int.from_bytes(digest, "little", signed=True)
    assert hash_id("\ud800") != hash_id("\ud801")


def test_a_seed_may_be_of_any_size() -> None:
    assert wrap_seed(3) == 3
    assert wrap_seed((1 << 64) + 3) == 3
    assert wrap_seed((1 << 64) - 1) == -1
    assert 0 < draw_first((1 << 200) + 7, "") < 1


def test_draws_lie_strictly_between_0_and_1() -> None:
    """The extreme numbers are found by undoing the mix: neither end is reached."""
    ends = [(k + 0.5) * 2.0**-52 for k in (0, (1 << 52) - 1)]

    assert 0.0 < ends[0] < ends[1] < 1.0
    word, draws = np.uint64(9), []
    for _ in range(10_000):
        draw, after = draw_uniform(word)
        word = np.uint64(after)
        draws.append(draw)
    assert 0.0 < min(draws) < max(draws) < 1.0


@pytest.mark.parametrize("vary", ["seed", "number", "name", "place"])
def test_neighbours_look_uniform_and_independent(vary: str) -> None:
    """Kolmogorov-Smirnov, serial correlation, and pairs on a grid, along each axis."""
    n = 20_000
    draws = np.array([draw_first(*_vary(vary, i)) for i in range(n)])

    assert stats.kstest(draws, "uniform").pvalue > 1e-3
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(draws[lag:], draws[:-lag])[0, 1]) < 4 / math.sqrt(n)
    cells = np.histogram2d(draws[1:], draws[:-1], bins=10)[0]
    assert stats.chisquare(cells.ravel()).pvalue > 1e-3


def _vary(vary: str, i: int) -> tuple[int, str, int]:
    name = {"number": str(i), "name": f"visitor {i}"}.get(vary, "a")
    return (i if vary == "seed" else 3), name, (i if vary == "place" else 3)


def test_every_bit_of_a_number_moves_half_of_the_others() -> None:
    rng = np.random.default_rng(0)
    for bit in range(64):
        words = rng.integers(0, 1 << 63, 200, dtype=np.uint64)
        flips = [
            (int(mix_bits(w)) ^ int(mix_bits(w ^ np.uint64(1 << bit)))).bit_count()
            for w in words
        ]
        assert 30 < np.mean(flips) < 34


@pytest.mark.parametrize("ids", [["a", "b-1", ""], ["17", "a"], ["\ud800", "a"], []])
def test_many_ids_are_hashed_as_one(ids: list[str]) -> None:
    found = hash_many_ids(ids)

    assert found.dtype == np.int64
    assert found.tolist() == [hash_id(name) for name in ids]


def test_many_decisions_explore_as_one_does() -> None:
    hashes = hash_many_ids([str(i) for i in range(50)])

    found = draw_many_explored(3, hashes, 0.4, 5).tolist()

    assert found == [draw_explored(3, i, 0.4, 5) for i in range(50)]
    assert {-1, 0, 4} < set(found)
