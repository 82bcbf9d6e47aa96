import numpy as np
import pytest
from numpy.random import default_rng

from boundit.core.names import sort_names
from boundit.simulation.random_models import draw_graph, draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits.table_slopes import LawSlopes, ModelPoints


def draw_selected_model(seed: int) -> SCM:
    rng = default_rng(seed)
    return draw_model(draw_graph(4, rng, selection=True), rng, levels=(2, 3))


@pytest.mark.parametrize("seed", range(8))
def test_a_law_is_the_one_that_the_model_gives(seed: int) -> None:
    """The log, the population, and an effect: three ways to look at the same tables."""
    model = draw_selected_model(seed)
    points = ModelPoints(model.tables)
    y, x, c = sort_names(model.graph.observed)[:3]
    at = {x: 1, c: 0}

    log, _ = LawSlopes(points, model.log().axes, seen={"S": 1})(model.tables)
    law, _ = LawSlopes(points, [y])(model.tables)
    joint, _ = LawSlopes(points, [y], seen={c: 0}, done={x: 1})(model.tables)

    assert log / log.sum() == pytest.approx(model.log().values.ravel())
    assert log.sum() == pytest.approx(model.selection_rate())
    assert law == pytest.approx(model.distribution(y).values)
    effect = model.effect(outcomes=y, treatments=x, context=c).at(at).values
    assert joint / joint.sum() == pytest.approx(effect)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_what_a_small_move_does(seed: int) -> None:
    """The identity of the module's docstring, against differences on both sides."""
    model = draw_selected_model(seed)
    points, move = ModelPoints(model.tables), 1e-6
    start = points.to_point(model.tables)
    y, x, c = sort_names(model.graph.observed)[:3]
    laws = [
        LawSlopes(points, model.log().axes, seen={"S": 1}),
        LawSlopes(points, [y, c]),
        LawSlopes(points, [y], seen={c: 1}, done={x: 0}),
    ]
    way = default_rng(seed).normal(size=points.size)

    for law_slopes in laws:
        _, slopes = law_slopes(model.tables)
        up, down = (
            np.log(law_slopes(points.to_tables(start + s * move * way))[0]) for s in (1, -1)
        )
        assert slopes @ way == pytest.approx((up - down) / (2 * move), abs=1e-7)


def test_a_point_holds_the_tables_and_rows_are_scaled() -> None:
    model = draw_selected_model(1)
    points = ModelPoints(model.tables)
    start = points.to_point(model.tables)

    for node, table in points.to_tables(start + 3.0).items():
        assert table.axes == model.tables[node].axes
        assert table.values == pytest.approx(model.tables[node].values)


def test_only_what_bears_on_the_question_is_written_out() -> None:
    """A chain of 30 has too many cells; its first three have eight."""
    tables: dict[str, tuple[list[str], list[float]]] = {"V0": ([], [0.5, 0.5])}
    tables |= {f"V{i + 1}": ([f"V{i}"], [0.3, 0.6]) for i in range(29)}
    points = ModelPoints(SCM.of(tables).tables)

    assert LawSlopes(points, ["V2"]).drawn == ["V0", "V1", "V2"]
    assert LawSlopes(points, ["V29"], done={"V27": 1}).drawn == ["V28", "V29"]
    assert not LawSlopes(points, ["V2"]).is_large
    assert LawSlopes(points, ["V29"]).is_large
