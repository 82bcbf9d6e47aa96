"""Blanks in the words of a page, for what differs from row to row.

A page of very many rows writes the words of an explanation once, with a blank wherever a number
or a level stands, and beside them what each row has in it. A blank is one letter that Unicode
leaves to private use, so that words around it are laid out as around the real thing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

FIRST, FILLER = 0xF0000, chr(0xFFFFD)
"""The first blank, and what makes a blank as long as what it stands for."""


@final
@dataclass(frozen=True)
class Blanks:
    """The blanks of a page: each a name and how its numbers are written.

    >>> blanks = Blanks()
    >>> words = f"from {blanks.leave_number(0.25, 'lower'):.3f} on, {blanks.leave('arm')}"
    >>> blanks.places
    mappingproxy({('lower', '.3f'): 0, ('arm', ''): 1})
    >>> words == f"from {chr(FIRST)} on, {chr(FIRST + 1)}"
    True
    """

    _places: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def places(self) -> Mapping[tuple[str, str], int]:
        """The blanks left so far: name and format, and the number of each.

        Read by ``_make_columns``, which makes a column of texts for each.
        """
        return MappingProxyType(self._places)

    def leave(self, name: str, spec: str = "", *, length: int = 1) -> str:
        """Leave a blank for what is called ``name``, as wide as ``length`` letters.

        Called by ``_blank_row`` for words, and by numbers that are written.
        """
        place = self._places.setdefault((name, spec), len(self._places))
        return chr(FIRST + place) + FILLER * (length - 1)

    def leave_number(self, value: float, name: str) -> "BlankNumber":
        """Make a number that calculates as ``value`` does and is written as a blank.

        Called by ``_blank_explanation`` and ``_blank_row``.
        """
        return BlankNumber(value, name, self)


class BlankNumber(float):
    """A number of one row that stands for those of all rows like it: written, it is a blank."""

    def __new__(cls, value: float, name: str, blanks: Blanks) -> "BlankNumber":
        """Make a float that knows its name and the blanks of its page."""
        found = super().__new__(cls, value)
        found.name, found.blanks = name, blanks
        return found

    name: str
    blanks: Blanks

    def __format__(self, spec: str) -> str:
        return self.blanks.leave(self.name, spec)

    def __str__(self) -> str:
        return self.blanks.leave(self.name)


@final
@dataclass(frozen=True)
class BlankLevel:
    """A level of a variable that stands for all its levels: shown, it is a blank."""

    mark: str

    def __repr__(self) -> str:
        return self.mark
