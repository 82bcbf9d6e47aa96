"""c-factors: an effect as a sum of their products, and their recovery through selection.

The c-factor ``Q[C]`` is the distribution of ``C``, nodes joined by bidirected edges, under an
intervention on all other nodes. Theorem 2 writes an effect as a sum of products of c-factors
(``factorize``), Algorithm 2 recovers one of them from the logged rows (``recover_factor``),
with Tian's Identify inside (``identify_factor``).

Both divide a distribution by c-factors and sum variables out, again and again. Written as
ratios of sums that grows without end. Written as ``P(v_i | v_1 .. v_{i-1})``, one for each
variable, a division by ``Q[C]`` drops the conditionals of ``C``, and summing out the last
variable drops its conditional (``Distribution``). Only a variable on which later ones depend
costs a real sum.

A conditional effect ``P(y | do(x), c)`` is ``F(y)`` divided by its sum over y, where ``F``
multiplies c-factors. A factor that shares no varying variable with the outcomes, directly or
through other factors, is the same above and below the line, and cancels unread (Tian's
cond-identify). So it is when the rows are selected, and there the product of all factors that
affect selection is known up to a constant, which cancels too.

References
----------
J. Tian and J. Pearl, On the identification of causal effects, R-290-L, 2003.
J. Tian, Identifying conditional causal effects, UAI 2004.
E. Bareinboim and J. Tian, Recovering causal effects from selection bias, AAAI 2015.
J. D. Correa, J. Tian and E. Bareinboim, Identification of causal effects in the presence of
selection bias, AAAI 2019.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from boundit.core.formula import Sentence, make_factor
from boundit.core.names import Nodes, join_names
from boundit.estimand.derivation import Identification, Question, Step
from boundit.estimand.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Sum,
    divide,
    multiply,
    sum_out,
)
from boundit.estimand.notation import write_text
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_boundary

_IDENTIFY, _PRODUCT = "Identify", "c-factors"

Writer = Callable[[Nodes, Nodes], Expression]
"""Writes ``P(of | given)`` from the data that are used."""
FactorSolver = Callable[[Nodes], Identification]


@dataclass(frozen=True, slots=True)
class FactorSum:
    """``Q[D_1] Q[D_2] ...`` summed over ``summed``, the ancestors that are not asked about."""

    summed: Nodes
    factors: tuple[CFactor, ...]

    @property
    def parts(self) -> tuple[Nodes, ...]:
        """The c-components ``D_i``, in the causal order of their first members."""
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
    :math:`D_i` the c-components of :math:`G_D`. With the selection node as an outcome it is
    the distribution of the logged rows that is written so.

    >>> front_door = CausalGraph.of(directed=[("X", "M"), ("M", "Y")], bidirected=[("X", "Y")])
    >>> print(factorize(front_door, outcomes=frozenset("Y"), treatments=frozenset("X")))
    Σ_{M} Q[M] Q[Y]
    """
    untreated = graph.induced(graph.nodes - treatments)
    relevant = untreated.ancestors(outcomes)
    components = untreated.induced(relevant).components()
    return FactorSum(relevant - outcomes, tuple(map(CFactor, components)))


@dataclass(frozen=True, slots=True)
class Distribution:
    """The conditionals of ``order``, each given those before it and what was divided away."""

    order: tuple[str, ...]
    conditional: Callable[[str], Expression]

    def write_formula(self) -> Expression:
        """Write the distribution as one formula, the product of its conditionals."""
        return multiply(*map(self.conditional, self.order))

    def divide_by(self, divided: Nodes) -> "Distribution":
        """Divide by the c-factors of whole c-components: drop their conditionals (Lemma 1)."""
        return Distribution(tuple(v for v in self.order if v not in divided), self.conditional)

    def marginalize(self, kept: Nodes) -> "Distribution":
        """Sum all nodes but ``kept`` out; ``kept`` holds all its causes (Lemma 3)."""
        order, before = list(self.order), self.conditional
        for i in range(len(order) - 1, -1, -1):
            if order[i] not in kept and not any(
                order[i] in before(later).free for later in order[i + 1 :]
            ):
                del order[i]
        start = next((i for i, v in enumerate(order) if v not in kept), len(order))
        if start == len(order):
            return Distribution(tuple(order), before)
        stay = [v for v in order[start:] if v in kept]
        body = multiply(*map(before, order[start:]))
        # tails[i] is the distribution of all that stay but the last i, given the early ones.
        tails = [sum_out(Nodes(order[start:]) - kept, body)]
        place = {v: i for i, v in enumerate(reversed(stay))}

        @cache
        def conditional(node: str) -> Expression:
            if node not in place:
                return before(node)
            while len(tails) < place[node] + 2:
                last = frozenset((stay[-len(tails)],))
                tails.append(sum_out(last, tails[-1]))
            return divide(tails[place[node]], tails[place[node] + 1])

        return Distribution((*order[:start], *stay), conditional)


def observe_distribution(
    graph: CausalGraph, late: Sequence[Nodes] = (), write: Writer | None = None
) -> Distribution:
    """Write what data show of the nodes of a graph, as one conditional a node.

    The data are the log, which shows ``P(v | S=1)`` or ``P(v)``, unless ``write`` reads others.
    The nodes stand in a causal order that is built from its end: it takes the first set of
    ``late`` as soon as it may, then the second, then the rest.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> print(observe_distribution(chain).conditional("Y"))
    P(of=frozenset({'Y'}), given=frozenset({'M'}), logged=False)
    """
    rank = {node: i for i, nodes in reversed([*enumerate(late)]) for node in nodes}
    observed, links = graph.observed, graph.links
    waiting = {v: len(observed.intersection(links[v].children)) for v in observed}
    ready = [(rank.get(v, len(late)), v) for v, n in waiting.items() if n == 0]
    heapq.heapify(ready)
    backwards = list[str]()
    while ready:
        backwards.append(heapq.heappop(ready)[1])
        for cause in links[backwards[-1]].parents:
            waiting[cause] -= 1
            if waiting[cause] == 0:
                heapq.heappush(ready, (rank.get(cause, len(late)), cause))
    order = tuple(reversed(backwards))
    places = {node: i for i, node in enumerate(order)}
    selected = frozenset((graph.selection,)) if graph.selection else frozenset[str]()

    @cache
    def conditional(node: str) -> Expression:
        before, of = frozenset(order[: places[node]]), frozenset((node,))
        given = find_boundary(graph, of, given=before | selected, closed=before) - selected
        return write(of, given) if write else P(of, given, bool(selected))

    return Distribution(order, conditional)


def identify_factor(
    target: Nodes, within: Nodes, known: Distribution, graph: CausalGraph
) -> Identification:
    """Identify ``Q[target]`` from ``known``, which is ``Q[within]`` (Tian's Identify).

    ``target`` is a c-component of its own graph and lies in ``within``, a c-component of
    ``graph``. Line 1: the ancestors of the target are the target: sum out the rest. Line 2:
    they are all of ``within``: no formula exists. Line 3: go on with the c-component of the
    ancestors that holds the target.

    >>> napkin = CausalGraph.of(
    ...     directed=[("W", "R"), ("R", "X"), ("X", "Y")], bidirected=[("W", "X"), ("W", "Y")]
    ... )
    >>> tripod = frozenset("WXY")
    >>> known = observe_distribution(napkin).divide_by(frozenset("R"))
    >>> print(identify_factor(frozenset("Y"), tripod, known, napkin))
    [Σ_{W} P(W) P(X | R, W) P(Y | R, W, X)] / [Σ_{W} P(W) P(X | R, W)]
    """
    inside = graph.induced(within)
    ancestors = inside.ancestors(target)
    if ancestors == target:
        words = f"sum {join_names(within - target)} out of "
        summed = Step(1, Sentence.of(words, make_factor(within)), _IDENTIFY)
        steps = (summed,) if within > target else ()
        return Identification(known.marginalize(target).write_formula(), steps)
    if ancestors == within:
        reason = (
            f"stops: within {join_names(within)}, joined by hidden causes, everything acts on "
            f"{join_names(target)}"
        )
        return Identification(None, (Step(2, reason, _IDENTIFY),))
    part = inside.induced(ancestors)
    home = next(c for c in part.components() if target <= c)
    smaller = known.marginalize(ancestors).divide_by(ancestors - home)
    answer = identify_factor(target, home, smaller, part)
    return answer.after(Step(3, f"go on within {join_names(home)}", _IDENTIFY))


def recover_factor(
    target: Nodes, graph: CausalGraph, write: Writer | None = None
) -> Identification:
    """Recover a c-factor ``Q[target]`` from the distribution of the logged rows (Algorithm 2).

    ``write`` reads other data than the log. Without a selection node this is Tian's method;
    with one it is RC*, without the bounds of Algorithm 2. Comments give the lines of the
    paper's listing. It goes on to line 15 even when Identify fails inside a clean component, on
    a graph that lost the target; we stop there.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("X", "S")], selection="S")
    >>> print(recover_factor(frozenset("Y"), graph))
    P(Y | X, S=1)
    >>> print(recover_factor(frozenset("X"), graph).steps[-1])
    Algorithm 2, line 9: every c-component affects selection
    """
    known: Distribution | None = None
    steps = list[Step]()
    while True:
        kept = graph.ancestors(target) | graph.selecting()
        if idle := graph.nodes - kept:  # lines 4-6
            steps.append(Step(5, f"sum out {join_names(idle)}"))
            graph = graph.induced(kept)
        if known is None:
            known = observe_distribution(graph, (kept - target,), write)
        elif idle:
            known = known.marginalize(kept)
        selecting = graph.selecting()
        clean = [c for c in graph.components() if not c & selecting]  # line 7
        if not clean:  # lines 8-11
            steps.append(Step(9, "every c-component affects selection"))
            return Identification(None, tuple(steps))
        if home := next((c for c in clean if target <= c), None):  # lines 12-14
            steps.append(Step(13, f"Identify within {join_names(home)}"))
            found = identify_factor(target, home, known.divide_by(graph.nodes - home), graph)
            return found.after(*steps)
        gone = frozenset[str]().union(*clean)  # line 15
        steps.append(Step(15, f"divide by Q of {join_names(gone)}"))
        known, graph = known.divide_by(gone), graph.induced(graph.nodes - gone)


def recover_by_factors(
    graph: CausalGraph, asked: Question, solve: FactorSolver
) -> Identification:
    """Recover each c-factor that bears on the outcomes, and multiply them into the effect.

    ``solve`` recovers one c-factor. In logged rows, that is if the question is ``selected``,
    factors that cannot be recovered one by one may be known together but for P(S=1), which
    cancels.

    >>> graph = CausalGraph.of(
    ...     directed=[("X", "Y"), ("Z", "X"), ("Z", "Y"), ("Z", "S")], selection="S"
    ... )
    >>> asked = Question(frozenset("Y"), frozenset("X"), frozenset("Z"))
    >>> print(recover_by_factors(graph, asked, lambda factor: recover_factor(factor, graph)))
    P(Y | X, Z, S=1)
    """
    known = asked.list_known(graph)
    whole = factorize(graph, outcomes=asked.outcomes | known, treatments=asked.treatments)
    # Only factors linked to the outcomes, through variables neither set nor given, do not cancel.
    varying = whole.relevant - known
    scopes = [(part, (part | graph.parents(part)) & varying) for part in whole.parts]
    connected, grown = asked.outcomes, True
    while grown:
        reach = frozenset[str]().union(*(scope for _, scope in scopes if scope & connected))
        grown, connected = not reach <= connected, connected | reach
    needed = [part for part, scope in scopes if scope & connected]
    inside = frozenset[str]().union(*needed)
    summed, conditioned = (inside & varying) - asked.outcomes, bool(inside & known)
    names = [part for factor in needed for part in (", ", make_factor(factor))][1:]
    steps = [Step(None, Sentence.of(asked.formula, " needs ", *names), _PRODUCT)]
    parts, missing = list[Expression](), Nodes()
    for factor in needed:
        found = Identification(None) if graph.selection in factor else solve(factor)
        if found.expression is not None:
            parts.append(found.expression)
        elif asked.selected:
            missing |= factor
            continue
        steps += found.steps
        if not found:
            steps.append(Step(None, Sentence.of(make_factor(factor), " is missing"), _PRODUCT))
            return Identification(None, tuple(steps))
    if missing:
        together = _recover_up_to_constant(graph, missing, asked.outcomes | summed)
        if together is None:
            reason = Sentence.of(
                "the logged rows do not give ", make_factor(missing), " up to a constant"
            )
            return Identification(None, (*steps, Step(None, reason, _PRODUCT)))
        steps.append(
            Step(None, Sentence.of(make_factor(missing), " up to a constant"), _PRODUCT)
        )
        parts.append(together)
    top = sum_out(summed, multiply(*parts))
    # The constant is one to the outcomes alone, so it must be divided away.
    if conditioned or missing:
        top = divide(top, sum_out(asked.outcomes, top))
    return Identification(top, tuple(steps))


def _recover_up_to_constant(
    graph: CausalGraph, wanted: Nodes, connected: Nodes
) -> Expression | None:
    """Reduce what the log shows to the c-factors ``wanted``, times a constant; None if it fails.

    With the ancestors of S first in the order, the conditionals of the other members of a
    c-component T are ``Q[T] / Q[T within An(S)]``: leaving them out turns the first factor into
    the second. The constant is P(S=1) from beginning to end. Other factors are constants to the
    outcomes when they share no variable with ``connected``.
    """
    selecting = graph.selecting()
    graph = graph.induced(graph.ancestors(wanted) | selecting)
    known = observe_distribution(graph, (graph.nodes - selecting - wanted, wanted - selecting))
    gone = graph.nodes
    while gone:
        kept = graph.ancestors(wanted & graph.nodes) | selecting
        known, graph = known.marginalize(kept), graph.induced(kept)
        outer = (component - selecting for component in graph.components())
        gone = frozenset[str]().union(*(part for part in outer if not part & wanted))
        if gone:
            known, graph = known.divide_by(gone), graph.induced(graph.nodes - gone)
    others = [component for component in graph.components() if not component <= wanted]
    if wanted <= graph.nodes and not any(
        part & wanted or (part | graph.parents(part)) & connected for part in others
    ):
        return known.write_formula()
    return None
