"""Simulations in files: arrays with a head of JSON, written whole or not at all."""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundit.simulation.errors import DamagedResult
from boundit.terms.errors import UnreadableFile
from boundit.terms.saving.files import write_whole

FORMAT, VERSION = "boundit regret", 1
_KINDS = {"at": "<i8", "curves": "<f8"}


def write_regret(
    path: str | os.PathLike[str],
    head: Mapping[str, object],
    arrays: Mapping[str, NDArray[np.generic]],
) -> None:
    """Write simulated regret to an npz file; a crash leaves the old file or the new."""
    whole = {name: np.ascontiguousarray(arrays[name], kind) for name, kind in _KINDS.items()}
    body = {"format": FORMAT, "version_of_format": VERSION, **head}
    spelled = json.dumps(
        {**body, "checksum": _compute_checksum(body, whole)}, ensure_ascii=False
    )
    letters = np.frombuffer(spelled.encode(), dtype=np.uint8)
    content = BytesIO()
    np.savez(content, head=letters, at=whole["at"], curves=whole["curves"])
    write_whole(path, content.getvalue())


def read_regret(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the regret that ``write_regret`` wrote, or refuse the file."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    try:
        head, arrays = _read_parts(content)
    except Exception as error:  # noqa: BLE001, a broken archive raises whatever it hits
        raise DamagedResult(path, f"it is not whole ({error})") from None
    if head.get("format") != FORMAT:
        raise DamagedResult(path, "it does not say so")
    if (found := head.get("version_of_format")) != VERSION:
        raise DamagedResult(path, f"it has version {found!r}, and this release reads {VERSION}")
    if head.pop("checksum", None) != _compute_checksum(head, arrays):
        raise DamagedResult(path, "it was changed after it was saved; save it anew")
    return head, arrays


def _read_parts(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read settings and arrays from the npz archive of a ``Regret``."""
    with np.load(BytesIO(content), allow_pickle=False) as parts:
        head = json.loads(parts["head"].tobytes())
        arrays = {name: parts[name] for name in _KINDS}
    if not isinstance(head, dict) or any(arrays[n].dtype != k for n, k in _KINDS.items()):
        raise TypeError("its parts are of other kinds")
    return head, arrays


def _compute_checksum(
    head: Mapping[str, object], arrays: Mapping[str, NDArray[np.generic]]
) -> str:
    """Compute a checksum over settings and curves, so that a single changed digit shows."""
    summed = sha256(json.dumps(head, sort_keys=True).encode())
    for name in sorted(arrays):
        summed.update(f"{name} {arrays[name].shape} ".encode())
        summed.update(arrays[name].tobytes())
    return summed.hexdigest()
