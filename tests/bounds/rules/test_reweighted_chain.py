from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.rules.chain import ChainLink, KnownFormula
from boundit.bounds.rules.reweighted_chain import ReweightedChain, drawn_by, rule
from boundit.bounds.selection_facts import SelectionFacts
from boundit.estimand.language.expression import P
from boundit.estimand.query import parse_query
from boundit.terms.names import make_nodes

QUERY = parse_query("Y | do(X)")
LAW = Reweighting(make_nodes("M", "X"), make_nodes("M"), SelectionFacts((0.5, 0.9)))
BLOCK = ReweightedBlock(("M",), make_nodes("X"), LAW, ("it may be seen",))
REWARD = KnownFormula(P(make_nodes("Y"), make_nodes("X", "M", "U", "Z")), ("Y is known",))


def chain() -> ReweightedChain:
    known = ChainLink("Z", KnownFormula(P(make_nodes("Z")), ("Z is clean",)))
    return ReweightedChain((ChainLink("U", None), BLOCK, known), REWARD)


def test_a_chain_says_what_it_draws_reads_and_does_not_know() -> None:
    found = chain()

    assert found.variables == ("U", "M", "Z")
    assert found.unknown == ("U",)
    assert found.blocks == (BLOCK,)
    assert found.n_open == 1
    assert found.name == "reweighting of M, unknown U"
    assert found.formulas == (
        REWARD.expression,
        P(make_nodes("X"), make_nodes("M")),
        P(make_nodes("M")),
        P(make_nodes("Z")),
    )
    assert [drawn_by(link) for link in found.links] == [("U",), ("M",), ("Z",)]


def test_a_rule_is_written_from_the_outside_in() -> None:
    written = rule(chain(), QUERY)

    assert written.claim == (
        "P(Y | do(X)) lies between min/max over U of sum over M of P*(M | X) x "
        "(sum over Z of P(Z | S=1) x (P(Y | M, U, X, Z, S=1))), where P*(v) = P(v | S=1) r(M) "
        "is the population's law and r any that fits: r >= 0.5 (selection rate)"
    )
    assert written.steps == (
        "Y is known",
        "for Z: Z is clean",
        "it may be seen",
        "Rule 1: given M, selection tells nothing of X",
    )


def test_the_last_block_can_be_the_reward() -> None:
    law = Reweighting(make_nodes("Y", "X"), make_nodes("Y"))
    found = ReweightedChain((ReweightedBlock(("Y",), make_nodes("X"), law),), None)

    assert found.formulas == (P(make_nodes("X"), make_nodes("Y")),)
    assert found.n_open == 1
    assert rule(found, QUERY).claim == (
        "P(Y | do(X)) is P*(Y | X), where P*(v) = P(v | S=1) r(Y) is the population's law and "
        "r any that fits: nothing is known of r"
    )
