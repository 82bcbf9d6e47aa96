"""Tian's Identify: a c-factor out of a larger one.

References
----------
J. Tian and J. Pearl, On the identification of causal effects, R-290-L, 2003.
"""

from boundit.estimand.language.law import Law
from boundit.estimand.recovery.derivation import Identification, Step
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.formula import Sentence, make_factor
from boundit.terms.names import Nodes, join_names

NAME = "Identify"


def identify(target: Nodes, within: Nodes, known: Law, graph: CausalGraph) -> Identification:
    """Identify the c-factor ``Q[target]`` from ``known``, which is ``Q[within]``, a larger one.

    A c-factor is the law of nodes when all others are set by hand; both sets are c-components,
    joined by bidirected edges. Returns the formula and its steps, or none.

    Line 1: the ancestors of the target are the target: sum out the rest. Line 2: they are all
    of ``within``: no formula exists. Line 3: go on with the c-component of the ancestors that
    holds the target.

    >>> napkin = CausalGraph.of(
    ...     directed=[("W", "R"), ("R", "X"), ("X", "Y")], bidirected=[("W", "X"), ("W", "Y")]
    ... )
    >>> from boundit.estimand.language.law import write_observed_law
    >>> tripod = frozenset("WXY")
    >>> known = write_observed_law(napkin).divide_by(frozenset("R"))
    >>> print(identify(frozenset("Y"), tripod, known, napkin))
    [Σ_{W} P(W) P(X | R, W) P(Y | R, W, X)] / [Σ_{W} P(W) P(X | R, W)]
    """
    inside = graph.induced(within)
    ancestors = inside.ancestors(target)
    if ancestors == target:
        words = f"sum {join_names(within - target)} out of "
        summed = Step(1, Sentence.of(words, make_factor(within)), NAME)
        steps = (summed,) if within > target else ()
        return Identification(known.marginalize(target).write_formula(), steps)
    if ancestors == within:
        reason = (
            f"stops: within {join_names(within)}, joined by hidden causes, everything acts on "
            f"{join_names(target)}"
        )
        return Identification(None, (Step(2, reason, NAME),))
    smaller = known.marginalize(ancestors)
    part = inside.induced(ancestors)
    home = next(c for c in part.components() if target <= c)
    answer = identify(target, home, smaller.divide_by(ancestors - home), part)
    return answer.after(Step(3, f"go on within {join_names(home)}", NAME))
