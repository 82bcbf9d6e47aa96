"""The kinds of policies in use are compiled before a visitor has to wait for them.

And never within a transaction: others wait for its locks, and a database ends one that is idle.
"""

import logging
import threading
from collections.abc import Collection

import msgspec
from msgspec import Struct

from boundit.bandit.warm_up import warm_up
from boundit.service.errors import ServiceError
from boundit.service.store.store import Head, Store, Transaction

_log = logging.getLogger(__name__)
EVERY = 1.0
"""After how many seconds it is looked whether there is a policy of another kind."""


class _Made(Struct):
    """Of a policy's configuration: its kind."""

    kind: str = "Fused"


_read_made = msgspec.json.Decoder(_Made).decode
_compiled: set[str] = set()
"""The kinds that this process has compiled: kernels belong to the process."""
_compiling = threading.Lock()


class NotCompiled(Exception):
    """A kind of policy has to be compiled before a transaction can go on with it."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def require_compiled(kind: str) -> None:
    """Raise ``NotCompiled`` for a kind that is not; called by ``GroupWriter._open``."""
    if kind not in _compiled:
        raise NotCompiled(kind)


def compile_kinds(kinds: Collection[str]) -> None:
    """Compile some kinds, or load them, each once; others who ask meanwhile wait.

    Called by ``GroupWriter.process`` between transactions, and by ``KindCompiler``.
    """
    with _compiling:
        if new := sorted(set(kinds) - _compiled):
            try:
                warm_up(kinds=new)
            finally:  # what failed here fails again, and is told, where a kernel is called
                _compiled.update(new)


def read_kind(transaction: Transaction, head: Head) -> str:
    """Read the kind of a policy; called by ``GroupWriter._open`` and ``KindCompiler``."""
    return _read_made(transaction.get_config(head.id)).kind


class KindCompiler:
    """Compiles the kinds of a store's policies, also of those that others create later.

    Compiling all there are takes minutes, and most services have one or two.
    """

    def __init__(self, store: Store, every: float = EVERY) -> None:
        self._store, self._every = store, every
        self._seen: dict[int, str] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="boundit kinds", daemon=True)

    def find_new(self) -> list[str]:
        """Find the kinds in use that are not compiled yet, by name.

        Called by ``serve`` of the command line before it listens, and by ``_work``.
        """
        with self._store.read() as transaction:
            for head in transaction.list_heads():
                if head.id not in self._seen:
                    self._seen[head.id] = read_kind(transaction, head)
        return sorted(set(self._seen.values()) - _compiled)

    def start(self) -> None:
        """Go on in a thread of its own; called by ``serve`` of the command line."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; called by ``serve`` of the command line when it ends."""
        self._end.set()

    def _work(self) -> None:
        """Compile what becomes needed until the end; the thread runs it."""
        while not self._end.wait(self._every):
            try:
                compile_kinds(self.find_new())
            except ServiceError as error:
                _log.info("kinds are not looked after: %s", error)
            except Exception:  # noqa: BLE001, whoever needs it compiles it then
                _log.exception("a kind of policy is not compiled")
                return
