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
from boundit.bandit.serialization import encode_values
from boundit.terms.bound import Context

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_WORDS = 1 << 64


def wrap_seed(seed: int) -> np.uint64:
    """Reduce a seed of any size to 64 bits.

    Called by ``TS.__init__`` and ``LinTS.__init__``.
    """
    return np.uint64(seed % _WORDS)


@lru_cache(maxsize=1 << 14)
def hash_context(context: Context) -> np.uint64:
    """Name a context by 64 bits; contexts that are equal have the same.

    Called by ``TS.choose`` and ``LinTS.choose`` for every visitor, and by
    ``BatchLayout.context_hashes`` for every context of whole runs.

    >>> len({hash_context((1, "new")), hash_context((True, "new")), hash_context((2, "new"))})
    2
    """
    spelled = json.dumps(encode_values(map(_unify_number, context)), sort_keys=True)
    return np.uint64(int.from_bytes(sha256(spelled.encode()).digest()[:8], "big"))


def _unify_number(value: object) -> object:
    """Write equal numbers alike, so that they hash alike: Python has 1 == 1.0 == True.

    Called by ``hash_context`` for every value.
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return int(value) if isinstance(value, bool) else value


@compile_kernel
def mix_bits(stream: np.uint64) -> np.uint64:
    """Scramble a 64-bit number so that each bit of it moves all bits that come out.

    One to one. Called by ``open_stream``, ``branch_stream`` and ``draw_uniform``.
    """
    stream = (stream ^ (stream >> _30)) * _FIRST
    stream = (stream ^ (stream >> _27)) * _SECOND
    return stream ^ (stream >> _31)


@compile_kernel
def open_stream(seed: np.uint64, events: int, context_hash: np.uint64) -> np.uint64:
    """Start the random numbers of a decision from a seed, a reward count and a context.

    Gives the state of the stream; the same three meet the same luck. Called by ``decide_ts``
    and ``decide_lin_ts``, by ``play_ts`` and ``play_lin_ts`` in every round, and by
    ``estimate_win_probability``, which meets the draws of the decision again.
    """
    stream = mix_bits(seed + _STEP)
    stream = mix_bits((stream ^ np.uint64(events)) + _STEP)
    return mix_bits((stream ^ context_hash) + _STEP)


@compile_kernel
def branch_stream(stream: np.uint64, place: int) -> np.uint64:
    """Derive another stream of random numbers for one arm, or for one further draw.

    Called by ``draw_best_arm`` for every arm, by ``estimate_win_probability`` for every draw.
    """
    return mix_bits((stream ^ np.uint64(place)) + _STEP)


@compile_kernel
def draw_uniform(stream: np.uint64) -> tuple[float, np.uint64]:
    """Draw a number strictly between 0 and 1 from a stream; give it and the next state.

    Called by ``draw_normal_pair``, ``draw_beta`` and ``_draw_offset``.
    """
    stream = stream + _STEP
    return (np.float64(mix_bits(stream) >> _12) + 0.5) * 2.0**-52, stream
