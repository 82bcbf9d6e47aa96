"""Decisions by name: random numbers of a name, names, and which were learned from already.

Random numbers are a function of the policy's seed and the decision's id alone, by SplitMix64
(Steele, Lea and Flood 2014): two decisions draw independently even if nothing was learned in
between, and a retry under the same id draws the same. A repeated reward counts once.
"""

import os
from collections import deque
from collections.abc import Sequence
from hashlib import blake2b
from secrets import randbits
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.compiled import kernel, step
from boundit.bandit.errors import BadOption, CannotMerge

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
def pick_arm(probabilities: Floats, uniform: float) -> int:
    """Pick an arm's place by its probability, with one uniform number."""
    total = 0.0
    for k in range(probabilities.size):
        total += probabilities[k]
        if uniform < total:
            return k
    best = 0  # rounding left the sum below 1
    for k in range(1, probabilities.size):
        best = k if probabilities[k] > probabilities[best] else best
    return best


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


ID_WINDOW = 100_000


@runtime_checkable
class IdStore(Protocol):
    """A store of learned ids that the caller keeps, for policies that learn in several processes.

    It may be a table with a unique key, or a set of Redis.
    """

    def add(self, id: str, /) -> bool:  # noqa: A002, the word users know
        """Add an id, and tell whether it is new."""
        ...

    def discard(self, id: str, /) -> None:  # noqa: A002
        """Remove an id whose reward could not be learned."""
        ...


class DecisionIds:
    """A prefix, a count and a 64-bit key.

    With a seed all three follow from it. Without, a copy or a forked process takes another
    prefix, so that no id comes twice; what is restored from a state counts on.

    >>> DecisionIds(7).make() == DecisionIds(7).make()
    True
    >>> DecisionIds(None).make() == DecisionIds(None).make()
    False
    """

    process = object()
    """Stands for this process; asking the system takes longer than giving a name."""

    def __init__(self, seed: int | None) -> None:
        self.seeded, self.count, self.home = seed is not None, 0, self.process
        self.key = wrap_seed(randbits(64) if seed is None else seed)
        self.prefix = f"{uuid4().hex}-"
        if seed is not None:
            self.prefix = blake2b(f"seed {seed}".encode(), digest_size=8).hexdigest() + "-"

    def make(self) -> str:
        """Name the next decision."""
        if self.home is not DecisionIds.process:
            self._settle()
        number = self.count
        self.count = number + 1
        return f"{self.prefix}{number}"

    def make_many(self, n: int) -> list[str]:
        """Name the next ``n`` decisions."""
        if self.home is not DecisionIds.process:
            self._settle()
        first = self.count
        self.count += n
        return [f"{self.prefix}{number}" for number in range(first, first + n)]

    def _settle(self) -> None:
        """Take a prefix of this process, unless it follows from the seed."""
        if not self.seeded:
            self.prefix, self.count = f"{uuid4().hex}-", 0
        self.home = DecisionIds.process

    def count_past(self, other: "DecisionIds") -> None:
        """Repeat none of another's ids, after merging."""
        if self.prefix == other.prefix:
            self.count = max(self.count, other.count)

    def record(self) -> dict[str, Any]:
        """Write key, prefix and count as a JSON object."""
        if self.home is not DecisionIds.process:
            self._settle()
        return {
            "key": f"{self.key % (1 << 64):016x}",
            "prefix": self.prefix,
            "count": self.count,
        }

    def restore(self, record: dict[str, Any]) -> None:
        """Count on from what ``record`` wrote."""
        self.key = wrap_seed(int(record["key"], 16))
        self.prefix, self.count = str(record["prefix"]), int(record["count"])
        self.home = DecisionIds.process

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "home": None}  # a copy takes a prefix of its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(DecisionIds, "process", object()))


class LearnedIds:
    """How many rewards were learned, and the ids of the last ones: a window, or a store."""

    def __init__(self, window: int | IdStore = ID_WINDOW) -> None:
        self.n, self.order, self.known = 0, deque[str](), set[str]()
        self.store: IdStore | None = None
        self.size = 0
        if isinstance(window, int) and not isinstance(window, bool) and window >= 0:
            self.size = window
        elif isinstance(window, IdStore):
            self.store = window
        else:
            expected = "how many ids, 0 or more, or a store with add(id) and discard(id)"
            raise BadOption("id_window", expected, window)

    @property
    def window(self) -> int | IdStore:
        """The option that it was made with."""
        return self.size if self.store is None else self.store

    def claim(self, id: str) -> bool:  # noqa: A002
        """Tell whether this id is new; a store notes it. Either keep or release follows."""
        return id not in self.known if self.store is None else self.store.add(id)

    def release(self, id: str, error: BaseException) -> None:  # noqa: A002
        """Give back an id whose reward could not be learned because of an error."""
        if self.store is not None:
            try:
                self.store.discard(id)
            except Exception as failure:  # noqa: BLE001, the first error matters
                error.add_note(f"and the store kept decision {id!r}: {failure}")

    def keep(self, id: str) -> None:  # noqa: A002
        """Count a reward that was learned, and remember its id."""
        self.n += 1
        if self.size:
            if len(self.order) == self.size:
                self.known.discard(self.order.popleft())
            self.order.append(id)
            self.known.add(id)

    def merge(self, other: "LearnedIds", shared: "LearnedIds") -> "LearnedIds":
        """Put together what two policies learned since they were ``shared``.

        Refuses what may count twice.
        """
        if self.store is not other.store:
            raise CannotMerge("their ids are not in one store")
        made = LearnedIds(self.window)
        made.n = self.n + other.n - shared.n
        if self.store is not None:
            return made
        mine, theirs = self._list_since(shared), other._list_since(shared)
        if both := set(mine) & set(theirs):
            raise CannotMerge(
                f"both have learned decision {min(both)!r}; since= is the policy that both "
                "were copies of"
            )
        made.order.extend(dict.fromkeys((*shared.order, *mine, *theirs)))
        while len(made.order) > made.size:
            made.order.popleft()
        made.known = set(made.order)
        return made

    def _list_since(self, shared: "LearnedIds") -> list[str]:
        n = self.n - shared.n
        found = [name for name in self.order if name not in shared.known]
        if n < 0 or len(found) < n:
            raise CannotMerge(
                f"{n:,} rewards came since they parted, and {len(found):,} of their ids are "
                "remembered; a larger id_window remembers more"
            )
        return found

    def record(self) -> dict[str, Any]:
        """Write window, count and ids as JSON objects."""
        window = None if self.store is not None else self.size
        return {"id_window": window, "n_learned": self.n, "learned_ids": list(self.order)}

    @classmethod
    def restore(cls, record: dict[str, Any], store: IdStore | None) -> "LearnedIds":
        """Read what ``record`` wrote; a store is given again."""
        window = record["id_window"]
        if (window is None) != (store is not None):
            raise ValueError(
                "its ids are in a store; give it again, id_window="
                if window is None
                else "its ids are in the state; id_window= takes none"
            )
        made = cls(window if store is None else store)
        if not all(isinstance(name, str) for name in record["learned_ids"]):
            raise TypeError("ids are text")
        made.order.extend(record["learned_ids"])
        made.known, made.n = set(made.order), int(record["n_learned"])
        return made
