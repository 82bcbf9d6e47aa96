"""Differences of arms under one shared unknown: they hold, alone and with their intervals."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.derive import derive_bounds
from boundit.counts.log import read_log
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from tests.bounds.core import draw_selected

SLACK = 1e-7


def list_misses(table: BoundTable, model: SCM) -> Iterator[str]:
    """List the effects of all pairs of arms that miss the truth."""
    names = table.treatments + table.context
    truth = model.effect(
        outcomes=(table.outcome,), treatments=table.treatments, context=table.context
    ).at({table.outcome: 1})
    means = {
        (arm, where): float(
            truth.at(
                {
                    n: int(str(v))
                    for n, v in zip(names, arm + where, strict=True)
                    if n in truth.names
                }
            ).values
        )
        for arm in table.arms
        for where in table.contexts
    }
    for baseline in table.arms:
        for arm, effect in table.effects(baseline).items():
            for where, interval in effect.intervals.items():
                true = means[arm, where] - means[baseline, where]
                if not interval.lower - SLACK <= true <= interval.upper + SLACK:
                    yield f"{model.graph}: {arm} against {baseline} at {where}"


def bound_exact(model: SCM, query: str, **facts: float) -> BoundTable:
    law = model.log()
    codes = np.indices(law.values.shape).reshape(len(law.axes), -1)
    rows = {axis: code.tolist() for axis, code in zip(law.axes, codes, strict=True)}
    log = read_log({**rows, "weight": law.values.ravel().tolist()}, weight="weight", exact=True)
    return derive_bounds(model.graph, query, log, confidence=None, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("known", [False, True])
def test_effects_of_random_selected_models_hold(known: bool) -> None:
    compared = 0
    for asked, _ in draw_selected(12, seed=3 + known):
        facts = {"selection_rate": asked.model.selection_rate()} if known else {}
        table = bound_exact(asked.model, str(asked.query), **facts)
        compared += bool(table.contrasts)
        assert not list(list_misses(table, asked.model))
    assert compared


GRAPH = parse("U -> X -> Y; U -> Y; U -> [S]; X -> Y")


def test_effects_of_drawn_logs_hold_at_the_stated_confidence() -> None:
    rng, missed, n_logs = default_rng(8), 0, 40
    model = draw_model(GRAPH, rng)
    for _ in range(n_logs):
        law = model.log()
        counts = rng.multinomial(800, law.values.ravel() / law.values.sum())
        codes = np.indices(law.values.shape).reshape(len(law.axes), -1)
        rows = {axis: code.tolist() for axis, code in zip(law.axes, codes, strict=True)}
        log = read_log({**rows, "weight": counts.tolist()}, weight="weight")
        table = derive_bounds(GRAPH, "Y | do(X)", log, confidence=0.8)
        assert table.contrasts
        missed += bool(list(list_misses(table, model)))
    assert missed <= 0.2 * n_logs


def test_an_effect_is_narrower_than_the_difference_of_intervals_where_an_unknown_is_shared() -> (
    None
):
    model = draw_model(GRAPH, default_rng(8))
    table = bound_exact(model, "Y | do(X)")
    apart = table[1, ()].upper - table[0, ()].lower

    assert table.effect(1, 0)[()].upper < apart - 1e-3
