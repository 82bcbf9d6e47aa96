import numpy as np
import pytest
from numpy.random import Generator, default_rng

from boundit.bounds.lp.fractional import Expectation, look_up
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import PlugInNumbers
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.terms.long_work import TimeBudget
from tests.bounds.reweighted import vertices
from tests.nodes import make_nodes


def draw_expectation(
    rng: Generator, n: int, facts: SelectionFacts
) -> tuple[Floats, Expectation]:
    """A random law of (m, a, w) and the block w given a, reweighted by m."""
    law = rng.dirichlet(np.full(n * 4, 0.7)).reshape(n, 2, 2)
    model = Reweighting(make_nodes("M", "A", "W"), make_nodes("M"), facts)
    numbers = PlugInNumbers(Evaluator(NamedArray(("M", "A", "W"), law)))
    block = ReweightedBlock(("W",), make_nodes("A"), model)
    return law, Expectation(Populations(model, numbers), block)


@pytest.mark.parametrize("facts", [SelectionFacts(), SelectionFacts((0.4, 1)), None])
def test_the_greatest_mean_is_attained_at_a_corner(facts: SelectionFacts | None) -> None:
    """A ratio of linear forms is greatest at a corner: all of them are tried."""
    rng = default_rng(5)
    for _ in range(25):
        n = int(rng.integers(2, 5))
        known = facts or SelectionFacts((0.2, 1), float(rng.uniform(1.2, 4)))
        law, expectation = draw_expectation(rng, n, known)
        logged, values = law.sum(axis=(1, 2)), rng.random(2)
        shares = law / logged[:, None, None]
        upper = np.array([min(known.find_greatest_share(share), 1.0) for share in logged])
        corners = list(vertices(np.eye(n), known.least_ratio * logged, upper))
        for a in (0, 1):
            tops = [
                q @ (shares[:, a] @ values) / (q @ shares[:, a].sum(axis=1)) for q in corners
            ]
            low = -expectation.find_greatest(-values, {"A": a})
            assert expectation.find_greatest(values, {"A": a}) == pytest.approx(
                max(tops), abs=1e-7
            )
            assert low == pytest.approx(min(tops), abs=1e-7)
            assert low <= min(tops)


def test_ends_are_taken_at_every_outer_place() -> None:
    law, expectation = draw_expectation(default_rng(0), 2, SelectionFacts((1.0, 1.0)))
    low = default_rng(1).random((3, 1, 2))
    least, most = expectation.find_ends(low, low + 0.1, ("C", "A"))
    given = law.sum(axis=0)
    means = low[:, 0] @ (given / given.sum(axis=1, keepdims=True)).T

    assert least == pytest.approx(means, abs=1e-7)
    assert most == pytest.approx(means + 0.1, abs=1e-7)


def test_what_nobody_was_seen_with_may_be_anything() -> None:
    """Where P(a) may be zero, P(b | do(x), c) need not be P(b | a)."""
    law = np.zeros((2, 2, 2))
    law[:, 0] = 0.25
    model = Reweighting(make_nodes("M", "A", "W"), make_nodes("M"), SelectionFacts((0.5, 0.5)))
    numbers = PlugInNumbers(Evaluator(NamedArray(("M", "A", "W"), law)))
    expectation = Expectation(
        Populations(model, numbers), ReweightedBlock(("W",), make_nodes("A"), model)
    )

    assert expectation.find_greatest(np.array([0.2, 0.6]), {"A": 1}) == 0.6


def test_a_law_is_not_read_off_those_who_may_not_exist() -> None:
    """Only a reward never logged could go with A=1; then nobody has A=1, or all have it."""
    law = NamedArray(("W", "A"), np.array([[1.0, 0.0], [0.0, 0.0]]))
    model = Reweighting(make_nodes("A", "W"), make_nodes("W"))
    populations = Populations(model, PlugInNumbers(Evaluator(law)))
    expectation = Expectation(populations, ReweightedBlock(("W",), make_nodes("A"), model))

    assert expectation.find_greatest(np.array([0.0, -1.0]), {"A": 1}) == 0
    assert expectation.find_greatest(np.array([0.0, 1.0]), {"A": 1}) == 1


def test_out_of_time_the_ends_are_those_of_the_function() -> None:
    _, expectation = draw_expectation(default_rng(0), 3, SelectionFacts((0.9, 0.9)))
    late = Expectation(expectation.populations, expectation.block, budget=TimeBudget(0.0))
    values = np.array([0.1, 0.7])

    assert late.find_greatest(values, {"A": 0}) <= 0.7
    assert (
        late.find_greatest(values, {"A": 0})
        >= expectation.find_greatest(values, {"A": 0}) - 1e-9
    )


def test_an_axis_of_length_one_holds_for_every_place() -> None:
    values = np.arange(6.0).reshape(1, 2, 3)

    assert look_up(values, (4, 1)).tolist() == [3, 4, 5]


def test_a_block_of_two_is_weighed_by_name_not_by_place() -> None:
    """The steering variable comes first among the masses, and last in this block."""
    law = default_rng(2).dirichlet(np.ones(8)).reshape(2, 2, 2)
    model = Reweighting(make_nodes("A", "B", "W"), make_nodes("W"), SelectionFacts((1.0, 1.0)))
    numbers = PlugInNumbers(Evaluator(NamedArray(("A", "B", "W"), law)))
    expectation = Expectation(
        Populations(model, numbers), ReweightedBlock(("B", "W"), make_nodes("A"), model)
    )
    values = np.array([[0.1, 0.9], [0.4, 0.2]])

    for a in (0, 1):
        mean = (law[a] * values).sum() / law[a].sum()
        assert expectation.find_greatest(values, {"A": a}) == pytest.approx(mean, abs=1e-7)
