"""Claims on sums of a numeric reward, at each of a few supposed variances."""

from math import log

import numpy as np
import pytest

from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.numeric_claims import VARIANCES, NumericClaims
from boundit.bounds.claims.pilot import split_sources
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from tests.bounds.claims.tables import make_numeric

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")
BACK_DOOR = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), ("X",), "Y")
LEVELS = {"X": 2, "Z": 3, "Y": 2}
REWARDS = np.array([0.1, 0.3, 0.9])


def make_claims(counts: Floats) -> list[SumClaims]:
    """Make the claims of a back door at each supposed variance."""
    source = make_numeric("ZX", counts, REWARDS)
    reader = FormReader.of(
        BACK_DOOR, split_sources(source, ()), LEVELS, Workspace.make_default()
    )
    rest = reader.read_rest(np.random.default_rng(0), numeric=True)
    return [SumClaims(reader.read_pilot(variance), rest) for variance in VARIANCES]


@pytest.mark.parametrize("upper", [False, True])
def test_each_variance_has_its_part_of_the_error_and_the_best_is_taken(*, upper: bool) -> None:
    parts = make_claims(np.random.default_rng(1).integers(5, 90, (3, 2, 3)).astype(float))
    whole, log_error = NumericClaims(parts), np.full(1, 4.0)
    found = whole.bound(whole.choose(log_error, upper=upper), log_error, upper=upper)

    shared = log_error + log(len(parts))
    ends = [p.bound(p.choose(shared, upper=upper), shared, upper=upper) for p in parts]
    assert np.array_equal(found, np.min(ends, axis=0) if upper else np.max(ends, axis=0))


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
