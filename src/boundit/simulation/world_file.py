"""Worlds in files: a question, tables, and which of them are hidden or select."""

import json
import os
from pathlib import Path

from boundit.estimand.query import parse_query
from boundit.simulation.errors import NotAWorld
from boundit.simulation.model import Model
from boundit.simulation.tables import TableSpec
from boundit.simulation.world import World
from boundit.terms.errors import UnreadableFile, shorten

_KEYS = {"query", "tables", "hidden", "selection", "name"}


def read_world(path: str | os.PathLike[str]) -> World:
    """Read a world from a JSON file.

    ``tables`` has for every node its parents and its chances, as ``Model`` takes them: one
    axis for each parent, and the chance of level 1 or the list of all chances at each place.
    ``hidden``, ``selection`` and ``name`` may be left out.

    .. code-block:: json

        {"query": "Y | do(X)", "selection": "S", "hidden": ["C"],
         "tables": {"C": [[], 0.5], "X": [["C"], [0.2, 0.8]],
                    "Y": [["X", "C"], [[0.1, 0.6], [0.3, 0.8]]], "S": [["Y"], [0.2, 0.9]]}}
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise NotAWorld(path, f"it is not whole JSON ({error})") from None
    if not isinstance(record, dict) or not {"query", "tables"} <= record.keys() <= _KEYS:
        raise NotAWorld(path, "it needs query and tables, and may have hidden, selection, name")
    selection = record.get("selection")
    model = Model.of(
        _read_table_specs(path, record["tables"]),
        hidden=_read_names(path, "hidden", record.get("hidden", [])),
        selection=None if selection is None else _read_text(path, "selection", selection),
    )
    query = parse_query(_read_text(path, "query", record["query"]))
    return World(model, query, _read_text(path, "name", record.get("name", Path(path).stem)))


def _read_table_specs(path: object, found: object) -> dict[str, TableSpec]:
    """Read the parents and chances of every node from a world file, as ``Model`` takes them."""
    if not isinstance(found, dict):
        raise NotAWorld(path, "tables is no object with a node for each key")
    tables: dict[str, TableSpec] = {}
    for node, spec in found.items():
        if not (isinstance(spec, list) and len(spec) == 2):
            raise NotAWorld(path, f"the table of {node!r} is not [parents, chances]")
        tables[node] = (_read_names(path, f"the parents of {node!r}", spec[0]), spec[1])
    return tables


def _read_names(path: object, what: str, found: object) -> list[str]:
    """Read a list of variable names from a world file, or raise."""
    if not (isinstance(found, list) and all(isinstance(name, str) for name in found)):
        raise NotAWorld(path, f"{what}: a list of names was expected")
    return found


def _read_text(path: object, what: str, found: object) -> str:
    """Read one text entry of a world file, such as its query, or raise."""
    if not isinstance(found, str):
        raise NotAWorld(path, f"{what}: text was expected, found {shorten(repr(found), 40)}")
    return found
