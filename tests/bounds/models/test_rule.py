"""Adjustment by models as a rule beside others: endpoints, reasons and caveats."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import boundit as bd
from boundit.bounds.chain import Run
from boundit.bounds.evidence import Counts, Evidence, Probabilities, has_two_values
from boundit.bounds.inference.approximate import Approximate
from boundit.bounds.inference.base import Endpoints
from boundit.bounds.models.rule import (
    NAME,
    FittedModels,
    ModelRule,
    WithModels,
    find_many_values,
    fit_models,
    leave_numbers,
)
from boundit.bounds.search import find_chains
from boundit.core.formula import StepRecord
from boundit.core.long_work import TimeBudget
from boundit.core.names import Nodes
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.counts.table import share_levels
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.results.bound import RuleRecord
from tests.bounds.models.examples import BACK_DOOR, SATURATED, Constant, draw_back_door
from tests.bounds.models.test_aipw import draw_log, saturate, score

Rows = dict[str, Any]
NUMBERS = "Z = {A, B}; Z -> X; Z -> Y; X -> Y"
SHAPE = (2, 2)


def draw_numbers(n: int, seed: int = 0) -> tuple[Rows, NDArray[np.float64]]:
    """Rows with two numbers that steer both the arm and the outcome, and the true means."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    x = (rng.random(n) < 1 / (1 + np.exp(-a))).astype(int)
    mean = [1 / (1 + np.exp(-(0.8 * a + 0.3 * b + 0.5 * arm))) for arm in range(2)]
    y = (rng.random(n) < np.where(x, mean[1], mean[0])).astype(int)
    return {"A": a, "B": b, "X": x, "Y": y}, np.array([of.mean() for of in mean])


def gather(
    log: object,
    graph: str,
    query: str,
    external: Sequence[object],
    outcome_range: tuple[float, float],
    cluster: str | None,
    workspace: Workspace,
) -> Evidence:
    """Count what chains read but columns of many numbers."""
    drawn, asked, opened = parse(graph), parse_query(query), read_log(log)
    axes, others = asked.treatments + asked.context, [read_log(each) for each in external]
    many = find_many_values(drawn, asked, opened)
    wanted = sorted(drawn.observed - many - {"Y"})
    first = opened.count(wanted, reward="Y", selection=drawn.selection, cluster=cluster)
    tables = [
        other.count([name for name in wanted if name in other.columns])
        for other in others
        if set(wanted).intersection(other.columns)
    ]
    counts = [
        Counts(table, table.reward, *outcome_range, has_two_values(table, *outcome_range))
        for table in share_levels(first, tables, {})
    ]
    assert set(axes) <= set(wanted)
    population = tuple(counts[1:]) if drawn.selection else (counts[0],)
    return Evidence(drawn, asked, counts[0], population, workspace)


def fit(
    log: object,
    graph: str = BACK_DOOR,
    query: str = "Y | do(X)",
    *,
    models: bd.Models | str = SATURATED,
    external: Sequence[object] = (),
    outcome_range: tuple[float, float] = (0.0, 1.0),
    cluster: str | None = None,
    hidden: Nodes = frozenset(),
    workspace: Workspace = Workspace(10**9),  # noqa: B008, it is frozen
) -> tuple[FittedModels, Evidence]:
    evidence = gather(log, graph, query, external, outcome_range, cluster, Workspace(10**9))
    found = fit_models(
        bd.Models(kind=models) if isinstance(models, str) else models,  # type: ignore[arg-type]
        evidence.graph,
        replace(evidence, workspace=workspace),
        read_log(log),
        [read_log(each) for each in external],
        confidence=0.95,
        hidden=hidden,
        cluster=cluster,
    )
    return found, evidence


def bound(*given: Any, **options: Any) -> tuple[Endpoints, ModelRule]:
    found, evidence = fit(*given, **options)
    assert found.rule is not None
    graph, held = evidence.graph, evidence.log.names
    chains = [c for c in find_chains(graph, evidence.query).rules if c.needs <= held]
    return WithModels(found.rule).bound(chains, evidence), found.rule


def make_rule(n: int = 2_000, seed: int = 0) -> ModelRule:
    log, z = draw_log(n, seed)
    record = RuleRecord(NAME, "because", (StepRecord("fitted somehow"),))
    return ModelRule(parse_query("Y | do(X), C"), score(log, saturate(log, z)), record, 0.95)


def test_endpoints_lie_some_standard_errors_from_the_estimates() -> None:
    rule = make_rule()
    (low, high), scores = rule.bound_near(), rule.scores
    away = (scores.lower.value - low) / scores.lower.error

    assert (away > 2.2).all()  # eight endpoints at once
    assert (away < 2.9).all()
    assert away == pytest.approx((high - (1 - scores.upper.value)) / scores.upper.error)
    many = replace(rule, scores=replace(scores, covariance=None))
    assert (many.bound_near()[0] <= low).all()


def test_rows_with_few_outcomes_are_left_to_other_rules() -> None:
    rule = make_rule(n=60)
    low, high = rule.bound_near()

    assert not rule.trusted.all()
    assert (high - low)[~rule.trusted] == pytest.approx(1)
    said = f"in {(~rule.trusted).sum()} of 4 rows of the table too few"
    assert said in str(rule.describe_gaps()[0])


def test_what_is_hardly_ever_chosen_is_told() -> None:
    rule = make_rule()
    rare, whole = (
        replace(rule, scores=replace(rule.scores, unlikely=np.full(SHAPE, share)))
        for share in (0.031, 1.0)
    )

    assert "up to 3.1 % of the rows" in str(rare.describe_gaps()[0])
    assert "up to 100 % of the rows" in str(whole.describe_gaps()[0])
    assert (
        "where the arm is too rare, 0.031 of the rows: 1, as"
        in rare.explain((0, 0), (0, 1), upper=True)[-1]
    )
    assert rule.describe_gaps() == []


def test_with_saturated_models_it_agrees_with_the_sum_over_strata() -> None:
    for seed in range(6):
        rows, _ = draw_back_door(4_000, seed, n_strata=2 + seed % 4)
        found, rule = bound(rows)
        low, high = rule.bound(Run(Probabilities(fit(rows)[1])))
        for arm in range(2):
            shares = np.bincount(rows["Z"]) / 4_000
            means = [
                rows["Y"][(rows["Z"] == z) & (rows["X"] == arm)].mean()
                for z in range(len(shares))
            ]
            width = found.upper[arm] - found.lower[arm]
            assert low[arm] == pytest.approx(shares @ means, abs=width / 8)
            assert high[arm] == pytest.approx(low[arm])
        assert (found.lower_by == 1).all()
        assert found.rules[0] is rule


def test_numbers_need_no_bins_and_the_reason_says_what_was_done() -> None:
    rows, truth = draw_numbers(4_000)
    found, rule = bound(rows, NUMBERS, models="linear")
    steps = [str(step) for step in rule.reason.steps]

    assert ((found.lower <= truth) & (truth <= found.upper)).all()
    assert (found.upper - found.lower < 0.08).all()
    assert str(rule.reason.claim) == "P(Y | do(X)) is Σ_{A, B} P(A, B) P(Y | A, B, X)"
    assert steps[1] == "adjusted for A, B, with shares of the log"
    assert steps[2].startswith("reward by LogisticRegression, arm by LogisticRegression; 4,000")
    lines = rule.explain((1,), (0, 1), upper=False)
    assert [line.split(":")[0] for line in lines] == [
        "mean of what models predict",
        "mean of the rows' weighted errors",
    ]
    effective = found.sampling(rule, (1,), upper=False)
    assert effective is not None
    assert 500 < (effective.effective_rows or 0) < 4_000


def test_columns_of_many_numbers_are_left_to_models() -> None:
    rows, _ = draw_numbers(200)
    graph, query = parse(NUMBERS), parse_query("Y | do(X)")
    many = find_many_values(graph, query, read_log(rows))
    chains = find_chains(graph, query).rules
    kept, note = leave_numbers(chains, many)

    assert many == {"A", "B"}
    assert all(not chain.needs & many for chain in kept)
    assert len(kept) < len(chains)
    assert "A, B are numbers that models alone read; other rules could read them" in str(note)


def test_contexts_and_the_range_of_a_numeric_outcome_are_kept() -> None:
    rng = np.random.default_rng(0)
    rows, _ = draw_numbers(6_000)
    rows["C"] = np.where(rng.random(6_000) < 0.5, "new", "old")
    rows["Y"] = 10 + 5 * np.clip(
        0.6 * rows["Y"] + 0.2 * rng.random(6_000) + 0.2 * (rows["C"] == "old"), 0, 1
    )
    graph = "Z = {A, B}; Z -> X; Z -> Y; X -> Y; C -> Y; C -> X"
    found, rule = bound(
        rows, graph, "Y | do(X), C", models="linear", outcome_range=(10.0, 15.0)
    )

    assert found.lower.shape == SHAPE
    assert (found.upper[:, 0] < found.lower[:, 1]).all()
    assert "Ridge" in str(rule.reason.steps[-1])


def test_clusters_widen_what_repeats() -> None:
    rows, _ = draw_back_door(1_000, 3)
    again = {name: np.repeat(values, 4) for name, values in rows.items()}
    again["user"] = np.repeat(np.arange(1_000), 4)
    once, together = bound(rows)[1], bound(again, cluster="user")[1]
    widths = [np.subtract(*rule.bound_near()[::-1]) for rule in (once, together)]

    assert widths[1] == pytest.approx(widths[0], rel=0.1)


def test_an_external_table_supplies_what_selection_took() -> None:
    """``Z -> [S]``: the log has other shares of Z than the population."""
    rows, truth = draw_back_door(40_000, 5)
    kept = np.random.default_rng(0).random(40_000) < np.array([0.9, 0.1, 0.5, 0.2])[rows["Z"]]
    log = {name: values[kept] for name, values in rows.items()}
    survey = {"Z": np.random.default_rng(9).choice(rows["Z"], 8_000)}
    found, rule = bound(log, f"{BACK_DOOR}; Z -> [S]", external=[survey])
    alone, _ = fit(log, f"{BACK_DOOR}; Z -> [S]")

    assert ((found.lower <= truth) & (truth <= found.upper)).all()
    assert "shares of an external table" in str(rule.reason.steps[1])
    assert "external table by CellMeans" in str(rule.reason.steps[2])
    assert alone.rule is None
    assert "no covariates in the log adjust for this effect; models was not used" in str(
        alone.notes[0]
    )


def test_where_an_arm_cannot_be_chosen_its_outcome_may_be_anything() -> None:
    rows, _ = draw_back_door(6_000, 7, n_strata=3)
    rows["X"] = np.where(rows["Z"] == 0, 0, rows["X"])
    _, rule = bound(rows)
    gap = 1 - rule.scores.upper.value[1] - rule.scores.lower.value[1]

    assert gap == pytest.approx((rows["Z"] == 0).mean(), abs=0.005)
    assert "hardly ever chosen" in str(rule.describe_gaps()[0])


def test_wrong_models_do_not_overrule_the_other_rules() -> None:
    """Both models know nothing, so that unadjusted means come out; the strata say otherwise."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 20_000)
    x = (rng.random(20_000) < 0.1 + 0.8 * z).astype(int)
    y = (rng.random(20_000) < 0.1 + 0.8 * z).astype(int)
    wrong = bd.Models(reward=Constant(), arm=Constant())
    found, _ = bound({"Z": z, "X": x, "Y": y}, models=wrong)

    assert ((found.lower <= 0.5) & (found.upper >= 0.5)).all()
    assert (found.lower_by != 1).all()
    assert any("the models deserve no trust" in str(note) for note in found.notes)


def test_rules_that_contradict_each_other_do_not_refute_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, _ = draw_back_door(4_000, 0)
    found, rule = bound(rows)
    crossed = replace(
        found,
        rules=found.rules[1:2],
        lowers=np.stack([np.zeros(2), np.full(2, 0.95)]),
        uppers=np.stack([np.ones(2), np.full(2, 0.05)]),
    )
    monkeypatch.setattr(Approximate, "bound", lambda *_: crossed)
    again = WithModels(rule).bound([], fit(rows)[1])

    assert (again.lowers[1] == rule.bound_near()[0]).all()
    assert not any("trust" in str(note) for note in again.notes)


def test_caveats_come_once_and_name_what_had_no_say() -> None:
    rows, _ = draw_back_door(1_000, 0)
    with_nulls = {**rows, "X": np.where(np.arange(1_000) % 10 == 0, np.nan, rows["X"])}
    plain, _ = fit(with_nulls, models=bd.Models(reward=Constant(), arm=Constant()))
    said, _ = fit(rows)
    without, _ = fit({"X": rows["X"], "Y": rows["Y"]}, "X -> Y")

    assert plain.notes == ()
    assert "the model of the external table in models was not used" in str(said.notes[0])
    assert str(without.notes[0]) == (
        "skipped: this effect needs no covariates; models was not used"
    )


def test_what_is_hidden_or_has_no_room_or_time_is_left_out() -> None:
    rows, _ = draw_numbers(3_000)
    late, small = Workspace(10**9, TimeBudget(0)), Workspace(10**5)
    for workspace, option in ((late, "time_limit"), (small, "memory_limit")):
        found, _ = fit(rows, NUMBERS, models="linear", workspace=workspace)
        assert (
            str(found.notes[0])
            == f"skipped: 'adjustment by models' was left out; raise {option}"
        )
    hidden, _ = fit(rows, NUMBERS, models="linear", hidden=frozenset("A"))
    assert (hidden.rule, hidden.notes) == (None, ())
