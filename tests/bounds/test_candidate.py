"""Rules made ready: what they read is what the counts must hold."""

from boundit.bounds.candidate import from_chain, from_reweighted
from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.selection_facts import NOTHING_KNOWN
from boundit.bounds.time_budget import TimeBudget
from boundit.estimand.query import parse_query
from tests.paper import FIGURE_2

QUERY = parse_query("Y | do(X1, X2), U1, U2")


def test_conditioning_reads_what_it_conditions_on_and_takes_extremes_over_it() -> None:
    (chain,) = ChainSearch(FIGURE_2, QUERY).chains(longest=1)
    found = from_chain(chain, FIGURE_2, QUERY)

    assert found.needs == {"I1", "U1", "X1", "X2", "Y"}
    assert found.extremes == {"I1"}
    assert found.unknown == 1
    assert isinstance(found.joint, SharedChain)
    assert not found.joint.has_block


def test_a_reweighting_reads_what_steers_selection() -> None:
    for chain in ReweightedChainSearch(FIGURE_2, QUERY, NOTHING_KNOWN).chains(longest=1):
        found = from_reweighted(chain, FIGURE_2, QUERY, TimeBudget(None))

        assert found.variables == {"I1"}
        assert isinstance(found.joint, SharedChain)
        assert isinstance(found.joint.chain, ReweightedChain)
