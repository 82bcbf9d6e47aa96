"""What arms share of a rule: the law of its links, or one law of response types."""

from boundit.bounds.contrasts.chain_differences import SharedChain
from boundit.bounds.contrasts.shared_unknown import SharedUnknown
from boundit.bounds.contrasts.type_differences import SharedTypes
from boundit.bounds.rules.chain import Chain
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_types import TypesReweighted
from boundit.bounds.rules.rule import BoundRule
from boundit.graph.causal_graph import CausalGraph


def find_shared(rule: BoundRule, graph: CausalGraph) -> SharedUnknown | None:
    """Find what two arms have in common of a rule; None where each arm stands alone.

    Called by ``assemble`` once per rule.
    """
    match rule:
        case Chain() | ReweightedChain():
            return SharedChain.from_graph(graph, rule.query, rule)
        case NestedChain() if program := rule.shared_program:
            return SharedTypes(program)
        case TypesReweighted():
            return SharedTypes(rule)
        case _:
            return None
