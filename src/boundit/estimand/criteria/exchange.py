r"""Trading an action for an observation when the log is selected (Lemma 1).

The lemma is printed with its parts at odds: the condition cuts the edges *into* ``Z(W)``, the
sentence after it cuts those *out of* ``Z``, and ``W`` and ``Z`` change places in eq. 9. Two
readings are kept here, each under its name.

**Sound.** Rule 2 of the do-calculus, with selection beside the variables that are traded:

.. math:: (Y \perp Z, S \mid X, W) \text{ in } G_{\overline{X}\,\underline{Z}}

It licenses three equalities, for all values at which both sides are defined:

.. math::

    P(y \mid do(x), do(z), w) = P(y \mid do(x), do(z), w, S{=}1)
    = P(y \mid do(x), z, w) = P(y \mid do(x), z, w, S{=}1)

*Why.* ``(Y _||_ Z | X, W)`` in that graph is Rule 2, which joins the first and the third. By
weak union ``(Y _||_ S | X, W, Z)`` holds there too, and given ``Z`` the edges out of ``Z``
neither carry a walk nor open a collider that is not open already, so it holds in the graph cut
into ``X`` alone and, with fewer edges still, in the graph cut into ``X`` and ``Z``: Rule 1
drops ``S = 1`` on both sides. Conversely those two conditions together give the one above, by
contraction: nothing weaker licenses both steps.

**Paper.** ``(Y _||_ Z, S | X, W)`` in the graph cut into ``X`` and into ``Z(W)``, the members
of ``Z`` that cause nothing in ``W`` once the edges into ``X`` are cut. That is the condition of
Rule 3, which lets an action be dropped, not traded: on ``Z <-> Y`` it says yes, yet ``do(z)``
leaves Y alone while observing z tells of it.
"""

from typing import Literal, TypeAlias

from boundit.estimand.criteria.roles import read_roles
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import open_walk
from boundit.terms.names import Names, Nodes
from boundit.terms.verdict import Verdict

Reading: TypeAlias = Literal["sound", "paper"]


def exchanges(
    graph: GraphLike,
    *,
    outcomes: Names,
    exchanged: Names,
    treatments: Names = (),
    given: Names = (),
    form: Reading = "sound",
) -> Verdict:
    """Judge whether setting ``exchanged`` by hand tells as much as seeing it among the logged.

    Two readings of the paper's Lemma 1 may be asked for. A yes of ``form="sound"`` (Rule 2 of
    the do-calculus, which always holds) means ``P(outcomes | do(treatments), do(exchanged),
    given)`` is ``P(outcomes | do(treatments), exchanged, given, S=1)``, and the same without
    ``S=1``. The form ``"paper"`` is the condition as printed; a yes of it licenses nothing by
    itself. For users who check one step of a derivation; returns a verdict with its reason.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z <-> Y; A -> [S]")
    >>> print(exchanges(graph, outcomes="Y", exchanged="Z"))
    no, by Lemma 1: Z tells of the outcome without acting on it [Z <-> Y]
    >>> exchanges(graph, outcomes="Y", exchanged="Z", form="paper").holds
    True
    """
    graph = require_graph(graph)
    y, z, x, w = read_roles(
        graph,
        {
            "an outcome": outcomes,
            "exchanged": exchanged,
            "a treatment": treatments,
            "given": given,
        },
    )
    printed = form == "paper"
    cut = _cut_for_rule_3(graph, z, x, w) if printed else _cut_for_rule_2(graph, z, x)
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    clause = "Lemma 1 as printed" if printed else "Lemma 1"
    if walk := open_walk(cut, z | selection, y, given=x | w):
        what = "selection" if walk[0] in selection else walk[0]
        reason = f"{what} tells of the outcome without acting on it"
        return Verdict(holds=False, clause=clause, reason=reason, witness=walk)
    reason = "nothing exchanged, nor selection, tells of the outcome without acting on it"
    return Verdict(holds=True, clause=clause, reason=reason)


def _cut_for_rule_2(graph: CausalGraph, z: Nodes, x: Nodes) -> CausalGraph:
    """Cut the edges into the treatments ``X`` and out of the exchanged ``Z``, as Rule 2 asks.

    Returns the graph in which the separation is looked for.
    """
    return graph.without_edges_into(x).without_edges_out_of(z)


def _cut_for_rule_3(graph: CausalGraph, z: Nodes, x: Nodes, w: Nodes) -> CausalGraph:
    """Cut the edges into ``X`` and into ``Z(W)``, the part of Z that causes no W (Rule 3).

    Returns the graph in which the separation is looked for.
    """
    acted_on = graph.without_edges_into(x)
    return acted_on.without_edges_into(z - acted_on.ancestors(w))
