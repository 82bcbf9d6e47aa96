"""A share of every audit: nothing is wrong, its seed repeats it, and what is wrong is seen."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from numpy.random import Generator

from boundit.bounds import chain
from boundit.bounds.pooling import Pooled, RowReader
from boundit.core.interval import Interval
from boundit.decisions.choose import choose
from boundit.decisions.compare import compare, compare_by
from boundit.graph.text import parse
from boundit.results.bound_table import BoundTable
from boundit.results.fused_plan import FusedPlan
from boundit.simulation.environment import Environment
from boundit.simulation.policies import FUSED, KINDS
from boundit.simulation.scm import SCM
from boundit_research import expected_log
from boundit_research.audits import (
    added_edges,
    choices,
    comparisons,
    coverage,
    formulas,
    large_worlds,
    limits,
    plans,
    problems,
    sharpness,
    soundness,
)
from boundit_research.audits.ablation import NOTHING, list_parts, measure_ablation
from boundit_research.audits.coverage_problems import FEWEST, MOST, draw_coverage_problems
from boundit_research.audits.report import Claims, Report, judge_each
from boundit_research.simulated_do import TrueMeans, compute_true_means

AUDITS: dict[str, Callable[[], Any]] = {
    "bounds": lambda: soundness.audit_bounds(6, seed=3),
    "large": lambda: large_worlds.audit_large_worlds(3, seed=1, nodes=(10, 13), rows=2_000),
    "formulas": lambda: formulas.audit_formulas(150, seed=9),
    "coverage": lambda: coverage.measure_coverage(6, seed=2),
    "plans": lambda: plans.audit_plans(150, seed=1),
    "limits": lambda: limits.audit_limits(15, seed=3),
    "comparisons": lambda: comparisons.audit_comparisons(1, seed=3),
    "choices": lambda: choices.audit_choices(2, seed=3),
    "stress": lambda: added_edges.audit_added_edges(2, seed=0),
}


@pytest.mark.parametrize("subject", AUDITS)
def test_nothing_is_wrong_and_the_seed_repeats_it(subject: str) -> None:
    report = AUDITS[subject]()

    assert report, str(report)
    assert report.models > 0
    assert not getattr(report, "misses", [])
    assert str(report) == str(AUDITS[subject]())


def test_an_interruption_keeps_what_is_done() -> None:
    report, heard = Report(0), list[int]()

    def stop(item: int) -> None:
        if item == 2:
            raise KeyboardInterrupt

    judge_each(report, range(5), stop, heard.append)
    assert (report.models, heard) == (2, [1, 2])
    with pytest.raises(KeyboardInterrupt):
        judge_each(Report(0), [2], stop, heard.append)


def test_claims_of_drawn_logs_may_fail_as_often_as_their_confidence_says() -> None:
    assert Claims().chance == 1
    assert Claims(1_000, 200, 200.0)
    assert not Claims(1_000, 270, 200.0)
    few = Claims()
    few.count(0.9, failed=True)
    assert (few.made, few.failed) == (1, 1)
    assert few.allowed == pytest.approx(0.1)


def test_a_truth_out_of_reach_is_missed_by_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    true_effect = SCM.effect

    def wrong(self: SCM, **roles: Any) -> Any:
        found = true_effect(self, **roles)
        return type(found)(found.axes, found.values + 2)

    monkeypatch.setattr(SCM, "effect", wrong)
    report = soundness.audit_bounds(2)

    assert not report
    assert report.tallies["sound"].missed_models == 2
    assert "outside [" in report.misses[0].row


def test_a_wrong_effect_is_missed_though_the_intervals_hold() -> None:
    problem = next(one for one in problems.draw_problems(3, 9) if not one.query.context)
    table, truth = problem.bound_exactly(), problem.find_truth()
    one, other = table.arms[:2]
    assert not problems.list_missed(table, truth)

    wrong = replace(table, contrasts={((), one, other): -1.0})
    assert any("effect of" in row for row in problems.list_missed(wrong, truth))


def test_odd_models_have_zeros_and_seldom_logged_rows_and_a_log() -> None:
    odd = [problem.model for problem in problems.draw_problems(3, 20, odd=1)]
    rates = [model.selection_rate() for model in odd]

    assert any((model.distribution().values == 0).any() for model in odd)
    assert 0 < min(rates) < problems.RARE
    plain = problems.draw_problems(3, 20, odd=1 / 3)
    same = zip(plain, problems.draw_problems(3, 20), strict=True)
    shares = [str(one.model.tables) == str(other.model.tables) for one, other in same]
    assert 0.4 < sum(shares) / len(shares) < 0.9


def test_endpoints_are_counted_by_rule_and_rows_by_selection_of_the_outcome() -> None:
    report = soundness.audit_bounds(12, seed=3)
    sound, known, paper = (report.tallies[name] for name in soundness.PROFILES)

    assert sum(sound.by_rule.values()) == 2 * sound.rows
    assert 0 < sound.selected < sound.rows
    assert sound.share_useful_unselected > sound.share_useful >= paper.share_useful
    assert known.mean_width < sound.mean_width <= paper.mean_width
    assert sound.effects > sound.rows / 2


def test_intervals_that_neglect_sampling_error_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = problems.Problem.bound_counts

    def neglect(self: problems.Problem, *given: Any, **options: Any) -> BoundTable:
        table = whole(self, *given, **options)
        rows = [
            row | {"lower": row["lower_estimate"], "upper": row["upper_estimate"]}
            for row in table.rows()
        ]
        return BoundTable.from_rows(
            rows,
            outcome=table.outcome,
            treatments=table.treatments,
            context=table.context,
            outcome_range=table.outcome_range,
        )

    monkeypatch.setattr(problems.Problem, "bound_counts", neglect)
    report = coverage.measure_coverage(10, seed=2)

    assert not report
    assert report.counts[coverage.EVERYTHING, "exact"] in report.list_short()
    assert report.misses[0].what


def test_a_shortfall_counts_only_beyond_chance_and_the_approximation_has_slack() -> None:
    report = coverage.CoverageReport(0)
    for kind, held in (("a", 93), ("b", 94)):
        one = coverage.Coverage(kind, "exact", 0.95, 100, held, held)
        report.counts[kind, "exact"] = one

    assert report
    few = coverage.Coverage("c", "exact", 0.95, 100, 86, 86)
    report.counts["c", "exact"] = few
    assert report.list_short() == [few]
    assert report.find_count("d", "approximate").floor == pytest.approx(0.93)


def test_drawn_problems_have_all_kinds_of_knowledge_and_the_rows_they_say() -> None:
    known, pays = set[str](), set[bool]()
    for problem, rng in draw_coverage_problems(1, 15):
        known |= {*problem.facts, *(["tables"] if problem.tables else [])}
        pays.add(problem.pay == problems.BINARY)
        counts = problem.draw_counts(rng)
        assert [one.values.sum() for one in counts] == list(problem.sizes)
        assert all(FEWEST <= n <= MOST for n in problem.sizes)

    assert known == {"selection_rate", "selection_limit", "tables"}
    assert pays == {True, False}


def boast(*arguments: Any, **options: Any) -> Any:
    found = compare(*arguments, **options)
    high = found.interval.upper + 0.1
    return replace(found, interval=Interval(high, high + 0.1))


def boast_by(*arguments: Any, **options: Any) -> Any:
    found = compare_by(*arguments, **options)
    high = found.interval.upper + 0.1
    return replace(found, interval=Interval(high, high + 0.1))


def test_verdicts_that_are_too_sure_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (comparisons, added_edges):
        monkeypatch.setattr(module, "compare", boast)
    monkeypatch.setattr(comparisons, "compare_by", boast_by)
    pairs = comparisons.audit_comparisons(2, seed=3)
    edges = added_edges.audit_added_edges(3, seed=3)

    assert not pairs
    assert pairs.wrong > 0
    assert not edges
    assert "is called better" in edges.misses[0].row
    assert edges.comparisons.failed == edges.comparisons.made


def test_promises_that_are_too_small_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def promise_nothing(*arguments: Any, **options: Any) -> Any:
        made = choose(*arguments, **options)
        low = {at: replace(one, max_regret=-1.0) for at, one in made.choices.items()}
        return replace(made, choices=low)

    monkeypatch.setattr(choices, "choose", promise_nothing)
    report = choices.audit_choices(3, seed=3)

    assert not report
    assert len(report.misses) == report.choices
    assert report.drawn.failed == report.drawn.made


def test_a_limit_that_is_taken_for_a_smaller_one_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tilt = chain.least_tilted_mean
    monkeypatch.setattr(
        chain,
        "least_tilted_mean",
        lambda e, low, high, values, limit: tilt(e, low, high, values, 1 + (limit - 1) / 3),
    )
    report = limits.audit_limits(15, seed=3)

    assert not report
    assert report.misses[0].log == "exact"


def test_the_limit_of_a_model_is_given_all_that_came_before() -> None:
    """Of two strata the one where the cause moves more; without a cause it is 1."""
    graph = parse("Z -> X -> Y; X <-> Y; Z -> Y")
    y: Any = (["X", "X<->Y", "Z"], [[[0.2] * 2, [0.6] * 2]] * 2)
    moved: dict[str, Any] = {"X<->Y": ([], 0.5), "Z": ([], 0.5), "Y": y}
    same: Any = (["Z", "X<->Y"], [[0.2, 0.2], [0.7, 0.7]])
    other: Any = (["Z", "X<->Y"], [[0.2, 0.2], [0.5, 0.9]])

    assert limits.measure_limit(SCM(graph, moved | {"X": same}), "X", "Y") == pytest.approx(1)
    odds = (0.9 / 0.1) / (0.7 / 0.3), (0.7 / 0.3) / (0.5 / 0.5)
    found = limits.measure_limit(SCM(graph, moved | {"X": other}), "X", "Y")
    assert found == pytest.approx(max(odds))


@pytest.mark.parametrize("test", ["are_draws", "has_tilt", "find_tables"])
def test_a_plan_that_says_yes_too_often_is_found_out(
    monkeypatch: pytest.MonkeyPatch, test: str
) -> None:
    def list_holding(reader: RowReader, law: Pooled) -> list[int]:
        return [i for i, one in enumerate(reader.tables) if law.of | law.given <= one]

    yes = {"find_tables": list_holding}
    monkeypatch.setattr(RowReader, test, yes.get(test, lambda _, law: bool(law.given)))
    report = plans.PlanReport(seed=1)
    for problem in problems.draw_problems(1, 300):
        with_table = replace(problem, tables=(problem.model.graph.observed,))
        plans.judge_plan(problem, plans.plan_problem(with_table), report)
        if report.misses:
            return
    pytest.fail("nothing was missed")


def test_a_wrong_number_in_a_plan_is_a_miss() -> None:
    problem, plan = next(
        (problem, plan)
        for problem in problems.draw_problems(1, 50)
        if isinstance(plan := plans.plan_problem(problem), FusedPlan)
    )
    report = plans.PlanReport(seed=1)
    plans.judge_plan(problem, replace(plan, sums=tuple(0.9 * s for s in plan.sums)), report)

    assert {miss.what for miss in report.misses} == {"cells", "means"}


def test_on_large_graphs_only_the_error_of_the_truth_excuses_a_miss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def move(world: Environment, rng: Generator) -> TrueMeans:
        found = compute_true_means(world, rng)
        moved = {key: mean + 2 + 9 * i for i, (key, mean) in enumerate(found.means.items())}
        return TrueMeans(moved, dict.fromkeys(moved, error), exact=not error)

    monkeypatch.setattr(large_worlds, "compute_true_means", move)
    for error in (0.0, 100.0):
        report = large_worlds.audit_large_worlds(1, seed=1, nodes=(10, 13), rows=1000)
        assert bool(report) == bool(error)
        assert bool(report.misses) != bool(error)
    monkeypatch.setattr(expected_log, "MOST_CELLS", 1)
    report = large_worlds.audit_large_worlds(1, nodes=(10, 10), rows=1000)
    assert (report.tallies["exact"].tables, report.tallies["exact"].left_out) == (0, 1)
    tally = large_worlds.LogTally
    assert tally(0.95, tables=1000, missed_tables=70).may_be_chance
    assert not tally(0.95, tables=1000, missed_tables=71).may_be_chance
    assert not tally(tables=1000, missed_contrasts=1).may_be_chance


def test_every_part_has_its_line_and_what_is_left_out_widens_rows() -> None:
    report = measure_ablation(4, seed=1)
    whole = report.tallies["", NOTHING]
    parts = list_parts()

    assert set(parts["policy"]) == {*KINDS, *FUSED}
    assert {(k, part) for k, listed in parts.items() for part in listed} < {*report.tallies}
    assert (whole.wider, whole.used) == (0, 4 - report.refuted)
    assert report.tallies["distribution", "Known"].mean_width > whole.mean_width
    for tally in report.tallies.values():
        assert tally.rows == whole.rows
        if not tally.used:
            assert (tally.width, tally.regret) == (whole.width, whole.regret)


def narrow(problem: problems.Problem, *given: Any, **options: Any) -> BoundTable:
    table = problems.bound_problem(problem, *given, **options)
    first, *others = table.bounds.items()
    small = {key: replace(b, upper=max(b.lower, b.upper - 0.3)) for key, b in others}
    return replace(table, bounds={first[0]: first[1], **small}, contrasts={})


def test_a_bound_that_claims_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharpness, "bound_problem", narrow)
    sharp = sharpness.measure_sharpness(1, suite=sharpness.SUITE[:1])

    assert not sharp
    assert {end.side for end in sharp.misses} == {"upper"}
