"""Names of decisions, and which of them were learned from, so that a repeated reward counts once."""

import os
from collections import deque
from hashlib import blake2b
from secrets import randbits
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from boundit.bandit.draws import wrap
from boundit.bandit.errors import BadOption, CannotMerge

REMEMBERED = 100_000


@runtime_checkable
class IdStore(Protocol):
    """A store of learned ids that the caller keeps; it may serve several policies and processes."""

    def add(self, id: str, /) -> bool: ...

    def discard(self, id: str, /) -> None: ...


class DecisionIds:
    """A prefix, a count and a 64-bit key. With a seed all three follow from it; without, a copy or a forked process
    takes another prefix, so that no id comes twice."""

    process = object()

    def __init__(self, seed: int | None) -> None:
        self.seeded, self.count, self.home = seed is not None, 0, self.process
        self.key = wrap(randbits(64) if seed is None else seed)
        self.prefix = f"{uuid4().hex}-"
        if seed is not None:
            self.prefix = blake2b(f"seed {seed}".encode(), digest_size=8).hexdigest() + "-"

    def make(self) -> str:
        if self.home is not DecisionIds.process:
            self.settle()
        number = self.count
        self.count = number + 1
        return f"{self.prefix}{number}"

    def make_many(self, n: int) -> list[str]:
        return [self.make() for _ in range(n)]

    def settle(self) -> None:
        if not self.seeded:
            self.prefix, self.count = f"{uuid4().hex}-", 0
        self.home = DecisionIds.process

    def record(self) -> dict[str, Any]:
        return {"key": f"{self.key % (1 << 64):016x}", "prefix": self.prefix, "count": self.count}

    def restore(self, record: dict[str, Any]) -> None:
        if record["key"] is not None:
            self.key = wrap(int(record["key"], 16))
        self.prefix, self.count = record["prefix"] or self.prefix, int(record["count"])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "home": None}  # a copy takes a prefix of its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: setattr(DecisionIds, "process", object()))


class LearnedIds:
    """How many rewards were learned, and the ids of the last ones: a window, or the caller's store."""

    def __init__(self, remember: int | IdStore = REMEMBERED) -> None:
        whole = isinstance(remember, int) and not isinstance(remember, bool)
        if not (whole and remember >= 0) and not isinstance(remember, IdStore):  # type: ignore[operator]
            raise BadOption("remember", "how many ids, 0 or more, or a store with add(id) and discard(id)", remember)
        self.size, self.store = (int(remember), None) if whole else (0, remember)  # type: ignore[call-overload]
        self.n, self.order, self.known = 0, deque[str](), set[str]()

    def claim(self, id: str) -> bool:
        """Whether this id is new; a store notes it. Then either `keep` or `release` follows."""
        return id not in self.known if self.store is None else self.store.add(id)

    def release(self, id: str) -> None:
        if self.store is not None:
            self.store.discard(id)

    def keep(self, id: str) -> None:
        self.n += 1
        if self.size:
            if len(self.order) == self.size:
                self.known.discard(self.order.popleft())
            self.order.append(id)
            self.known.add(id)

    def merge(self, other: "LearnedIds", shared: "LearnedIds") -> "LearnedIds":
        """Put together what two policies learned since they were `shared`, or refuse what may count twice."""
        if self.store is not other.store:
            raise CannotMerge("their ids are not in one store")
        made = LearnedIds(self.size if self.store is None else self.store)
        made.n = self.n + other.n - shared.n
        if self.store is not None:
            return made
        mine, theirs = self._since(shared), other._since(shared)
        if both := set(mine) & set(theirs):
            raise CannotMerge(f"both have learned decision {min(both)!r}; since= says what they shared")
        for name in dict.fromkeys((*shared.order, *mine, *theirs)):
            made.order.append(name)
        while len(made.order) > made.size:
            made.order.popleft()
        made.known = set(made.order)
        return made

    def _since(self, shared: "LearnedIds") -> list[str]:
        n = self.n - shared.n
        found = [name for name in self.order if name not in shared.known]
        if n < 0 or len(found) < n:
            raise CannotMerge(f"{n:,} rewards came since they parted, and {len(found):,} of their ids are remembered")
        return found

    def record(self) -> dict[str, Any]:
        remember = None if self.store is not None else self.size
        return {"remember": remember, "n_learned": self.n, "learned_ids": list(self.order)}

    @classmethod
    def restore(cls, record: dict[str, Any], store: IdStore | None) -> "LearnedIds":
        made = cls(record["remember"] if store is None else store)
        for name in record["learned_ids"]:
            made.claim(name)
            made.keep(name)
        made.n = record["n_learned"]
        return made
