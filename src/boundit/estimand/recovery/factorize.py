"""An effect as a sum of products of c-factors: Theorem 2."""

from dataclasses import dataclass

from boundit.estimand.language.expression import CFactor, Product, Sum
from boundit.estimand.language.notation import write_text
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class FactorSum:
    """``Q[D_1] Q[D_2] ...`` summed over ``summed``, the ancestors that nobody asked about."""

    summed: Nodes
    factors: tuple[CFactor, ...]

    @property
    def parts(self) -> tuple[Nodes, ...]:
        """The c-components ``D_i``: nodes joined by bidirected edges, one set a factor.

        They stand in the causal order of their first members.
        """
        return tuple(factor.of for factor in self.factors)

    @property
    def relevant(self) -> Nodes:
        """``D``: the outcomes and their ancestors in the graph without the treatments."""
        return frozenset[str]().union(*self.parts)

    def __str__(self) -> str:
        return write_text(Sum(self.summed, Product(self.factors)))


def factorize(graph: CausalGraph, *, outcomes: Nodes, treatments: Nodes) -> FactorSum:
    r"""Write an effect as a sum of products of c-factors (Theorem 2, eq. 4).

    .. math:: P(y \mid do(x)) = \sum_{D \setminus Y} \prod_i Q[D_i]

    where :math:`D` are the ancestors of the outcomes once the treatments are gone and
    :math:`D_i` the c-components of :math:`G_D`. Given the selection node as an outcome, it is
    the law of the logged rows that is written so.

    >>> front_door = CausalGraph.of(directed=[("X", "M"), ("M", "Y")], bidirected=[("X", "Y")])
    >>> print(factorize(front_door, outcomes=frozenset("Y"), treatments=frozenset("X")))
    Σ_{M} Q[M] Q[Y]
    """
    untreated = graph.induced(graph.nodes - treatments)
    relevant = untreated.ancestors(outcomes)
    components = untreated.induced(relevant).components()
    return FactorSum(relevant - outcomes, tuple(map(CFactor, components)))
