"""The logging policy, with and without selection."""

from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.request import read_request
from boundit.core.interval import Interval
from boundit.decisions.compare import AnswersContradict, _compare_in_context, compare
from boundit.decisions.logged import LoggedMeans, bound_logged
from boundit.decisions.policies import LOGGED, read_policy
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.results.bound_table import BoundTable
from boundit.simulation.random_models import draw_model
from boundit_research.expected_log import open_expected_log
from tests.decisions.tables import make_table


def ask_logged(
    graph: CausalGraph, table: BoundTable, log: object, **options: object
) -> LoggedMeans:
    query = EffectQuery((table.outcome,), table.treatments, table.context)
    given = {"confidence": None} | options
    return bound_logged(read_request(graph, query, log, **given), table)  # type: ignore[arg-type]


def test_without_selection_it_is_the_mean_of_the_rows() -> None:
    graph = bd.parse_graph("C -> X -> Y; C -> Y; X <-> Y")
    model = draw_model(graph, np.random.default_rng(0), levels=(2,))
    log = open_expected_log(model)
    table = bd.derive_bounds(graph, "Y | do(X), C", log, confidence=None)
    found = ask_logged(graph, table, log)
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    for c in (0, 1):
        assert found.find((c,)).lower == pytest.approx(law[c, 1] / law[c].sum())
        assert found.find((c,)).width == pytest.approx(0, abs=1e-9)
    assert not found.is_randomized
    assert not found.is_selected


def test_under_selection_it_is_that_of_everyone() -> None:
    graph = bd.parse_graph("C -> X -> Y; C -> Y; X -> [S]")
    model = draw_model(graph, np.random.default_rng(1), levels=(2,))
    log, rate = open_expected_log(model), model.selection_rate()
    table = bd.derive_bounds(graph, "Y | do(X), C", log, confidence=None)
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    plain = ask_logged(graph, table, log)
    told = ask_logged(graph, table, log, selection_rate=rate)
    assert plain.is_randomized
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
    assert "the mean Y of the population" in str(found)


STRATIFIED = bd.parse_graph("Z -> X; C -> Z; X -> Y; Z -> Y; Z -> [S]")


@pytest.mark.parametrize("seed", range(6))
def test_groups_that_selection_goes_by_share_their_unknown_sizes(seed: int) -> None:
    """What is compared within groups holds the truth, and is no wider than subtracting."""
    model = draw_model(STRATIFIED, np.random.default_rng(seed), levels=(2, 3), binary=("Y",))
    log = open_expected_log(model)
    table = bd.derive_bounds(STRATIFIED, "Y | do(X), C", log, confidence=None)
    found = ask_logged(STRATIFIED, table, log)
    assert found.arms is not None
    assert found.within is not None
    assert found.by == ("Z",)
    assert len(found.list_strata((0,))) == model.n_levels["Z"]
    effect = model.effect(outcomes=("Y",), treatments=("X",), context=("C",))
    means = effect.at({"Y": 1}).align(("X", "C"))
    law = model.distribution(("C", "Y")).align(("C", "Y"))
    compared = compare(table, 0, bd.LOGGED, log=log, graph=STRATIFIED)
    for each in compared.differences:
        c = int(str(each.context[0]))
        did = law[c, 1] / law[c].sum()
        low, high = each.difference.lower, each.difference.upper
        assert low - 1e-9 <= means[0, c] - did <= high + 1e-9
        apart = table[0, c].upper - found.find((c,)).lower
        assert high <= apart + 1e-9


def test_the_error_of_groups_is_shared() -> None:
    model = draw_model(STRATIFIED, np.random.default_rng(0), levels=(2,))
    rows = model.sample_log(2_000, np.random.default_rng(1))
    log = {name: column.tolist() for name, column in rows.items()}
    table = bd.derive_bounds(STRATIFIED, "Y | do(X), C", log)
    found = ask_logged(STRATIFIED, table, log, confidence=0.97)
    assert found.arms is not None
    assert found.within is not None
    assert found.table.confidence == pytest.approx(0.99)
    assert found.arms.confidence == pytest.approx(0.99)
    assert found.within.table.confidence == pytest.approx(0.99)
    said = str(compare(table, 1, "log", log=log, graph=STRATIFIED))
    assert "compared within Z, on which selection depends" in said


def test_what_comes_after_the_arm_makes_no_groups() -> None:
    graph = bd.parse_graph("X -> M -> Y; M -> [S]")
    table = BoundTable.from_rows(
        [{"X": x, "lower": 0, "upper": 1} for x in (0, 1)],
        outcome="Y",
        treatments=["X"],
        outcome_range=(0, 1),
    )
    log = {"X": [0, 1], "M": [0, 1], "Y": [0, 1]}
    assert ask_logged(graph, table, log, confidence=0.9).within is None


def test_arms_without_bounds_make_it_no_lottery() -> None:
    graph = bd.parse_graph("X -> Y; Y -> [S]")
    rows = [{"X": 0, "lower": 0.1, "upper": 0.2}]
    table = BoundTable.from_rows(rows, outcome="Y", treatments=["X"], outcome_range=(0, 1))
    found = ask_logged(graph, table, {"X": [0, 1], "Y": [0, 1]}, confidence=0.9)
    assert not found.is_randomized


WHOLE = Interval(1, 1)


def make_logged(low: float, high: float, *, is_randomized: bool) -> LoggedMeans:
    rows = [{"C": c, "lower": low, "upper": high} for c in (0, 1)]
    table = BoundTable.from_rows(
        rows, outcome="Y", treatments=[], context=["C"], outcome_range=(0, 1)
    )
    return LoggedMeans(table, is_randomized, is_selected=True)


def bound(logged: LoggedMeans, *, turned: bool = False) -> Interval:
    table = make_table()
    arm = read_policy("b", table, table.contexts, "policy")
    sides = (LOGGED, arm) if turned else (arm, LOGGED)
    return _compare_in_context(table, sides, (0,), WHOLE, logged, {}).difference


def test_what_the_log_did_is_subtracted() -> None:
    found = bound(make_logged(0.2, 0.3, is_randomized=False))
    assert found.lower == pytest.approx(0.1)
    assert found.upper == pytest.approx(0.4)
    turned = bound(make_logged(0.2, 0.3, is_randomized=False), turned=True)
    assert turned.lower == pytest.approx(-0.4)


def test_a_lottery_lies_between_the_arms() -> None:
    """The arm itself stands for the log at worst, so that nothing is lost."""
    found = bound(make_logged(0.0, 1.0, is_randomized=True))
    assert found.lower == pytest.approx(0, abs=1e-9)
    assert found.upper == pytest.approx(0.5)


def test_ends_that_exclude_each_other_refute_or_are_left_to_chance() -> None:
    plain = make_logged(0.9, 1.0, is_randomized=True)
    found = bound(plain)
    assert found.upper == pytest.approx(-0.3)
    sure = replace(plain, table=replace(plain.table, confidence=0.95))
    with pytest.raises(AnswersContradict, match="the rows of the log"):
        bound(sure)
