"""Which decisions were learned from, so that a repeated reward counts once.

A service learns for years, and every id it kept would stay for ever. So a policy counts all
rewards, and remembers the ids that were learned last: a window. A repeat that comes later than
that counts once more. Whoever cannot have that, or learns in several processes, gives a store
of their own, which says of every id whether it is new.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import chain
from typing import Protocol, Self, final, runtime_checkable

from boundit.bandit.errors import BadOption, CannotMerge, DamagedState
from boundit.bandit.serialization import Record

REMEMBERED = 100_000
"""How many ids a policy remembers, unless told."""
_EXPECTED = "how many ids to remember, 0 or more, or a store with add(id) and discard(id)"
_TWICE = "since= tells what they shared when they parted"
_UNSHARED = "since= has learned what one of the two has not"


@runtime_checkable
class IdStore(Protocol):
    """Where a caller keeps the ids of the decisions that were learned from.

    One store may serve several policies and processes; then ``add`` must answer one of them
    alone with True.
    """

    def add(self, id: str, /) -> bool:  # noqa: A002, the word users know
        """Note an id; True if it is new, False if it was noted before."""
        ...

    def discard(self, id: str, /) -> None:  # noqa: A002, the word users know
        """Take an id out again, since its reward was refused and nothing was learned."""
        ...


@final
class LearnedIds:
    """How many rewards were learned, and the ids of the last ones, or the store that has them.

    >>> ids = LearnedIds(2)
    >>> for name in "abc":
    ...     ids.keep(name)
    >>> ids.n, list(ids), ids.claim("c"), ids.claim("a")
    (3, ['b', 'c'], False, True)
    """

    def __init__(self, remember: "int | IdStore" = REMEMBERED) -> None:
        self.size, self.store = _read_memory(remember)
        self.n = 0
        self.order: deque[str] = deque()
        self.known: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter(self.order)

    def claim(self, id: str) -> bool:  # noqa: A002, the word users know
        """Tell whether a decision was not learned from as far as is known; a store notes it.

        Then either ``keep`` or ``release`` follows.
        """
        if self.store is None:
            return id not in self.known
        new: object = self.store.add(id)
        if not isinstance(new, bool):
            expected = "a store whose add says True for a new id and False for a known one"
            raise BadOption("remember", expected, new)
        return new

    def release(self, id: str, refused: BaseException) -> None:  # noqa: A002, users' word
        """Forget a claim, as the reward was refused.

        If the store fails at it, the refusal says so and stays what is raised.
        """
        if self.store is None:
            return
        try:
            self.store.discard(id)
        except Exception as error:  # noqa: BLE001, a store of the caller's may raise anything
            kept = f"the store of remember= may still hold {id!r}: its discard raised {error!r}"
            refused.add_note(kept)

    def keep(self, id: str) -> None:  # noqa: A002, the word users know
        """Count a reward that was learned, and remember its id in place of the oldest one."""
        self.n += 1
        if size := self.size:
            order, known = self.order, self.known
            if len(order) == size:
                known.discard(order.popleft())
            order.append(id)
            known.add(id)

    def claim_many(self, ids: Sequence[str]) -> list[bool]:
        """Tell of each decision whether it is new, as ``claim`` and ``keep`` in turn would.

        Then either ``keep_many`` or ``release_many`` follows, with those that are new.
        """
        if self.store is None:
            distinct = len(set(ids)) == len(ids) and self.known.isdisjoint(ids)
            return [True] * len(ids) if distinct else self._find_new(ids)
        found = list[bool]()
        try:
            for name in ids:
                found.append(self.claim(name))
        except BaseException as error:
            claimed = [name for name, new in zip(ids, found, strict=False) if new]
            self.release_many(claimed, error)
            raise
        return found

    def _find_new(self, ids: Sequence[str]) -> list[bool]:
        """Find which ids would be new if each were learned in turn: the window moves on."""
        kept, found = list[str](), list[bool]()
        added, gone, oldest = set[str](), set[str](), chain(self.order, kept)
        for name in ids:
            new = name not in added and (name not in self.known or name in gone)
            found.append(new)
            if not (new and self.size):
                continue
            if len(self.order) + len(kept) >= self.size:
                first = next(oldest)
                if first in added:
                    added.remove(first)
                else:
                    gone.add(first)
            kept.append(name)
            added.add(name)
        return found

    def release_many(self, ids: Sequence[str], refused: BaseException) -> None:
        """Forget several claims, as some reward was refused."""
        for name in ids:
            self.release(name, refused)

    def keep_many(self, ids: Sequence[str]) -> None:
        """Count rewards that were learned, and remember their ids in place of the oldest."""
        if self.size and len(self.order) + len(ids) <= self.size:
            self.n += len(ids)
            self.order.extend(ids)
            self.known.update(ids)
            return
        for name in ids:
            self.keep(name)

    def fresh(self) -> "LearnedIds":
        """Make a memory of the same size that has learned nothing.

        A store is left out: it knows ids, and what is new learned none.
        """
        return LearnedIds(REMEMBERED if self.store is not None else self.size)

    def join(self, other: "LearnedIds", shared: "LearnedIds") -> "LearnedIds":
        """Put together what two policies learned, or refuse what may have been learned twice.

        ``shared`` is what both had learned when they parted. The ids that each learned since
        take turns, as if both had learned evenly.
        """
        result = LearnedIds(self.size if self.store is None else self.store)
        result.n = self.n + other.n - shared.n
        if self.store is not None or other.store is not None:
            _require_one_store(self, other, shared)
            return result
        mine, theirs = self.list_since(shared), other.list_since(shared)
        if twice := sorted(set(mine).intersection(theirs)):
            raise CannotMerge(f"both have learned decision {twice[0]!r}; {_TWICE}")
        result._put_in((*shared, *_interleave(mine, theirs)))
        return result

    def list_since(self, shared: "LearnedIds") -> list[str]:
        """List the ids learned since this policy was ``shared``, or refuse if some are gone.

        Where nothing was forgotten, what was shared must be known here. Else it must come right
        before what is new: one id that both remember shows it.
        """
        mine, theirs, n_new = list(self), list(shared), self.n - shared.n
        if len(mine) == self.n and len(theirs) == shared.n:
            if not shared.known <= self.known:
                raise CannotMerge(_UNSHARED)
            return [name for name in mine if name not in shared.known]
        if n_new < 0:
            raise CannotMerge(_UNSHARED)
        parting = len(mine) - n_new
        both = min(parting, len(theirs))
        if parting < 0 or (shared.n and not both):
            raise CannotMerge(
                f"{n_new:,} rewards came since they parted, and {len(mine):,} ids are "
                "remembered; merge sooner, or remember= more"
            )
        if mine[parting - both : parting] != theirs[len(theirs) - both :]:
            raise CannotMerge(_UNSHARED)
        return mine[parting:]

    def _put_in(self, ids: Sequence[str]) -> None:
        """Remember the last ones of some ids, each once."""
        last = list(dict.fromkeys(reversed(ids)))[: self.size]
        self.order, self.known = deque(reversed(last)), set(last)

    def to_record(self) -> Record:
        """Write size, count and the ids remembered for JSON; of a store, that there was one."""
        remember = None if self.store is not None else self.size
        return {"remember": remember, "n_learned": self.n, "learned_ids": list(self.order)}

    @classmethod
    def restore(cls, record: Record, store: IdStore | None, policy: str) -> Self:
        """Read what ``to_record`` wrote, or raise; a caller's store must be given again.

        A store that takes over from a window is told the ids that are remembered. ``policy`` is
        for the error's sake.
        """
        size, n, ids = (record[name] for name in ("remember", "n_learned", "learned_ids"))
        if not isinstance(n, int) or not isinstance(ids, list) or not 0 <= len(ids) <= n:
            raise ValueError("the count of rewards does not fit the ids remembered")
        if size is None and store is None:
            reason = "its ids are in a store of yours: give that again, remember="
            raise DamagedState(policy, reason)
        made = cls(size if store is None else store)
        made.n = n
        if made.store is None:
            made._put_in([str(name) for name in ids])
        else:
            for name in ids:
                made.store.add(str(name))
        return made

    def __deepcopy__(self, memo: dict[int, object]) -> "LearnedIds":
        # A store stays the caller's one and only.
        made = LearnedIds(self.size if self.store is None else self.store)
        made.n, made.order, made.known = self.n, self.order.copy(), self.known.copy()
        return made


def _read_memory(remember: object) -> tuple[int, IdStore | None]:
    """Read the option ``remember``: the size of a window, or a store of the caller's."""
    if isinstance(remember, int) and not isinstance(remember, bool) and remember >= 0:
        return remember, None
    if isinstance(remember, IdStore) and not isinstance(remember, type):
        return 0, remember
    raise BadOption("remember", _EXPECTED, remember)


def _require_one_store(one: LearnedIds, other: LearnedIds, shared: LearnedIds) -> None:
    """Refuse to merge policies unless one store told both of them which decisions were new."""
    told = one.store is other.store and (not shared.n or shared.store is one.store)
    if not told:
        raise CannotMerge("their ids are not in one store, which alone knows what came twice")
    if shared.n > min(one.n, other.n):
        raise CannotMerge(_UNSHARED)


def _interleave(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Let two lists take turns evenly, so that the last ones of both come last.

    >>> _interleave("abcd", "yz")
    ['a', 'b', 'y', 'c', 'd', 'z']
    """
    parts = [[((i + 1) / len(ids), name) for i, name in enumerate(ids)] for ids in (one, other)]
    return [name for _, name in merge(*parts, key=lambda part: part[0])]
