"""The random numbers of a decision: they hang on the policy's seed and the decision's id alone.

A stream is a 64-bit number. Its start mixes seed and id; each draw steps it on by a fixed odd
number and mixes what it reaches (Steele, Lea and Flood 2014, SplitMix). Two decisions have two
ids, and so draw independently even where nothing was learned between them; a retry under the
same id draws the same.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from struct import Struct
from typing import NamedTuple, TypeAlias

import numpy as np

from boundit.bandit.kernels.arrays import Places
from boundit.bandit.kernels.compile import compile_kernel

StreamKey: TypeAlias = tuple[int, int]
"""What the stream of a decision is opened from: the policy's seed and the id's hash.

Of 64 bits each with a sign, which compiled code takes in at half the cost of NumPy's numbers.
"""


class StreamKeys(NamedTuple):
    """What the streams of several decisions are opened from: one seed, and each id's hash."""

    seed: int
    id_hashes: Places

    def get_key(self, place: int) -> StreamKey:
        """Give the key of one of the decisions; called by ``BasePolicy._choose_batches``."""
        return self.seed, int(self.id_hashes[place])

    def pick(self, places: Places) -> "StreamKeys":
        """Pick the keys of some decisions; called by ``BasePolicy._choose_batches``."""
        return StreamKeys(self.seed, self.id_hashes[places])


NO_STREAM: StreamKey = (0, 0)
"""Given to algorithms that draw nothing."""
NO_STREAMS = StreamKeys(0, np.empty(0, np.int64))
"""Given to them for several decisions."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
_DIGITS = 19
"""A number of fewer digits has no more than 63 bits."""
_WORDS, _HALF = 1 << 64, 1 << 63
_READ_NUMBER: Callable[[bytes], tuple[int]] = Struct("<q").unpack
"""What reads 8 bytes as a number with a sign."""


def wrap_seed(seed: int) -> int:
    """Reduce a seed of any size to 64 bits, of which one is the sign."""
    return (seed + _HALF) % _WORDS - _HALF


def hash_id(id: str) -> int:  # noqa: A002, the word users know
    """Name a decision's id by 64 bits; a plain number, as rounds are named, is itself.

    So whole runs in compiled code, which count their rounds, draw what ``decide`` draws under
    the ids "0", "1" and so on.

    >>> hash_id("17"), len({hash_id("17"), hash_id("017"), hash_id("a")})
    (17, 3)
    """
    if id.isdecimal() and len(id) < _DIGITS and str(number := int(id)) == id:
        return number
    try:
        spelled = id.encode()
    except UnicodeEncodeError:  # half of a pair of code units, which JSON can carry
        spelled = id.encode("utf-8", "surrogatepass")
    return _READ_NUMBER(blake2b(spelled, digest_size=8).digest())[0]


def hash_many_ids(ids: Sequence[str]) -> Places:
    """Name the ids of several decisions as ``hash_id`` does, quicker where none is a number.

    >>> hash_many_ids(["a", "b"]).tolist() == [hash_id("a"), hash_id("b")]
    True
    """
    try:
        if not any(map(str.isdecimal, ids)):
            digests = [blake2b(id.encode(), digest_size=8).digest() for id in ids]  # noqa: A001
            return np.frombuffer(b"".join(digests), "<i8").astype(np.int64)
    except UnicodeEncodeError:
        pass
    return np.fromiter(map(hash_id, ids), np.int64, len(ids))


@compile_kernel
def mix_bits(stream: np.uint64) -> np.uint64:
    """Scramble a 64-bit number so that each bit of it moves all bits that come out.

    One to one.
    """
    stream = (stream ^ (stream >> _30)) * _FIRST
    stream = (stream ^ (stream >> _27)) * _SECOND
    return stream ^ (stream >> _31)


@compile_kernel
def open_stream(seed: int | np.uint64, id_hash: int) -> np.uint64:
    """Start the random numbers of a decision from the policy's seed and the id's hash.

    Gives the state of the stream; the same two meet the same luck.
    """
    return mix_bits((mix_bits(np.uint64(seed) + _STEP) ^ np.uint64(id_hash)) + _STEP)


@compile_kernel
def branch_stream(stream: np.uint64, place: int) -> np.uint64:
    """Derive another stream of random numbers for one arm, or for one further draw."""
    return mix_bits((stream ^ np.uint64(place)) + _STEP)


@compile_kernel
def draw_uniform(stream: np.uint64) -> tuple[float, np.uint64]:
    """Draw a number strictly between 0 and 1 from a stream; give it and the next state."""
    stream = stream + _STEP
    return (np.float64(mix_bits(stream) >> _12) + 0.5) * 2.0**-52, stream


@compile_kernel
def draw_explored(seed: int | np.uint64, id_hash: int, explore: float, n: int) -> int:
    """Draw whether a decision explores, and which of ``n`` arms it then plays; -1 if not."""
    uniform, _ = draw_uniform(branch_stream(open_stream(seed, id_hash), -1))
    return min(int(uniform / explore * n), n - 1) if uniform < explore else -1


@compile_kernel
def draw_many_explored(seed: int, id_hashes: Places, explore: float, n: int) -> Places:
    """Draw for several decisions whether each explores, and which of ``n`` arms; -1 if not."""
    found = np.empty(id_hashes.size, np.int64)
    for i in range(id_hashes.size):
        found[i] = draw_explored(seed, id_hashes[i], explore, n)
    return found
