"""Widths under one change after another, on a log that is counted once."""

import pytest

import boundit as bd
from boundit.bounds.selection_facts import FactsRefuted
from boundit.core.long_work import TimeBudget
from boundit.decisions.suggest import evaluation as room
from boundit.decisions.suggest.evaluation import measure_width
from boundit.simulation.environments import flipped_environment
from tests.decisions.suggest.problems import evaluate

WORLD = flipped_environment()
LOG = WORLD.log(6_000, seed=1)


def test_widths_are_those_of_derived_bounds() -> None:
    evaluation = evaluate(WORLD)
    plain = bd.derive_bounds(WORLD.graph, WORLD.query, LOG)
    known = bd.derive_bounds(WORLD.graph, WORLD.query, LOG, selection_rate=0.4)

    assert evaluation.width == pytest.approx(measure_width(plain))
    assert evaluation.measure_rate(0.4) == pytest.approx(measure_width(known))
    assert evaluation.rows == round(LOG.count(["Z"]).rows)


def test_estimates_have_no_sampling_error() -> None:
    plug_in = bd.derive_bounds(WORLD.graph, WORLD.query, LOG, confidence=None)

    assert measure_width(plug_in) == pytest.approx(measure_width(plug_in, estimates=True))
    assert measure_width(plug_in) < evaluate(WORLD).width


def test_external_tables_narrow_as_they_do_for_users() -> None:
    table = bd.read_log({"Z": [0] * 300 + [1] * 100})
    known = bd.derive_bounds(WORLD.graph, WORLD.query, LOG, external=[table])

    assert evaluate(WORLD).measure_external([table]) == pytest.approx(measure_width(known))
    assert evaluate(WORLD, exact=True).measure_external([table]) is None


def test_what_contradicts_the_log_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = evaluate(WORLD)

    def refuse(*_: object) -> None:
        raise FactsRefuted("r >= 1")

    monkeypatch.setattr(room, "derive_table", refuse)
    assert evaluation.measure_rate(0.9) is None


def test_when_time_is_over_nothing_is_measured() -> None:
    late = evaluate(WORLD, budget=TimeBudget(0.0))

    assert late.measure_rate(0.5) is None
    assert late.measure_times(4) is None


def test_a_formula_is_found_where_the_effect_is_recoverable() -> None:
    evaluation = evaluate(WORLD)

    assert evaluation.find_formula(WORLD.graph) is None
    found = evaluation.find_formula(WORLD.graph, [frozenset("Z")])
    assert found == str(bd.identify(WORLD.graph, WORLD.query, external=["Z"]))
