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
does not affect Y, which depends on z.
"""

from typing import Literal, TypeAlias

from boundit.core.names import Names
from boundit.core.verdict import Verdict
from boundit.estimand.query import read_roles
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import open_walk

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
    """Judge whether an intervention may be exchanged for an observation in the log (Lemma 1).

    Parameters
    ----------
    graph
        The causal graph.
    outcomes, exchanged, treatments, given
        The variables of ``P(outcomes | do(treatments), do(exchanged), given)``.
    form
        By ``"sound"``, Rule 2 of the do-calculus, a yes means that this is
        ``P(outcomes | do(treatments), exchanged, given, S=1)``, and the same without ``S=1``.
        ``"paper"`` is the condition as printed; a yes of it licenses nothing by itself.

    Returns
    -------
    Verdict
        Whether the condition holds, and if not the walk that is open.

    Examples
    --------
    >>> graph = "Z <-> Y; A -> [S]"
    >>> print(exchanges(graph, outcomes="Y", exchanged="Z"))
    no, by Lemma 1: Z is dependent on the outcome without acting on it [Z <-> Y]
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
    printed, ahead = form == "paper", graph.without_edges_into(x)
    # Rule 2 cuts out of Z; Rule 3, as printed, into the part of Z that causes no W.
    cut = ahead.without_edges_out_of(z)
    if printed:
        cut = ahead.without_edges_into(z - ahead.ancestors(w))
    selection = frozenset((graph.selection,)) if graph.selection else frozenset()
    clause = "Lemma 1 as printed" if printed else "Lemma 1"
    if walk := open_walk(cut, z | selection, y, given=x | w):
        what = "selection" if walk[0] in selection else walk[0]
        reason = f"{what} is dependent on the outcome without acting on it"
        return Verdict(holds=False, clause=clause, reason=reason, witness=walk)
    reason = (
        "nothing exchanged, nor selection, is dependent on the outcome without acting on it"
    )
    return Verdict(holds=True, clause=clause, reason=reason)
