"""Messages that name options: of plain words and of options, each kept as what it is.

An error or a caveat of the library may tell its reader to set an option. Python writes it
``bins={'Age': [...]}``, a shell ``--bins Age=...``, and a service sends its name. So a message
keeps the option as a value among its words, and each interface spells it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, get_args


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Text that stands for a value, as ``low`` does in ``outcome_range=(low, high)``."""

    text: str

    def __repr__(self) -> str:
        return self.text


ANY = Placeholder("")
"""A value that is left to the reader: ``domain=``."""
SOME = Placeholder("...")
"""A value that is to be filled in: ``bins={'Age': [...]}``."""
UNSAID = Placeholder("UNSAID")
"""No value: the option is only named."""
Kind: TypeAlias = Literal["critical", "assumes", "skipped", "note"]
"""The answer may be wrong or empty; what it rests on; what a limit left out; anything else."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the library that a message names, and the value it is shown with.

    >>> print(Option("bins", {"Age": [SOME]}), Option("domain", ANY), Option("time_limit"))
    bins={'Age': [...]} domain= time_limit
    """

    name: str
    value: object = UNSAID

    def __str__(self) -> str:
        # Not by identity: a copy of an error has a copy of it.
        named = isinstance(self.value, Placeholder) and self.value == UNSAID
        return self.name if named else f"{self.name}={self.value!r}"


class Message:
    """Words and options, in the order in which they are read.

    >>> message = Message("declare them with ", Option("domain", ANY))
    >>> str(message), message.option
    ('declare them with domain=', 'domain')
    """

    __slots__ = ("parts",)

    def __init__(self, *parts: "str | Option | Message") -> None:
        self.parts: tuple[str | Option, ...] = tuple(
            piece
            for part in parts
            for piece in (part.parts if isinstance(part, Message) else (part,))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"Message({', '.join(map(repr, self.parts))})"

    def __str__(self) -> str:
        return self.render(str)

    @property
    def option(self) -> str | None:
        """The option of the library that the message names first; None where it names none."""
        return next((part.name for part in self.parts if isinstance(part, Option)), None)

    def render(self, spell: Callable[[Option], str]) -> str:
        """Write the message as text, each option in it as ``spell`` writes it."""
        return "".join(part if isinstance(part, str) else spell(part) for part in self.parts)


Note: TypeAlias = str | Message
"""What a caveat is made of: plain words, a message where they name an option, or a caveat."""


class Caveat(str):
    """A line that the reader of a result should know, ``kind: text``.

    Attributes
    ----------
    kind : {"critical", "assumes", "skipped", "note"}
        Critical ones say that the answer may be wrong or empty, and come first.
    code : str
        A stable name of what it is about.
    message : Message
        The text, with the options that it names as values.

    >>> caveat = Caveat("3 rules, because ", Option("time_limit"), " was reached", kind="skipped")
    >>> print(caveat)
    skipped: 3 rules, because time_limit was reached
    >>> caveat.kind, caveat.option, str(caveat.spell(lambda option: f"--{option.name}"))
    ('skipped', 'time_limit', 'skipped: 3 rules, because --time_limit was reached')
    """

    __slots__ = ("code", "kind", "message")
    kind: Kind
    code: str
    message: Message

    def __new__(
        cls, *parts: str | Option | Message, kind: Kind = "note", code: str = ""
    ) -> Self:
        """Make a caveat of words and options."""
        message = Message(*parts)
        made = super().__new__(cls, f"{kind}: {message}")
        made.kind, made.code, made.message = kind, code, message
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str | Option, ...], dict[str, str]]:
        return self.message.parts, {"kind": self.kind, "code": self.code}

    @classmethod
    def read(cls, note: Note) -> "Caveat":
        """Make a caveat of what a file holds, or of words without a kind."""
        if isinstance(note, Caveat):
            return note
        if isinstance(note, str):
            for kind in get_args(Kind):
                if note.startswith(f"{kind}: "):
                    return cls(note.removeprefix(f"{kind}: "), kind=kind)
        return cls(note)

    @property
    def option(self) -> str | None:
        """The option of the library that it names first; None where it names none."""
        return self.message.option

    @property
    def text(self) -> str:
        """The words without the kind."""
        return str(self.message)

    def spell(self, spell: Callable[[Option], str]) -> "Caveat":
        """Write options in another way, as a shell's flags."""
        return Caveat(self.message.render(spell), kind=self.kind, code=self.code)

    def drop_counts(self) -> "Caveat":
        """Drop the counts of rows, clusters and cells."""
        return Caveat(drop_numbers(self.message), kind=self.kind, code=self.code)


def sort_caveats(notes: Iterable[Note]) -> tuple[Caveat, ...]:
    """List caveats once each: critical ones first, the others in their order."""
    once = dict.fromkeys(map(Caveat.read, notes))
    return tuple(sorted(once, key=lambda caveat: caveat.kind != "critical"))


_COUNTS = (
    (
        r"^of [\d,]+ rows, those with a null were dropped: [^;]*",
        "rows with a null were dropped",
    ),
    (r"each of [\d,]+ clusters by", "each cluster by"),
    (r"many of the [\d,]+ rows it has", "many rows it has"),
    (r"multiple of [\d,]+, as if each row were there [\d,]+ times", "multiple of one number"),
    (r"; [\d,]+ rows in (?=\d+ folds)", "; rows in "),
    (r"has [\d,]+ cells", "has many cells"),
)
"""How caveats and words on models name counts, and what is left of it without them.

Files of earlier releases have these words too, so that they are searched for and not written
otherwise. Who adds a caveat with a count adds a line here.
"""


def drop_numbers(note: Note) -> Note:
    """Drop the counts of rows, clusters and cells from a caveat, or from words on models.

    >>> drop_numbers("of 900 rows, those with a null were dropped: Age (12); be careful")
    'rows with a null were dropped; be careful'
    """
    if isinstance(note, str):
        for written, left in _COUNTS:
            note = re.sub(written, left, note)
        return note
    parts = (str(drop_numbers(part)) if isinstance(part, str) else part for part in note.parts)
    return Message(*parts)


def format_count(n: float) -> str:
    """Write a number of rows; an exact distribution has probabilities instead.

    >>> format_count(12345.0), format_count(1), format_count(0.03125)
    ('12,345 rows', '1 row', 'a share of 0.03125 of the rows')
    """
    if not float(n).is_integer():
        return f"a share of {n:.4g} of the rows"
    return f"{n:,.0f} row{'' if n == 1 else 's'}"
