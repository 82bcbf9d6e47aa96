from math import inf

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from boundit.bounds.contrasts.ratio_difference import BlockMean, RatioDifference
from boundit.bounds.lp.fractional import Expectation
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
    law = rng.dirichlet(np.ones(n * 4)).reshape(n, 2, 2)
    model = Reweighting(make_nodes("M", "A", "W"), make_nodes("M"), facts)
    numbers = PlugInNumbers(Evaluator(NamedArray(("M", "A", "W"), law)))
    return law, Expectation(
        Populations(model, numbers), ReweightedBlock(("W",), make_nodes("A"), model)
    )


def search_vertices(law: Floats, one: Floats, other: Floats, facts: SelectionFacts) -> float:
    """The greatest difference over corners and a fine grid between every two of them."""
    logged = law.sum(axis=(1, 2))
    shares = law / logged[:, None, None]
    upper = np.array([min(facts.find_greatest_share(share), 1.0) for share in logged])
    corners = np.array(list(vertices(np.eye(len(law)), facts.least_ratio * logged, upper)))
    steps = np.linspace(0, 1, 201)[:, None, None, None]
    q = (steps * corners + (1 - steps) * corners[:, None]).reshape(-1, len(law))
    masses = np.einsum("im,maw->iaw", q, shares)
    means = (
        masses[:, 0] @ one / masses[:, 0].sum(-1),
        masses[:, 1] @ other / masses[:, 1].sum(-1),
    )
    return float((means[0] - means[1]).max())


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8])
def test_no_population_passes_the_end_and_some_come_near(rate: float) -> None:
    """Section 3.8: local search is no bound; the grid over the second mean is."""
    rng = default_rng(3)
    for _ in range(12):
        facts = SelectionFacts((rate, 1.0))
        law, expectation = draw_expectation(rng, int(rng.integers(2, 4)), facts)
        one, other = rng.random(2), rng.random(2)
        end = RatioDifference(
            expectation, BlockMean(one, {"A": 0}), BlockMean(other, {"A": 1})
        ).find_greatest()
        apart = expectation.find_greatest(one, {"A": 0}) + expectation.find_greatest(
            -other, {"A": 1}
        )
        found = search_vertices(law, one, other, facts)

        assert end >= found - 1e-9
        assert end <= apart + 1e-8
        assert end - found < 2e-3


def test_the_same_mean_does_not_differ_from_itself() -> None:
    _, expectation = draw_expectation(default_rng(0), 3, SelectionFacts())
    mean = BlockMean(np.array([0.1, 0.8]), {"A": 0})

    assert 0 <= RatioDifference(expectation, mean, mean).find_greatest() <= 2e-4


def test_nobody_has_no_difference() -> None:
    law = np.zeros((2, 2, 2))
    law[:, 0] = 0.25
    model = Reweighting(make_nodes("M", "A", "W"), make_nodes("M"))
    numbers = PlugInNumbers(Evaluator(NamedArray(("M", "A", "W"), law)))
    expectation = Expectation(
        Populations(model, numbers), ReweightedBlock(("W",), make_nodes("A"), model)
    )
    values = np.array([0.2, 0.6])

    assert (
        RatioDifference(
            expectation, BlockMean(values, {"A": 0}), BlockMean(values, {"A": 1})
        ).find_greatest()
        == inf
    )


def test_out_of_time_an_end_still_holds() -> None:
    facts = SelectionFacts((0.3, 1.0))
    law, expectation = draw_expectation(default_rng(4), 3, facts)
    late = Expectation(expectation.populations, expectation.block, budget=TimeBudget(0.0))
    one, other = np.array([0.9, 0.1]), np.array([0.2, 0.7])
    end = RatioDifference(
        late, BlockMean(one, {"A": 0}), BlockMean(other, {"A": 1})
    ).find_greatest()

    assert end >= search_vertices(law, one, other, facts) - 1e-9
