import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from boundit.simulation.errors import InvalidModel, NotAWorld, RewardNotBinary
from boundit.simulation.world_file import read_world
from boundit.terms.errors import BounditError, UnreadableFile

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
        ({**RECORD, "selection": ["S"]}, r"selection: text was expected, found \['S'\]"),
        ({**RECORD, "selection": {}}, "selection: text was expected, found {}"),
        ({**RECORD, "selection": 3}, "selection: text was expected, found 3"),
        ({**RECORD, "query": ["Y"]}, "query: text was expected"),
        ({**RECORD, "name": None}, "name: text was expected, found None"),
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


ODD: tuple[object, ...] = (
    *(None, True, 0, -1, 2, 0.5, 1e308, float("nan"), float("inf"), 10**30, 10**400),
    *("", "x", "X", "Y", "S", "\ud800", "Y | X", "do(X)", "Y | do(X), C"),
    *([], {}, [[]], ["Y"], [0.5, 0.5], [1.5, -0.5], {"a": 1}, [["X"], 0.5], [[0.1, 0.2, 0.7]]),
)


def places(record: object, above: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Every way down into a record."""
    inner = record.items() if isinstance(record, dict) else enumerate(record)  # type: ignore[arg-type]
    for key, value in inner:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def test_whatever_is_put_anywhere_the_file_is_read_or_refused_in_one_line(
    tmp_path: Path,
) -> None:
    """Warnings are errors here, so that none of NumPy's comes through either."""
    rng, read, said = random.Random(0), 0, list[str]()
    for _ in range(600):
        record = copy.deepcopy(RECORD)
        for _ in range(rng.choice((1, 1, 2))):
            *way, last = rng.choice(list(places(record)))
            at: object = record
            for key in way:
                at = at[key]  # type: ignore[index]
            at[last] = copy.deepcopy(rng.choice(ODD))  # type: ignore[index]
        try:
            world = read_world(written(tmp_path, record))
        except BounditError as error:
            said.append(str(error))
        else:
            read += 1
            assert all(0 <= mean <= 1 for mean in world.means().values())
    assert read > 10
    assert len(said) > 300
    assert not [line for line in said if "\n" in line]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
def test_whatever_selects_is_a_node_or_refused(tmp_path: Path, odd: object) -> None:
    path = written(tmp_path, {**RECORD, "selection": odd})
    if odd is None:
        assert read_world(path).graph.selection is None
    elif odd == "S":
        assert read_world(path).graph.selection == "S"
    else:
        with pytest.raises(BounditError):
            read_world(path)
