"""One program for all boxes proves what a program made afresh for each box proves."""

from math import inf

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from boundit.bounds.lp.box_program import BoxProgram
from boundit.bounds.lp.branch_and_bound import ProbabilityBox
from boundit.bounds.lp.population import SUMS, ProgramRows
from boundit.bounds.lp.program import SolveStatus
from boundit.counts.named_array import Floats
from boundit.terms.long_work import FOR_EVER

N_TYPES, N_CELLS = 6, 3
Forms = list[tuple[Floats, Floats]]


def draw_cells(rng: Generator) -> tuple[ProgramRows, Floats, Forms]:
    """Two scenarios of three cells; columns: the total, a mass of each cell, the types."""
    n = 1 + 2 * N_CELLS + N_TYPES
    rows, unit = ProgramRows(n), np.eye(n)
    rows.add(unit[0], 1.0, 1.0)
    rows.add(unit[1 : 1 + 2 * N_CELLS].sum(axis=0) - unit[0], 0.0, 0.0)
    everyone = unit[-N_TYPES:].sum(axis=0)
    rows.add(everyone - unit[0], 0.0, 0.0)
    cells = []
    for scenario in range(2):
        masses = unit[1 + scenario * N_CELLS : 1 + (scenario + 1) * N_CELLS]
        reached = rng.integers(N_CELLS, size=N_TYPES)
        types = np.array([unit[-N_TYPES:][reached == c].sum(axis=0) for c in range(N_CELLS)])
        cells.append((masses, types))
    return rows, everyone, cells


def solve_afresh(
    rows: ProgramRows,
    everyone: Floats,
    cells: Forms,
    aim: Floats,
    box: ProbabilityBox,
    top: float,
) -> tuple[float, SolveStatus]:
    own = rows.copy()
    for (masses, types), low, high in zip(cells, *box, strict=True):
        chance = masses.sum(axis=0)
        for mass, share in zip(masses, types, strict=True):
            own.add(mass - low * share, 0.0, inf)
            own.add(mass - high * share, -inf, 0.0)
            if top < 1:
                own.add(mass - high * share - top * chance + high * top * everyone, 0.0, inf)
                own.add(mass - low * share - top * chance + low * top * everyone, -inf, 0.0)
    answer = own.make_program(SUMS + 1).maximise(aim)
    return answer.bound, answer.status


@pytest.mark.parametrize("top", [1.0, 0.7])
def test_boxes_one_after_another_are_as_made_afresh(top: float) -> None:
    rng = default_rng(3)
    for _ in range(6):
        rows, everyone, cells = draw_cells(rng)
        aim = np.concatenate([np.zeros(1 + 2 * N_CELLS), rng.random(N_TYPES)])
        tops = None if top == 1 else [[top] * N_CELLS] * 2
        boxes = BoxProgram(rows, everyone, cells, tops, least=1.0)
        for _ in range(8):
            low = rng.random(2) * 0.5
            box = ProbabilityBox(low, low + rng.random(2) * (0.9 - low))
            answer = boxes.prove_end(aim, box, FOR_EVER)
            afresh, status = solve_afresh(rows, everyone, cells, aim, box, top)

            assert answer.status is status
            assert len(answer.point) == rows.n_columns
            if status is SolveStatus.OPTIMAL:
                assert answer.bound == pytest.approx(afresh, abs=1e-7)


def test_a_chance_that_is_known_leaves_no_room_around_a_product() -> None:
    rows, everyone, cells = draw_cells(default_rng(4))
    boxes = BoxProgram(rows, everyone, cells, least=1.0)
    known = np.array([0.3, 0.7])
    aim = np.concatenate([np.zeros(1 + 2 * N_CELLS), np.ones(N_TYPES)])
    answer = boxes.prove_end(aim, ProbabilityBox(known, known), FOR_EVER)

    for (masses, types), chance in zip(cells, known, strict=True):
        np.testing.assert_allclose(
            masses @ answer.point, chance * (types @ answer.point), atol=1e-8
        )
