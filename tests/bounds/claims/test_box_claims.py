"""Claims on few cells, by intervals of cells whose parts of the error the pilot chose."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from boundit.bounds.claims import box_claims
from boundit.bounds.claims.box_claims import MOST_CELLS, BestClaims, may_use_boxes
from boundit.bounds.claims.level_form import Level, LevelForm
from boundit.bounds.claims.pilot import split_sources
from boundit.bounds.claims.read_form import FormReader
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.confidence import bound_share
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from tests.bounds.claims.tables import make_bare, make_binary

X, Y, Z = frozenset("X"), frozenset("Y"), frozenset("Z")
BACK_DOOR = LevelForm((Level(P(Z), {}), Level(P(Y, Z | X), {})), ("X",), "Y")


def make_reader(counts: Floats) -> FormReader:
    """Read a back door off rows by stratum, arm and reward."""
    source, levels = make_binary("ZX", counts), {"X": 2, "Z": counts.shape[0], "Y": 2}
    return FormReader.of(BACK_DOOR, split_sources(source, ()), levels, Workspace.make_default())


def make_claims(counts: Floats) -> BestClaims:
    """Make claims on few cells."""
    reader = make_reader(counts)
    rest = reader.read_rest(np.random.default_rng(0), numeric=False)
    return BestClaims(reader.read_pilot(None), rest)


def draw_law(rng: np.random.Generator, propensity: Floats) -> tuple[Floats, Floats]:
    """Draw a back door with two strata; return its law and the true means of both arms."""
    strata, means = rng.dirichlet([3.0, 3.0]), rng.uniform(0.05, 0.95, (2, 2))
    arms = np.stack([1 - propensity, propensity], axis=1)
    rewards = np.stack([1 - means, means], axis=-1)
    truth: Floats = (strata[:, None] * means).sum(axis=0)
    return strata[:, None, None] * arms[:, :, None] * rewards, truth


def test_only_a_sum_over_few_values_of_one_variable_may_use_them() -> None:
    few, many = (
        make_reader(np.full((n, 2, 2), 9.0)).read_rest(np.random.default_rng(0), numeric=False)
        for n in (MOST_CELLS, MOST_CELLS + 1)
    )
    assert may_use_boxes(few.arrays)
    assert not may_use_boxes(many.arrays)


@pytest.mark.parametrize("upper", [False, True])
def test_parts_of_the_error_add_up_to_no_more_than_all_of_it(*, upper: bool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        counts = rng.integers(1, 200, (int(rng.integers(2, 5)), 2, 2)).astype(float)
        choice = make_claims(counts).choose(np.full(1, 4.0), upper=upper).of_boxes
        # An interval of a weight has two sides, each with half of what it says.
        assert ((choice.means + choice.weights).sum(axis=-1) <= 1 + 1e-12).all()


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n_strata", [2, 3, 5])
def test_intervals_of_a_row_spend_all_of_its_error_and_no_more(
    monkeypatch: pytest.MonkeyPatch, n_strata: int, *, upper: bool
) -> None:
    """Counted by the error that each interval is asked for; coverage would hardly notice."""
    asked = list[Floats]()

    def record(k: Floats, n: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        asked.append(np.broadcast_to(alpha, k.shape))
        return bound_share(k, n, alpha)

    monkeypatch.setattr(box_claims, "bound_share", record)
    rng, log_error = np.random.default_rng(5), np.full(1, log(400))
    for _ in range(5):
        claims = make_claims(rng.integers(1, 200, (n_strata, 2, 2)).astype(float))
        choice = claims.choose(log_error, upper=upper)
        asked.clear()
        claims.bound(replace(choice, boxes=np.ones_like(choice.boxes)), log_error, upper=upper)
        means, weights = asked
        # Of a mean one side is used; of two weights one interval gives the other.
        of_weights = weights.max(axis=-1) if n_strata == 2 else weights.sum(axis=-1)
        spent = means.sum(axis=-1) / 2 + of_weights
        assert (spent <= (1 + 1e-12) / 400).all()
        assert (spent >= 0.8 / 400).all()


def test_ends_miss_as_seldom_as_they_say() -> None:
    rng, log_error = np.random.default_rng(3), np.full(1, log(1 / 0.2))
    n_logs, missed, boxed = 300, np.zeros(2), 0
    law, truth = draw_law(rng, np.array([0.05, 0.9]))
    for counts in rng.multinomial(150, law.ravel(), n_logs):
        claims = make_claims(counts.reshape(2, 2, 2).astype(float))
        for upper in (False, True):
            choice = claims.choose(log_error, upper=upper)
            boxed += bool(choice.boxes.any())
            end = claims.bound(choice, log_error, upper=upper)
            missed[int(upper)] += ((end < truth) if upper else (end > truth)).mean()
    assert boxed > n_logs / 4
    assert (missed / n_logs <= 0.2).all()


def test_where_one_cell_decides_they_are_narrower_than_one_exponent() -> None:
    rng, log_error = np.random.default_rng(4), np.full(1, log(80))
    widths = np.zeros(2)
    for _ in range(25):
        law, _ = draw_law(rng, np.array([0.03, 0.95]))
        counts = rng.multinomial(3_000, law.ravel()).reshape(2, 2, 2).astype(float)
        reader = make_reader(counts)
        pilot = reader.read_pilot(None)
        rest = reader.read_rest(np.random.default_rng(0), numeric=False)
        best, plain = BestClaims(pilot, rest), SumClaims(pilot, rest)
        for upper, sign in ((False, -1), (True, 1)):
            chosen = best.choose(log_error, upper=upper)
            other = plain.choose(log_error, upper=upper)
            widths += [
                sign * best.bound(chosen, log_error, upper=upper).mean(),
                sign * plain.bound(other, log_error, upper=upper).mean(),
            ]
    assert widths[0] < 0.95 * widths[1]


def test_an_exact_law_of_the_strata_leaves_all_of_the_error_to_their_means() -> None:
    counts = np.random.default_rng(6).integers(20, 90, (2, 2, 2)).astype(float)
    source, law = make_binary("ZX", counts), make_bare("Z", np.array([0.3, 0.7]), exact=True)
    levels = {"X": 2, "Z": 2, "Y": 2}
    form = LevelForm((Level(P(Z, logged=False), {}), BACK_DOOR.last), ("X",), "Y")
    reader = FormReader.of(
        form, split_sources(source, (law,)), levels, Workspace.make_default()
    )
    rest = reader.read_rest(np.random.default_rng(0), numeric=False)
    claims, log_error = BestClaims(reader.read_pilot(None), rest), np.full(1, log(40))
    choice = claims.choose(log_error, upper=False)
    boxed = replace(choice, boxes=np.ones_like(choice.boxes))
    low = claims.bound(boxed, log_error, upper=False)

    won, rows = rest.last.mean * rest.last.rows, rest.last.rows
    even = bound_share(won, np.broadcast_to(rows, won.shape), 2 * np.exp(-log_error[0]) / 2)[0]
    assert (np.abs(low - even @ [0.3, 0.7]) < 0.05).all()
