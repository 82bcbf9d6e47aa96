from dataclasses import replace
from functools import cache

import pytest

from boundit.bounds.fused.pooled_law import LawReader, PooledLaw
from boundit.terms.fused_plan import FusedPlan
from boundit_research.audits.plans import (
    PlanReport,
    audit_plans,
    judge_plan,
    plan_problem,
)
from boundit_research.audits.problems import draw_problems


@cache
def audit_small() -> PlanReport:
    return audit_plans(400, seed=1)


def test_plans_say_what_is_true_of_random_models() -> None:
    """A share of ``boundit audit --of plans``: cells, means, pools, draws and tilts."""
    report = audit_small()

    assert report
    assert report.models == 400
    assert report.worst_gap < 1e-9
    assert report.compared.keys() == {"cells", "means", "pools", "draws", "tilts"}
    assert min(report.compared.values()) > 10
    kinds = (report.plain, report.from_rows, report.tilted, report.online)
    assert min(kinds) > 0
    assert sum(kinds) == report.plans
    assert report.share_planned == report.plans / 400


@pytest.mark.parametrize("test", ["are_draws", "has_tilt", "find_tables"])
def test_a_test_that_says_yes_too_often_is_found_out(
    monkeypatch: pytest.MonkeyPatch, test: str
) -> None:
    def list_holding(reader: LawReader, law: PooledLaw) -> list[int]:
        wanted = law.of | law.given
        return [i for i, table in enumerate(reader.tables) if wanted <= table]

    yes = {"find_tables": list_holding}
    monkeypatch.setattr(LawReader, test, yes.get(test, lambda _, law: bool(law.given)))
    report = PlanReport(seed=1)
    for problem in draw_problems(1, 300):
        with_table = replace(problem, tables=(problem.model.graph.observed,))
        judge_plan(problem, plan_problem(with_table), report)
        if report.misses:
            return
    pytest.fail("nothing was missed")


def test_a_wrong_number_is_a_miss() -> None:
    problem, plan = next(
        (problem, plan)
        for problem in draw_problems(1, 50)
        if isinstance(plan := plan_problem(problem), FusedPlan)
    )
    report = PlanReport(seed=1)
    wrong = FusedPlan(
        plan.pairs, plan.factors, plan.cells, plan.n, tuple(0.9 * s for s in plan.sums)
    )

    judge_plan(problem, wrong, report)

    assert {miss.what for miss in report.misses} == {"cells", "means"}
    assert not report
    assert report.misses[0].query == str(problem.query)


def test_without_models_nothing_is_claimed() -> None:
    assert PlanReport(seed=0).share_planned == 0


def test_an_interruption_keeps_what_is_done() -> None:
    def stop(done: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    assert audit_plans(10, progress=stop).models == 3
