"""How much memory a call may take: as asked, or a quarter of what the machine lets us have."""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path, PurePosixPath
from typing import Final

from boundit.core.errors import OptionError, OutOfTime, shorten
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Option
from boundit.core.names import unwrap_scalar
from boundit.counts.errors import TooLarge

LEAST = 10**6
"""The least limit that is accepted."""
SHARE = 4
"""By default a call takes one part in so many of the machine's memory."""
_UNKNOWN = 2**32  # of a machine that does not tell, four gigabytes are taken for granted
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def read_memory_limit(limit: object) -> int:
    """Read the option ``memory_limit`` as bytes; None is a quarter of the machine's memory.

    A limit is a number of bytes or a text with a unit: GB is a thousand million bytes, GiB is
    2**30.

    >>> read_memory_limit("2 GB"), read_memory_limit("1.5 GiB"), read_memory_limit(2**30)
    (2000000000, 1610612736, 1073741824)
    """
    if limit is None:
        return max(LEAST, find_machine_memory() // SHARE)
    limit, size = unwrap_scalar(limit), 0.0
    if isinstance(limit, str) and (found := _SIZE.fullmatch(limit)):
        units = _BINARY_UNITS if found[3] else _UNITS
        size = float(found[1]) * units.get(found[2].lower(), 0)
    elif isinstance(limit, int | float) and not isinstance(limit, bool) and isfinite(limit):
        size = limit
    if not size >= LEAST:
        raise OptionError(
            Option("memory_limit"),
            " must be a number of bytes from 1 MB on, a text such as '2 GB', or None; found "
            f"{shorten(repr(limit), 40)}",
        )
    return int(size)


def write_size(size: int) -> str:
    """Write bytes as a text that ``read_memory_limit`` reads, of about the same size.

    >>> write_size(2 * 10**9), write_size(1_234_567), write_size(10**15)
    ('2GB', '1.2MB', '1000TB')
    """
    unit = max((u for u in _UNITS if size >= _UNITS[u]), key=_UNITS.__getitem__, default="")
    return f"{round(size / _UNITS[unit], 1):g}{unit.upper()}B"


def find_machine_memory(root: Path = Path("/")) -> int:
    """Find how many bytes this process may use: the machine's, or less if a cgroup says so.

    ``root`` is where /proc and /sys are. Both versions of control groups are read.
    """
    try:
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, OSError, ValueError):  # not on Windows
        limits = [_UNKNOWN]
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:
        # A line reads "number:controllers:path"; version 2 names no controllers.
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        inside = PurePosixPath(group.lstrip("/"))
        for part in (inside, *inside.parents):
            # "max", or a group seen from inside a container
            with suppress(OSError, ValueError):
                name = "memory.limit_in_bytes" if controllers else "memory.max"
                limits.append(int((base / part / name).read_text()))
    return min(limits)


COPIES: Final = 8
"""How many arrays of the largest size are there at once: both ends, products, what is kept."""
_BYTES: Final = 8  # of a float


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """How many bytes the arrays of an evaluation may take, and until when it may go on."""

    memory_limit: int
    budget: TimeBudget = FOR_EVER

    @classmethod
    def make_default(cls) -> "Workspace":
        """Make the workspace of somebody who set no limits: a quarter of the machine's memory."""
        return cls(read_memory_limit(None))

    @property
    def most_cells(self) -> int:
        """How many cells an array may have, so that all that is there at once fits."""
        return self.memory_limit // (_BYTES * COPIES)

    def require_cells(self, cells: int, names: Iterable[str]) -> None:
        """Refuse an array of so many cells over some variables, before it is made."""
        if cells > self.most_cells:
            raise TooLarge(names, cells, self.most_cells, option="memory_limit")

    def require_time(self) -> None:
        """Refuse to go on once the time is over."""
        if self.budget.is_over():
            raise OutOfTime
