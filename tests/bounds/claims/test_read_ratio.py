"""Levels of a ratio: merged where they are one law, counted in three kinds of rows."""

from dataclasses import replace

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.claims.claim_rules import find_forms, plan_claims
from boundit.bounds.claims.level_form import Level, LevelForm, RatioForm, Unmet
from boundit.bounds.claims.pilot import split_sources
from boundit.bounds.claims.read_ratio import (
    CountedRest,
    SummedRest,
    has_fixed_levels,
    make_ratio_reader,
    merge_levels,
    read_ratio_pilot,
    read_ratio_rest,
)
from boundit.bounds.evidence import BoundEvidence
from boundit.bounds.plan import plan_bounds
from boundit.bounds.plan_counts import count_for
from boundit.estimand.language.expression import P
from tests.bounds.claims.exact_forms import draw_forms, evaluate_form
from tests.bounds.claims.test_ratio_claims import NAPKIN, draw_napkin


def make_ratio(*levels: Level, axes: tuple[str, ...] = ("X",)) -> RatioForm:
    """Make a ratio of levels of the outcome Y."""
    return RatioForm(LevelForm(levels, axes, "Y"))


def read(of: str, given: str = "", **names: str) -> Level:
    """Make a level of logged columns, each a letter."""
    return Level(P(frozenset(of), frozenset(given), logged=True), names)


def test_a_factor_at_the_arm_is_merged() -> None:
    """``P(x | z) P(y | x, z)`` is read as one law."""
    merged = merge_levels(make_ratio(read("Z"), read("X", "Z"), read("Y", "XZ")))
    assert merged == make_ratio(read("Z"), read("XY", "Z"))
    assert isinstance(merged, RatioForm)
    assert not has_fixed_levels(merged.form)


def test_what_the_last_level_alone_reads_is_summed_away() -> None:
    """``sum_m P(x | z) P(m | x, z) P(y | x, m, z)`` is a joint law of x and y."""
    levels = read("Z"), read("X", "Z"), read("M", "XZ"), read("Y", "XMZ")
    assert merge_levels(make_ratio(*levels)) == make_ratio(read("Z"), read("XY", "Z"))


@pytest.mark.parametrize(
    "last",
    [
        read("Y", "X"),
        replace(read("Y", "XZ"), term=P(frozenset("Y"), frozenset("XZ"), logged=False)),
        replace(read("Y", "XZ"), fold=1),
        read("Y", "XZ", X="X'"),
    ],
)
def test_other_rows_are_not_merged(last: Level) -> None:
    """A level stays apart if the last is given less, or is read off other rows or values."""
    ratio = make_ratio(read("Z"), read("X", "Z"), last)
    merged = merge_levels(ratio)
    assert merged == ratio
    assert has_fixed_levels(ratio.form)


def test_a_factor_given_the_outcome_has_no_claims() -> None:
    """Its weight would hang on the reward."""
    found = merge_levels(make_ratio(read("X", "Y"), read("Y")))
    assert found == Unmet("a factor is given Y")


def test_merging_keeps_the_value() -> None:
    """On exact laws of random models a merged ratio is what it was."""
    compared = 0
    for asked, _, form in draw_forms():
        if isinstance(form, RatioForm):
            merged = merge_levels(form)
            if isinstance(merged, RatioForm) and merged != form:
                before, after = (evaluate_form(f, asked.model)[0] for f in (form, merged))
                np.testing.assert_allclose(after, before, atol=1e-9)
                compared += 1
    assert compared


@pytest.mark.parametrize("numeric", [False, True])
def test_rows_are_of_three_kinds(numeric: bool) -> None:
    """Failures and successes of the arm, and rows of other arms, make up each stratum."""
    columns, _ = draw_napkin(2_000, 0.5, 1)
    if numeric:
        columns["Y"] = columns["Y"] * 0.5 + 0.25 * columns["W"]
    plan = plan_bounds(bd.parse_graph(NAPKIN), bd.parse_query("Y | do(X)"))
    counts = count_for(plan, bd.read_log(columns), (), {})
    evidence = BoundEvidence.from_counts(plan, counts, (0.0, 1.0))
    claims = plan_claims(plan, find_forms(plan), evidence.evaluator.levels, evidence.log.rows)
    assert claims is not None
    form = claims.rules[0].form
    assert isinstance(form, RatioForm)
    sources = split_sources(evidence.rewards, evidence.population)
    evaluator = evidence.evaluator
    reader = make_ratio_reader(form, sources, evaluator.levels, evaluator.workspace)
    pilot = read_ratio_pilot(reader, 0.1 if numeric else None)
    rest = read_ratio_rest(reader, np.random.default_rng(0), numeric=numeric)
    t = np.array([[0.0, 0.5, 1.0]])
    last = rest.at(t).last
    np.testing.assert_allclose(rest.mass, 1.0)
    np.testing.assert_allclose(pilot.arrays.weights[-1].sum(axis=-1), 1.0)
    if numeric:
        assert isinstance(rest.last, SummedRest)
        others = rest.last.rows - rest.last.chosen
        np.testing.assert_allclose(
            (last.mean * last.rows)[:, 1], (rest.last.sums + 0.5 * others)[:, 0]
        )
    else:
        assert isinstance(rest.last, CountedRest)
        np.testing.assert_array_equal(
            np.sum([np.stack(block) for block in rest.last.blocks], axis=0),
            np.stack(rest.last.counts),
        )
        spread = last.mean[:, 2] - last.mean[:, 0]
        np.testing.assert_allclose(spread * last.rows[:, 0], rest.last.counts[2][:, 0])


def test_the_cells_behind_a_ratio_are_the_arms_rows() -> None:
    """Strata weigh as much as they add to the bottom, and count the rows of the arm."""
    columns, _ = draw_napkin(2_000, 0.3, 1)
    table = bd.derive_bounds(
        bd.parse_graph(NAPKIN),
        bd.parse_query("Y | do(X)"),
        bd.read_log(columns),
        confidence=0.95,
    )
    many, few = (bound.sampling.lower for bound in table.bounds.values() if bound.sampling)
    assert few is not None
    assert many is not None
    assert 0 < (few.effective_rows or 0) < (many.effective_rows or 0) < 2_000
    assert few.unseen_weight == 0
    assert sum(cell.share or 0 for cell in few.heaviest) == pytest.approx(1)
    assert all(name == "W" for cell in few.heaviest for name, _ in cell.levels)
