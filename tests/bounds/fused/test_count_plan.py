"""The plan's numbers, against counting rows one by one."""

from itertools import product

import numpy as np
import pytest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.derive import derive_bounds
from boundit.bounds.fused.count_plan import PlanCounter
from boundit.bounds.fused.pooled_law import LawReader
from boundit.bounds.fused.search import SchemeSearch
from boundit.counts.read import read_log
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.worlds import flipped_world, paper_world
from boundit.terms.fused_plan import FusedPlan

GRAPH = "C -> X; X -> V; V -> W; C -> W; W -> Y; C -> Y; V -> [S]; X <-> W"
RANGE = (-2.0, 3.0)


def rows(n: int = 400) -> dict[str, list[object]]:
    rng = np.random.default_rng(3)
    return {
        "X": rng.choice(["a", "b", "c"], n).tolist(),
        "C": rng.integers(0, 2, n).tolist(),
        "V": rng.choice(["low", "high"], n).tolist(),
        "W": rng.integers(0, 3, n).tolist(),
        "Y": rng.uniform(*RANGE, n).tolist(),
    }


def plan_of(log: dict[str, list[object]], names: tuple[str, ...]) -> FusedPlan:
    graph, query = parse(GRAPH), parse_query("Y | do(X), C")
    table = read_log(log).count(["X", "C", "V", "W"], reward="Y")
    reader = LawReader(graph, query)
    search = SchemeSearch(reader, frozenset(names), table.n_levels, 6)
    scheme = search.find()
    assert scheme is not None
    keys = [((x,), (c,)) for x, c in product(table.levels["X"], table.levels["C"])]
    return PlanCounter(reader, BinaryReward(table, "Y", *RANGE, binary=False)).count(
        scheme, keys
    )


def test_cells_and_pools_hold_the_rows_that_they_name() -> None:
    log = rows()
    plan = plan_of(log, ("V", "W"))
    lines = [dict(zip(log, row, strict=True)) for row in zip(*log.values(), strict=True)]
    low, high = RANGE
    seen = dict[int, set[int]]()

    for i, ((x,), (c,)) in enumerate(plan.pairs):
        for leaf, cells in enumerate(product(*(f.cells for f in plan.factors))):
            levels = dict(zip(plan.variables, sum(cells, ()), strict=True))
            matching = {
                k
                for k, line in enumerate(lines)
                if {"X": x, "C": c, **levels}.items() <= line.items()
            }
            seen.setdefault(plan.cells[i][leaf], set()).update(matching)
    for cell, found in seen.items():
        earned = sum((float(str(lines[k]["Y"])) - low) / (high - low) for k in found)
        assert plan.n[cell] == len(found)
        assert plan.sums[cell] == pytest.approx(earned)


def test_a_pool_is_named_by_pair_and_by_the_cells_before() -> None:
    log = rows()
    plan = plan_of(log, ("V", "W"))
    before = list[tuple[object, ...]]([()])

    for factor in plan.factors:
        held = factor.shares or factor.counts
        by_pool = dict[int, set[tuple[object, ...]]]()
        for i, ((x,), (c,)) in enumerate(plan.pairs):
            for prefix, levels in enumerate(before):
                by_pool.setdefault(factor.pools[i][prefix], set()).add((x, c, *levels))
        assert sorted(by_pool) == list(range(factor.n_pools))
        if any(map(any, held)):
            assert sum(map(sum, held)) == len(log["X"])
        before = [(*old, *cell) for old in before for cell in factor.cells]
    assert len(plan.cells[0]) == len(before)


def test_the_papers_world_has_eight_rows_of_two_cells_and_a_tilt_by_x1() -> None:
    """FUSED 1: U2 goes (C3), pools by X1 (W1), and the log shows I1 up to a tilt (W3)."""
    world = paper_world()
    plan = derive_bounds(world.graph, world.query, world.log(5_000, 1)).pooling

    assert isinstance(plan, FusedPlan)
    (factor,) = plan.factors
    assert (factor.variables, factor.cells) == (("I1",), ((0,), (1,)))
    assert (len(plan.pairs), len(plan.n), len(set(plan.cells))) == (16, 16, 8)
    assert (
        len(
            {
                (arm, context[0], row)
                for (arm, context), row in zip(plan.pairs, plan.cells, strict=True)
            }
        )
        == 8
    )
    assert [pool for (pool,) in factor.pools] == [arm[0] for arm, _ in plan.pairs]
    assert factor.shares is not None
    assert sum(map(sum, factor.shares)) == sum(plan.n)
    assert factor.counts == ((0, 0), (0, 0))
    assert "one tilt" in factor.reason


def test_the_flipped_world_has_one_pool_and_no_tilt() -> None:
    world = flipped_world()
    plan = derive_bounds(world.graph, world.query, world.log(5_000, 1)).pooling

    assert isinstance(plan, FusedPlan)
    (factor,) = plan.factors
    assert factor.variables == ("Z",)
    assert (factor.n_pools, factor.shares, factor.counts) == (1, None, ((0, 0),))
    assert "from rounds alone" in factor.reason
