"""Fresh names for decisions: cheap, and never given twice."""

from itertools import count
from os import getpid
from typing import final
from uuid import uuid4


@final
class Ids:
    """A random prefix and a number that grows.

    Whoever could count on from the same number has another prefix: a copy, what is restored,
    and a process that was forked off.

    >>> ids = Ids()
    >>> ids.fresh() == ids.fresh()
    False
    """

    def __init__(self) -> None:
        self._process, self._prefix, self._next = getpid(), uuid4().hex, count()

    def fresh(self) -> str:
        """A name that nobody else gives."""
        if getpid() != self._process:
            self._process, self._prefix, self._next = getpid(), uuid4().hex, count()
        return f"{self._prefix}{next(self._next):x}"

    def __reduce__(self) -> tuple[type["Ids"], tuple[()]]:
        return Ids, ()
