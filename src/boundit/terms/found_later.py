"""A mapping that is found when somebody first reads it."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar, final

K = TypeVar("K")
V = TypeVar("V")


@final
class FoundLater(Mapping[K, V]):
    """A mapping that costs too much to be found for nobody: it is found once, when first read.

    A copy, or one that is sent to another process, is the dict that was found.

    >>> squares = FoundLater(lambda: {n: n * n for n in range(4)})
    >>> squares[3], squares == {0: 0, 1: 1, 2: 4, 3: 9}
    (9, True)
    """

    def __init__(self, find: Callable[[], Mapping[K, V]]) -> None:
        self._find: Callable[[], Mapping[K, V]] | None = find
        self._found: Mapping[K, V] = {}

    def __getitem__(self, key: K) -> V:
        return self._read()[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __reduce__(self) -> tuple[type[dict[K, V]], tuple[dict[K, V]]]:
        return dict, (dict(self),)

    def _read(self) -> Mapping[K, V]:
        """Find the mapping, if that was not done before, and forget what it was found from."""
        if self._find is not None:
            self._found = self._find()
            self._find = None
        return self._found
