"""Covariate adjustment: when a weighted average over covariates is the causal effect.

.. code-block:: text

    criterion           the log                    averages           with weights
    Definition 2        shows everybody            P(y | x, z)        P(z)
    Theorem 1 (GACT1)   is selected                P(y | x, z, S=1)   P(z | S=1)
    GACT2               and P(z) is known          P(y | x, z, S=1)   P(z)
    GACT3               and P(zt) is known         P(y | x, z, S=1)   P(z - zt | zt, S=1) P(zt)

``Z`` are the covariates and ``Z^T``, here ``external``, those of them that were also measured
without selection. GACT3 asks of a pair ``(Z, Z^T)`` that (a) no covariate lies in Dpcp, and
that in G_pbd (b) ``(X _||_ Y | Z, S)`` and (c) ``(Y _||_ S | Z^T)``. With ``Z^T`` empty this is
GACT1, with ``Z^T`` all of ``Z`` it is GACT2. These have conditions of their own, by which the
verdict says what fails; the tests show that they agree with GACT3.

References
----------
I. Shpitser, T. VanderWeele and J. Robins, On the validity of covariate adjustment for
estimating causal effects, UAI 2010 (Definition 2). J. D. Correa and E. Bareinboim, Causal
effect identification by adjustment under confounding and selection biases, AAAI 2017 (GACT1,
GACT2).
J. D. Correa, J. Tian and E. Bareinboim, Generalized adjustment under confounding and selection
biases, AAAI 2018 (GACT3).
"""

from collections.abc import Iterator
from typing import NamedTuple

from boundit.estimand.criteria.roles import read_roles
from boundit.estimand.language.expression import Expression, P, Product, Sum
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import find_proper_causal_effects, make_back_door_graph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import open_walk
from boundit.terms.errors import InvalidQuery
from boundit.terms.names import Names, Nodes, join_names, sort_names
from boundit.terms.verdict import Verdict

_NON_CAUSAL = "a non-causal path stays open"


class NotACovariate(InvalidQuery):
    """A variable that is called external but is not adjusted for."""

    def __init__(self, name: str, covariates: Nodes) -> None:
        self.name, self.covariates = name, sort_names(covariates)
        held = f"they are {join_names(covariates)}" if covariates else "there are none"
        message = f"{name!r} is external but not among the covariates; {held}"
        super().__init__(message, option="external")


class Adjustment(NamedTuple):
    """The pair ``(Z, Z^T)``: covariates, and those of them measured without selection."""

    covariates: Nodes
    external: Nodes


def adjusts(
    graph: GraphLike,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
) -> Verdict:
    """Judge whether adjusting for ``covariates`` gives ``P(outcomes | do(treatments))``.

    The verdict says yes or no, by which criterion, and on a no which path is left open.
    ``external`` is exactly ``Z^T``, the covariates also measured without selection; anything
    else in it raises NotACovariate. ``write_adjustment`` writes down what a yes licenses. Users
    ask it; also called by ``_judge_as_printed`` for the reasons of an adjustment that was
    found.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]")
    >>> print(adjusts(graph, covariates="Z", treatments="X", outcomes="Y", external="Z"))
    yes, by GACT2: every non-causal path is blocked, and selection tells nothing of the outcome
    >>> print(adjusts(graph, covariates="Z", treatments="X", outcomes="Y"))
    no, by Theorem 1 (GACT1) (c): selection depends on the outcome [Y <- Z -> S]
    """
    graph = require_graph(graph)
    pair, x, y = _read_question(graph, covariates, treatments, outcomes, external)
    criterion = _name_criterion(graph, pair)

    def refused(condition: str, reason: str, witness: tuple[str, ...]) -> Verdict:
        clause = f"{criterion} ({condition})"
        return Verdict(holds=False, clause=clause, reason=reason, witness=witness)

    if spoiled := pair.covariates & find_proper_causal_effects(graph, treatments=x, outcomes=y):
        reason = f"the treatments act on {join_names(spoiled)} on the way to the outcome"
        return refused("a" if graph.selection else "i", reason, tuple(sort_names(spoiled)))
    for claim in _list_claims(graph, pair, x, y):
        if walk := open_walk(claim.graph, claim.sources, claim.targets, given=claim.given):
            return refused(claim.condition, claim.otherwise, walk)
    reason = "every non-causal path is blocked"
    if graph.selection:
        reason += ", and selection tells nothing of the outcome"
    return Verdict(holds=True, clause=criterion, reason=reason)


def write_adjustment(
    graph: CausalGraph,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
) -> Expression:
    r"""Write the formula that is the effect if, and only if, ``adjusts`` says yes.

    .. math:: \sum_z P(y \mid x, z, S{=}1)\, P(z \setminus z^T \mid z^T, S{=}1)\, P(z^T)

    Without a selection node the log shows everybody, so every term is read off it.

    >>> graph = CausalGraph.of(directed=[("Z", "X"), ("Z", "Y"), ("X", "Y")])
    >>> formula = write_adjustment(graph, covariates="Z", treatments="X", outcomes="Y")
    >>> formula == Sum(frozenset("Z"), Product((P(frozenset("Y"), frozenset("XZ")),
    ...                                         P(frozenset("Z")))))
    True
    """
    (z, zt), x, y = _read_question(graph, covariates, treatments, outcomes, external)
    outer = zt if graph.selection else frozenset()
    weights = [P(z - outer, outer)] if z - outer else []
    weights += [P(outer, logged=False)] if outer else []
    return Sum(z, Product((P(y, x | z), *weights))) if z else P(y, x)


class _Claim(NamedTuple):
    """One separation that a criterion asks for, and what it means when it fails."""

    condition: str
    graph: CausalGraph
    sources: Nodes
    targets: Nodes
    given: Nodes
    otherwise: str


def _list_claims(graph: CausalGraph, pair: Adjustment, x: Nodes, y: Nodes) -> Iterator[_Claim]:
    """List the separations in the graph that an adjustment criterion demands, in its order.

    Each comes with what it means when it fails. Which criterion applies depends on what of the
    covariates was measured without selection.
    """
    z, zt = pair
    backdoor = make_back_door_graph(graph, treatments=x, outcomes=y)
    if graph.selection is None:
        yield _Claim("ii", backdoor, x, y, z, _NON_CAUSAL)
        return
    s, depends = frozenset((graph.selection,)), "selection depends on the outcome"
    if not zt:
        yield _Claim("b", backdoor, x, y, z | s, _NON_CAUSAL)
        yield _Claim("c", graph.without_edges_into(x), y, s, x, depends)
        through = "selection depends on a treatment that is confounded with the outcome"
        steering = x & graph.selecting()
        yield _Claim("d", graph.without_edges_out_of(x), steering, y, frozenset(), through)
    elif zt == z:
        yield _Claim("b", backdoor, x, y, z, _NON_CAUSAL)
        yield _Claim("c", graph, y, s, x | z, depends)
    else:
        yield _Claim("b", backdoor, x, y, z | s, _NON_CAUSAL)
        yield _Claim("c", backdoor, y, s, zt, depends)


def _name_criterion(graph: CausalGraph, pair: Adjustment) -> str:
    """Name the adjustment criterion that applies: Definition 2, GACT1, GACT2 or GACT3.

    It depends on whether there is selection, and on which covariates were measured without it.
    """
    if graph.selection is None:
        return "Definition 2"
    if not pair.external:
        return "Theorem 1 (GACT1)"
    return "GACT2" if pair.external == pair.covariates else "GACT3"


def _read_question(
    graph: CausalGraph, covariates: Names, treatments: Names, outcomes: Names, external: Names
) -> tuple[Adjustment, Nodes, Nodes]:
    """Read covariates (and which are external), treatments and outcomes as sets of nodes.

    Raises NotACovariate for an external variable that is no covariate.
    """
    z, x, y = read_roles(
        graph,
        {"a covariate": covariates, "a treatment": treatments, "an outcome": outcomes},
    )
    zt = graph.require(external)
    if zt - z:
        raise NotACovariate(sort_names(zt - z)[0], z)
    return Adjustment(z, zt), x, y
