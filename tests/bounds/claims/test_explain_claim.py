"""Why chance moves the ends of claims: the rows, cells and weights behind each."""

from collections.abc import Iterator

import pytest

from boundit.bounds.derive import derive_bounds
from boundit.counts.read import read_log
from boundit.graph.text import parse
from boundit.terms.sampling import EndSampling, RowSampling

LEVELS = ("Z", "M", "X", "Y")
Cell = tuple[int, int, int, int, int]


def list_cells(rows: dict[tuple[int, int], int], unseen: int = -1) -> Iterator[Cell]:
    """Cells of a log with so many rows for each level of Z and M; half of each arm succeeds."""
    for (z, m), n in rows.items():
        for x in (0, 1):
            if not (x == 1 and z == unseen):
                share = 0.2 if m == 0 else 0.8
                yield (z, m, x, 1, round(share * n))
                yield (z, m, x, 0, n - round(share * n))


def explain(graph: str, cells: Iterator[Cell]) -> RowSampling:
    columns = dict(zip((*LEVELS, "n"), map(list, zip(*cells, strict=True)), strict=True))
    table = derive_bounds(parse(graph), "Y | do(X)", read_log(columns, weight="n"))
    found = table.bounds[(1,), ()].sampling
    assert found is not None
    return found


def test_cells_with_few_rows_for_their_weight_are_the_heaviest() -> None:
    """Back door: the end is a mean over strata, so rows of the rare cell count most."""
    cells = [(0, 0, 0, 1, 500), (0, 0, 0, 0, 500), (0, 0, 1, 1, 50), (0, 0, 1, 0, 50)]
    cells += [(1, 0, 0, 1, 100), (1, 0, 0, 0, 100), (1, 0, 1, 1, 450), (1, 0, 1, 0, 450)]
    found = explain("Z -> X -> Y; Z -> Y", iter(cells)).lower

    assert isinstance(found, EndSampling)
    assert dict(found.heaviest[0].levels) == {"X": 1, "Z": 0}
    assert found.heaviest[0].share > found.heaviest[1].share
    assert found.effective_rows is not None
    assert found.effective_rows < 1_000, "of the thousand rows of this arm"
    assert found.unseen_weight == 0


def test_each_end_is_explained_by_the_level_that_attains_it() -> None:
    rows = {(0, 0): 400, (1, 0): 400, (0, 1): 200, (1, 1): 200}
    found = explain("Z -> X -> Y; Z -> Y; M -> Y; M -> [S]", list_cells(rows))

    assert isinstance(found.lower, EndSampling)
    assert isinstance(found.upper, EndSampling)
    assert {dict(cell.levels)["M"] for cell in found.lower.heaviest} == {0}
    assert {dict(cell.levels)["M"] for cell in found.upper.heaviest} == {1}


def test_strata_without_the_arm_have_their_weight() -> None:
    rows = {(0, 0): 300, (1, 0): 300, (2, 0): 150}
    found = explain("Z -> X -> Y; Z -> Y", list_cells(rows, unseen=2)).upper

    assert isinstance(found, EndSampling)
    assert found.unseen_weight == pytest.approx(150 / 1350, abs=0.03)


def test_scenarios_of_a_program_are_named_by_the_instrument() -> None:
    """An instrument: the end is a sum over its levels, of which the rare one adds most."""
    cells = [(z, 0, x, y, n * (4 - z)) for z in (0, 1) for x, y, n in _list_answers()]
    found = explain("Z -> X -> Y; X <-> Y", iter(cells)).lower

    assert isinstance(found, EndSampling)
    assert found.boxes is None or "narrower" in found.boxes
    assert found.effective_rows is not None
    assert 0 < found.effective_rows <= sum(cell[-1] for cell in cells)
    assert {name for cell in found.heaviest for name, _ in cell.levels} <= {"Z"}
    assert found.unseen_weight == 0


def _list_answers() -> list[tuple[int, int, int]]:
    """How many rows have each arm and reward, by the thousand."""
    return [(0, 0, 300), (0, 1, 200), (1, 0, 100), (1, 1, 400)]
