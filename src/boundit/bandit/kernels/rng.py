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

from boundit.bandit.kernels.compile import compiled
from boundit.bandit.level_codec import spelled_values
from boundit.terms.bound import Context

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_WORDS = 1 << 64


def seed_word(seed: int) -> np.uint64:
    """Take a seed of any size into 64 bits."""
    return np.uint64(seed % _WORDS)


@lru_cache(maxsize=1 << 14)
def context_word(context: Context) -> np.uint64:
    """64 bits that name a context; contexts that are equal have the same.

    >>> len({context_word((1, "new")), context_word((True, "new")), context_word((2, "new"))})
    2
    """
    spelled = json.dumps(spelled_values(map(_plain, context)), sort_keys=True)
    return np.uint64(int.from_bytes(sha256(spelled.encode()).digest()[:8], "big"))


def _plain(value: object) -> object:
    """Python has 1 == 1.0 == True, and a dictionary cannot tell them apart."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return int(value) if isinstance(value, bool) else value


@compiled
def mixed(word: np.uint64) -> np.uint64:
    """Spread every bit over all the others; no two words become one."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@compiled
def stream(seed: np.uint64, events: int, who: np.uint64) -> np.uint64:
    """Open the stream of one decision, for a seed, a count of rewards and a context's word."""
    word = mixed(seed + _STEP)
    word = mixed((word ^ np.uint64(events)) + _STEP)
    return mixed((word ^ who) + _STEP)


@compiled
def branched(word: np.uint64, place: int) -> np.uint64:
    """Open a stream of its own for one of several, such as the arms of a decision."""
    return mixed((word ^ np.uint64(place)) + _STEP)


@compiled
def uniform(word: np.uint64) -> tuple[float, np.uint64]:
    """Draw strictly between 0 and 1; give the stream as it goes on."""
    word = word + _STEP
    return (np.float64(mixed(word) >> _12) + 0.5) * 2.0**-52, word
