"""The selection rate, and four times the rows."""

import pytest

import boundit as bd
from boundit.decisions.suggest.evaluation import Evaluation, measure_width
from boundit.decisions.suggest.selection_and_rows import suggest_rows, suggest_selection_rate
from boundit.simulation.environments import flipped_environment, random_environment
from tests.decisions.suggest.problems import evaluate

WORLD = flipped_environment()


@pytest.mark.parametrize("world", [WORLD, random_environment(2, arms=3, contexts=1)])
def test_four_times_the_rows_is_as_a_log_four_times_as_long(world: bd.Environment) -> None:
    (found,) = suggest_rows(evaluate(world, rows=8_000))
    longer = bd.derive_bounds(world.graph, world.query, world.log(32_000, seed=7))

    assert found.width == pytest.approx(measure_width(longer), rel=0.08)
    assert found.kind == "rows"


def test_the_selection_rate_is_asked_at_the_middle_and_the_ends() -> None:
    evaluation = evaluate(WORLD)
    (found,) = suggest_selection_rate(evaluation)

    assert found.width == evaluation.measure_rate(0.5)
    assert found.least == evaluation.measure_rate(1.0)
    assert found.most == evaluation.width
    assert found.least < found.width < found.most


def test_the_largest_rate_that_is_not_refuted_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluation = evaluate(WORLD)

    def measure(_: Evaluation, rate: float) -> float | None:
        return 0.4 - rate / 4 if rate < 0.6 else None

    monkeypatch.setattr(Evaluation, "measure_rate", measure)
    (found,) = suggest_selection_rate(evaluation)
    assert found.least == pytest.approx(0.4 - 0.6 / 4, abs=0.01)
    assert "the largest the log allows" in found.basis


def test_without_selection_or_chance_there_is_nothing_to_ask() -> None:
    graph = bd.parse_graph("X -> Y")
    model = bd.SCM(graph, {"X": ([], 0.5), "Y": (["X"], [0.2, 0.8])})
    plain = evaluate(bd.Environment(model, bd.parse_query("Y | do(X)")))

    assert suggest_selection_rate(plain) == []
    assert suggest_rows(evaluate(WORLD, exact=True)) == []
