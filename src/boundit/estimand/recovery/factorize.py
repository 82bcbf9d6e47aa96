"""An effect as a sum of products of c-factors: Theorem 2."""

from boundit.estimand.language.expression import CFactor, Product, Sum
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes


def factorize(graph: CausalGraph, *, outcomes: Nodes, treatments: Nodes) -> Sum:
    r"""Write an effect as a sum of products of c-factors (Theorem 2, eq. 4).

    .. math:: P(y \mid do(x)) = \sum_{D \setminus Y} \prod_i Q[D_i]

    where :math:`D` are the ancestors of the outcomes once the treatments are gone and
    :math:`D_i` the c-components of :math:`G_D`.

    >>> from boundit.estimand.language.render import text
    >>> front_door = CausalGraph.of(directed=[("X", "M"), ("M", "Y")], bidirected=[("X", "Y")])
    >>> text(factorize(front_door, outcomes=frozenset("Y"), treatments=frozenset("X")))
    'Σ_{M} Q[M] Q[Y]'
    """
    graph.require(outcomes | treatments)
    untreated = graph.induced(graph.observed - treatments)
    relevant = untreated.ancestors(outcomes)
    components = untreated.induced(relevant).components()
    return Sum(relevant - outcomes, Product(tuple(map(CFactor, components))))
