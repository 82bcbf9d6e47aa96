"""Large random worlds: of the shape asked for, repeatable, with logs of so many rows."""

import numpy as np
import pytest

from boundit_research.large_models import (
    MOST_COMPANIONS,
    MOST_PARENTS,
    WorldShape,
    draw_large_log,
    draw_large_world,
)

SHAPES = [
    WorldShape(10, 1.0, hidden=0.0),
    WorldShape(25, 2.5, hidden=0.3, treatments=2, contexts=2),
    WorldShape(60, 1.5, contexts=1, selection=False, levels=(2,)),
    WorldShape(200, 2.5, hidden=0.3, treatments=2, contexts=2, reach=8),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_world_has_the_shape_asked_for(shape: WorldShape) -> None:
    world = draw_large_world(shape, np.random.default_rng(4))
    graph, (outcome,) = world.graph, world.query.outcomes

    assert len(graph.observed) == shape.nodes
    assert (graph.selection == "S") == shape.selection
    assert len(world.query.treatments) == shape.treatments
    assert len(world.query.context) <= shape.contexts
    assert graph.ancestors(outcome) > frozenset(world.query.treatments)
    assert not graph.descendants(world.query.treatments) & frozenset(world.query.context)
    assert all(len(graph.links[name].parents) <= MOST_PARENTS for name in graph.nodes)
    assert all(len(graph.links[name].siblings) <= MOST_COMPANIONS for name in graph.nodes)
    assert len(graph.bidirected) <= round(shape.hidden * shape.nodes)
    levels = world.model.n_levels
    assert {levels[name] for name in graph.observed - {outcome}} <= set(shape.levels)
    assert {levels[name] for name in (outcome, *world.model.hidden)} == {2}


def test_arrows_are_as_many_as_asked_up_to_the_cap() -> None:
    """A Poisson number of mean 1.5, of which little is beyond four: within a tenth."""
    rng = np.random.default_rng(6)
    worlds = [draw_large_world(WorldShape(100, 1.5, selection=False), rng) for _ in range(20)]
    arrows = sum(len(world.graph.directed) for world in worlds)

    assert arrows / 2000 == pytest.approx(1.5, abs=0.1)


def test_causes_within_reach_make_long_chains() -> None:
    far, near = (
        draw_large_world(WorldShape(80, selection=False, reach=reach), np.random.default_rng(3))
        for reach in (None, 5)
    )

    assert all(int(b[1:]) - int(a[1:]) <= 5 for a, b in near.graph.directed)
    assert any(int(b[1:]) - int(a[1:]) > 5 for a, b in far.graph.directed)
    n_causes = [len(world.graph.ancestors(world.query.outcomes)) for world in (far, near)]
    assert n_causes[1] > n_causes[0]


def test_a_seed_fixes_the_world_and_its_log() -> None:
    def drawn(seed: int) -> tuple[str, str, bytes]:
        rng = np.random.default_rng(seed)
        world = draw_large_world(SHAPES[1], rng)
        log = draw_large_log(world.model, 300, rng)
        return str(world.graph), str(world.query), np.array(list(log.values())).tobytes()

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_log_has_the_rows_asked_for_as_the_model_logs_them() -> None:
    """80,000 rows are more than one batch; shares within five standard errors of the law."""
    world = draw_large_world(SHAPES[0], np.random.default_rng(8))
    log = draw_large_log(world.model, 80_000, np.random.default_rng(9))

    assert log.keys() == world.graph.observed
    assert {(len(column), column.dtype) for column in log.values()} == {
        (80_000, np.dtype("i1"))
    }
    for name, column in log.items():
        law = world.model.log([name]).values
        found = np.bincount(column, minlength=len(law)) / len(column)
        assert np.abs(found - law).max() < 5 * 0.5 / np.sqrt(len(column))
