"""Values as JSON keeps them, read back by the types of their fields.

A frozen dataclass becomes an object of its fields, a named tuple a list. What a field holds is
shown by its annotation:

==========================  =====================================================
``bool``, ``int``, ``str``  itself
``float``                   itself, or ``"inf"``, ``"-inf"``, ``"nan"``
``object`` (a level)        itself, or an object that names its type, as in
                            ``{"date": "2024-02-29"}``
``tuple``, ``frozenset``    a list
``Mapping[str, V]``         an object
``Mapping[K, V]``           a list of entries ``[key, value]``; a key of a fixed number of
                            parts lies flat, as in ``[arm, context, value]``
``Interval``                ``[lower, upper]``
``A | None``, ``Literal``   what fits first
==========================  =====================================================

Reading is strict: a field that is missing and has no default, an unknown one, or one of
another type is refused in one line that says where it stands.

>>> from boundit.core.interval import Interval
>>> kind = Mapping[tuple[str, object], Interval]
>>> encode({("a", date(2024, 2, 29)): Interval(0.0, math.inf)}, kind)
[['a', {'date': '2024-02-29'}, [0.0, 'inf']]]
>>> decode(kind, [["a", 1, [0.5, "none"]]])
Traceback (most recent call last):
ValueError: at [0][2][1]: a number was expected, found 'none'
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache, partial
from sys import intern
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from boundit.core.errors import BounditError, CannotSave, shorten
from boundit.core.interval import Interval

T = TypeVar("T")
Refusal: TypeAlias = Callable[[str], Exception]
"""Makes the caller's own error of one line."""
_Convert: TypeAlias = Callable[[Any], Any]
_MOMENTS: Mapping[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}
_INFINITE = ("inf", "-inf", "nan")


class _Misfit(Exception):
    """A part of a JSON record that does not fit the type of its field, and where it stands."""

    def __init__(self, reason: str, where: str = "") -> None:
        self.reason, self.where = reason, where
        super().__init__(reason)

    def locate_within(self, step: str) -> "_Misfit":
        """Make the same error with its place extended by the field or position it stands in.

        So the message names the whole way to it, as ``bounds[3].lower``.
        """
        return _Misfit(self.reason, step + self.where)


@dataclass(frozen=True, slots=True)
class _Codec:
    """How values of one type are called, written and read.

    ``fits`` tells by the names of its fields whether a JSON object may be one of them.
    """

    name: str
    write: _Convert
    read: _Convert
    fits: Callable[[Collection[str]], bool] = lambda _: False


def encode(value: object, kind: object = None) -> Any:
    """Turn a value into what ``json`` can write, by its own type or by the annotated one.

    Refuses what JSON has no form for.
    """
    return _find_codec(type(value) if kind is None else kind).write(value)


@overload
def decode(kind: type[T], record: object, *, error: Refusal = ValueError) -> T: ...
@overload
def decode(kind: object, record: object, *, error: Refusal = ValueError) -> Any: ...
def decode(kind: object, record: object, *, error: Refusal = ValueError) -> Any:
    """Read a value of a type from what ``encode`` wrote; ``error`` makes the error of a misfit."""
    try:
        return _find_codec(kind).read(record)
    except _Misfit as misfit:
        where = f"at {misfit.where.removeprefix('.')}: " if misfit.where else ""
        raise error(f"{where}{misfit.reason}") from None


@cache
def _find_codec(kind: Any) -> _Codec:
    """Find how values of an annotated type become JSON and back: a codec, a pair of functions."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        return _make_union(get_args(kind))
    if origin is Literal:
        return _make_literal(get_args(kind))
    if isinstance(origin, type):
        return _make_class(origin, kind)
    raise TypeError(f"records hold no {kind}")


def _make_class(origin: type, kind: Any) -> _Codec:
    """Make the codec of a class: a dataclass, mapping, tuple, list, set or kind of text."""
    if issubclass(origin, str):
        return _Codec("text", str, _SCALARS[str].read)
    if is_dataclass(origin):
        return _make_object(origin)
    if issubclass(origin, Mapping):
        return _make_mapping(*get_args(kind))
    if issubclass(origin, tuple):
        return _make_tuple(origin, kind)
    if issubclass(origin, list | set | frozenset):
        return _make_sequence(origin, _find_codec(get_args(kind)[0]))
    raise TypeError(f"records hold no {kind}")


def _make_object(kind: Any) -> _Codec:
    """Make the codec of a dataclass: a JSON object of its fields.

    A field that does not count when values are compared is left out of the record.
    """
    hints = get_type_hints(kind)
    known = [field for field in fields(kind) if field.init and field.compare]
    names = frozenset(f.name for f in known)
    needed = {f.name for f in known if f.default is MISSING and f.default_factory is MISSING}

    @cache
    def find_parts() -> tuple[dict[str, _Convert], dict[str, _Convert]]:
        # Found when first needed, so that a type may hold values of its own kind.
        parts = {f.name: _find_codec(hints[f.name]) for f in known}
        writers = {name: part.write for name, part in parts.items()}
        return writers, {name: part.read for name, part in parts.items()}

    def write(value: Any) -> dict[str, object]:
        if not isinstance(value, kind):
            raise CannotSave(value)
        writers, _ = find_parts()
        return {name: write_part(getattr(value, name)) for name, write_part in writers.items()}

    def fits(found: Collection[str]) -> bool:
        return needed <= set(found) <= names

    def read(record: Any) -> object:
        if not isinstance(record, dict):
            raise _make_misfit("an object", record)
        if record.keys() != names and not fits(record):
            raise _name_stranger(record, names, needed)
        _, readers = find_parts()
        found, name = dict[str, object](), ""
        try:
            for name, one in record.items():
                found[name] = readers[name](one)
        except _Misfit as misfit:
            raise misfit.locate_within(f".{name}") from None
        try:
            return kind(**found)
        except (ValueError, TypeError, BounditError) as error:
            raise _Misfit(str(error)) from None

    return _Codec("an object", write, read, fits)


def _name_stranger(record: dict[str, object], names: Set[str], needed: Set[str]) -> _Misfit:
    """Make the error that names an unknown field or a missing one."""
    if unknown := record.keys() - names:
        return _Misfit(f"nothing is called {min(unknown, key=str)!r} here")
    return _Misfit(f"{min(needed - record.keys())!r} is missing")


def _make_tuple(origin: Any, kind: Any) -> _Codec:
    """Make the codec of a tuple of fixed or any length, or of a named tuple."""
    if hasattr(origin, "_fields"):
        hints = get_type_hints(origin)
        return _make_fixed(origin._make, [hints[name] for name in origin._fields])
    args = get_args(kind)
    if len(args) == 2 and args[1] is Ellipsis:
        return _make_sequence(tuple, _find_codec(args[0]))
    if not args:
        raise TypeError(f"records hold no {kind}: it does not say what is in it")
    return _make_fixed(tuple, args)


def _make_sequence(kind: Any, part: _Codec) -> _Codec:
    """Make the codec of a list, set or tuple of any number of values of one type."""

    def write(value: Any) -> list[object]:
        if not isinstance(value, kind):
            raise CannotSave(value)
        return [part.write(one) for one in value] if value else []

    def read(record: Any) -> object:
        return kind(_read_items(part, record)) if record != [] else kind()

    return _Codec("a list", write, read)


def _make_fixed(make: Callable[[Any], object], kinds: Sequence[object]) -> _Codec:
    """Make the codec of a list with one value of each of these types, in their order."""
    parts = [_find_codec(kind) for kind in kinds]

    def write(value: Any) -> list[object]:
        if not isinstance(value, tuple) or len(value) != len(parts):
            raise CannotSave(value)
        return [part.write(one) for part, one in zip(parts, value, strict=True)]

    def read(record: Any) -> object:
        found = _require_list(record)
        if len(found) != len(parts):
            raise _make_misfit(f"a list of {len(parts)}", record)
        i, items = 0, list[object]()
        try:
            for i, part in enumerate(parts):
                items.append(part.read(found[i]))
        except _Misfit as misfit:
            raise misfit.locate_within(f"[{i}]") from None
        return make(items)

    return _Codec(f"a list of {len(parts)}", write, read)


def _make_mapping(key: Any, value: Any) -> _Codec:
    """Make the codec of a mapping: a JSON object if keys are text, else a list of entries.

    A key that is a tuple of a fixed length lies flat in its entry.
    """
    whole = _find_codec(value)
    if key is str:
        return _Codec(
            "an object",
            lambda found: {_write_exactly(str, k): whole.write(v) for k, v in found.items()},
            lambda record: dict(
                zip(
                    _require_object(record),
                    _read_items(whole, list(record.values()), list(record)),
                    strict=True,
                )
            ),
        )
    args = get_args(key)
    flat = get_origin(key) is tuple and Ellipsis not in args
    entry = _make_fixed(tuple, (*args, value) if flat else (key, value))

    def write(found: Any) -> list[object]:
        pairs = found.items()
        return [entry.write((*k, v) if flat else (k, v)) for k, v in pairs]

    def read(record: Any) -> object:
        lines = _read_items(entry, record)
        return {(line[:-1] if flat else line[0]): line[-1] for line in lines}

    return _Codec("a list", write, read)


def _make_union(kinds: Sequence[Any]) -> _Codec:
    """Make the codec of a value of one of several types: the first that fits."""
    parts = [_find_codec(kind) for kind in kinds]
    name = " or ".join(part.name for part in parts)
    exact = dict(zip(kinds, parts, strict=True))
    objects = [part for part in parts if part.name == "an object"] or parts

    @lru_cache
    def find_fitting(names: tuple[str, ...]) -> list[_Codec]:
        return [part for part in objects if part.fits(names)] or objects

    def write(value: Any) -> object:
        if (found := exact.get(type(value))) is not None:
            return found.write(value)
        for part in parts:
            try:
                return part.write(value)
            except CannotSave:
                continue
        raise CannotSave(value)

    def read(record: Any) -> object:
        if str in exact and type(record) is str:
            return record
        misfits = list[_Misfit]()
        # What cannot be need not be tried: saying why it does not fit takes longest.
        for part in find_fitting(tuple(record)) if isinstance(record, dict) else parts:
            try:
                return part.read(record)
            except _Misfit as misfit:
                misfits.append(misfit)
        # What got furthest says most; nothing else tells which type was meant.
        deepest = max(misfits, key=lambda misfit: len(misfit.where))
        raise deepest if deepest.where else _make_misfit(name, record)

    return _Codec(name, write, read)


def _make_literal(values: tuple[object, ...]) -> _Codec:
    """Make the codec of a ``Literal``, one of a few given words."""
    name = " or ".join(map(repr, values))

    def write(value: Any) -> object:
        if value not in values:
            raise CannotSave(value)
        return value

    def read(record: Any) -> object:
        if record not in values:
            raise _make_misfit(name, record)
        return record

    return _Codec(name, write, read)


def _write_level(value: object) -> object:
    """Write one level of a variable so that JSON keeps its type; a date becomes an object.

    Called through ``_find_codec`` for what is annotated as an object.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(float(value))}
        case datetime() | date() | time():
            return {type(value).__name__: value.isoformat()}
        case timedelta():
            return {"timedelta": [value.days, value.seconds, value.microseconds]}
        case tuple():
            return {"tuple": [_write_level(part) for part in value]}
        case _:
            raise CannotSave(value)


def _read_level(record: object) -> object:
    """Read one level of a variable from JSON, with its type.

    Called through ``_find_codec`` for what is annotated as an object.
    """
    if isinstance(record, list):
        raise _make_misfit("a level", record)
    if not isinstance(record, dict):
        return record
    try:
        ((kind, written),) = record.items()
        if kind == "tuple":
            return tuple(map(_read_level, written))
        if kind == "timedelta":
            return timedelta(*written)
        return float(written) if kind == "float" else _MOMENTS[kind](written)
    except (TypeError, ValueError, KeyError):
        raise _make_misfit("a level", record) from None


def _write_number(value: Any) -> float | str:
    """Write a float for JSON, which has no infinity: that becomes text.

    A whole number stays one, as Python lets it stand for a float. Called through
    ``_find_codec`` for floats, and by ``_write_interval``.
    """
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CannotSave(value)
    if isinstance(value, int):
        return value
    return float(value) if math.isfinite(value) else str(float(value))


def _read_number(record: object) -> float:
    """Read a float from JSON, an infinite one from text.

    Called through ``_find_codec`` for floats.
    """
    if type(record) is float:
        return record
    if isinstance(record, str) and record in _INFINITE:
        return float(record)
    if isinstance(record, bool) or not isinstance(record, int | float):
        raise _make_misfit("a number", record)
    return record


def _write_exactly(kind: type, value: Any) -> object:
    """Write what JSON has itself: a bool, an int, text or None.

    Called through ``_find_codec`` for these types, and by ``_make_mapping`` for keys.
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise CannotSave(value)
    return value


def _read_exactly(kind: type, name: str, record: object) -> object:
    """Read what JSON has itself, and of this type alone: a bool, an int, text or None.

    Called through ``_find_codec`` for these types.
    """
    if type(record) is not kind:
        raise _make_misfit(name, record)
    # The name of a rule comes with every row, and is kept once.
    return intern(record) if isinstance(record, str) else record


def _write_interval(value: Any) -> object:
    """Write both ends of an interval, as a list of two numbers.

    Called through ``_find_codec`` for intervals.
    """
    if not isinstance(value, Interval):
        raise CannotSave(value)
    return [_write_number(value.lower), _write_number(value.upper)]


def _read_interval(record: object) -> Interval:
    """Read both ends of an interval from a list of two, and refuse ends that cross.

    Called through ``_find_codec`` for intervals.
    """
    ends = _ENDS.read(record)
    try:
        return Interval(*ends)
    except BounditError as error:
        raise _Misfit(str(error)) from None


def _read_items(codec: _Codec, record: object, names: Sequence[str] | None = None) -> list[Any]:
    """Read the items of a JSON list; if one does not fit, say at which place or name it stands."""
    found, read = list[Any](), codec.read
    try:
        for one in _require_list(record):
            found.append(read(one))
    except _Misfit as misfit:
        if not isinstance(record, list):
            raise
        at = len(found) if names is None else names[len(found)]
        raise misfit.locate_within(f"[{at!r}]") from None
    return found


def _require_list(record: object) -> list[Any]:
    """Return the record if it is a JSON list, else refuse it."""
    if not isinstance(record, list):
        raise _make_misfit("a list", record)
    return record


def _require_object(record: object) -> dict[str, Any]:
    """Return the record if it is a JSON object, else refuse it."""
    if not isinstance(record, dict):
        raise _make_misfit("an object", record)
    return record


def _make_misfit(wanted: str, found: object) -> _Misfit:
    """Make the error that says what a record should have held, and what it holds."""
    return _Misfit(f"{wanted} was expected, found {shorten(repr(found), 40)}")


_LEVEL = _Codec("a level", _write_level, _read_level)
_SCALARS: Mapping[object, _Codec] = {
    float: _Codec("a number", _write_number, _read_number),
    object: _LEVEL,
    Any: _LEVEL,
    Interval: _Codec("a list of 2", _write_interval, _read_interval),
    **{
        kind: _Codec(name, partial(_write_exactly, kind), partial(_read_exactly, kind, name))
        for kind, name in (
            (bool, "true or false"),
            (int, "a whole number"),
            (str, "text"),
            (NoneType, "null"),
        )
    },
}
_ENDS = _make_fixed(tuple, (float, float))
