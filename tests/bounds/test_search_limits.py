"""What the search for rules finds on graphs with groups, and what it says where it stopped."""

import numpy as np
import pytest
from numpy.random import Generator, default_rng

import boundit as bd
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.random_models import draw_model
from tests.bounds.exact import as_log

GROUP = "X = {a, b, c, d}; X -> t; X -> m; X -> y; t -> m -> y; m <-> y; m -> [S]; X -> [S]"

SLACK = 0.03
"""Rules are intersected after contexts were averaged over, which may lose a little."""


def draw_grouped(rng: Generator) -> tuple[CausalGraph, str]:
    """A graph with a group of causes, a treatment, a mediator and a reward."""
    group = "abcd"[: int(rng.integers(2, 5))]
    nodes = ["X", "t", "m", "y"]
    said = [f"X = {{{', '.join(group)}}}", "t -> m", "m -> y", "m -> [S]"]
    for i, one in enumerate(nodes):
        for other in nodes[i + 1 :]:
            said += [f"{one} -> {other}"] * (rng.random() < 0.6)
            said += [f"{one} <-> {other}"] * (one != "X" and rng.random() < 0.25)
    said += [f"{one} -> [S]" for one in ("X", "t") if rng.random() < 0.4]
    return bd.parse_graph("; ".join(said)), group


def rows_of(n: int) -> dict[str, list[int]]:
    """Selected rows of a model of the graph with a group of four."""
    model = draw_model(bd.parse_graph(GROUP), default_rng(3), levels=(2,), floor=0.2)
    law = model.log()
    drawn = default_rng(4).choice(law.values.size, n, p=law.values.ravel() / law.values.sum())
    places = np.unravel_index(drawn, law.values.shape)
    return {name: column.tolist() for name, column in zip(law.axes, places, strict=True)}


@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.full) for seed in (0, 1, 2, 4, 5))]
)
def test_an_interval_is_hardly_wider_than_those_of_single_contexts(seed: int) -> None:
    rng = default_rng(seed)
    graph, group = draw_grouped(rng)
    model = draw_model(graph, rng, levels=(2,))
    log = as_log(model.log())
    whole = bd.derive_bounds(graph, "y | do(t)", log, confidence=None)
    truth = model.effect(outcomes=["y"], treatments=["t"]).align(("t", "y"))[:, 1]
    for (arm, _), mean in zip(whole.bounds, truth, strict=True):
        found = whole[arm, ()]
        assert found.lower - 1e-9 <= mean <= found.upper + 1e-9
    for name in group:
        parts = bd.derive_bounds(graph, f"y | do(t), {name}", log, confidence=None)
        for arm in whole.arms:
            hull = [parts[arm, context] for context in parts.contexts]
            assert whole[arm, ()].lower >= min(each.lower for each in hull) - SLACK
            assert whole[arm, ()].upper <= max(each.upper for each in hull) + SLACK


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_a_group_larger_than_the_limit_is_conditioned_on(confidence: float | None) -> None:
    log = rows_of(20_000)
    asked = bd.derive_bounds(GROUP, "y | do(t)", log, confidence=confidence)
    raised = bd.derive_bounds(GROUP, "y | do(t)", log, confidence=confidence, max_condition=5)

    for key, bound in asked.bounds.items():
        assert bound.upper - bound.lower < 0.95
        assert bound.lower == pytest.approx(raised.bounds[key].lower, abs=0.02)
        assert bound.upper == pytest.approx(raised.bounds[key].upper, abs=0.02)


def test_mediators_beyond_the_limit_are_found_where_nothing_else_is() -> None:
    graph = bd.parse_graph(
        "t -> m1 -> y; t -> m2 -> y; t -> m3 -> y; t -> m4 -> y; m1 -> [S]; m2 -> [S]; "
        "m3 -> [S]; m4 -> [S]; hidden u; u -> m1; u -> m2; u -> m3; u -> m4; u -> [S]"
    )
    model = draw_model(graph, default_rng(0), levels=(2,), floor=0.2)
    log = as_log(model.log())
    found = bd.derive_bounds(graph, "y | do(t)", log, confidence=None, max_condition=1)

    assert all(bound.upper - bound.lower < 0.99 for bound in found.bounds.values())


def test_no_width_is_said_to_stay_where_a_limit_cut_the_search() -> None:
    log = rows_of(4_000)
    cut = bd.derive_bounds(GROUP, "y | do(t)", log, max_condition=0)
    said = str(cut.explain(cut.arms[0]))

    assert "max_condition=0" in str(cut)
    for claim in ("identified set", "would remain", "infinite"):
        assert claim not in said


def test_a_width_is_said_to_stay_where_all_sets_were_tried() -> None:
    graph = bd.parse_graph("t -> y; t <-> y")
    log = {"t": [0, 1] * 200, "y": [0, 1, 1, 0] * 100}
    whole = bd.derive_bounds(graph, "y | do(t)", log)

    assert "identified set" in str(whole.explain(whole.arms[0]))
    assert "would remain with infinite data" in whole.summary()
    assert not whole.caveats


def test_cells_that_nobody_saw_are_no_fact_of_the_graph() -> None:
    rows = {"t": [0, 0, 1, 1] * 100, "w": [0, 0, 0, 1] * 100, "y": [0, 1, 1, 0] * 100}
    table = bd.derive_bounds("w -> t -> y; w -> y; w -> [S]", "y | do(t)", rows)
    said = str(table.explain(table.arms[0]))

    assert "never logged" in said
    assert "identified set" not in said


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_a_finer_context_that_no_term_reads_is_gone_over_too(confidence: float | None) -> None:
    """V4 is asked of by chains within chains, and read by none of their terms."""
    graph = "V1 -> [S]; V3 -> [S]; V3 -> V1; V4 -> [S]; V4 -> V1; V4 -> V5; V5 -> V2; V3 <-> V5"
    rng = np.random.default_rng(0)
    log = {f"V{i}": rng.integers(0, 2, 500) for i in range(1, 6)}

    table = bd.derive_bounds(graph, "V2 | do(V3)", log, confidence=confidence)

    assert all(bound.upper - bound.lower < 1 for bound in table.bounds.values())
