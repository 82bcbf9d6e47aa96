"""Both laws are one population's: the end holds for every one, and comes down to the worst."""

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from boundit.bounds.lp import mean_of_means
from boundit.bounds.lp.mean_of_means import ACCURACY, MeanOfMeans
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes
from tests.nodes import make_nodes

NOTHING = SelectionFacts()
RATE = SelectionFacts((0.4, 0.4))
BOTH = SelectionFacts((0.4, 0.4), 1.6)
ALL = [NOTHING, RATE, BOTH]
X, M = make_nodes("X"), make_nodes("M")


def take_means(
    law: Floats,
    facts: SelectionFacts,
    *,
    steering: Nodes = M,
    budget: TimeBudget = FOR_EVER,
) -> MeanOfMeans:
    """The mean over M given X of a mean over X, the law of (M, X) reweighted."""
    model = Reweighting(X | M, steering, facts)
    populations = Populations(model, PlugInNumbers(Evaluator(NamedArray(("M", "X"), law))))
    outer = ReweightedBlock(("M",), X, model)
    return MeanOfMeans(populations, outer, ReweightedBlock(("X",), Nodes(), model), budget)


def draw_law(rng: Generator, shape: tuple[int, int]) -> Floats:
    return 0.02 / np.prod(shape) + 0.98 * rng.dirichlet(np.ones(np.prod(shape))).reshape(shape)


def try_populations(law: Floats, facts: SelectionFacts, values: Floats, x: int) -> Floats:
    """The value in many populations, by arithmetic alone: all masses of two M on a grid."""
    logged = law.sum(axis=1)
    low = facts.least_ratio * logged[1]
    high = 1 - facts.least_ratio * logged[0]
    greatest = [facts.find_greatest_share(float(share)) for share in logged]
    low, high = max(low, 1 - greatest[0]), min(high, greatest[1])
    q = np.linspace(low, high, 2_001)
    masses = np.stack([1 - q, q], axis=-1)[..., None] * (law / logged[:, None])
    outer = masses[..., x] / masses[..., x].sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("gb,gc,bc->g", outer, masses.sum(axis=1), values))


@pytest.mark.parametrize("facts", ALL)
def test_two_kinds_of_rows_are_one_unknown(facts: SelectionFacts) -> None:
    """The front door: with M of two levels a population is one number, and all are tried."""
    rng = default_rng(3)
    for _ in range(6):
        shape = (2, int(rng.integers(2, 4)))
        law, values = draw_law(rng, shape), rng.random(shape)
        means, x = take_means(law, facts), int(rng.integers(shape[1]))
        tried = try_populations(law, facts, values, x)
        high = means.find_greatest(values, {"X": x}).end
        low = -means.find_greatest(-values, {"X": x}).end
        assert low <= tried.min() + 1e-9
        assert high >= tried.max() - 1e-9
        assert low == pytest.approx(tried.min(), abs=2 * ACCURACY)
        assert high == pytest.approx(tried.max(), abs=2 * ACCURACY)


@pytest.mark.parametrize("facts", [NOTHING, RATE])
def test_no_population_lies_beyond(facts: SelectionFacts) -> None:
    """Three kinds of rows, or as many as cells: drawn populations stay within both ends."""
    rng = default_rng(4)
    for steering in (M, X | M):
        law, values = draw_law(rng, (3, 2)), rng.random((3, 2))
        means = take_means(law, facts, steering=steering)
        high = means.find_greatest(values, {"X": 0}).end
        low = -means.find_greatest(-values, {"X": 0}).end
        apart = means.find_greatest(values, {"X": 0}, most=0).end
        logged = law.sum(axis=1, keepdims=True) if steering == M else law
        free = rng.dirichlet(np.full(logged.size, 0.3), size=4_000).reshape(-1, *logged.shape)
        least = facts.least_ratio * logged
        masses = law / logged * (least + (1 - least.sum()) * free)
        top = masses[..., 0]
        with np.errstate(invalid="ignore"):
            outer = top / top.sum(axis=-1, keepdims=True)
        tried = np.einsum("gb,gc,bc->g", outer, masses.sum(axis=1), values)
        assert low <= np.nanmin(tried)
        assert np.nanmax(tried) <= high <= apart
        assert high - np.nanmax(tried) < 0.03


def test_a_known_outer_law_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only X steers: P(m | x) is logged as it is, so that the mean over X is of known sums."""
    monkeypatch.setattr(mean_of_means, "search_boxes", None)
    law, values = draw_law(default_rng(5), (2, 3)), default_rng(6).random((2, 3))
    means = take_means(law, NOTHING, steering=X)
    known = law[:, 1] / law[:, 1].sum() @ values

    assert means.find_greatest(values, {"X": 1}).end == pytest.approx(known.max(), abs=1e-6)


def test_a_late_search_holds_and_says_so() -> None:
    law, values = draw_law(default_rng(7), (3, 3)), default_rng(8).random((3, 3))
    sharp = take_means(law, RATE).find_greatest(values, {"X": 0})
    late = take_means(law, RATE, budget=TimeBudget(0.0))
    end = late.find_greatest(values, {"X": 0}).end

    assert late.late
    assert sharp.end <= end <= 1
    assert sharp.population is not None


def test_many_cells_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    law, values = draw_law(default_rng(9), (2, 2)), np.eye(2)
    means = take_means(law, RATE)
    apart = means.find_greatest(values, {"X": 0}, most=0).end
    assert means.find_greatest(values, {"X": 0}).end < apart
    monkeypatch.setattr(mean_of_means, "MOST_JOINT_CELLS", 3)

    assert means.find_greatest(values, {"X": 0}).end == pytest.approx(apart, abs=1e-9)


def test_what_nobody_was_seen_with_may_be_anything() -> None:
    law = np.array([[0.5, 0.0], [0.5, 0.0]])

    assert take_means(law, RATE).find_greatest(np.eye(2), {"X": 1}).end == pytest.approx(1.0)
