"""Saved states: JSON with a format, a version and a checksum; and which class reads one."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from boundit.bandit.errors import DamagedState
from boundit.bandit.ids import Floats
from boundit.core.errors import BounditError, UnreadableFile
from boundit.core.files import write_page
from boundit.results.bound_file import compute_checksum

FORMAT, VERSION = "boundit policy", 4
_HEAD = ("format", "version", "policy", "checksum")


def seal_state(policy: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Put format, version and checksum before a policy's parts."""
    checksum = compute_checksum({"policy": policy, **body})
    head = {"format": FORMAT, "version": VERSION, "policy": policy, "checksum": checksum}
    return {**head, **body}


@contextmanager
def open_state(policy: str, state: object) -> Iterator[dict[str, Any]]:
    """Check format, version and checksum; whatever goes wrong while reading is a DamagedState."""
    if not isinstance(state, Mapping) or state.get("format") != FORMAT:
        raise DamagedState(policy, "it has no format; give what state() returned")
    if state.get("version") == 3:
        raise DamagedState(
            policy,
            "release 0.2.0 wrote it, and states are not read across this change; replay its "
            "decisions and rewards, which 'boundit policies export' of 0.2.0 writes",
        )
    if state.get("version") != VERSION:
        found = state.get("version")
        raise DamagedState(
            policy, f"it has version {found!r}, and this release reads {VERSION}"
        )
    if state.get("policy") != policy:
        raise DamagedState(policy, f"it is one of {state.get('policy')!r}")
    body = {name: value for name, value in state.items() if name not in _HEAD}
    try:
        found = compute_checksum({"policy": policy, **body})
        if state.get("checksum") != found:
            raise DamagedState(policy, "it was changed after it was made")  # noqa: TRY301
        yield body
    except DamagedState:
        raise
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        BounditError,
    ) as error:
        raise DamagedState(policy, f"{type(error).__name__}: {error}") from error


def write_file(path: str | PathLike[str], state: Mapping[str, Any]) -> None:
    """Write a state to a JSON file, whole or not at all."""
    write_page(path, json.dumps(state, ensure_ascii=False))


def read_file(path: str | PathLike[str], policy: str) -> Any:
    """Read the JSON of a file, or say why there is none."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise DamagedState(policy, f"{path} is not whole JSON ({error})") from None


def find_class(base: type, name: object) -> type | None:
    """Find the policy class of a name: one of this package, or one that a user has defined."""
    found = getattr(import_module(__package__), str(name), None)
    if isinstance(found, type) and issubclass(found, base):
        return found
    waiting: list[type] = list(base.__subclasses__())
    for kind in waiting:
        if kind.__name__ == name:
            return kind
        waiting += kind.__subclasses__()
    return None


def write_array(part: Floats) -> Any:
    """Write nested lists, or where most numbers are 0 the places and values of the others."""
    at = np.flatnonzero(part)
    if 2 * at.size >= part.size:
        return _spell(part)
    values = _spell(part.reshape(-1)[at])
    return {"shape": list(part.shape), "at": at.tolist(), "values": values}


def read_array(record: Any, shape: tuple[int, ...]) -> Floats:
    """Read what ``write_array`` wrote, or refuse another shape."""
    if isinstance(record, Mapping):
        found = np.zeros(record["shape"])
        found.reshape(-1)[record["at"]] = np.array(record["values"], np.float64)
    else:
        found = np.array(record, np.float64)
    if found.size != np.prod(shape, dtype=int) or (found.size and found.shape != shape):
        raise ValueError(f"an array of shape {found.shape} is not of shape {shape}")
    return found.reshape(shape)


def _spell(part: Floats) -> Any:
    """Write numbers as JSON has them: it has none for infinity."""
    if np.isfinite(part).all():
        return part.tolist()
    return np.where(np.isfinite(part), part.astype(object), part.astype(str)).tolist()
