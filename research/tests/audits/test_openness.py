from dataclasses import replace
from functools import cache

import pytest
from numpy.random import default_rng

from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.random_models import draw_model
from boundit.simulation.scm import SCM
from boundit_research.audits import openness
from boundit_research.audits.openness import OpenReport, Place, audit_openness
from boundit_research.audits.problems import Problem, draw_problems
from boundit_research.audits.rivals import ModelSurface, Rival


@cache
def audit_small() -> OpenReport:
    return audit_openness(8, seed=4)


def test_rivals_show_rows_to_be_open_and_are_what_they_are_said_to_be() -> None:
    """A share of ``boundit audit --of openness``, with and without confounding."""
    report = audit_small()

    assert report
    assert report.models == 8
    assert report.wrong == report.missed == 0
    assert report.worst_gap < 1e-10
    assert 0 < report.unconfounded < report.shown < report.left_open < report.rows
    assert report.share_shown == report.shown / report.left_open


def test_a_model_with_another_log_is_no_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model beside the rival comes as near to the end, and counts for nothing."""
    true_search = ModelSurface.find_furthest

    def beside(self: ModelSurface, query: EffectQuery, at: Place, **options: int) -> Rival:
        there = true_search(self, query, at, **options)
        tables = {
            node: (table.axes[:-1], 0.999 * table.values + 0.001 / table.values.shape[-1])
            for node, table in there.model.tables.items()
        }
        model = SCM(self.model.graph, tables)
        effect = model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        return replace(
            there, model=model, effect=float(effect.at({query.outcomes[0]: 1, **at}))
        )

    monkeypatch.setattr(ModelSurface, "find_furthest", beside)
    report = audit_openness(6, seed=4)

    assert not report
    assert report.wrong == report.rivals > 0
    assert report.shown == 0


def test_a_rival_has_to_show_the_unbiased_tables_too() -> None:
    """Climbs that forget a table come too far."""
    model = draw_model(parse("X -> Y -> [S]"), default_rng(0), levels=(2,))
    problem = Problem(model, parse_query("Y | do(X)"), (frozenset("Y"),))
    rival = ModelSurface(model).find_furthest(problem.query, {"X": 1}, towards=1, until=0.999)
    report = OpenReport(0)

    openness._RivalRange(problem, report)._take_rival(rival, {"X": 1})
    openness._RivalRange(replace(problem, tables=()), report)._take_rival(rival, {"X": 1})

    assert (report.rivals, report.wrong) == (2, 1)


def test_hidden_causes_of_more_levels_show_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rivals with two hidden levels each do not come to both ends of this one."""
    *_, problem = draw_problems(0, 39)
    report, narrow = OpenReport(0), OpenReport(0)

    openness._judge_problem(problem, report, default_rng(0))
    monkeypatch.setattr(openness, "split_hidden_levels", lambda model, _: model)
    openness._judge_problem(problem, narrow, default_rng(0))

    assert narrow.shown < report.shown == report.left_open
