import numpy as np
import pytest

from boundit.bounds.binary_reward import BinaryReward
from boundit.bounds.confidence import ConfidentNumbers, collect_terms
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.rules.chain import ChainLink, ChainSearch, KnownFormula
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.reweighted_chain import ReweightedChain, list_drawn
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import P
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.simulation.model import Model
from boundit.simulation.worlds import paper_world
from boundit.terms.bound import StepRecord
from boundit.terms.names import Nodes
from tests.bounds.exact import questions
from tests.bounds.reweighted import plug_in, true_facts
from tests.nodes import make_nodes

QUERY = parse_query("Y | do(X)")
LAW = Reweighting(make_nodes("M", "X"), make_nodes("M"), SelectionFacts((0.5, 0.9)))
BLOCK = ReweightedBlock(("M",), make_nodes("X"), LAW, (StepRecord("it may be seen"),))
REWARD = KnownFormula(
    P(make_nodes("Y"), make_nodes("X", "M", "U", "Z")), (StepRecord("Y is known"),)
)


def chain() -> ReweightedChain:
    known = ChainLink("Z", KnownFormula(P(make_nodes("Z")), (StepRecord("Z is clean"),)))
    return ReweightedChain(QUERY, (ChainLink("U", None), BLOCK, known), REWARD)


def test_a_chain_says_what_it_draws_reads_and_does_not_know() -> None:
    found = chain()

    assert found.variables == ("U", "M", "Z")
    assert found.unknown == ("U",)
    assert found.blocks == (BLOCK,)
    assert found.n_unknown == 1
    assert found.name == "reweighting of M, unknown U"
    assert found.formulas == (
        REWARD.expression,
        P(make_nodes("X"), make_nodes("M")),
        P(make_nodes("M")),
        P(make_nodes("Z")),
    )
    assert [list_drawn(link) for link in found.links] == [("U",), ("M",), ("Z",)]


def test_a_rule_is_written_from_the_outside_in() -> None:
    written = chain().write_record()

    assert str(written.claim) == (
        "P(Y | do(X)) lies between min/max over U of sum over M of P*(M | X) x "
        "(sum over Z of P(Z | S=1) x (P(Y | M, U, X, Z, S=1))), where P*(v) = P(v | S=1) r(M) "
        "is the population's law and r any that fits: r >= 0.5 (selection rate)"
    )
    assert tuple(map(str, written.steps)) == (
        "Y is known",
        "for Z: Z is clean",
        "it may be seen",
        "Rule 1: given M, selection tells nothing of X",
    )


def test_the_last_block_can_be_the_reward() -> None:
    law = Reweighting(make_nodes("Y", "X"), make_nodes("Y"))
    found = ReweightedChain(QUERY, (ReweightedBlock(("Y",), make_nodes("X"), law),), None)

    assert found.formulas == (P(make_nodes("X"), make_nodes("Y")),)
    assert found.n_unknown == 1
    assert str(found.write_record().claim) == (
        "P(Y | do(X)) is P*(Y | X), where P*(v) = P(v | S=1) r(Y) is the population's law and "
        "r any that fits: nothing is known of r"
    )


NOTHING = SelectionFacts()


def bounded(
    graph: CausalGraph,
    query: EffectQuery,
    numbers: Numbers,
    facts: SelectionFacts = NOTHING,
    tables: tuple[Nodes, ...] = (),
) -> Ends:
    """The best ends of all reweighted chains; everything where there are none."""
    axes = query.treatments + query.context
    shape = [numbers.levels[axis] for axis in axes]
    lower, upper = np.zeros(shape), np.ones(shape)
    for chain in ReweightedChainSearch(graph, query, facts, tables).find_chains(longest=3):
        ends = chain.find_ends(numbers)
        lower, upper = np.maximum(lower, ends.lower), np.minimum(upper, ends.upper)
    return Ends(lower, upper)


def truth(model: Model, query: EffectQuery) -> Floats:
    effect = model.effect(
        outcomes=query.outcomes, treatments=query.treatments, context=query.context
    )
    return effect.at({query.outcomes[0]: 1}).align(query.treatments + query.context)


@pytest.mark.parametrize(("seed", "zeros"), [(1, 0.0), (2, 0.35)])
def test_true_facts_never_miss_and_more_of_them_never_widen(seed: int, zeros: float) -> None:
    """Section 3.5 on random models, structural zeros among them, exact laws in."""
    said = 0
    for asked in questions(40, seed, zeros=zeros, selection=True):
        model, query = asked.model, asked.query
        mean = truth(model, query)
        defined = ~np.isnan(mean)
        for tables in {(), asked.tables}:
            numbers, last = plug_in(model, tables), None
            for facts in true_facts(model):
                ends = bounded(model.graph, query, numbers, facts, tables)
                assert (ends.lower <= mean + 1e-8)[defined].all()
                assert (ends.upper >= mean - 1e-8)[defined].all()
                if last is not None:
                    assert (ends.lower >= last.lower - 1e-5).all()
                    assert (ends.upper <= last.upper + 1e-5).all()
                last = ends
                said += (ends.upper - ends.lower < 0.99).sum()
    assert said > 200


def test_with_nothing_known_it_is_within_the_conditioning_bound() -> None:
    """Section 3.5: never wider than 3.2 with W that contains pa(S)."""
    world = paper_world()
    numbers = plug_in(world.model)
    free = bounded(world.graph, world.query, numbers)
    (chain,) = (
        chain
        for chain in ChainSearch(world.graph, world.query).find_chains(longest=1)
        if chain.variables == ("I1",)
    )
    plain = chain.find_ends(numbers)

    assert (free.lower >= plain.lower - 1e-8).all()
    assert (free.upper <= plain.upper + 1e-8).all()
    assert (free.lower[0, 0, 0], free.upper[0, 0, 0]) == (
        pytest.approx([0.165217] * 2, abs=1e-6),
        pytest.approx([0.374510] * 2, abs=1e-6),
    )


def test_the_selection_rate_halves_the_papers_intervals() -> None:
    world = paper_world()
    numbers = plug_in(world.model)
    free = bounded(world.graph, world.query, numbers)
    told = bounded(world.graph, world.query, numbers, SelectionFacts((0.47625, 0.47625)))

    assert (free.upper - free.lower).mean() == pytest.approx(0.21172, abs=1e-5)
    assert (told.upper - told.lower).mean() == pytest.approx(0.10607, abs=1e-5)


def test_facts_say_something_where_the_reward_itself_is_selected() -> None:
    """Trivial without facts; with P(S=1) = 1 the log is the population."""
    query = parse_query("Y | do(X)")
    model = Model.of(
        {"X": ([], 0.5), "Y": (["X"], [0.3, 0.6]), "S": (["Y"], [0.5, 0.8])}, selection="S"
    )
    numbers = plug_in(model)
    free, told, sure = (
        bounded(model.graph, query, numbers, facts)
        for facts in (
            NOTHING,
            SelectionFacts((model.selection_rate(),) * 2),
            SelectionFacts((1.0, 1.0)),
        )
    )

    assert (free.lower.tolist(), free.upper.tolist()) == ([0, 0], [1, 1])
    assert (told.lower < [0.3, 0.6]).all()
    assert (told.upper > [0.3, 0.6]).all()
    assert (told.upper - told.lower).max() < 0.5
    logged = model.log().condition_on("X").at({"Y": 1}).values
    assert sure.lower == pytest.approx(logged, abs=1e-7)
    assert sure.upper == pytest.approx(logged, abs=1e-7)


def test_a_table_of_what_steers_selection_gives_a_point() -> None:
    """P(m) known is r known, also through a variable that only tells of m."""
    model = Model.of(
        {
            "X": ([], 0.5),
            "M": (["X"], [0.3, 0.6]),
            "V": (["M"], [0.2, 0.9]),
            "Y": (["M", "X"], [[0.1, 0.3], [0.7, 0.9]]),
            "S": (["M"], [0.3, 0.9]),
        },
        selection="S",
    )
    query, tables = parse_query("Y | do(X)"), (make_nodes("V"),)
    ends = bounded(model.graph, query, plug_in(model, tables), NOTHING, tables)

    assert ends.lower == pytest.approx(truth(model, query), abs=1e-6)
    assert ends.upper == pytest.approx(truth(model, query), abs=1e-6)


@pytest.mark.parametrize("rows", [300, 3_000, 30_000])
def test_with_counts_programs_are_feasible_and_hold(rows: int) -> None:
    """Section 3.6: interval cells in the place of equalities."""
    world = paper_world()
    mean = truth(world.model, world.query)
    for facts in true_facts(world.model):
        for chain in ReweightedChainSearch(world.graph, world.query, facts).find_chains(
            longest=2
        ):
            table = world.log(rows, 7).count(sorted(world.graph.observed - {"Y"}), reward="Y")
            numbers = ConfidentNumbers(
                BinaryReward(table, "Y", 0, 1),
                [],
                dict.fromkeys(collect_terms(chain.formulas), frozenset[str]()),
                confidence=0.95,
            )
            ends = chain.find_ends(numbers)

            assert all(Populations(b.reweighting, numbers).may_exist() for b in chain.blocks)
            assert (ends.lower <= mean).all()
            assert (mean <= ends.upper).all()
