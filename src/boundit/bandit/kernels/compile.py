"""What turns a plain loop into machine code.

Sums keep the order they are written in (no fast mathematics), so that a kernel gives the same
bits inlined in a whole run or called for one decision, on any machine. Compiled code is kept
beside its source, or in ``NUMBA_CACHE_DIR``, or in the user's own cache; where none of these
may be written to, each process compiles for itself. Numba would take it for fresh as long as
that one file has the same date and size; but a kernel inlines others, and an installed file may
keep its date through an upgrade. So what is kept is stamped with all kernels of this room, and
with those beside it where a kernel lies elsewhere.
"""

from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from inspect import getfile
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
T = TypeVar("T")
_ROOM = Path(__file__).parents[1]
_MARKS = (b"bandit.kernels.compile", b"numba")
"""What a file with kernels in it imports."""


def compile_kernel(loop: Callable[P, T]) -> Callable[P, T]:
    """Decorate a loop to be compiled to machine code for the types it is first called with.

    Other threads go on while it runs. For whatever Python calls, such as ``decide_ucb``, and
    for what is too long to inline.
    """
    return _stamp(_compile(loop), Path(getfile(loop)).parent)


def inline_kernel(step: Callable[P, T]) -> Callable[P, T]:
    """Decorate a step to be compiled into each loop that calls it, not called.

    A call costs more than most steps do. For what is done for every arm, such as
    ``find_best_arm``.
    """
    return _stamp(_compile(step, forceinline=True), Path(getfile(step)).parent)


def _compile(function: Callable[P, T], *, forceinline: bool = False) -> object:
    """Make a function one that numba compiles when it is called, and keeps where it can."""
    make = partial(njit, nogil=True, error_model="numpy", forceinline=forceinline)
    try:
        return make(cache=True)(function)
    except RuntimeError:  # every folder to keep it in is read-only
        return make()(function)


def _stamp(made: object, folder: Path) -> Callable[P, T]:
    """Let numba reuse a compiled kernel only while the sources of all kernels are the same.

    Those of this room, and of the kernel's own ``folder``. Gives the kernel back.
    """
    kept = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if kept is not None:  # None where numba finds no folder to keep anything in
        stamp = hash_kernel_sources(_ROOM)
        if not folder.is_relative_to(_ROOM):
            stamp += hash_kernel_sources(folder)
        kept._source_stamp = stamp  # noqa: SLF001, numba has no door for it
    return cast("Callable[P, T]", made)


@cache
def hash_kernel_sources(folder: Path) -> str:
    """Hash the text of every file with kernels in it, in the folder and below it.

    Worked out once in a process.
    """
    found = sha256()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes()
        if any(mark in text for mark in _MARKS):
            name = path.relative_to(folder).as_posix()
            found.update(name.encode() + b"\0" + text)
    return found.hexdigest()
