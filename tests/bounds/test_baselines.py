import numpy as np
import pytest

from boundit.bounds.baselines import adjust_for_confounding_only, condition_only
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.worlds import make_paper_model, paper_world
from boundit.terms.interval import Interval
from tests.bounds.exact import as_log


def test_cp_is_the_logged_mean_of_each_arm_in_each_context() -> None:
    """Appendix, Table 1, column CP, from the printed probabilities."""
    world = paper_world()
    table = condition_only(world.graph, world.query, world.exact_log())
    logged = make_paper_model().log().marginalize(("X1", "X2", "U1", "U2", "Y"))
    means = logged.condition_on(("X1", "X2", "U1", "U2")).at({"Y": 1})

    for (arm, context), bound in table.bounds.items():
        place = dict(zip(("X1", "X2", "U1", "U2"), arm + context, strict=True))
        assert bound.lower == bound.upper == pytest.approx(float(means.at(place)))  # type: ignore[arg-type]
    assert table.caveats == (
        "this is a biased estimate, not a bound: neither bias is corrected",
    )


def test_biased_is_the_back_door_formula_on_the_logged_rows() -> None:
    """Eq. 2 as if every row had been kept; the context plays no part."""
    world = paper_world()
    table = adjust_for_confounding_only(world.graph, world.query, world.exact_log())
    law = make_paper_model().log()
    inner = (
        law.marginalize(("X1", "X2", "U1", "Y")).condition_on(("X1", "X2", "U1")).at({"Y": 1})
    )
    outer = law.marginalize("U1")
    expected = (inner.align(("X1", "X2", "U1")) * outer.values).sum(axis=-1)

    for (arm, _), bound in table.bounds.items():
        assert bound.lower == pytest.approx(expected[arm])
    assert "selection is not corrected" in table.caveats[0]


def test_where_nothing_adjusts_the_range_is_all_there_is() -> None:
    graph = parse("X -> Y; X <-> Y")
    table = adjust_for_confounding_only(graph, "Y | do(X)", {"X": [0, 1], "Y": [0, 1]})

    assert table[0, ()] == Interval(0, 1)


def test_a_pair_never_logged_has_no_estimate() -> None:
    graph = parse("C -> Y; X -> Y")
    rows = {"X": [0, 1, 1], "C": [0, 0, 1], "Y": [1, 1, 0]}

    assert condition_only(graph, "Y | do(X), C", rows)[0, 1] == Interval(0, 1)


def test_on_an_unbiased_log_both_are_right() -> None:
    model = Model.of({"X": ([], 0.4), "Y": (["X"], [0.2, 0.7])})
    for baseline in (condition_only, adjust_for_confounding_only):
        table = baseline(model.graph, "Y | do(X)", as_log(model.law()))
        assert np.allclose([table[x, ()].lower for x in (0, 1)], [0.2, 0.7])
