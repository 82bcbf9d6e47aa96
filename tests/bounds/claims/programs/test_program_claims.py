"""Claims on programs hold, whoever is asked for them, and the pilot alone chooses."""

import numpy as np
import pytest

from boundit.bounds.claims.claim_rules import find_forms, plan_claims
from boundit.bounds.claims.level_form import Unmet
from boundit.bounds.claims.pilot import SplitRows, SplitSources, split_sources
from boundit.bounds.claims.programs.program_claims import (
    ProgramClaims,
    make_program_claims,
)
from boundit.bounds.claims.programs.program_form import ProgramForm
from boundit.bounds.confidence import bound_share
from boundit.bounds.lp.response_types import MOST_TYPES
from boundit.bounds.plan import plan_bounds
from boundit.bounds.rules import response_program
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from tests.bounds.claims.programs.rules import (
    BOW,
    INSTRUMENT,
    MEDIATOR,
    STRATA,
    count,
    count_levels,
    draw_log,
    list_forms,
)
from tests.bounds.programs import models

ERROR = 0.05
LOG_ERROR = np.full((1,), -np.log(ERROR))


def make_claims(form: ProgramForm, law: NamedArray, sources: SplitSources) -> ProgramClaims:
    made = make_program_claims(
        form, sources, count_levels(law), Workspace.make_default(), np.random.default_rng(1)
    )
    assert isinstance(made, ProgramClaims)
    return made


def bound_both(claims: ProgramClaims, log_error: Floats = LOG_ERROR) -> tuple[Floats, Floats]:
    lower, upper = (
        claims.bound(claims.choose(log_error, upper=end), log_error, upper=end)
        for end in (False, True)
    )
    return lower, upper


@pytest.mark.parametrize("drawn", [INSTRUMENT, STRATA, BOW, MEDIATOR])
def test_ends_hold_the_truth(drawn: str) -> None:
    """Every end of every rule misses in no more than its share of logs."""
    rng = np.random.default_rng(8)
    missed, asked = 0, 0
    for model in models(drawn, 3, rng):
        law = model.law()
        effect = model.effect(outcomes="Y", treatments="X", context=()).at({"Y": 1}).values
        for form in list_forms(drawn):
            for _ in range(4):
                log = draw_log(law, 300, rng)
                claims = make_claims(form, law, split_sources(log, [log]))
                lower, upper = bound_both(claims)
                assert (lower <= upper + 1e-9).all() or drawn == MEDIATOR
                missed += int((lower > effect + 1e-9).sum() + (upper < effect - 1e-9).sum())
                asked += 2 * effect.size
    assert missed <= ERROR * asked


def test_pilot_alone_chooses() -> None:
    """Another rest, even of another law, moves no choice."""
    one, other = (model.law() for model in models(STRATA, 2, np.random.default_rng(4)))
    pilot = count(one, np.rint(200 * one.values))
    for form in list_forms(STRATA):
        found = []
        for rest in (one, other):
            speaks = count(one, np.rint(3_000 * rest.values))
            split = SplitRows(pilot, (speaks,), (speaks,))
            claims = make_claims(form, one, SplitSources(split, (split,)))
            found.append([claims.choose(LOG_ERROR, upper=end) for end in (False, True)])
        for first, second in zip(*found, strict=True):
            # Rows that the rest will have are guessed from how many it has in all.
            assert first.predicted == pytest.approx(second.predicted, abs=2e-2)
            assert len(first.choices) == len(second.choices)


def test_natural_bounds_are_one_sided_intervals_of_shares() -> None:
    (model,) = models(BOW, 1, np.random.default_rng(6))
    law = model.law()
    log = draw_log(law, 1_000, np.random.default_rng(1))
    sources = split_sources(log, [log])
    (form,) = list_forms(BOW)
    lower, upper = bound_both(make_claims(form, law, sources))
    counts = sources.log.folds[0].marginalize(frozenset("XY")).align(("X", "Y"))
    total = np.full(2, counts.sum())
    assert lower == pytest.approx(bound_share(counts[:, 1], total, 2 * ERROR)[0])
    assert upper == pytest.approx(1 - bound_share(counts[:, 0], total, 2 * ERROR)[0])


def test_less_error_is_wider() -> None:
    (model,) = models(STRATA, 1, np.random.default_rng(6))
    log = draw_log(model.law(), 2_000, np.random.default_rng(1))
    for form in list_forms(STRATA):
        claims = make_claims(form, model.law(), split_sources(log, [log]))
        near, far = bound_both(claims), bound_both(claims, LOG_ERROR + 3)
        assert (far[0] <= near[0]).all()
        assert (far[1] >= near[1]).all()


def test_unknown_variable_takes_the_worst() -> None:
    """At the worst level of a link of unknown law nothing is claimed of the others."""
    (model,) = models(MEDIATOR, 1, np.random.default_rng(6))
    log = draw_log(model.law(), 2_000, np.random.default_rng(1))
    (form, *_) = (form for form in list_forms(MEDIATOR) if form.form.worst)
    lower, upper = bound_both(make_claims(form, model.law(), split_sources(log, [log])))
    assert lower.shape == upper.shape == (2,)
    assert (lower <= upper).all()


def test_vectors_share_the_error_by_how_likely_they_are_best() -> None:
    (model,) = models(INSTRUMENT, 1, np.random.default_rng(6))
    log = draw_log(model.law(), 20_000, np.random.default_rng(1))
    form, *_ = list_forms(INSTRUMENT)
    claims = make_claims(form, model.law(), split_sources(log, [log], larger=True))
    choice = claims.choose(LOG_ERROR, upper=False)
    parts = np.exp(-np.stack(np.broadcast_arrays(*choice.log_shares)))
    assert parts.sum(axis=0) == pytest.approx(1.0)
    assert len(parts) > 1
    assert (parts > 0).all()
    assert (parts.max(axis=0) > 1 / len(parts)).all()


def test_exact_laws_and_large_programs_are_left_to_boxes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (model,) = models(INSTRUMENT, 1, np.random.default_rng(6))
    log = draw_log(model.law(), 200, np.random.default_rng(1))
    form, *_ = list_forms(INSTRUMENT)
    sources = split_sources(log, [log])
    rng, space, levels = np.random.default_rng(1), Workspace.make_default(), {**log.n_levels}
    assert MOST_TYPES > 16
    monkeypatch.setattr(response_program, "MOST_WORK", 10)
    found = make_program_claims(form, sources, levels, space, rng)
    assert isinstance(found, Unmet)
    assert "response types" in found.reason


@pytest.mark.parametrize(("drawn", "larger"), [(INSTRUMENT, True), (BOW, False)])
def test_natural_bounds_are_no_rule_of_their_own_beside_an_instrument(
    drawn: str, larger: bool
) -> None:
    """They are among its multipliers; the pilot is larger where it has some to choose."""
    plan = plan_bounds(parse(drawn), parse_query("Y | do(X)"))
    claims = plan_claims(plan, find_forms(plan), dict.fromkeys("ZXY", 2), 1_000.0)
    assert claims is not None
    assert len(claims.rules) == 1
    assert claims.has_multipliers is larger
