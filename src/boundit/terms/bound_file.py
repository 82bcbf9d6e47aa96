"""Bound tables in files: versioned JSON, written whole or not at all, refused whole."""

import json
import os
import tempfile
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

from boundit.terms.bound import Bound, Rule
from boundit.terms.bound_errors import DamagedFile
from boundit.terms.errors import UnreadableFile

FORMAT, VERSION = "boundit bounds", 1


def write(path: str | os.PathLike[str], record: Mapping[str, object]) -> None:
    """Write beside the target and move into place: a crash leaves the old file or the new."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **record}, ensure_ascii=False)
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UnreadableFile(path, f"cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    if record.get("version") != VERSION:
        found = record.get("version")
        raise DamagedFile(path, f"it has version {found!r}, and this release reads {VERSION}")
    return record


def encoded(value: object) -> object:
    """Spell one level of a variable so that JSON keeps its type."""
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return value


def decoded(value: object) -> object:
    """Read one level back."""
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return {"date": date, "datetime": datetime}[kind].fromisoformat(text)
    if isinstance(value, list):
        raise TypeError("a list is no level")
    return value


def bound_from(record: Mapping[str, object]) -> Bound:
    """Read one row; whatever does not fit raises TypeError or ValueError."""
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    for name in ("lower", "upper", "lower_estimate", "upper_estimate", "n"):
        if not isinstance(fields[name], int | float):
            raise TypeError(f"{name} is no number")
    found = Bound(**fields)  # type: ignore[arg-type]
    _ = found.interval
    return found


def rule_from(record: Mapping[str, object]) -> Rule:
    """Read one rule."""
    steps = record["steps"]
    if not isinstance(steps, list):
        raise TypeError("steps are no list")
    return Rule(str(record["name"]), str(record["claim"]), tuple(map(str, steps)))
