"""Random numbers of a decision: a function of the policy's seed and the decision's id alone.

SplitMix64 (Steele, Lea and Flood 2014). Two decisions draw independently even if nothing was
learned in between; a retry under the same id draws the same.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import kernel, step

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_EXPLORE = np.uint64(0xFFFFFFFFFFFFFFFF)


@step
def _mix(x: np.uint64) -> np.uint64:
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@kernel
def draw_uniform(seed: int, id_hash: int) -> float:
    """The one uniform number of a decision, strictly between 0 and 1."""
    stream = _mix((_mix(np.uint64(seed) + _STEP) ^ np.uint64(id_hash)) + _STEP)
    stream = _mix((stream ^ _EXPLORE) + _STEP) + _STEP
    return (np.float64(_mix(stream) >> _12) + 0.5) * 2.0**-52


@kernel
def draw_uniforms(seed: int, id_hashes: Ints) -> Floats:
    """Draw the uniform numbers of several decisions."""
    found = np.empty(id_hashes.size)
    for i in range(id_hashes.size):
        found[i] = draw_uniform(seed, id_hashes[i])
    return found


@step
def pick_arm(probabilities: Floats, uniform: float, explore: float) -> int:
    """Pick an arm by one uniform number: first a part that explores, then by probability."""
    n = probabilities.size
    if uniform < explore:
        return min(int(uniform / explore * n), n - 1)
    rest, total = (uniform - explore) / (1.0 - explore), 0.0
    for k in range(n):
        total += probabilities[k]
        if rest < total:
            return k
    return int(np.argmax(probabilities))  # rounding left the sum below 1


def wrap_seed(seed: int) -> int:
    """Reduce a seed of any size to 64 bits with a sign, which compiled code takes quickest."""
    return (seed + (1 << 63)) % (1 << 64) - (1 << 63)


def hash_id(id: str) -> int:  # noqa: A002, the word users know
    """Name an id by 64 bits; a number is itself: round 17 of a whole run is decision "17"."""
    if id.isdecimal() and len(id) < 19 and str(int(id)) == id:
        return int(id)
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def hash_ids(ids: Sequence[str]) -> Ints:
    """Name several ids by 64 bits each."""
    return np.fromiter(map(hash_id, ids), np.int64, len(ids))
