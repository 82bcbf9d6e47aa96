"""The kinds of policies in use are compiled before a visitor has to wait for them."""

import logging
import threading

import msgspec
from msgspec import Struct

from boundit.bandit.warm_up import warm_up
from boundit.service.errors import ServiceError
from boundit.service.store.store import Store

_log = logging.getLogger(__name__)
EVERY = 1.0
"""After how many seconds it is looked whether there is a policy of another kind."""


class _Made(Struct):
    """Of a policy's configuration: its kind."""

    kind: str = "Fused"


_read_made = msgspec.json.Decoder(_Made).decode


class KindCompiler:
    """Compiles the kinds of a store's policies, also of those that others create later.

    Compiling all there are takes minutes, and most services have one or two.
    """

    def __init__(self, store: Store, every: float = EVERY) -> None:
        self._store, self._every = store, every
        self._seen: dict[int, str] = {}
        self._compiled: set[str] = set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="boundit kinds", daemon=True)

    def find_new(self) -> list[str]:
        """Find the kinds in use that are not compiled yet, by name.

        Called by ``serve`` of the command line before it listens, and by ``_work``.
        """
        with self._store.read() as transaction:
            for head in transaction.list_heads():
                if head.id not in self._seen:
                    self._seen[head.id] = _read_made(transaction.get_config(head.id)).kind
        return sorted(set(self._seen.values()) - self._compiled)

    def compile(self, kinds: list[str]) -> None:
        """Compile some kinds, or load them; called by whoever asked ``find_new``."""
        warm_up(kinds=kinds)
        self._compiled.update(kinds)

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
                if kinds := self.find_new():
                    self.compile(kinds)
            except ServiceError as error:
                _log.info("kinds are not looked after: %s", error)
            except Exception:  # noqa: BLE001, whoever needs it compiles it then
                _log.exception("a kind of policy is not compiled")
                return
