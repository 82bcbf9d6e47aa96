"""What two arms have in common of each rule."""

from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.shared import find_shared
from boundit.bounds.contrasts.type_differences import SharedTypes
from boundit.bounds.plan import plan_bounds
from boundit.estimand.query import parse_query
from boundit.graph.text import parse
from tests.paper import FIGURE_2


def found(graph: str, query: str) -> dict[str, type]:
    plan = plan_bounds(parse(graph), parse_query(query))
    return {p.record.name: type(find_shared(p.rule, plan.graph)) for p in plan.rules}


def test_chains_share_the_laws_of_their_links() -> None:
    plan = plan_bounds(FIGURE_2, parse_query("Y | do(X1, X2), U1, U2"))
    plain, *reweighted = (find_shared(p.rule, plan.graph) for p in plan.rules)

    assert isinstance(plain, SharedChain)
    assert not plain.has_block
    assert all(isinstance(each, SharedChain) and each.has_block for each in reweighted)


def test_programs_share_the_law_of_types_and_natural_bounds_share_nothing() -> None:
    shared = found("Z -> X -> Y; X <-> Y", "Y | do(X)")

    assert shared["program over X, Y across Z"] is SharedTypes
    assert shared["natural bounds of X, Y"] is type(None)
