"""Errors and caveats of the library in the words of the page, with the place they are about."""

from collections.abc import Mapping

from msgspec import Struct

from boundit.bounds.options import OPTIONS
from boundit.core.errors import (
    BounditError,
    InvalidGraph,
    InvalidQuery,
    UnreadableFile,
    shorten,
)
from boundit.core.message import Caveat, Message, Note, Option, Placeholder
from boundit.counts.errors import InvalidLog, MissingColumn, NoFiles, NotNumeric
from boundit.service.errors import ServiceError
from boundit.studio.errors import RefusedRequest, StudioError
from boundit.studio.project import DataSource, Settings

_LONGEST = 1_000
"""How long a line of an error is at most: it may show what was sent."""
_ROLES = {"weight": "data.weight", "reward": "query.outcome", "selection": "graph"}
"""Where in a project a column stands that must hold numbers; others are cut into bins."""


class Refusal(Struct, frozen=True):
    """What is wrong: a code for programs, one line for people, where, and what would help."""

    code: str
    message: str
    where: str | None = None
    hint: str | None = None
    line: int | None = None
    column: int | None = None


def make_refusal(error: ServiceError) -> Refusal:
    """Make the record of a refusal; called by ``write_refusal`` and for failed jobs."""
    return Refusal(
        error.code,
        shorten(str(error), _LONGEST),
        None if error.where is None else shorten(_name_place(error.where), _LONGEST),
        getattr(error, "hint", None),
        getattr(error, "line", None),
        getattr(error, "column", None),
    )


def _name_place(where: str) -> str:
    """Name a place within the project, wherever in a body that is; called by ``make_refusal``.

    >>> _name_place("$.project.graph.nodes[1]"), _name_place("data.file")
    ('graph.nodes[1]', 'data.file')
    """
    return where.removeprefix("$.").removeprefix("project.")


def refuse(error: BounditError) -> ServiceError:
    """Make of an error of the library a refusal that names a part of the project."""
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, MissingColumn) and _name_entry(error.message):
        return lack_column(error.name)
    return RefusedRequest(write_for_page(error.message), where=_find_place(error))


def lack_column(name: str) -> StudioError:
    """Say that a node has no column, and what can be done about it on the page."""
    return RefusedRequest(
        f"{name} has no column in the log.",
        where=f"data.columns.{name}",
        hint="Match it to a column, mark it as hidden if nobody recorded it, or as selection "
        "if it says which rows are kept.",
    )


def spell_caveat(caveat: Caveat) -> Caveat:
    """Write a caveat with its options as the page calls them."""
    return caveat.spell(_spell)


def write_for_page(note: Note) -> str:
    """Write an error or caveat with its options as the page calls them.

    >>> write_for_page(Message("cut it with ", Option("bins", {"Age": [Placeholder("...")]})))
    'cut it with bins for Age'
    """
    return note.render(_spell) if isinstance(note, Message) else note


def _spell(option: Option) -> str:
    """Write an option as the page calls it; called by ``write_for_page``."""
    if option.name not in OPTIONS:
        return str(option)
    words = OPTIONS[option.name].label
    match option.value:
        case Mapping() as entries:
            return f"{words} for {', '.join(map(str, entries))}"
        case None if option.name == "confidence":
            return "no confidence (plug-in ends)"
        case Placeholder() | tuple():
            return words
        case value:
            return f"{words} {value}"


def _find_place(error: BounditError) -> str | None:
    """Find the part of a project that an error is about; called by ``refuse``."""
    if isinstance(error, MissingColumn):
        return f"data.columns.{error.name}"
    if isinstance(error, NotNumeric):
        return _ROLES.get(error.role, f"data.bins.{error.name}")
    if place := _name_option(error.option):
        return place + _name_entry(error.message)
    if isinstance(error, UnreadableFile | NoFiles | InvalidLog):
        return "data.file"
    if isinstance(error, InvalidQuery):
        return "query"
    return "graph" if isinstance(error, InvalidGraph) else None


def _name_option(option: str | None) -> str | None:
    """Name the part of a project that holds an option of the library."""
    if option == "domain":
        return "data.levels"
    for part, kind in (("data", DataSource), ("settings", Settings)):
        if option in kind.__struct_fields__:
            return f"{part}.{option}"
    return None


def _name_entry(message: Message) -> str:
    """Name the variable that an option of a message is about, if it is about one."""
    for part in message.parts:
        if (
            isinstance(part, Option)
            and isinstance(part.value, Mapping)
            and len(part.value) == 1
        ):
            return f".{next(iter(part.value))}"
    return ""
