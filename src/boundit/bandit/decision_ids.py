"""The names of decisions, and what their draws hang on: a seed, and a count under it."""

import os
from collections.abc import Sequence
from copy import copy
from hashlib import blake2b
from secrets import randbits
from typing import final
from uuid import uuid4

from boundit.bandit.kernels.rng import StreamKey, StreamKeys, hash_id, hash_many_ids, wrap_seed
from boundit.bandit.serialization import Record


@final
class DecisionIds:
    """A prefix and a number that grows; and a 64-bit key, from which each id opens its stream.

    With a seed, prefix and key are the seed's: the same calls give the same ids and draws. With
    none they are random, taken when first needed, and whoever could count on from the same
    number, a copy or a process that was forked off, takes another prefix; what is restored from
    a state counts on.

    >>> DecisionIds(7).make() == DecisionIds(7).make()
    True
    >>> DecisionIds(None).make() == DecisionIds(None).make()
    False
    """

    _here = object()
    """Stands for this process; asking the system takes longer than giving a name."""

    def __init__(self, seed: int | None) -> None:
        self.prefix: str | None = None
        self._key: int | None = None
        self._home: object = None
        self.count, self._seeded = 0, seed is not None
        if seed is not None:
            spelled = f"seed {seed}".encode()
            self._key = wrap_seed(seed)
            self.prefix = f"{blake2b(spelled, digest_size=8).hexdigest()}-"

    def make(self) -> str:
        """Make the id of a decision that was given none, and count it."""
        if self._home is not DecisionIds._here:
            self._settle()
        number = self.count
        self.count = number + 1
        return f"{self.prefix}{number}"

    def make_many(self, n: int) -> list[str]:
        """Make the ids of ``n`` decisions that were given none, and count them."""
        if self._home is not DecisionIds._here:
            self._settle()
        first, prefix = self.count, self.prefix
        self.count += n
        return [f"{prefix}{number}" for number in range(first, first + n)]

    def _settle(self) -> None:
        """Take a prefix of this object and process, unless it is the seed's or restored."""
        if not self._seeded and self._home is not DecisionIds._here:
            self.prefix, self.count = f"{uuid4().hex}-", 0
        self._home = DecisionIds._here

    def key_stream(self, id: str) -> StreamKey:  # noqa: A002, the word users know
        """Give what the draws of a decision hang on: the key, and the hash of its id."""
        if self._key is None:
            self._key = wrap_seed(randbits(64))
        return self._key, hash_id(id)

    def key_streams(self, ids: Sequence[str]) -> StreamKeys:
        """Give what the draws of several decisions hang on: the key, and the hash of each id."""
        if self._key is None:
            self._key = wrap_seed(randbits(64))
        return StreamKeys(self._key, hash_many_ids(ids))

    def join(self, other: "DecisionIds") -> "DecisionIds":
        """Make ids for a policy merged of two, which repeat none of either."""
        made = copy(self)
        if made.prefix == other.prefix:
            made.count = max(self.count, other.count)
        return made

    def to_record(self) -> Record:
        """Write key, prefix and count for JSON; called by ``BasePolicy.state``."""
        if self.prefix and self._home is not DecisionIds._here:
            self._settle()
        key = None if self._key is None else f"{self._key % (1 << 64):016x}"
        return {"key": key, "prefix": self.prefix, "count": self.count}

    def restore(self, record: Record) -> None:
        """Count on from what ``to_record`` wrote; called by ``BasePolicy.restore``."""
        key, prefix, count = record["key"], record["prefix"], record["count"]
        if not isinstance(prefix, str | None) or not isinstance(count, int):
            raise TypeError("the ids of decisions have no prefix or count")
        self._key = None if key is None else wrap_seed(int(key, 16))
        self.prefix, self.count = prefix, count
        self._home = DecisionIds._here if prefix else None

    @classmethod
    def _mark_fork(cls) -> None:
        """Note that this process was forked off, so that random ids get new prefixes.

        The operating system's fork hook calls it.
        """
        cls._here = object()

    def __getstate__(self) -> dict[str, object]:
        own = {} if self._seeded else {"prefix": None, "count": 0}
        return {**vars(self), **own, "_home": None}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DecisionIds._mark_fork)  # noqa: SLF001, it is its own
