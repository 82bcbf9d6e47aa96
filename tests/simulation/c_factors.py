"""C-factors by definition, from the tables of a model: an oracle."""

from boundit.core.names import Names
from boundit.counts.named_array import NamedArray
from boundit.simulation.scm import SCM


def c_factor(model: SCM, component: Names) -> NamedArray:
    r"""Give ``Q[component]``: its law when every other node is set by hand.

    .. math:: Q[C](v) = \sum_u P(u) \prod_{V_i \in C} P(v_i \mid pa_i, u_i)

    It has axes for the component and for what its tables read.
    """
    inside = model.graph.require(component)
    outside = model.graph.nodes - inside
    drawn, waiting = set[str](), list(inside)
    while waiting:
        node = waiting.pop()
        if node not in drawn and node not in outside:
            drawn.add(node)
            waiting += model.tables[node].axes[:-1]
    read = frozenset[str]().union(*(model.tables[node].names for node in drawn))
    return model.intervene(outside & read, inside)
