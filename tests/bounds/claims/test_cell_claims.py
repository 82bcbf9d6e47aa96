"""One-sided intervals of cells, at the worst of unknown variables."""

import numpy as np
import pytest

from boundit.bounds.claims.cell_claims import CellClaims
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.pilot import split_sources
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.confidence import bound_mean, bound_share
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from tests.bounds.claims.tables import make_binary, make_numeric

X, Y, W = frozenset("X"), frozenset("Y"), frozenset("W")
CONDITIONING = LevelForm((Level(P(Y, X | W), {}, depth=1),), ("X",), "Y", worst=("W",))
LEVELS = {"X": 2, "W": 3, "Y": 2}


def draw(rng: np.random.Generator) -> Floats:
    """Draw rows by arm, unknown variable and reward."""
    return rng.integers(5, 60, (2, 3, 2)).astype(np.float64)


@pytest.mark.parametrize("upper", [False, True])
def test_the_worst_one_sided_exact_interval_is_the_end(*, upper: bool) -> None:
    source = make_binary("XW", draw(np.random.default_rng(1)))
    sources = split_sources(source, ())
    reader = FormReader.of(CONDITIONING, sources, LEVELS, Workspace.make_default())
    claims = CellClaims(
        reader.read_pilot(None), reader.read_rest(np.random.default_rng(2), numeric=False)
    )
    log_error = np.log([20.0, 400.0])
    found = claims.bound(claims.choose(log_error, upper=upper), log_error, upper=upper)

    rest = sources.log.folds[0].marginalize(X | W | Y).align("XWY")
    for arm, error in enumerate((1 / 20, 1 / 400)):
        ends = bound_share(rest[arm, :, 1], rest[arm].sum(axis=-1), 2 * error)
        assert found[arm] == (ends[1].max() if upper else ends[0].min())


def test_a_row_without_error_to_spend_has_no_end() -> None:
    source = make_binary("XW", draw(np.random.default_rng(1)))
    reader = FormReader.of(
        CONDITIONING, split_sources(source, ()), LEVELS, Workspace.make_default()
    )
    claims = CellClaims(
        reader.read_pilot(None), reader.read_rest(np.random.default_rng(2), numeric=False)
    )
    log_error = np.array([np.inf, 3.0])
    low = claims.bound(claims.choose(log_error, upper=False), log_error, upper=False)
    assert low[0] == 0
    assert low[1] > 0


def test_numeric_rewards_take_the_interval_of_a_mean() -> None:
    rng = np.random.default_rng(3)
    rewards = np.array([0.0, 0.4, 1.0])
    source = make_numeric("XW", rng.integers(1, 30, (2, 3, 3)).astype(np.float64), rewards)
    reader = FormReader.of(
        CONDITIONING, split_sources(source, ()), LEVELS, Workspace.make_default()
    )
    claims = CellClaims(reader.read_pilot(0.1), reader.read_rest(rng, numeric=True))
    log_error = np.full(2, np.log(50.0))
    low = claims.bound(claims.choose(log_error, upper=False), log_error, upper=False)
    n = source.table.marginalize(["X", "W"]).values
    sums, squares = (
        source.table.sum_rewards(["X", "W"]).values,
        source.table.sum_squares(["X", "W"]).values,
    )
    assert np.array_equal(low, bound_mean(sums, squares, n, 2 / 50)[0].min(axis=1))
