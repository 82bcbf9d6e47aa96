from boundit.bounds.rules.chain import ChainSearch
from boundit.bounds.rules.find_reweighted import MOST_CHAINS, ReweightedChainSearch
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from boundit.simulation.worlds import paper_world
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes
from tests.bounds.exact import questions
from tests.nodes import make_nodes
from tests.paper import FIGURE_2

NOTHING = SelectionFacts()


def found(graph: str, query: str, *tables: Nodes) -> list[ReweightedChain]:
    return ReweightedChainSearch(parse(graph), parse_query(query), NOTHING, tables).find_chains(
        longest=3
    )


def test_the_paper_reweights_the_mediator_or_the_reward() -> None:
    """Figure 2: I1 steers selection, and its law depends on X1 alone."""
    world = paper_world()
    chains = ReweightedChainSearch(
        world.graph, world.query, SelectionFacts((0.4, 0.4))
    ).find_chains(longest=3)
    by_mediator, by_reward = chains
    (block,) = by_mediator.blocks

    assert [chain.name for chain in chains] == ["reweighting of I1", "reweighting of Y"]
    assert by_reward.reward is None
    assert block.given == make_nodes("X1")
    assert block.reweighting.steering == make_nodes("I1")
    assert tuple(map(str, by_mediator.write_record().steps[-2:])) == (
        "Rule 2: P(I1 | do(X1, X2), U1, U2) is P(I1 | X1) of the population",
        "Rule 1: given I1, selection tells nothing of X1",
    )


def test_selection_by_the_reward_itself_is_reweighted() -> None:
    """Section 3.5: Y in pa(S) is trivial by conditioning, but facts help."""
    (chain,) = found("C -> X -> Y -> [S]; C -> Y", "Y | do(X), C")
    (block,) = chain.blocks

    assert (block.variables, block.given) == (("Y",), make_nodes("C", "X"))
    assert (chain.reward, chain.unknown) == (None, ())


def test_a_confounder_may_be_a_block_of_its_own() -> None:
    """Selection by the reward hides the law of whatever tells of the reward."""
    chain = found("Z -> X -> Y -> [S]; Z -> Y", "Y | do(X)")[0]

    assert chain.name == "reweighting of Z; Y"
    assert [block.given for block in chain.blocks] == [make_nodes(), make_nodes("X", "Z")]


def test_what_nobody_can_read_off_the_population_stays_unknown() -> None:
    """X and W are confounded: P(W | X) is not what W would be under do(X)."""
    chain = found("X -> W -> Y; X <-> W; W -> Y -> [S]; X -> Y", "Y | do(X)")[0]

    assert chain.unknown == ("W",)


def test_nothing_is_reweighted_where_the_effect_is_recovered_or_all_rows_are_logged() -> None:
    assert found("X -> Y; Z -> [S]", "Y | do(X)") == []
    assert found("X -> Y; X <-> Y", "Y | do(X)") == []


def test_an_effect_that_actions_confound_is_not_reweighted() -> None:
    """Rule 2 fails for every block: the population itself does not tell."""
    assert found("X -> Y -> [S]; X <-> Y", "Y | do(X)") == []


def test_tables_join_the_law_of_the_population() -> None:
    """And a variant without them stays, for where they ask for cells nobody saw."""
    chains = found("X -> M -> Y; M -> [S]; X -> Y; U -> X", "Y | do(X)", make_nodes("U"))
    told, alone = (chain.blocks[0].reweighting for chain in chains[:2])

    assert told.tables == (make_nodes("U"),)
    assert told.variables == make_nodes("M", "U", "X")
    assert alone.tables == ()
    assert alone.variables == make_nodes("M", "X")


def test_a_search_that_is_late_ends_with_what_it_has() -> None:
    world = paper_world()
    reweighter = ReweightedChainSearch(world.graph, world.query, NOTHING)

    assert reweighter.find_chains(longest=3, budget=TimeBudget(0.0)) == []


def test_laws_may_be_shared_with_the_search_for_plain_chains() -> None:
    for asked in questions(30, 4, selection=True):
        graph, query = asked.model.graph, asked.query
        plain = ChainSearch(graph, query)
        list(plain.find_chains(longest=2))

        shared = ReweightedChainSearch(graph, query, NOTHING, search=plain)
        alone = ReweightedChainSearch(graph, query, NOTHING)

        assert shared.find_chains(longest=2) == alone.find_chains(longest=2)


def test_chains_draw_no_variable_twice_and_are_few() -> None:
    for asked in questions(40, 3, selection=True):
        chains = ReweightedChainSearch(asked.model.graph, asked.query, NOTHING).find_chains(
            longest=2
        )
        assert len(chains) <= 2 * MOST_CHAINS
        assert [len(c.unknown) for c in chains] == sorted(len(c.unknown) for c in chains)
        for chain in chains:
            assert len(chain.variables) == len(set(chain.variables)) <= 3
            for block in chain.blocks:
                assert {*block.variables, *block.given} <= block.reweighting.variables


def test_a_reweighting_reads_what_steers_selection() -> None:
    query = parse_query("Y | do(X1, X2), U1, U2")
    for chain in ReweightedChainSearch(FIGURE_2, query, SelectionFacts()).find_chains(
        longest=1
    ):
        assert chain.range_variables == {"I1"}
        assert all(not law.facts for law in chain.reweightings)
