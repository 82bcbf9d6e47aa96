"""Claims on sums of a numeric reward, at each of a few supposed variances."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from boundit.bounds.claims import numeric_claims
from boundit.bounds.claims.last_level import NumericPilot
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.numeric_claims import (
    VARIANCES,
    NumericClaims,
    suppose_variances,
)
from boundit.bounds.claims.pilot import split_sources
from boundit.bounds.claims.read_form import FormReader, PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from tests.bounds.claims.tables import make_numeric

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")
BACK_DOOR = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), ("X",), "Y")
LEVELS = {"X": 2, "Z": 3, "Y": 2}
REWARDS = np.array([0.1, 0.3, 0.9])


def read_numbers(counts: Floats) -> tuple[PilotNumbers, RestNumbers]:
    """Read the numbers of a back door, the pilot's at the first supposed variance."""
    source = make_numeric("ZX", counts, REWARDS)
    reader = FormReader.of(
        BACK_DOOR, split_sources(source, ()), LEVELS, Workspace.make_default()
    )
    rest = reader.read_rest(np.random.default_rng(0), numeric=True)
    return reader.read_pilot(VARIANCES[0]), rest


def make_claims(counts: Floats) -> list[SumClaims]:
    """Make the claims of a back door at each supposed variance."""
    pilot, rest = read_numbers(counts)
    assert isinstance(pilot.last, NumericPilot)
    lasts = [replace(pilot.last, variance=variance) for variance in VARIANCES]
    return [SumClaims(PilotNumbers(pilot.arrays, last), rest) for last in lasts]


@pytest.mark.parametrize("upper", [False, True])
def test_each_variance_has_its_part_of_the_error_and_the_best_is_taken(*, upper: bool) -> None:
    parts = make_claims(np.random.default_rng(1).integers(5, 90, (3, 2, 3)).astype(float))
    whole, log_error = NumericClaims(parts), np.full(1, 4.0)
    found = whole.bound(whole.choose(log_error, upper=upper), log_error, upper=upper)

    shared = log_error + log(len(parts))
    ends = [p.bound(p.choose(shared, upper=upper), shared, upper=upper) for p in parts]
    assert np.array_equal(found, np.min(ends, axis=0) if upper else np.max(ends, axis=0))


@pytest.mark.parametrize("most_cells", [0, 1_000])
@pytest.mark.parametrize("upper", [False, True])
def test_variances_tried_at_once_are_those_tried_one_by_one(
    monkeypatch: pytest.MonkeyPatch, most_cells: int, *, upper: bool
) -> None:
    monkeypatch.setattr(numeric_claims, "MOST_CELLS", most_cells)
    counts = np.random.default_rng(3).integers(0, 90, (3, 2, 3)).astype(float)
    one_by_one, log_error = NumericClaims(make_claims(counts)), np.full(1, 4.0)
    at_once = suppose_variances(*read_numbers(counts))
    choices = [each.choose(log_error, upper=upper) for each in (one_by_one, at_once)]
    ends = [
        each.bound(choice, log_error, upper=upper)
        for each, choice in zip((one_by_one, at_once), choices, strict=True)
    ]
    assert len(at_once.claims) == (1 if most_cells else len(VARIANCES))
    assert np.allclose(choices[0].predicted, choices[1].predicted, rtol=0, atol=1e-12)
    assert np.allclose(ends[0], ends[1], rtol=0, atol=1e-12)


def test_ends_miss_as_seldom_as_they_say() -> None:
    rng = np.random.default_rng(5)
    strata = np.array([0.5, 0.3, 0.2])
    arms = np.array([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]])
    laws = rng.dirichlet(np.ones(3), (3, 2))
    truth = (strata[:, None] * (laws @ REWARDS)).sum(axis=0)
    joint = (strata[:, None, None] * arms[:, :, None] * laws).ravel()
    log_error, missed, n_logs = np.full(1, log(1 / 0.2)), np.zeros(2), 250
    for counts in rng.multinomial(120, joint, n_logs):
        whole = NumericClaims(make_claims(counts.reshape(3, 2, 3).astype(float)))
        low, high = (
            whole.bound(whole.choose(log_error, upper=upper), log_error, upper=upper)
            for upper in (False, True)
        )
        missed += [(low > truth).mean(), (high < truth).mean()]
    assert (missed / n_logs <= 0.2).all()
