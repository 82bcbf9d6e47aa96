"""The kinds of policies in use are compiled before a request comes, and no other request waits.

Never within a transaction: others wait for its locks, and a database ends one that is idle.
"""

import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import Future

from numba.core.event import Listener, install_listener

from boundit.bandit.warm_up import warm_up
from boundit.service.errors import Compiling, ServiceError
from boundit.service.store.base import Store

_log = logging.getLogger(__name__)
_PROGRAM = """
import os, sys
from boundit.bandit.warm_up import warm_up
os.nice(10)
warm_up(kinds=sys.argv[1:])
"""
EVERY = 1.0
"""After how many seconds it is looked whether there is a policy of another kind."""


_begun: dict[str, "Future[None]"] = {}
"""The kinds that this process compiles or has compiled: kernels belong to the process."""
_beginning, _compiling = threading.Lock(), threading.Lock()


def require_compiled(kind: str) -> None:
    """Raise ``Compiling`` for a kind that is not compiled, and begin with it."""
    if not compile_kind(kind).done():
        raise Compiling(kind)


def compile_kind(kind: str) -> "Future[None]":
    """Compile a kind, or load it, in a thread of its own; gives what is done when it is.

    Once in a process.
    """
    with _beginning:
        found = _begun.get(kind)
        if found is None:
            found = _begun[kind] = Future()
            work = threading.Thread(
                target=_compile,
                args=(kind, found),
                name=f"boundit compiles {kind}",
                daemon=True,
            )
            work.start()
    return found


def _compile(kind: str, done: "Future[None]") -> None:
    """Compile a kind, one after the other; the thread of ``compile_kind`` runs it.

    What is kept on disk is loaded in a moment. The rest is compiled by a process of its own,
    which keeps it, as the compiler would hold the lock that all threads of this one need.
    """
    with _compiling:
        try:
            try:
                with install_listener("numba:compile", _Forbid()):
                    warm_up(kinds=[kind])
            except _NotKept:
                _compile_apart(kind)
                warm_up(kinds=[kind])
        except Exception:  # noqa: BLE001, it fails again, with its reason, where a kernel is called
            _log.exception("policies of kind %s are not compiled", kind)
    done.set_result(None)


class _NotKept(Exception):
    """A kernel that is not on disk and has to be compiled."""


class _Forbid(Listener):
    """Ends what this thread would compile before it begins."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def on_start(self, _: object) -> None:
        """Raise ``_NotKept``; numba calls it where nothing is on disk."""
        if threading.get_ident() == self._thread:
            raise _NotKept

    def on_end(self, _: object) -> None:
        """Do nothing; numba calls it."""


def _compile_apart(kind: str) -> None:
    """Compile a kind in another process, so that it is on disk.

    Where that fails this process compiles.
    """
    if sys.executable:
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, kind],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )


class KindCompiler:
    """Compiles the kinds of a store's policies, also of those that others create later.

    Compiling all there are takes minutes, and most services have one or two.
    """

    def __init__(self, store: Store, every: float = EVERY) -> None:
        self._store, self._every = store, every
        self._end, self._looked = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="boundit kinds", daemon=True)

    def find_new(self) -> list[str]:
        """Find the kinds in use that are not compiled yet, by name."""
        with self._store.read() as transaction:
            used = {head.kind for head in transaction.list_heads()}
        return sorted(used - {kind for kind, found in _begun.items() if found.done()})

    def start(self, patience: float = 0.0) -> None:
        """Go on in a thread of its own.

        For so many seconds it is waited for what is in use: most of it is on disk.
        """
        self._thread.start()
        self._looked.wait(patience)

    def stop(self) -> None:
        """Look no more."""
        self._end.set()

    def _work(self) -> None:
        """Compile what becomes needed until the end."""
        while not self._end.is_set():
            try:
                for kind in self.find_new():
                    _log.info("compiling %s, or loading it", kind)
                    compile_kind(kind).result()
                self._looked.set()
            except ServiceError as error:
                _log.info("kinds are not looked after: %s", error)
            except Exception:  # noqa: BLE001, the first to need it compiles it then
                _log.exception("kinds are not looked after")
                return
            self._end.wait(self._every)
