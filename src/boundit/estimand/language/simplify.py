"""Formulas in a form that reads well and compares: one formula, one spelling."""

from itertools import permutations
from typing import assert_never

from boundit.estimand.language.algebra import (
    build_product,
    divide,
    make_probability,
    may_chain,
    multiply,
    sum_out,
)
from boundit.estimand.language.expression import (
    ONE,
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)


def simplify(expression: Expression) -> Expression:
    """Bring a formula to one fixed simple form, so that equal formulas are written alike.

    >>> a, b = frozenset("A"), frozenset("B")
    >>> simplify(Ratio(Product((P(a, b), P(b))), Product((ONE, P(b))))) == P(a, b)
    True
    >>> simplify(Sum(b, Product((P(b), P(a, b))))) == P(a)
    True
    """
    return _simplify_once(expression, {})


def _simplify_once(expression: Expression, done: dict[int, Expression]) -> Expression:
    """Simplify a part of a formula, or return it from ``done`` if that has happened before.

    ``done`` keeps this short: nested formulas share parts, which are met again and again.
    """
    if id(expression) not in done:
        done[id(expression)] = _simplify_node(expression, done)
    return done[id(expression)]


def _simplify_node(expression: Expression, done: dict[int, Expression]) -> Expression:
    """Simplify one part of a formula, after its own parts."""
    match expression:
        case P(of, given, logged):
            return make_probability(of - given, given, logged=logged)
        case Sum(over, body):
            return _merge_chains(sum_out(over, _simplify_once(body, done)))
        case Product(factors):
            return _merge_chains(
                multiply(*(_simplify_once(factor, done) for factor in factors))
            )
        case Ratio(top, bottom):
            return _merge_chains(
                divide(_simplify_once(top, done), _simplify_once(bottom, done))
            )
        case CFactor(of):
            return expression if of else ONE
        case _:
            assert_never(expression)


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
