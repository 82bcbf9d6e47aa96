import json
from pathlib import Path

import pytest

from boundit.simulation.errors import InvalidModel, NotAWorld, RewardNotBinary
from boundit.simulation.world_file import read_world
from boundit.terms.errors import UnreadableFile

RECORD = {
    "query": "Y | do(X)",
    "selection": "S",
    "hidden": ["C"],
    "tables": {
        "C": [[], 0.5],
        "X": [["C"], [0.2, 0.8]],
        "Y": [["X", "C"], [[0.1, 0.6], [0.3, 0.8]]],
        "S": [["Y"], [0.2, 0.9]],
    },
}


def written(folder: Path, record: object) -> Path:
    path = folder / "shop.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_a_world_is_read_from_its_tables(tmp_path: Path) -> None:
    world = read_world(written(tmp_path, RECORD))

    assert (world.name, str(world.graph)) == ("shop", "X -> Y; Y -> [S]; X <-> Y")
    assert list(world.means().values()) == pytest.approx([0.35, 0.55])
    assert read_world(written(tmp_path, {**RECORD, "name": "Shop"})).name == "Shop"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([], "it needs query and tables"),
        ({"query": "Y | do(X)"}, "it needs query and tables"),
        ({**RECORD, "graph": "X -> Y"}, "it needs query and tables"),
        ({**RECORD, "tables": []}, "tables is no object"),
        ({**RECORD, "tables": {"X": 0.5}}, r"the table of 'X' is not \[parents, chances\]"),
        ({**RECORD, "tables": {"X": ["C", 0.5]}}, "the parents of 'X': a list of names"),
        ({**RECORD, "hidden": "C"}, "hidden: a list of names"),
    ],
)
def test_what_describes_no_world_is_refused(
    tmp_path: Path, record: object, reason: str
) -> None:
    with pytest.raises(NotAWorld, match=reason):
        read_world(written(tmp_path, record))


def test_what_the_model_refuses_is_said_in_its_words(tmp_path: Path) -> None:
    tables = {**RECORD["tables"], "X": [["C"], [0.2, 1.8]]}  # type: ignore[dict-item]
    with pytest.raises(InvalidModel, match="the table of 'X' at C = 1"):
        read_world(written(tmp_path, {**RECORD, "tables": tables}))
    tables = {**RECORD["tables"], "Y": [["X"], [[0.2, 0.3, 0.5]] * 2], "S": [["X"], [0.5, 1]]}  # type: ignore[dict-item]
    with pytest.raises(RewardNotBinary, match="'Y' has 3 levels, and a world pays 0 or 1"):
        read_world(written(tmp_path, {**RECORD, "tables": tables}))


def test_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    with pytest.raises(UnreadableFile):
        read_world(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(NotAWorld, match="it is not whole JSON"):
        read_world(path)
