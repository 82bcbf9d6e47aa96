"""Bound tables in files: versioned JSON, written whole or not at all, refused whole."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path

from boundit.terms.bound import Bound, RuleRecord
from boundit.terms.bound_errors import CannotSave, DamagedFile
from boundit.terms.errors import UnreadableFile
from boundit.terms.files import write_page

FORMAT, VERSION = "boundit bounds", 2
READABLE = (1, VERSION)
"""Version 1 had no contrasts and no living bounds."""
_MOMENTS: Mapping[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


def write(path: str | os.PathLike[str], record: Mapping[str, object]) -> None:
    """Write a record with a head and a checksum; a crash leaves the old file or the new."""
    head = {"format": FORMAT, "version": VERSION, "checksum": compute_checksum(record)}
    write_page(path, json.dumps({**head, **record}, ensure_ascii=False))


def read(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read what ``write`` wrote, or refuse the file."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(path, f"it is not whole JSON ({error})") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DamagedFile(path, "it does not say so")
    if record.get("version") not in READABLE:
        found, read = record.get("version"), " and ".join(map(str, READABLE))
        raise DamagedFile(path, f"it has version {found!r}, and this release reads {read}")
    body = {k: v for k, v in record.items() if k not in {"format", "version", "checksum"}}
    if record.get("checksum") != compute_checksum(body):
        raise DamagedFile(path, "it was changed after it was saved; save it anew")
    return body


def compute_checksum(record: Mapping[str, object]) -> str:
    """Sum up a record, so that a single changed digit shows."""
    spelled = json.dumps(record, sort_keys=True, ensure_ascii=True)
    return sha256(spelled.encode()).hexdigest()


def encode_level(value: object) -> object:
    """Spell one level of a variable so that JSON keeps its type."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime() | date() | time():
            return {type(value).__name__: value.isoformat()}
        case timedelta():
            return {"timedelta": [value.days, value.seconds, value.microseconds]}
        case _:
            raise CannotSave(value)


def decode_level(value: object) -> object:
    """Read one level back."""
    if isinstance(value, dict):
        ((kind, spelled),) = value.items()
        return timedelta(*spelled) if kind == "timedelta" else _MOMENTS[kind](spelled)
    if isinstance(value, list):
        raise TypeError("a list is no level")
    return value


def fields_of(value: Bound | RuleRecord) -> dict[str, object]:
    """Spell one row or rule; JSON has lists where we have tuples."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(value).items()}


def bound_from(record: Mapping[str, object]) -> Bound:
    """Read one row; whatever does not fit raises TypeError or ValueError."""
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    for name in ("lower", "upper", "lower_estimate", "upper_estimate", "n"):
        if not isinstance(fields[name], int | float):
            raise TypeError(f"{name} is no number")
    found = Bound(**fields)  # type: ignore[arg-type]
    _ = found.interval
    return found


def rule_from(record: Mapping[str, object]) -> RuleRecord:
    """Read one rule."""
    steps = record["steps"]
    if not isinstance(steps, list):
        raise TypeError("steps are no list")
    return RuleRecord(str(record["name"]), str(record["claim"]), tuple(map(str, steps)))
