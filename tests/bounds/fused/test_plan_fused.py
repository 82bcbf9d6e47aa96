"""Which logs have a plan, and what is said where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.bounds.fused import search
from boundit.counts.read import read_log
from boundit.graph.text import parse
from boundit.simulation.worlds import paper_world
from boundit.terms.bound_table import BoundTable
from boundit.terms.fused_plan import FusedPlan, NoFusedPlan

TILTED = parse("X -> W -> Y; W -> [S]")


def draw(n: int = 500, seed: int = 0) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    w = rng.random(n) < 0.3 + 0.4 * x
    y = rng.random(n) < 0.2 + 0.5 * w
    found = {"X": x.tolist(), "W": w.astype(int).tolist(), "Y": y.astype(int).tolist()}
    return {**found, "user": [f"u{i // 2}" for i in range(n)]}


def plan(table: BoundTable) -> FusedPlan:
    assert isinstance(table.pooling, FusedPlan)
    return table.pooling


def reason(table: BoundTable) -> str:
    assert isinstance(table.pooling, NoFusedPlan)
    return table.pooling.reason


def test_an_exact_law_has_no_rows() -> None:
    world = paper_world()
    table = derive_bounds(world.graph, world.query, world.exact_log(), confidence=None)

    assert "exact law" in reason(table)


def test_rows_of_clusters_are_no_draws_of_their_own() -> None:
    table = derive_bounds(TILTED, "Y | do(X)", draw(), cluster="user", inference="approximate")

    assert "belong together" in reason(table)


def test_clusters_that_were_counted_once_are_draws() -> None:
    log = draw()
    doubled = {name: [v for v in values for _ in range(2)] for name, values in log.items()}
    doubled["user"] = [str(i // 2) for i in range(len(doubled["X"]))]

    once = derive_bounds(TILTED, "Y | do(X)", doubled, cluster="user")

    assert plan(once) == plan(derive_bounds(TILTED, "Y | do(X)", log))


def test_the_papers_profile_has_intervals_alone() -> None:
    assert "'paper'" in reason(derive_bounds(TILTED, "Y | do(X)", draw(), profile="paper"))


def test_a_reward_that_selects_has_no_plan_and_the_walk_says_why() -> None:
    table = derive_bounds(parse("X -> W -> Y; W -> [S]; Y -> [S]"), "Y | do(X)", draw())

    assert "by Y -> S" in reason(table)


def test_no_time_is_said() -> None:
    table = derive_bounds(TILTED, "Y | do(X)", draw(), time_limit=0)

    assert "time" in reason(table)


def test_too_many_pairs_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_PLACES", 1)

    assert "2 pairs" in reason(derive_bounds(TILTED, "Y | do(X)", draw()))


def test_a_log_of_whole_counts_is_its_rows() -> None:
    log = draw()
    counted = read_log(log).count(["X", "W"], reward="Y")
    lines = {
        name: [counted.levels[name][code] for code in counted.codes[:, i]]
        for i, name in enumerate(counted.variables)
    }
    assert counted.sums is not None
    ones, all_rows = counted.sums.astype(int).tolist(), counted.n.astype(int).tolist()
    zeros = [n - one for n, one in zip(all_rows, ones, strict=True)]
    short = {name: values * 2 for name, values in lines.items()}
    short |= {"Y": [1] * len(ones) + [0] * len(zeros), "n": ones + zeros}

    table = derive_bounds(TILTED, "Y | do(X)", read_log(short, weight="n"))

    assert plan(table) == plan(derive_bounds(TILTED, "Y | do(X)", log))


def test_a_numeric_reward_is_scaled() -> None:
    log = draw()
    money = {**log, "Y": [10 * float(str(y)) - 5 for y in log["Y"]]}

    table = derive_bounds(TILTED, "Y | do(X)", money, outcome_range=(-5, 5))

    assert plan(table).sums == pytest.approx(plan(derive_bounds(TILTED, "Y | do(X)", log)).sums)


def test_contexts_in_bins_are_their_bins() -> None:
    log = draw()
    aged = {**log, "Age": np.linspace(0, 100, len(log["X"])).tolist()}
    graph = parse("Age -> X; Age -> Y; X -> W -> Y; W -> [S]")

    found = plan(derive_bounds(graph, "Y | do(X), Age", read_log(aged, bins={"Age": [18, 65]})))

    assert len(found.pairs) == 6
    assert sum(found.n) == len(log["X"])


def test_a_log_that_a_learning_policy_wrote_counts_as_any() -> None:
    log = read_log(draw())

    adaptive = derive_bounds(TILTED, "Y | do(X)", replace(log, adaptive=True))

    assert plan(adaptive) == plan(derive_bounds(TILTED, "Y | do(X)", log))


def test_an_external_table_of_rows_gives_weights_and_one_of_a_law_does_not() -> None:
    log, other = draw(), draw(300, 1)
    table = {name: other[name] for name in ("X", "W")}
    law = {"X": [0, 0, 1, 1], "W": [0, 1, 0, 1], "p": [0.25] * 4}

    by_rows = derive_bounds(TILTED, "Y | do(X)", log, external=[table])
    by_law = derive_bounds(
        TILTED, "Y | do(X)", log, external=[read_log(law, weight="p", exact=True)]
    )

    (factor,) = plan(by_rows).factors
    assert sum(map(sum, factor.counts)) == 300
    assert factor.shares is None
    assert "external table" in factor.reason
    *reasons, last = plan(by_law).reasons
    assert "exact law" in last
    alone = plan(derive_bounds(TILTED, "Y | do(X)", log))
    assert replace(plan(by_law), reasons=tuple(reasons)) == alone


def test_an_external_table_that_helps_nothing_is_named() -> None:
    other = derive_bounds(TILTED, "Y | do(X)", draw(), external=[{"X": draw(300, 1)["X"]}])

    assert "not counted" in plan(other).reasons[-1]


def test_bounds_without_a_confidence_have_the_same_plan() -> None:
    log = draw()

    sure, plug_in = (
        derive_bounds(TILTED, "Y | do(X)", log, confidence=c) for c in (0.95, None)
    )

    assert plan(sure) == plan(plug_in)
