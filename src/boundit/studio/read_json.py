"""JSON into values of known kinds, or one line that says which field is wrong and where."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from boundit.core.errors import shorten
from boundit.service.commands import has_repeated_keys
from boundit.studio.errors import MalformedProject

T = TypeVar("T")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_PLACE = re.compile(r" - at `([^`]*)`$", re.DOTALL)


def read_json(kind: type[T], body: bytes | str) -> T:
    """Read a value of one kind from JSON, or raise ``MalformedProject`` and say where.

    Called for the body of every call, and by ``read_project`` for a file.

    >>> from boundit.studio.project import Project
    >>> read_json(Project, '{"graph": {"edges": [{"tail": "X", "haed": "Y"}]}}')
    Traceback (most recent call last):
    boundit.studio.errors.MalformedProject: 'haed' is no field here; there are tail, head, kind
    """
    value = decode_json(body)
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        where, innermost, reason = _locate(kind, value, str(error))
        raise MalformedProject(_explain(innermost, reason), where=where or None) from None


def decode_json(body: bytes | str) -> Any:
    """Decode JSON into plain values, or say what is wrong with it."""
    try:
        found, repeats = msgspec.json.decode(body), has_repeated_keys(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedProject(f"this is no JSON: {error}") from None
    if repeats:
        raise MalformedProject("a key stands twice in one object; write it once")
    return found


def _locate(kind: Any, value: object, reason: str) -> tuple[str, Any, str]:
    """Find the innermost part that does not fit: its place, its kind, and what is wrong."""
    place = ""
    while True:
        for step, inner, part in _list_parts(kind, value):
            try:
                msgspec.convert(part, type=inner)
            except msgspec.ValidationError as error:
                reason, kind, value = str(error), inner, part
                place += step
                break
        else:
            return place.removeprefix("."), kind, reason


def _list_parts(kind: Any, value: object) -> Iterator[tuple[str, Any, object]]:
    """List the parts of a value, with the kind that each should be of."""
    bare = _strip(kind)
    if isinstance(value, Mapping):
        kinds = _list_fields(bare, value)
        yield from ((f".{key}", kinds[key], of) for key, of in value.items() if key in kinds)
    elif isinstance(value, list) and get_origin(bare) is tuple and get_args(bare)[-1] is ...:
        yield from ((f"[{i}]", get_args(bare)[0], of) for i, of in enumerate(value))


def _list_fields(bare: Any, value: Mapping[str, object]) -> dict[str, Any]:
    """List the kinds of an object's fields by name; called by ``_list_parts``."""
    if isinstance(bare, type) and issubclass(bare, Struct):
        return {part.name: part.type for part in msgspec.structs.fields(bare)}
    return dict.fromkeys(value, get_args(bare)[1]) if get_origin(bare) is dict else {}


def _strip(kind: Any) -> Any:
    """Take limits and ``None`` off a kind, for the parts within; called by ``_list_parts``."""
    while hasattr(kind, "__metadata__"):
        kind = kind.__origin__
    others = [of for of in get_args(kind) if of is not type(None)]
    if get_origin(kind) not in {dict, tuple} and len(others) == 1:
        return _strip(others[0])
    return kind


def _explain(kind: Any, said: str) -> str:
    """Make of msgspec's message one line of ours; called by ``read_json``."""
    reason = _PLACE.sub("", said)
    if unknown := _UNKNOWN.match(reason):
        bare = _strip(kind)
        names = ", ".join(part.name for part in msgspec.structs.fields(bare))
        return f"{shorten(unknown[1], 60)!r} is no field here; there are {names}"
    return f"{reason[:1].lower()}{reason[1:]}".replace("`", "")
