"""What the log did, with and without selection."""

import numpy as np
import pytest

import boundit as bd
from boundit.decisions.compare.compare import compare
from boundit.decisions.compare.logged import bound_logged
from boundit.results.bound_table import BoundTable
from boundit.simulation.random_models import draw_model
from boundit_research.expected_log import open_expected_log


def test_without_selection_it_is_the_mean_of_the_rows() -> None:
    graph = bd.parse_graph("C -> X -> Y; C -> Y; X <-> Y")
    model = draw_model(graph, np.random.default_rng(0), levels=(2,))
    log = open_expected_log(model)
    table = bd.derive_bounds(graph, "Y | do(X), C", log, confidence=None)
    found = bound_logged(graph, table, log, confidence=None)
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    for c in (0, 1):
        assert found.find((c,)).lower == pytest.approx(law[c, 1] / law[c].sum())
        assert found.find((c,)).width == pytest.approx(0, abs=1e-9)
    assert not found.is_lottery
    assert not found.is_selected


def test_under_selection_it_is_that_of_everyone() -> None:
    graph = bd.parse_graph("C -> X -> Y; C -> Y; X -> [S]")
    model = draw_model(graph, np.random.default_rng(1), levels=(2,))
    log, rate = open_expected_log(model), model.selection_rate()
    table = bd.derive_bounds(graph, "Y | do(X), C", log, confidence=None)
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    plain = bound_logged(graph, table, log, confidence=None)
    told = bound_logged(graph, table, log, confidence=None, selection_rate=rate)
    assert plain.is_lottery
    for c in (0, 1):
        truth = law[c, 1] / law[c].sum()
        assert truth in plain.find((c,))
        assert truth in told.find((c,))
        assert told.find((c,)).width < plain.find((c,)).width


def test_a_lottery_over_arms_is_compared_under_their_own_unknowns() -> None:
    """Nothing is known of who was selected, and yet no arm loses to a mixture of worse ones."""
    graph = bd.parse_graph("X -> Y; X -> [S]; Y -> [S]")
    rows = [
        {"X": 0, "lower": 0.1, "upper": 0.2},
        {"X": 1, "lower": 0.5, "upper": 0.9},
    ]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    log = {"X": [0, 1] * 50, "Y": [0, 1, 1, 1] * 25}
    found = compare(table, 1, bd.LOGGED, log=log, graph=graph)
    # Against itself an arm earns nothing more; against the other at least 0.3.
    assert found.interval.lower == pytest.approx(0, abs=1e-9)
    assert found.interval.upper == pytest.approx(0.8)
    assert "the mean of Y among everyone" in str(found)


GROUPED = bd.parse_graph("Z -> X; C -> Z; X -> Y; Z -> Y; Z -> [S]")


@pytest.mark.parametrize("seed", range(6))
def test_groups_that_selection_goes_by_share_their_unknown_sizes(seed: int) -> None:
    """What is compared within groups holds the truth, and is no wider than subtracting."""
    model = draw_model(GROUPED, np.random.default_rng(seed), levels=(2, 3), binary=("Y",))
    log = open_expected_log(model)
    table = bd.derive_bounds(GROUPED, "Y | do(X), C", log, confidence=None)
    found = bound_logged(GROUPED, table, log, confidence=None)
    assert found.groups is not None
    assert found.groups.names == ("Z",)
    assert len(found.groups.list_within((0,))) == model.n_levels["Z"]
    effect = model.effect(outcomes=("Y",), treatments=("X",), context=("C",))
    means = effect.at({"Y": 1}).align(("X", "C"))
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    compared = compare(table, 0, bd.LOGGED, log=log, graph=GROUPED, confidence=None)
    for each in compared.differences:
        c = int(str(each.context[0]))
        did = law[c, 1] / law[c].sum()
        low, high = each.difference.lower, each.difference.upper
        assert low - 1e-9 <= means[0, c] - did <= high + 1e-9
        apart = table[0, c].upper - found.find((c,)).lower
        assert high <= apart + 1e-9


def test_the_error_of_groups_is_shared() -> None:
    model = draw_model(GROUPED, np.random.default_rng(0), levels=(2,))
    rows = model.sample_log(2_000, np.random.default_rng(1))
    log = {name: column.tolist() for name, column in rows.items()}
    table = bd.derive_bounds(GROUPED, "Y | do(X), C", log)
    found = bound_logged(GROUPED, table, log, confidence=0.97)
    assert found.groups is not None
    assert found.table.confidence == pytest.approx(0.99)
    assert found.groups.arms.confidence == pytest.approx(0.99)
    assert found.groups.logged.table.confidence == pytest.approx(0.99)
    said = str(compare(table, 1, "log", log=log, graph=GROUPED))
    assert "How many of each Z there are is one unknown" in said


def test_what_comes_after_the_arm_makes_no_groups() -> None:
    graph = bd.parse_graph("X -> M -> Y; M -> [S]")
    table = BoundTable.from_rows(
        [{"X": x, "lower": 0, "upper": 1} for x in (0, 1)],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )
    log = {"X": [0, 1], "M": [0, 1], "Y": [0, 1]}
    assert bound_logged(graph, table, log, confidence=0.9).groups is None


def test_arms_without_bounds_make_it_no_lottery() -> None:
    graph = bd.parse_graph("X -> Y; Y -> [S]")
    rows = [{"X": 0, "lower": 0.1, "upper": 0.2}]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    found = bound_logged(graph, table, {"X": [0, 1], "Y": [0, 1]}, confidence=0.9)
    assert not found.is_lottery
