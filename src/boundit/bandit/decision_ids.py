"""Fresh names for decisions: cheap, and never given twice."""

import os
from itertools import count
from typing import final
from uuid import uuid4


@final
class DecisionIds:
    """A random prefix and a number that grows.

    Whoever could count on from the same number has another prefix: a copy, what is restored,
    and a process that was forked off.

    >>> ids = DecisionIds()
    >>> ids.make() == ids.make()
    False
    """

    _here = object()
    """Stands for this process; asking the system takes longer than giving a name."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        """Take a new random prefix and count from 0.

        Called by ``DecisionIds.__init__``, and by ``DecisionIds.make`` first in a forked
        process.
        """
        self._home, self._prefix, self._next = DecisionIds._here, uuid4().hex, count()

    def make(self) -> str:
        """Make an id that no other decision has.

        Called by ``BasePolicy.decide`` for every visitor whose decision is given no ``id``.
        """
        if self._home is not DecisionIds._here:
            self._restart()
        return f"{self._prefix}{next(self._next)}"

    @classmethod
    def _mark_fork(cls) -> None:
        """Note that this process was forked off, so that all ids get new prefixes.

        The operating system's fork hook calls it.
        """
        cls._here = object()

    def __reduce__(self) -> tuple[type["DecisionIds"], tuple[()]]:
        return DecisionIds, ()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DecisionIds._mark_fork)  # noqa: SLF001, it is its own
