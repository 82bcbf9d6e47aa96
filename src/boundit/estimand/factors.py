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
from boundit.graph.causal_graph import BitGraph, CausalGraph, list_bits

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
    bits = graph.bits
    relevant, parts = _split(bits, bits.mask(outcomes), bits.mask(treatments))
    return FactorSum(
        bits.read(relevant) - outcomes, tuple(CFactor(bits.read(p)) for p in parts)
    )


def _split(bits: BitGraph, outcomes: int, treatments: int) -> tuple[int, list[int]]:
    """Find the ancestors of the outcomes once the treatments are gone, and their c-components."""
    relevant = bits.ancestors(outcomes, within=bits.everything & ~treatments)
    return relevant, bits.components(relevant)


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
    bits: BitGraph, within: int, late: Sequence[int] = (), write: Writer | None = None
) -> Distribution:
    """Write what data show of a part of a graph, as one conditional a node.

    The data are the log, which shows ``P(v | S=1)`` or ``P(v)``, unless ``write`` reads others.
    The nodes stand in a causal order that is built from its end: it takes the first set of
    ``late`` as soon as it may, then the second, then the rest.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")]).bits
    >>> print(observe_distribution(chain, chain.everything).conditional("Y"))
    P(of=frozenset({'Y'}), given=frozenset({'M'}), logged=False)
    """
    names, selected = bits.names, bits.selection & within
    left = observed = within & ~selected
    backwards, ready = list[str](), list[tuple[int, str]]()
    new = observed
    while left:
        for i in list_bits(new):
            if not bits.children[i] & left:
                rank = next((r for r, part in enumerate(late) if part >> i & 1), len(late))
                heapq.heappush(ready, (rank, names[i]))
        backwards.append(heapq.heappop(ready)[1])
        bit = bits.places[backwards[-1]]
        left ^= bit
        new = bits.parents[bit.bit_length() - 1] & left
    order = tuple(reversed(backwards))

    @cache
    def conditional(node: str) -> Expression:
        before, of = bits.mask(order[: order.index(node)]), bits.places[node]
        given = bits.find_boundary(of, before | selected, within=within) & ~selected
        one, others = frozenset((node,)), bits.read(given)
        return write(one, others) if write else P(one, others, bool(selected))

    return Distribution(order, conditional)


def identify_factor(
    target: int, within: int, known: Distribution, bits: BitGraph
) -> Identification:
    """Identify ``Q[target]`` from ``known``, which is ``Q[within]`` (Tian's Identify).

    ``target`` is a c-component of its own graph and lies in ``within``, a c-component of a part
    of the graph. Line 1: the ancestors of the target are the target: sum out the rest. Line 2:
    they are all of ``within``: no formula exists. Line 3: go on with the c-component of the
    ancestors that holds the target.

    >>> napkin = CausalGraph.of(
    ...     directed=[("W", "R"), ("R", "X"), ("X", "Y")], bidirected=[("W", "X"), ("W", "Y")]
    ... ).bits
    >>> known = observe_distribution(napkin, napkin.everything).divide_by(frozenset("R"))
    >>> print(identify_factor(napkin.mask("Y"), napkin.mask("WXY"), known, napkin))
    [Σ_{W} P(W) P(X | R, W) P(Y | R, W, X)] / [Σ_{W} P(W) P(X | R, W)]
    """
    steps = list[Step]()
    while (ancestors := bits.ancestors(target, within=within)) != target:
        names = join_names(bits.read(within))
        if ancestors == within:
            reason = (
                f"stops: {names} is one c-component, and all of it are ancestors of "
                f"{join_names(bits.read(target))}"
            )
            return Identification(None, (*steps, Step(2, reason, _IDENTIFY)))
        home = next(part for part in bits.components(ancestors) if not target & ~part)
        known = known.marginalize(bits.read(ancestors)).divide_by(bits.read(ancestors & ~home))
        within = home
        steps.append(
            Step(3, f"continue in the c-component {join_names(bits.read(home))}", _IDENTIFY)
        )
    if within != target:
        words = f"sum {join_names(bits.read(within & ~target))} out of "
        steps.append(Step(1, Sentence.of(words, make_factor(bits.read(within))), _IDENTIFY))
    return Identification(known.marginalize(bits.read(target)).write_formula(), tuple(steps))


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
    Algorithm 2, line 9: every c-component has an ancestor of selection
    """
    bits = graph.bits
    wanted, within = bits.mask(target), bits.everything
    known: Distribution | None = None
    steps = list[Step]()
    while True:
        selecting = bits.ancestors(bits.selection, within=within)
        kept = bits.ancestors(wanted, within=within) | selecting
        if idle := within & ~kept:  # lines 4-6
            steps.append(Step(5, f"sum out {join_names(bits.read(idle))}"))
            within = kept
        if known is None:
            known = observe_distribution(bits, within, (kept & ~wanted,), write)
        elif idle:
            known = known.marginalize(bits.read(kept))
        clean = [c for c in bits.components(within) if not c & selecting]  # line 7
        if not clean:  # lines 8-11
            steps.append(Step(9, "every c-component has an ancestor of selection"))
            return Identification(None, tuple(steps))
        if home := next((c for c in clean if not wanted & ~c), 0):  # lines 12-14
            steps.append(Step(13, f"Identify in the c-component {join_names(bits.read(home))}"))
            known = known.divide_by(bits.read(within & ~home))
            return identify_factor(wanted, home, known, bits).after(*steps)
        gone = sum(clean)  # line 15
        steps.append(Step(15, Sentence.of("divide by ", make_factor(bits.read(gone)))))
        known, within = known.divide_by(bits.read(gone)), within & ~gone


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
    bits = graph.bits
    given, outcomes = bits.mask(asked.list_known(graph)), bits.mask(asked.outcomes)
    relevant, split = _split(bits, outcomes | given, bits.mask(asked.treatments))
    # Only factors linked to the outcomes, through variables neither set nor given, do not cancel.
    varying = relevant & ~given
    scopes = [(part, (part | bits.find_parents(part)) & varying) for part in split]
    connected, before = outcomes, 0
    while connected != before:
        before = connected
        for _, scope in scopes:
            connected |= scope if scope & connected else 0
    held = [part for part, scope in scopes if scope & connected]
    inside, needed = sum(held), [bits.read(part) for part in held]
    summed = bits.read(inside & varying & ~outcomes)
    conditioned = bool(inside & given)
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
            steps.append(
                Step(None, Sentence.of(make_factor(factor), " is not identified"), _PRODUCT)
            )
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
    bits = graph.bits
    goal, near = bits.mask(wanted), bits.mask(connected)
    selecting = bits.ancestors(bits.selection)
    within = bits.ancestors(goal) | selecting
    late = within & ~selecting & ~goal, goal & ~selecting
    known, gone = observe_distribution(bits, within, late), within
    while gone:
        within = bits.ancestors(goal & within, within=within) | (selecting & within)
        known = known.marginalize(bits.read(within))
        parts = bits.components(within)
        gone = sum(outer for c in parts if not (outer := c & ~selecting) & goal)
        known, within = known.divide_by(bits.read(gone)), within & ~gone
    others = [component for component in bits.components(within) if component & ~goal]
    if not goal & ~within and not any(
        part & goal or (part | bits.find_parents(part)) & within & near for part in others
    ):
        return known.write_formula()
    return None
