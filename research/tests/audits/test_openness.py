from dataclasses import replace
from functools import cache

import pytest
from numpy.random import default_rng

from boundit.bounds.plan import Profile
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.text import parse
from boundit.simulation.model import Model
from boundit.simulation.random_models import draw_model
from boundit.terms.bound_table import BoundTable
from boundit_research.audits import openness, table_slopes
from boundit_research.audits.openness import NEAR, OpenReport, Place, audit_openness
from boundit_research.audits.problems import Problem, bound_problem, draw_problems
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


def test_rows_that_are_not_shown_open_are_told_with_how_far_rivals_came() -> None:
    report = audit_small()

    assert report.shown + sum(row.rows for row in report.doubtful) == report.left_open
    for row in report.doubtful:
        assert NEAR < row.lowest <= row.highest < 1 - NEAR
        assert row.flat


def test_the_same_seed_finds_the_same_and_every_model_is_told() -> None:
    heard: list[int] = []

    one = audit_openness(6, seed=4, progress=heard.append)

    assert heard == [1, 2, 3, 4, 5, 6]
    assert replace(one, worst_gap=0) == replace(audit_openness(6, seed=4), worst_gap=0)


def test_an_interrupt_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    assert audit_openness(10, seed=4, progress=stop).models == 2


def test_a_model_with_another_log_is_no_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model beside the rival comes as near to the end, and counts for nothing."""
    true_search = ModelSurface.find_furthest

    def beside(self: ModelSurface, query: EffectQuery, at: Place, **options: int) -> Rival:
        there = true_search(self, query, at, **options)
        tables = {
            node: (table.axes[:-1], 0.999 * table.values + 0.001 / table.values.shape[-1])
            for node, table in there.model.tables.items()
        }
        model = Model(self.model.graph, tables)
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


def test_a_rival_with_another_effect_than_it_says_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true_search = ModelSurface.find_furthest

    def boasting(self: ModelSurface, *asked: object, **options: object) -> Rival:
        there = true_search(self, *asked, **options)  # type: ignore[arg-type]
        return replace(there, effect=there.effect / 2)

    monkeypatch.setattr(ModelSurface, "find_furthest", boasting)
    report = audit_openness(6, seed=4)

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


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_an_interval_that_leaves_a_rival_out_is_missed(
    monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    """Bounds on rows next to an open one, made too narrow: the rival for it is outside."""

    def narrowed(problem: Problem, profile: Profile) -> BoundTable:
        table = bound_problem(problem, profile)
        first, *others = table.bounds.items()
        small = {
            key: replace(bound, lower=0.5, upper=max(0.5, bound.upper))
            if side == "lower"
            else replace(bound, lower=min(0.5, bound.lower), upper=0.5)
            for key, bound in others
        }
        return replace(table, bounds={first[0]: first[1], **small}, contrasts={})

    monkeypatch.setattr(openness, "bound_problem", narrowed)
    report = audit_openness(6, seed=4)

    assert not report
    assert report.wrong == 0
    assert report.missed > 0


def test_hidden_causes_of_more_levels_show_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rivals with two hidden levels each do not come to both ends of this one."""
    *_, problem = draw_problems(0, 39)
    report, narrow = OpenReport(0), OpenReport(0)

    openness._judge_problem(problem, report, default_rng(0))
    monkeypatch.setattr(openness, "split_hidden_levels", lambda model, _: model)
    openness._judge_problem(problem, narrow, default_rng(0))

    assert narrow.shown < report.shown == report.left_open


def test_a_climb_is_not_called_finished_before_more_levels_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = property(lambda self: max(self.points.levels.values()) > 3)
    monkeypatch.setattr(ModelSurface, "is_large", large)

    report = audit_openness(8, seed=4)

    assert report.doubtful
    assert not any(row.flat for row in report.doubtful)


def test_what_is_too_large_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_slopes, "LARGEST", 1)

    report = audit_openness(6, seed=4)

    assert report.rivals == report.shown == 0
    assert report.doubtful
    assert all(row.lowest == row.highest and not row.flat for row in report.doubtful)


def test_a_report_of_nothing_divides_by_nothing() -> None:
    assert OpenReport(0)
    assert OpenReport(0).share_shown == 1.0
