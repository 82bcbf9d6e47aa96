"""Formulas over the log and the population: their parts, their algebra, their simplest form.

A variable that no enclosing ``Sum`` binds is *free*: the formula is a function of its value.
``simplify`` keeps products flat and sorted and cancels equal factors of a ratio; a sum binds
only what cannot be summed at once. Everything rests on identities of numbers; no graph is
consulted, so a formula is never changed into one that holds for fewer models.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import prod
from typing import NamedTuple, TypeAlias, assert_never

from boundit.core.names import Nodes

Rank: TypeAlias = tuple[object, ...]
"""Sorts formulas: probabilities by what they speak of, then sums, then what is left. Found once
for each formula, as its free variables are: parts are shared, and have endlessly many paths."""


@dataclass(frozen=True)
class P:
    """``P(of | given)``, of the logged rows (given S = 1 too) or else of everyone."""

    of: Nodes
    given: Nodes = frozenset()
    logged: bool = True

    @cached_property
    def free(self) -> Nodes:
        """The variables whose values this probability depends on."""
        return self.of | self.given

    @cached_property
    def rank(self) -> Rank:
        """The sorting key of this probability among the factors of a product."""
        return 0, tuple(sorted(self.of)), tuple(sorted(self.given)), self.logged


@dataclass(frozen=True)
class Sum:
    """``body`` summed over every value of ``over``; it hides outer values of the same names."""

    over: Nodes
    body: "Expression"

    @cached_property
    def free(self) -> Nodes:
        """The variables whose values this sum depends on: those of its body not summed."""
        return self.body.free - self.over

    @cached_property
    def rank(self) -> Rank:
        """The sorting key of this sum among the factors of a product."""
        return 2, tuple(sorted(self.over)), self.body.rank


@dataclass(frozen=True)
class Product:
    """All ``factors`` multiplied; the empty product is 1."""

    factors: "tuple[Expression, ...]"

    @cached_property
    def free(self) -> Nodes:
        """The variables whose values this product depends on."""
        return frozenset[str]().union(*(factor.free for factor in self.factors))

    @cached_property
    def rank(self) -> Rank:
        """The sorting key of this product among other factors."""
        return 3, *(factor.rank for factor in self.factors)


@dataclass(frozen=True)
class Ratio:
    """``top`` divided by ``bottom``."""

    top: "Expression"
    bottom: "Expression"

    @cached_property
    def free(self) -> Nodes:
        """The variables whose values this ratio depends on."""
        return self.top.free | self.bottom.free

    @cached_property
    def rank(self) -> Rank:
        """The sorting key of this ratio among the factors of a product."""
        return 4, self.top.rank, self.bottom.rank


@dataclass(frozen=True)
class CFactor:
    """The c-factor ``Q[of]``: the distribution of ``of`` under intervention on all else."""

    of: Nodes

    @property
    def free(self) -> Nodes:
        """The variables whose values this c-factor depends on."""
        return self.of

    @cached_property
    def rank(self) -> Rank:
        """The sorting key of this c-factor among the factors of a product."""
        return 1, tuple(sorted(self.of))


Expression: TypeAlias = P | Sum | Product | Ratio | CFactor

ONE = Product(())


def find_variables(expression: Expression) -> Nodes:
    """Collect the variables a formula speaks of, those it sums over included.

    >>> sorted(find_variables(Sum(frozenset("Z"), P(frozenset("YZ"), frozenset("X")))))
    ['X', 'Y', 'Z']
    """
    found, seen, waiting = set[str](), set[int](), [expression]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # parts may be shared, and a walk of every path be endless
            continue
        seen.add(id(node))
        match node:
            case P(of, given):
                found |= of | given
            case Sum(over, body):
                found |= over
                waiting.append(body)
            case Product(factors):
                waiting += factors
            case Ratio(top, bottom):
                waiting += (top, bottom)
            case CFactor(of):
                found |= of
            case _:
                assert_never(node)
    return frozenset(found)


class _Factor(NamedTuple):
    """One factor of a product, above the line or below it."""

    part: Expression
    above: bool


def multiply(*factors: Expression) -> Expression:
    """Multiply simplified formulas into one simplified formula."""
    return _build_formula(
        [part for factor in factors for part in _list_factors(factor, above=True)]
    )


def divide(top: Expression, bottom: Expression) -> Expression:
    """Divide two simplified formulas into one simplified formula: common factors cancel."""
    return _build_formula(
        [*_list_factors(top, above=True), *_list_factors(bottom, above=False)]
    )


def sum_out(over: Nodes, body: Expression) -> Expression:
    """Sum a simplified formula over variables, and return the sum in simplified form.

    Probabilities that sum to one go, factors without such a variable are pulled out.
    """
    if not over:
        return body
    if isinstance(body, Sum) and not body.over & over:
        return sum_out(over | body.over, body.body)
    factors, left = _sum_at_once(list(_list_factors(body, above=True)), over)
    outside, groups = _group_factors(factors, left)
    inside = [_bind_sum(Nodes(vary), _build_formula(group)) for vary, group in groups]
    return multiply(_build_formula(outside), *inside)


def _bind_sum(over: Nodes, body: Expression) -> Expression:
    """Write the sum of ``body`` over variables; a body that is itself a sum is joined with it."""
    if isinstance(body, Sum) and not body.over & over:
        return sum_out(over | body.over, body.body)
    return Sum(over, body)


def _list_factors(expression: Expression, *, above: bool) -> Iterable[_Factor]:
    """List the factors of a formula, each with whether it is above the line of a ratio."""
    match expression:
        case Product(factors):
            for factor in factors:
                yield from _list_factors(factor, above=above)
        case Ratio(top, bottom):
            yield from _list_factors(top, above=above)
            yield from _list_factors(bottom, above=not above)
        case _:
            yield _Factor(expression, above)


def _build_formula(factors: Iterable[_Factor]) -> Expression:
    """Build a product or ratio of factors; those both above and below the line cancel."""
    tops, bottoms = list[Expression](), list[Expression]()
    for part, above in factors:
        mine, other = (tops, bottoms) if above else (bottoms, tops)
        if part in other:
            other.remove(part)
        else:
            mine.append(part)
    return _build_fraction(*_write_conditionals(tops, bottoms))


def _build_fraction(tops: list[Expression], bottoms: list[Expression]) -> Expression:
    """Build a ratio of two lists of factors, or a product where nothing is below the line."""
    top = build_product(tops)
    return Ratio(top, build_product(bottoms)) if bottoms else top


def build_product(factors: list[Expression]) -> Expression:
    """Build a product of factors, none of them a product or a ratio, sorted by ``rank``."""
    if len(factors) == 1:
        return factors[0]
    return Product(tuple(sorted(factors, key=lambda factor: factor.rank))) if factors else ONE


def _write_conditionals(
    tops: list[Expression], bottoms: list[Expression]
) -> tuple[list[Expression], list[Expression]]:
    """Write ``P(a, b | c) / P(b | c)`` as ``P(a | b, c)``, also under a sum."""
    left = list[Expression]()
    for bottom in bottoms:
        divided = enumerate(_divide_probability(top, bottom) for top in tops)
        i, smaller = next(((i, d) for i, d in divided if d is not None), (0, None))
        if smaller is None:
            left.append(bottom)
        else:
            tops = [*tops[:i], smaller, *tops[i + 1 :]]
    return tops, left


def _divide_probability(top: Expression, bottom: Expression) -> Expression | None:
    """Write ``P(a, b | c) / P(b | c)`` as ``P(a | b, c)``; None where ``top`` holds no such P.

    The first may stand under a sum.
    """
    match top, bottom:
        case P(), P():
            if (top.given, top.logged) == (bottom.given, bottom.logged) and bottom.of < top.of:
                return P(top.of - bottom.of, top.given | bottom.of, top.logged)
        case Sum(over, body), P() if not over & (bottom.of | bottom.given):
            above = [part for part, above in _list_factors(body, above=True) if above]
            below = [part for part, above in _list_factors(body, above=True) if not above]
            smaller, left = _write_conditionals(above, [bottom])
            return None if left else Sum(over, _build_fraction(smaller, below))
    return None


def _sum_at_once(factors: list[_Factor], over: Nodes) -> tuple[list[_Factor], set[str]]:
    """Sum over the variables for which a probability sums to one, as in ``Σ_a P(a | b) = 1``.

    Returns the factors and the variables that are left.
    """
    held = dict(enumerate(factors))
    # The places of the factors that depend on each variable.
    holders: dict[str, set[int]] = {variable: set() for variable in over}
    for i, factor in held.items():
        for variable in factor.part.free & over:
            holders[variable].add(i)
    # A variable that shared a factor with one that went may go next.
    waiting = sorted(over)
    while waiting:
        variable = waiting.pop()
        if variable not in holders:
            continue
        joined = _join_by_chain_rule([held[i] for i in sorted(holders[variable])], variable)
        if joined is None:
            continue
        gone = holders.pop(variable)
        for i in gone:
            del held[i]
        smaller = joined.of - {variable}
        left = {min(gone)} if smaller else set[int]()
        held |= {i: _Factor(P(smaller, joined.given, joined.logged), above=True) for i in left}
        touched = (joined.of | joined.given) & holders.keys()
        for other in touched:
            holders[other] = holders[other] - gone | left
        waiting += sorted(touched)
    return [held[i] for i in sorted(held)], set(holders)


def _join_by_chain_rule(factors: list[_Factor], variable: str) -> P | None:
    """Join ``P(a | b, c) P(b | c) ...`` into one probability with ``variable`` before the bar.

    None if the factors do not join.
    """
    parts = [f.part for f in factors if f.above and isinstance(f.part, P)]
    if len(parts) < len(factors):
        return None
    joined = next((p for p in parts if variable in p.of), None)
    if joined is None:
        return None
    parts.remove(joined)
    while parts:
        following = next((p for p in parts if may_chain(p, joined)), None)
        if following is None:
            return None
        parts.remove(following)
        joined = P(joined.of | following.of, joined.given, joined.logged)
    return joined


def may_chain(later: P, earlier: P) -> bool:
    """Return whether two probabilities join by the chain rule: ``P(a | b, c)`` and ``P(b | c)``."""
    return later.logged == earlier.logged and later.given == earlier.of | earlier.given


def _group_factors(
    factors: list[_Factor], over: set[str]
) -> tuple[list[_Factor], list[tuple[set[str], list[_Factor]]]]:
    """Split factors of a sum: those without a summed variable, and groups that share none.

    Returns the free factors, and for each group its summed variables and its factors.
    """
    outside = list[_Factor]()
    groups: list[tuple[set[str], list[_Factor]]] = [({v}, []) for v in sorted(over)]
    for factor in factors:
        varying = factor.part.free & over
        touched = [g for g in groups if g[0] & varying]
        if not touched:
            outside.append(factor)
            continue
        joined = set[str]().union(*(g[0] for g in touched)), [f for g in touched for f in g[1]]
        joined[1].append(factor)
        groups = [g for g in groups if g not in touched] + [joined]
    return outside, groups


def simplify(expression: Expression) -> Expression:
    """Bring a formula to one fixed simple form, so that equal formulas are written alike.

    >>> a, b = frozenset("A"), frozenset("B")
    >>> simplify(Ratio(Product((P(a, b), P(b))), Product((ONE, P(b))))) == P(a, b)
    True
    >>> simplify(Sum(b, Product((P(b), P(a, b))))) == P(a)
    True
    """
    # Nested formulas share parts, which are met again and again.
    done: dict[int, Expression] = {}

    def visit(part: Expression) -> Expression:
        if id(part) in done:
            return done[id(part)]
        simple: Expression
        match part:
            case P(of, given, logged):
                simple = P(of - given, given, logged) if of - given else ONE
            case Sum(over, body):
                simple = _merge_chains(sum_out(over, visit(body)))
            case Product(factors):
                simple = _merge_chains(multiply(*map(visit, factors)))
            case Ratio(top, bottom):
                simple = _merge_chains(divide(visit(top), visit(bottom)))
            case CFactor(of):
                simple = part if of else ONE
            case _:
                assert_never(part)
        return done.setdefault(id(part), simple)

    return visit(expression)


def _merge_chains(expression: Expression) -> Expression:
    """Write ``P(a | b, c) P(b | c)`` as ``P(a, b | c)``, wherever a product has both."""
    match expression:
        case Product(factors):
            return build_product(_join_chains(list(factors)))
        case Ratio(top, bottom):
            return divide(_merge_chains(top), _merge_chains(bottom))
        case _:
            return expression


def _join_chains(factors: list[Expression]) -> list[Expression]:
    """Join pairs of factors of a product by the chain rule, until no pair can be joined."""
    for earlier, later in permutations([f for f in factors if isinstance(f, P)], 2):
        if may_chain(later, earlier):
            rest = [f for f in factors if f is not earlier and f is not later]
            joint = P(later.of | earlier.of, earlier.given, earlier.logged)
            return _join_chains([*rest, joint])
    return factors


LARGE = 2**16
"""From how many cells on a product is large enough to look for a better order."""


class EliminationOrder(NamedTuple):
    """In which order variables are summed out, and how many cells the largest product has.

    ``widest`` are the variables of that product, ``total`` the cells of all products.
    """

    variables: tuple[str, ...]
    largest: int = 1
    widest: frozenset[str] = frozenset()
    total: int = 0


def order_elimination(
    scopes: Sequence[Sequence[str]], summed: Collection[str], levels: Mapping[str, int]
) -> EliminationOrder:
    """Choose in which order to sum variables out of a product of tables; no number is read.

    ``scopes`` are the variables of each table. Next is always the variable whose product is
    smallest; where that leads to large products, the one that joins the fewest variables is
    tried as well, and the better order is taken.

    >>> chain = [("A", "B"), ("B", "C"), ("C", "D")]
    >>> found = order_elimination(chain, "BC", dict.fromkeys("ABCD", 10))
    >>> found.variables, found.largest, found.total
    (('B', 'C'), 1000, 2000)
    """
    found = _order_greedily(scopes, summed, levels, by_fill=False)
    if found.largest <= LARGE:
        return found
    other = _order_greedily(scopes, summed, levels, by_fill=True)
    return min(found, other, key=lambda order: (order.largest, order.total))


def _order_greedily(
    scopes: Sequence[Sequence[str]],
    summed: Collection[str],
    levels: Mapping[str, int],
    *,
    by_fill: bool,
) -> EliminationOrder:
    """Order variables by the size of the product each is in, or by how many pairs it joins."""
    near: dict[str, set[str]] = {}
    for scope in scopes:
        for axis in scope:
            near.setdefault(axis, set()).update(scope)

    def measure(axis: str) -> tuple[int, int]:
        cells = prod(levels[other] for other in near[axis])
        if not by_fill:
            return cells, 0
        return sum(len(near[axis] - near[other]) for other in near[axis]), cells

    waiting = {axis: measure(axis) for axis in sorted(near) if axis in summed}
    order, largest, total, widest = list[str](), 1, 0, frozenset[str]()
    while waiting:
        axis = min(waiting, key=waiting.__getitem__)
        del waiting[axis]
        joined = near.pop(axis)
        cells = prod(levels[other] for other in joined)
        total += cells
        if cells > largest:
            largest, widest = cells, frozenset(joined)
        order.append(axis)
        joined.discard(axis)
        for other in joined:
            near[other] |= joined
            near[other].discard(axis)
        # With the other measure a variable two steps away can change too; it is only a guess.
        waiting |= {other: measure(other) for other in joined if other in waiting}
    return EliminationOrder(tuple(order), largest, widest, total)


MOST_CELLS = 256
MOST_VARIABLES = 8
"""A formula with more cells, or more variables, is large: others are looked for."""


def is_large(expression: Expression) -> bool:
    """Return whether a formula is so large that it pays to look for an equal one.

    >>> is_large(P(frozenset("Y"), frozenset("XZ"))), is_large(P(frozenset("ABCDEFGHI")))
    (False, True)
    """
    variables = len(find_variables(expression))
    return variables > MOST_VARIABLES or count_cells(expression) > MOST_CELLS


def count_cells(expression: Expression) -> int:
    """Count the cells that a formula touches: those of its terms, and of its sums on the way.

    Terms that are equal and parts that are shared count once.

    >>> weights, mean = P(frozenset("Z")), P(frozenset("Y"), frozenset("XZ"))
    >>> count_cells(mean), count_cells(Sum(frozenset("Z"), Product((mean, weights))))
    (8, 22)
    """
    terms, seen, cells, waiting = set[P | CFactor](), set[int](), 0, [expression]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # parts may be shared, and a walk of every path be endless
            continue
        seen.add(id(node))
        match node:
            case P() | CFactor():
                terms.add(node)
            case Sum(over, body):
                factors = _list_parts(body)
                scopes = [tuple(part.free) for part in factors]
                levels = dict.fromkeys(body.free, 2)
                cells += order_elimination(scopes, over, levels).total + (1 << len(node.free))
                waiting += factors
            case Product() | Ratio():
                cells += 1 << len(node.free)
                waiting += _list_parts(node)
    return cells + sum(1 << len(term.free) for term in terms)


def _list_parts(expression: Expression) -> list[Expression]:
    """List what a formula multiplies and divides by: terms and sums."""
    parts, waiting = list[Expression](), [expression]
    while waiting:
        match node := waiting.pop():
            case Product(factors):
                waiting += factors
            case Ratio(top, bottom):
                waiting += (top, bottom)
            case _:
                parts.append(node)
    return parts
