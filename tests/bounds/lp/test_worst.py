"""The population that attains an end is one that log and facts allow, and it attains it."""

import numpy as np
import pytest
from numpy.random import default_rng

from boundit.bounds.lp.fractional import Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.worst import LEAST, MOST, MOST_KINDS
from boundit.bounds.proof import RowKind, WorstPopulation
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from tests.bounds.programs import models, numbers

BY_REWARD = "X -> Y; Y -> [S]"


def list_worst(
    facts: SelectionFacts, text: str = BY_REWARD
) -> list[tuple[float, WorstPopulation]]:
    """The greatest P(Y=1 | X=1) of some models, and the population in which it is so."""
    found = []
    for model in models(text, 6, default_rng(1)):
        chains = ReweightedChainSearch(
            model.graph, parse_query("Y | do(X)"), facts
        ).find_chains(longest=0)
        (block,) = chains[0].blocks
        known = numbers(model.log())
        expectation = Expectation(Populations(block.reweighting, known), block)
        end, worst = expectation.solve_greatest(np.arange(2.0), {"X": 1})
        assert worst is not None
        law = model.log().align(("X", "Y"))
        shares = {kind.levels["Y"]: kind.share for kind in worst.kinds}
        if set(worst.kinds[0].levels) == {"Y"}:
            weights = [shares[y] / law[:, y].sum() for y in (0, 1)]
            joint = law[1] * weights
            assert joint[1] / joint.sum() == pytest.approx(end, abs=1e-7)
        found.append((end, worst))
    return found


def test_a_rate_stops_the_kind_that_everyone_logged_would_be() -> None:
    for _, worst in list_worst(SelectionFacts((0.6, 0.6))):
        unpaid, paid = worst.kinds
        assert (unpaid.stopped, paid.stopped) == (LEAST, "")
        assert unpaid.share == pytest.approx(0.6 * unpaid.logged)
        assert unpaid.share + paid.share == pytest.approx(1)


def test_a_limit_stops_on_both_sides() -> None:
    stopped = {
        kind.stopped
        for _, worst in list_worst(SelectionFacts(limit=1.5))
        for kind in worst.kinds
    }
    assert stopped <= {LEAST, MOST, ""}
    assert {LEAST, MOST} & stopped


def test_of_many_kinds_the_furthest_are_shown() -> None:
    text = "X -> Y; Y -> [S]; X -> [S]; A -> [S]; B -> [S]; A -> Y; B -> Y"
    for model in models(text, 2, default_rng(2)):
        facts = SelectionFacts((0.2, 0.2))
        asked = parse_query("Y | do(X), A, B")
        chains = ReweightedChainSearch(model.graph, asked, facts).find_chains(longest=0)
        (block,) = chains[0].blocks
        known = numbers(model.log())
        expectation = Expectation(Populations(block.reweighting, known), block)
        _, worst = expectation.solve_greatest(np.arange(2.0), {"X": 1, "A": 0, "B": 0})
        assert worst is not None
        assert len(worst.kinds) == MOST_KINDS
        assert worst.n_more == 16 - MOST_KINDS
        assert all(isinstance(kind, RowKind) for kind in worst.kinds)
