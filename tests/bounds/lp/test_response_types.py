"""Response types as runs: the same programs as with every joint type spelled out."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy.optimize import linprog

from boundit.bounds.lp.program import Program, SparseMatrix
from boundit.bounds.lp.response_types import (
    TypedVariable,
    TypeScenario,
    list_assignments,
    list_response_types,
)
from boundit.counts.named_array import Floats
from tests.nodes import make_nodes

X, Y = TypedVariable("X", 2, ("Z",)), TypedVariable("Y", 2, ("X",))
BOW = TypedVariable("X", 2), Y


def make_watched(**outside: int) -> TypeScenario:
    return TypeScenario(outside, make_nodes("X", "Y"))


def test_the_bow_has_six_runs_and_the_instrument_fourteen() -> None:
    """Of 8 and 16 joint types: a function is asked only where some scenario asks for it."""
    treated = TypeScenario({"X": 1}, make_nodes("Y"))
    bow = list_response_types(BOW, [make_watched(), treated])
    instrument = list_response_types((X, Y), [make_watched(Z=0), make_watched(Z=1), treated])

    assert bow is not None
    assert instrument is not None
    assert (bow.n_types, instrument.n_types) == (6, 14)


def test_runs_agree_with_themselves_wherever_the_arguments_agree() -> None:
    found = list_response_types(
        (X, Y), [make_watched(Z=0), make_watched(Z=1), TypeScenario({"X": 1}, make_nodes("Y"))]
    )

    assert found is not None
    x, y = found.runs
    for i, j in product(range(3), repeat=2):
        same = x[i] == x[j]
        assert (y[i][same] == y[j][same]).all()
    assert (x[2] == 1).all()
    assert len({tuple(column) for column in found.runs.reshape(6, -1).T}) == found.n_types


def test_what_does_not_matter_in_a_scenario_is_merged() -> None:
    chain = TypedVariable("X", 2), TypedVariable("M", 2, ("X",)), TypedVariable("Y", 2, ("M",))
    scenarios = [TypeScenario({"X": 1}, make_nodes("M", "Y"))]
    whole = list_response_types(chain, scenarios)
    merged = list_response_types(chain, scenarios, shown={0: make_nodes("Y")})

    assert whole is not None
    assert merged is not None
    assert (whole.n_types, merged.n_types) == (4, 2)


def test_too_many_types_are_not_listed() -> None:
    assert (
        list_response_types((X, Y), [make_watched(Z=0), make_watched(Z=1)], most=12) is not None
    )
    assert list_response_types((X, Y), [make_watched(Z=0), make_watched(Z=1)], most=11) is None


def test_cells_are_numbered_like_a_table() -> None:
    found = list_response_types(BOW, [make_watched()])

    assert found is not None
    assert sorted(found.find_cells(0, ["X", "Y"])) == [0, 1, 2, 3]
    assert (found.find_cells(0, ["X", "Y"]) == 2 * found.runs[0, 0] + found.runs[1, 0]).all()


def test_no_variables_have_one_assignment() -> None:
    assert list(list_assignments({})) == [{}]


def list_full_runs(
    variables: Sequence[TypedVariable],
    scenarios: Sequence[TypeScenario],
    levels: dict[str, int],
) -> list[list[dict[str, int]]]:
    """Every joint type, whole functions of all arguments, run through the scenarios."""
    tables = [
        [
            dict(zip(product(*(range(levels[a]) for a in v.arguments)), values, strict=True))
            for values in product(
                range(v.n_levels), repeat=int(np.prod([levels[a] for a in v.arguments]))
            )
        ]
        for v in variables
    ]
    found = []
    for functions in product(*tables):
        runs = []
        for scenario in scenarios:
            at = dict(scenario.values)
            for variable, function in zip(variables, functions, strict=True):
                if variable.name not in at and variable.name in scenario.followed:
                    at[variable.name] = function[tuple(at[a] for a in variable.arguments)]
            runs.append(at)
        found.append(runs)
    return found


def draw_variables(rng: Generator) -> tuple[list[TypedVariable], dict[str, int]]:
    """Three variables, causes first, each with some arguments, and an outside one."""
    levels = {name: int(rng.integers(2, 4)) for name in "ZXM"} | {"Y": 2}
    given = {"X": ["Z"], "M": ["Z", "X"], "Y": ["X", "M"]}
    chosen = {v: [a for a in names if rng.random() < 0.7] for v, names in given.items()}
    if len(chosen["Y"]) == 2:
        levels["X"] = levels["M"] = 2
    return [TypedVariable(v, levels[v], tuple(chosen[v])) for v in "XMY"], levels


def test_reduced_programs_have_the_ends_of_the_full_ones() -> None:
    """Dropping and merging types changes nothing: the full program by another solver."""
    for rng in default_rng(5).spawn(12):
        variables, levels = draw_variables(rng)
        inside = make_nodes("X", "M", "Y")
        scenarios = [TypeScenario({"Z": z}, inside) for z in range(levels["Z"])]
        target = TypeScenario({"X": 1, "Z": 0}, make_nodes("M", "Y"))
        full = list_full_runs(variables, [*scenarios, target], levels)
        weights = rng.dirichlet(np.ones(len(full)))
        names, shape = ["X", "M", "Y"], [levels[v] for v in "XMY"]
        cells = np.array(
            [
                [np.ravel_multi_index([run[s][v] for v in names], shape) for run in full]
                for s in range(len(scenarios))
            ]
        )
        heads = np.array([run[-1]["Y"] for run in full], dtype=float)
        found = list_response_types(variables, [*scenarios, target])
        assert found is not None
        assert found.n_types <= len(full)
        ours = np.array([found.find_cells(s, names) for s in range(len(scenarios))])
        size = int(np.prod(shape))
        law = encode_one_hot(cells, size) @ weights
        matrix = encode_one_hot(ours, size)
        program = Program(SparseMatrix.from_dense(matrix), lower=law, upper=law)
        cost = (found.find_cells(len(scenarios), ["Y"]) == 1).astype(float)
        oracle = {
            sign: linprog(sign * heads, A_eq=encode_one_hot(cells, size), b_eq=law).fun * sign
            for sign in (1, -1)
        }
        assert program.minimise(cost).value == pytest.approx(oracle[1], abs=1e-7)
        assert program.maximise(cost).value == pytest.approx(oracle[-1], abs=1e-7)


def encode_one_hot(cells: np.ndarray, size: int) -> Floats:
    """A row for every scenario and cell: who is in it."""
    return np.vstack([(row == np.arange(size)[:, None]).astype(float) for row in cells])
