"""Algorithm 2: recover one c-factor through selection.

References
----------
E. Bareinboim and J. Tian, Recovering causal effects from selection bias, AAAI 2015.
J. D. Correa, J. Tian and E. Bareinboim, Identification of causal effects in the presence of
selection bias, AAAI 2019.
"""

from boundit.estimand.language.law import Law, Reader, write_observed_law
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.estimand.recovery.identify import identify
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes, join_names


def recover_factor(
    target: Nodes, graph: CausalGraph, read: Reader = write_observed_law
) -> Identification:
    """Recover a c-factor ``Q[target]`` from the law of the logged rows (Algorithm 2, RC*).

    ``Q[target]`` is the law of ``target``, nodes joined by bidirected edges, when all others
    are set by hand. Returns its formula and the steps, or none.

    ``read`` writes the law of a part of the graph. Without a selection node this is Tian's
    method; with one it is RC*, without the bounds of Algorithm 2. Comments give the lines of
    the paper's listing. It goes on to line 15 even when Identify fails inside a clean
    component, on a graph that lost the target; we stop there.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("X", "S")], selection="S")
    >>> print(recover_factor(frozenset("Y"), graph))
    P(Y | X, S=1)
    >>> print(recover_factor(frozenset("X"), graph).steps[-1])
    Algorithm 2, line 9: every c-component has a say in selection
    """
    kept = graph.ancestors(target) | graph.selecting()
    relevant = graph.induced(kept)
    answer = _recover_by_listing(target, read(relevant, (kept - target,)), relevant)
    return answer.after(*_make_sum_steps(graph.nodes - kept))


def _recover_by_listing(target: Nodes, law: Law, graph: CausalGraph) -> Identification:
    """Recover ``Q[target]`` from a law by the lines of Algorithm 2, repeated on what is left.

    Sum out what does not matter; stop if all c-components act on selection; identify the target
    in one that does not; else divide by these and begin again.
    """
    kept = graph.ancestors(target) | graph.selecting()
    if idle := graph.nodes - kept:  # lines 4-6
        answer = _recover_by_listing(target, law.marginalize(kept), graph.induced(kept))
        return answer.after(*_make_sum_steps(idle))
    clean = find_clean_components(graph)  # line 7
    if not clean:  # lines 8-11
        return Identification(None, (Step(9, "every c-component has a say in selection"),))
    if home := next((c for c in clean if target <= c), None):  # lines 12-14
        answer = identify(target, home, law.divide_by(graph.nodes - home), graph)
        return answer.after(Step(13, f"Identify within {join_names(home)}"))
    gone = frozenset[str]().union(*clean)  # line 15
    answer = _recover_by_listing(target, law.divide_by(gone), graph.induced(graph.nodes - gone))
    return answer.after(Step(15, f"divide by Q of {join_names(gone)}"))


def find_clean_components(graph: CausalGraph) -> tuple[Nodes, ...]:
    """Find the c-components (nodes joined by bidirected edges) that do not act on selection.

    The log shows their true c-factors.
    """
    selecting = graph.selecting()
    return tuple(c for c in graph.components() if not c & selecting)


def _make_sum_steps(idle: Nodes) -> tuple[Step, ...]:
    """Make the step of an explanation that says which variables were summed out, if any were."""
    return (Step(5, f"sum out {join_names(idle)}"),) if idle else ()
