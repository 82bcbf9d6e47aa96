r"""Substitutes: variables ``W`` over whose values an effect can be bracketed (Algorithm 3).

Where ``P(y | do(x), c)`` itself cannot be had, it may be had at each value of further variables
``W``, and it lies between the least and the greatest of these. Three forms:

``paper``
    FindRSI as printed: every ``W`` for which some adjustment set recovers
    ``P(y, c | do(x, w))`` by Theorem 1. Theorem 4 divides by ``P(c | do(x))`` and brackets.
    That is not sound: ``do(W)`` may lead where no value of ``W`` leads by itself.
``guarded``
    The same idea, with the guard that the text asks for and the listing drops. Rule 2,
    ``(Y _||_ W | X, C)`` in the graph cut into ``X`` and out of ``W``, makes
    ``P(y | do(x, w), c)`` equal to ``P(y | do(x), c, w)``, and the effect is an average of
    these. Where a quotient is needed, it is by ``P(c | do(x, w))``.
``conditioning``
    ``W`` is observed, not set. ``P(y | do(x), c, w) = P(y | x, c, w, S=1)`` if (a)
    ``(Y _||_ S | X, C, W)`` in the graph cut into ``X`` (Rule 1) and (b)
    ``(Y _||_ X | C, W, S)`` in the graph cut out of ``X`` (Rule 2). ``W`` may hold effects of
    the treatments.

In the last two a superset never brackets more closely, since averaging over what it adds gives
the smaller set's values. So only sets that hold no smaller one are returned, and it suffices to
look among the causes of treatments, outcomes, context and selection. The empty set counts: it
says that the effect itself is known.

Lemma 1 trades an action for an observation when the log is selected. It is printed with its
parts at odds: the condition cuts the edges *into* ``Z(W)``, the sentence after it those *out of*
``Z``. Two readings are kept. The *sound* one is Rule 2 with selection beside the variables that
are traded, ``(Y _||_ Z, S | X, W)`` in the graph cut into ``X`` and out of ``Z``. It makes
``P(y | do(x, z), w)`` equal to ``P(y | do(x), z, w)``, each with or without ``S = 1``: the first
step is Rule 2; weak union gives ``(Y _||_ S | X, W, Z)``, and given ``Z`` the edges out of ``Z``
carry no walk, so that Rule 1 drops ``S = 1`` on both sides. By contraction nothing weaker
licenses both steps. The *printed* one cuts into ``Z(W)``, the members of ``Z`` that cause
nothing in ``W``: the condition of Rule 3, which drops an action. On ``Z <-> Y`` it says yes,
yet ``do(z)`` does not affect Y, which depends on z.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

from boundit.core.names import Names, Nodes, join_names, sort_names
from boundit.core.verdict import Verdict
from boundit.estimand.adjustment import (
    adjusts,
    adjusts_in_context,
    find_adjustment,
    find_context_adjustment,
    write_adjustment,
    write_context_adjustment,
)
from boundit.estimand.expression import Expression, P, Ratio, Sum
from boundit.estimand.query import read_roles
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import open_walk
from boundit.graph.separators import minimal_separator

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


Form: TypeAlias = Literal["paper", "guarded", "conditioning"]


@dataclass(frozen=True, slots=True)
class Substitute:
    """Variables ``W``, what is known at each of their values, and why.

    ``formula`` is ``P(y, c | do(x, w))`` in the paper's form, ``P(y | do(x, w), c)`` in the
    guarded and ``P(y | do(x), c, w)`` in the conditioning form. ``covariates`` are the ``Z`` it
    averages over.
    """

    variables: Nodes
    form: Form
    formula: Expression
    covariates: Nodes
    reasons: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class SubstituteSearch:
    """The substitutes found, smallest first, and the variables that were never tried."""

    found: tuple[Substitute, ...]
    left_out: tuple[str, ...]

    def __iter__(self) -> Iterator[Substitute]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


@dataclass(frozen=True, slots=True)
class SubstituteQuestion:
    """The roles, checked, and the graph cut into (``ahead``) and out of the treatments."""

    graph: CausalGraph
    outcomes: Nodes
    treatments: Nodes
    context: Nodes
    selection: Nodes
    tables: tuple[Nodes, ...]
    ahead: CausalGraph
    behind: CausalGraph

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        *,
        outcomes: Names,
        treatments: Names,
        context: Names = (),
        tables: Iterable[Names] = (),
    ) -> "SubstituteQuestion":
        """Read outcomes, treatments, context and tables as sets of nodes, and cut the graph.

        The cut graphs serve every set of variables judged later.
        """
        y, x, c = read_roles(
            graph, {"an outcome": outcomes, "a treatment": treatments, "context": context}
        )
        selection = frozenset((graph.selection,)) if graph.selection else frozenset()
        measured = tuple(map(graph.require, tables))
        ahead, behind = graph.without_edges_into(x), graph.without_edges_out_of(x)
        # Between the question and its answer, members of groups may be intervened on.
        return cls(graph.without_groups(), y, x, c, selection, measured, ahead, behind)

    def judge(self, variables: Nodes, form: Form) -> Substitute | Verdict:
        """Judge one set ``W`` of variables: a substitute, or the verdict that rules it out.

        A substitute is a ``W`` at each value of which the effect is known, so that it lies
        between the least and the greatest.

        >>> from boundit.graph.text import parse
        >>> graph = parse("Z -> W -> Y; Z -> Y; X; [S]")
        >>> question = SubstituteQuestion.of(graph, outcomes="Y", treatments="X")
        >>> print(question.judge(frozenset("W"), "guarded"))
        no, by Rule 2: do(W) does not equal conditioning [Y <- Z -> W]
        """
        if form == "paper":
            return _judge_as_printed(self, variables)
        judge = _judge_guarded if form == "guarded" else _judge_conditioning
        return judge(self, variables)


def find_substitutes(
    graph: GraphLike,
    *,
    outcomes: Names,
    treatments: Names,
    context: Names = (),
    form: Form = "guarded",
    tables: Iterable[Names] = (),
    max_size: int = 3,
    max_sets: int = 1_000,
) -> SubstituteSearch:
    """Find sets ``W`` of variables at each value of which an effect is known (Algorithm 3).

    The effect then lies between the least and the greatest of these. Where there are more than
    ``max_sets`` sets, only the most relevant variables are combined: those of separators
    between outcomes, selection and treatments, then the nearest to the outcomes by edges.

    Parameters
    ----------
    graph
        The causal graph.
    outcomes, treatments, context
        The variables of the effect.
    form
        The conditions that a set has to meet, see ``boundit.estimand.substitutes``.
    tables
        Unselected tables, each a set of variables.
    max_size, max_sets
        How large sets may be, and how many may be tried.

    Returns
    -------
    SubstituteSearch
        The sets, smallest first, and in ``left_out`` the variables that were not combined.

    Examples
    --------
    >>> figure_2 = "U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]"
    >>> roles = {"outcomes": "Y", "treatments": ["X1", "X2"], "context": ["U1", "U2"]}
    >>> [sorted(s.variables) for s in find_substitutes(figure_2, **roles, form="conditioning")]
    [['I1']]
    >>> len(find_substitutes(figure_2, **roles, form="paper"))
    0
    """
    graph = require_graph(graph)
    question = SubstituteQuestion.of(
        graph, outcomes=outcomes, treatments=treatments, context=context, tables=tables
    )
    usable = _find_usable_variables(question, form)
    pool = shortlist(
        graph,
        usable,
        outcomes=question.outcomes,
        treatments=question.treatments,
        context=question.context,
        max_size=max_size,
        max_sets=max_sets,
    )
    found: list[Substitute] = []
    for size in range(min(max_size, len(pool)) + 1):
        for chosen in map(frozenset, combinations(pool, size)):
            if form != "paper" and any(smaller.variables <= chosen for smaller in found):
                continue
            answer = question.judge(chosen, form)
            if isinstance(answer, Substitute):
                found.append(answer)
    return SubstituteSearch(tuple(found), tuple(sort_names(usable.difference(pool))))


def _find_usable_variables(q: SubstituteQuestion, form: Form) -> Nodes:
    """Find the variables that may be in a substitute: no role in the question, not selection.

    Forms other than the paper's need only causes of the variables in question.
    """
    named = q.outcomes | q.treatments | q.context
    causes = q.graph.observed if form == "paper" else q.graph.ancestors(named | q.selection)
    return (causes & q.graph.observed) - named


def _judge_as_printed(q: SubstituteQuestion, w: Nodes) -> Substitute | Verdict:
    """Judge a set ``W`` as printed: adjustment must give ``P(y, c | do(x, w))`` (line 6)."""
    roles = {"treatments": q.treatments | w, "outcomes": q.outcomes | q.context}
    for table in (frozenset[str](), *q.tables):
        if pair := find_adjustment(q.graph, **roles, external=table):
            sets = {**roles, "covariates": pair.covariates, "external": pair.external}
            formula = write_adjustment(q.graph, **sets)
            return Substitute(w, "paper", formula, pair.covariates, (adjusts(q.graph, **sets),))
    reason = f"no covariates adjust for the effect of {join_names(q.treatments | w)}"
    return Verdict(holds=False, clause="Theorem 1", reason=reason)


def _judge_guarded(q: SubstituteQuestion, w: Nodes) -> Substitute | Verdict:
    """Judge a set ``W`` by Rule 2: ``do(W)`` must equal conditioning on ``W``.

    Then the effect at each value of W is looked for, in each context or else jointly with it.
    """
    y, c, acting = q.outcomes, q.context, q.treatments | w
    cut = q.ahead.without_edges_out_of(w)
    if walk := open_walk(cut, y, w, given=q.treatments | c):
        reason = f"do({join_names(w)}) does not equal conditioning"
        return Verdict(holds=False, clause="Rule 2", reason=reason, witness=walk)
    guard = Verdict(holds=True, clause="Rule 2", reason="do(substitute) equals conditioning")
    if found := find_context_adjustment(
        q.graph, treatments=acting, outcomes=y, context=c, tables=q.tables
    ):
        formula = write_context_adjustment(found, treatments=acting, outcomes=y, context=c)
        why = adjusts_in_context(
            q.graph,
            covariates=found.covariates,
            treatments=acting,
            outcomes=y,
            context=c,
            table=found.table,
        )
        return Substitute(w, "guarded", formula, found.covariates, (guard, why))
    joint = _judge_as_printed(q, w)
    if isinstance(joint, Verdict):
        return joint
    formula = Ratio(joint.formula, Sum(y, joint.formula)) if c else joint.formula
    return Substitute(w, "guarded", formula, joint.covariates, (guard, *joint.reasons))


def _judge_conditioning(q: SubstituteQuestion, w: Nodes) -> Substitute | Verdict:
    """Judge a set ``W`` that is only observed: given W, the log must show the effect as it is."""
    y, x, c, s = q.outcomes, q.treatments, q.context, q.selection
    if walk := open_walk(q.ahead, y, s, given=x | c | w):
        reason = "selection depends on the outcome"
        return Verdict(holds=False, clause="conditioning (a)", reason=reason, witness=walk)
    if walk := open_walk(q.behind, y, x, given=c | w | s):
        reason = "a back-door path stays open"
        return Verdict(holds=False, clause="conditioning (b)", reason=reason, witness=walk)
    reason = "given it, selection and treatment assignment are separated from the outcome"
    why = Verdict(holds=True, clause="conditioning", reason=reason)
    return Substitute(w, "conditioning", P(y, x | c | w), frozenset(), (why,))


def shortlist(
    graph: CausalGraph,
    usable: Nodes,
    *,
    outcomes: Nodes,
    treatments: Nodes,
    context: Nodes,
    max_size: int,
    max_sets: int,
) -> list[str]:
    """Choose variables so few that at most ``max_sets`` sets of ``max_size`` can be made.

    All ``usable`` ones when that is so; otherwise first those of minimal separators between
    outcomes on one side and treatments and selection on the other, near either end, then the
    nearest to the outcomes by edges. It is a rule of thumb: what is left out might have served
    as well.

    >>> chain = CausalGraph.of(directed=[("A", "B"), ("B", "Y"), ("X", "Y"), ("B", "X")])
    >>> y, x, none = frozenset("Y"), frozenset("X"), frozenset()
    >>> roles = {"outcomes": y, "treatments": x, "context": none}
    >>> shortlist(chain, frozenset("AB"), **roles, max_size=1, max_sets=2)
    ['B']
    """
    width = len(usable)
    while width and sum(comb(width, size) for size in range(max_size + 1)) > max_sets:
        width -= 1
    if width == len(usable):
        return sort_names(usable)
    first = _collect_separators(graph, usable, outcomes, treatments, context)
    # The edges from the outcomes to every node, in whatever direction.
    steps, far = dict.fromkeys(sort_names(outcomes), 0), len(graph.nodes)
    queue = deque(steps)
    while queue:
        node = queue.popleft()
        for other in (n for kind in graph.links[node] for n in kind):
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
    ranked = sorted(sort_names(usable), key=lambda v: (v not in first, steps.get(v, far)))
    return sort_names(ranked[:width])


def _collect_separators(
    graph: CausalGraph, usable: Nodes, y: Nodes, x: Nodes, c: Nodes
) -> Nodes:
    """Collect the usable variables that lie in one of six minimal separators of the outcomes.

    Each is a smallest set that blocks all paths from the outcomes to the treatments, to
    selection or to both.
    """
    s = frozenset((graph.selection,)) if graph.selection else frozenset()
    behind, ahead = graph.without_edges_out_of(x), graph.without_edges_into(x)
    cuts = [
        minimal_separator(cut, *ends, include=include, within=usable)
        for cut, one, other, include in (
            (behind, y, x | s, c),
            (behind, y, x, c | s),
            (ahead, y, s, x | c),
        )
        # One near each end: the outcomes, and what they are to be separated from.
        for ends in ((one, other), (other, one))
    ]
    return usable & frozenset().union(*(cut for cut in cuts if cut))
