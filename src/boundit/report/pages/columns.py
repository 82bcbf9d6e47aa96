"""Texts of very many rows, kept as those that differ and which of them each row has."""

import sys
from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

PackedCodes = NDArray[np.unsignedinteger]
Holder = Literal["row", "arm", "context"]
"""What a text belongs to."""
T = TypeVar("T", bound=Hashable)
_WIDTHS = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, eq=False, slots=True)
class TextColumn:
    """A text for each row, arm or context: the texts that differ, and the number of each."""

    by: Holder
    texts: tuple[str, ...]
    codes: PackedCodes

    @classmethod
    def of(cls, by: Holder, found: Iterable[str]) -> "TextColumn":
        """Make a column of the texts of all holders, in their order.

        Called by ``_make_columns``.

        >>> column = TextColumn.of("arm", ["a", "b", "a"])
        >>> column.texts, column.codes.tolist()
        (('a', 'b'), [0, 1, 0])
        """
        texts, codes = number_values(found)
        return cls(by, tuple(texts), pack_codes(codes))

    @classmethod
    def spell(cls, numbers: NDArray[np.float64], spec: str) -> "TextColumn":
        """Make a column of the numbers of all rows, written in a format such as ``.4g``.

        Called by ``_make_columns``.

        >>> TextColumn.spell(np.array([0.3, 0.1, 0.3001]), ".2f").texts
        ('0.10', '0.30')
        """
        distinct, places = np.unique(numbers, return_inverse=True)
        texts, starts = _write_runs(distinct.tolist(), spec)
        lengths = np.diff([*starts, len(distinct)])
        codes = np.repeat(np.arange(len(texts)), lengths)
        return cls("row", tuple(texts), pack_codes(codes[places]))

    def write_record(self) -> dict[str, object]:
        """Write the column as an object for JSON; called by ``KeptRows.write_json``."""
        return {"by": self.by, "texts": self.texts, "codes": write_codes(self.codes)}


def _write_runs(numbers: Sequence[float], spec: str) -> tuple[list[str], list[int]]:
    """Write growing numbers in a format, those that are written alike once.

    Rounding keeps their order, so that they come in runs, whose ends are sought by halving.
    Gives the texts and where the run of each starts. Called by ``TextColumn.spell``.

    >>> _write_runs([0.1, 0.11, 0.12, 0.2], ".1f")
    (['0.1', '0.2'], [0, 3])
    """
    write, n = f"{{:{spec}}}".format, len(numbers)
    texts, starts = list[str](), list[int]()
    start = 0
    while start < n:
        text = write(numbers[start])
        texts.append(text)
        starts.append(start)
        last, step = start, 1
        while last + step < n and write(numbers[last + step]) == text:
            last, step = last + step, 2 * step
        start = min(last + step, n)
        while start - last > 1:
            middle = (last + start) // 2
            if write(numbers[middle]) == text:
                last = middle
            else:
                start = middle
    return texts, starts


def number_values(found: Iterable[T]) -> tuple[list[T], NDArray[np.intp]]:
    """Number values by those that differ, in the order in which they first come.

    Called by ``TextColumn.of`` and ``RowValues.group_alike``.

    >>> number_values("aba")
    (['a', 'b'], array([0, 1, 0]))
    """
    places = dict[T, int]()
    codes = [places.setdefault(one, len(places)) for one in found]
    return list(places), np.array(codes, dtype=np.intp)


def pack_codes(codes: NDArray[np.integer]) -> PackedCodes:
    """Keep numbers from 0 on in as few bytes each as the greatest of them needs.

    Called by ``TextColumn.of`` and ``KeptRows.write_json``.

    >>> pack_codes(np.array([0, 300])).dtype
    dtype('uint16')
    """
    most = int(codes.max(initial=0))
    kind = next(kind for kind in _WIDTHS if most <= np.iinfo(kind).max)
    return codes.astype(kind)


def write_codes(codes: PackedCodes) -> dict[str, object]:
    """Write packed numbers as text: base64 of their bytes, and how many bytes each has.

    Called by ``TextColumn.write_record`` and ``KeptRows.write_json``.

    >>> write_codes(pack_codes(np.array([1, 2])))
    {'bytes': 1, 'base64': 'AQI='}
    """
    plain = codes if sys.byteorder == "little" else codes.byteswap()
    return {"bytes": codes.itemsize, "base64": b64encode(plain.tobytes()).decode()}
