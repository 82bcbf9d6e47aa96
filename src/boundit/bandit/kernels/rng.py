"""Luck that a retry meets again: it hangs on the seed, what was learned and who is asking.

A stream is a 64-bit number. Its start mixes everything the luck hangs on; each draw steps it on
by a fixed odd number and mixes what it reaches (Steele, Lea and Flood 2014, SplitMix). Two
visitors with the same context, with nothing learned between them, meet the same luck: that is
what makes a retry safe.
"""

import json
from functools import lru_cache
from hashlib import sha256

import numpy as np

from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.level_codec import spelled_values
from boundit.terms.bound import Context

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_WORDS = 1 << 64


def wrap_seed(seed: int) -> np.uint64:
    """Take a seed of any size into 64 bits."""
    return np.uint64(seed % _WORDS)


@lru_cache(maxsize=1 << 14)
def hash_context(context: Context) -> np.uint64:
    """64 bits that name a context; contexts that are equal have the same.

    >>> len({hash_context((1, "new")), hash_context((True, "new")), hash_context((2, "new"))})
    2
    """
    spelled = json.dumps(spelled_values(map(_unify_number, context)), sort_keys=True)
    return np.uint64(int.from_bytes(sha256(spelled.encode()).digest()[:8], "big"))


def _unify_number(value: object) -> object:
    """Python has 1 == 1.0 == True, and a dictionary cannot tell them apart."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return int(value) if isinstance(value, bool) else value


@compile_kernel
def mix_bits(stream: np.uint64) -> np.uint64:
    """Spread every bit over all the others; no two context_hashes become one."""
    stream = (stream ^ (stream >> _30)) * _FIRST
    stream = (stream ^ (stream >> _27)) * _SECOND
    return stream ^ (stream >> _31)


@compile_kernel
def open_stream(seed: np.uint64, events: int, context_hash: np.uint64) -> np.uint64:
    """Open the stream of a decision, by a seed, a count of rewards and a hashed context."""
    stream = mix_bits(seed + _STEP)
    stream = mix_bits((stream ^ np.uint64(events)) + _STEP)
    return mix_bits((stream ^ context_hash) + _STEP)


@compile_kernel
def branch_stream(stream: np.uint64, place: int) -> np.uint64:
    """Open a stream of its own for one of several, such as the arms of a decision."""
    return mix_bits((stream ^ np.uint64(place)) + _STEP)


@compile_kernel
def draw_uniform(stream: np.uint64) -> tuple[float, np.uint64]:
    """Draw strictly between 0 and 1; give the stream as it goes on."""
    stream = stream + _STEP
    return (np.float64(mix_bits(stream) >> _12) + 0.5) * 2.0**-52, stream
