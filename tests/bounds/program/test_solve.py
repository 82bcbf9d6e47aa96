"""Weak duality: any multipliers prove an endpoint, and none passes the optimum."""

import numpy as np
from numpy.random import default_rng

from boundit.bounds.program.bilinear import BilinearProgram, bound_ratios
from boundit.bounds.program.solve import EndpointSearch, Solver
from boundit.bounds.program.types import MAX_LISTED, TypeBlock, Variable, World


def test_random_multipliers_never_beat_the_optimum() -> None:
    rng = default_rng(0)
    program = BilinearProgram()
    names = [program.add_variable() for _ in range(5)]
    point = rng.random(5)
    for _ in range(4):
        weights = rng.normal(size=5)
        value = float(weights @ point)
        program.add_row(zip(weights.tolist(), names, strict=True), value - 0.1, value + 0.1)
    solver = Solver(program)
    ends = solver.row_low, solver.row_high
    assert solver.box is not None
    cost = rng.normal(size=5)
    for _ in range(300):
        y = rng.normal(size=4) * rng.choice([0.1, 1, 10])
        bound, _ = solver._certify(cost, y, solver.box, solver.weight, ends)
        assert bound <= cost @ point


def test_products_are_branched_to_their_optimum() -> None:
    """The least of x y + (1 - x)(1 - y) with x + y = 1 is 0 at a corner, the greatest 1/2."""
    program = BilinearProgram()
    x, y = program.add_variable(), program.add_variable()
    program.add_row([(1.0, x), (1.0, y)], 1.0, 1.0)
    xy = program.multiply(x, y)
    total = program.add([(2.0, xy)])
    assert isinstance(total, Variable)
    solver = Solver(program)
    ends = []
    for upper in (False, True):
        search = EndpointSearch(solver, total.index, upper=upper)
        search.advance(60)
        ends.append(search.endpoint)
    assert -1e-9 <= -ends[0] <= 1e-6
    assert 0.5 <= ends[1] + 1e-9 <= 0.51


def test_types_priced_by_argument_are_those_that_are_listed() -> None:
    """The free variable's best answers give the same price as listing all joint types."""
    rng = default_rng(1)
    levels, parents = {"Z": 4, "X": 5, "Y": 2}, {"X": ("Z",), "Y": ("X",)}
    block = TypeBlock(("X", "Y"), levels, parents)
    for z in range(4):
        block.worlds.append(World({"Z": z}, ("X", "Y"), [Variable(i) for i in range(10)]))
    block.worlds.append(World({"X": 2}, ("Y",), [Variable(i) for i in range(2)]))
    assert block.count_types("X", "Y") > MAX_LISTED
    block.prepare(0)
    assert block.free == "X"
    for _ in range(20):
        y = rng.normal(size=42)
        best = -np.inf
        for answers in np.ndindex(*(2,) * 5):  # of Y to each x; X's best answer to each z
            shown = sum(max(y[10 * z + 2 * x + answers[x]] for x in range(5)) for z in range(4))
            best = max(best, shown + y[40 + answers[2]])
        price, columns = block.price(y)
        assert np.isclose(price, best)
        assert np.isclose(sum(y[list(columns[0])]), best)


def test_ratios_hold_for_every_distribution_in_the_box() -> None:
    rng = default_rng(2)
    low, high = np.array([0.1, 0.0, 0.2]), np.array([0.6, 0.3, 0.9])
    bottom = rng.random((20, 3))
    top = bottom * rng.random((20, 3))
    least, most = (bound_ratios(sign, top, bottom, low, high) for sign in (-1, 1))
    thetas = rng.dirichlet(np.ones(3), size=4_000)
    thetas = thetas[((thetas >= low) & (thetas <= high)).all(axis=1)]
    ratios = (thetas @ top.T) / (thetas @ bottom.T)
    assert (least <= ratios.min(axis=0) + 1e-12).all()
    assert (most >= ratios.max(axis=0) - 1e-12).all()
    assert np.allclose(least, ratios.min(axis=0), atol=0.05)
    assert np.allclose(most, ratios.max(axis=0), atol=0.05)
