"""Formulas in a form that reads well and compares: one formula, one spelling."""

from itertools import permutations
from typing import assert_never

from boundit.estimand.language.algebra import follows, probability, product, ratio, row, total
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
    """Bring a formula to its canonical form.

    >>> a, b = frozenset("A"), frozenset("B")
    >>> simplify(Ratio(Product((P(a, b), P(b))), Product((ONE, P(b))))) == P(a, b)
    True
    >>> simplify(Sum(b, Product((P(b), P(a, b))))) == P(a)
    True
    """
    return _simple(expression, {})


def _simple(expression: Expression, done: dict[int, Expression]) -> Expression:
    """Simplify each part once: nested formulas share parts, and have endlessly many paths."""
    if id(expression) not in done:
        done[id(expression)] = _simplified(expression, done)
    return done[id(expression)]


def _simplified(expression: Expression, done: dict[int, Expression]) -> Expression:
    match expression:
        case P(of, given, logged):
            return probability(of - given, given, logged=logged)
        case Sum(over, body):
            return _merged(total(over, _simple(body, done)))
        case Product(factors):
            return _merged(product(*(_simple(factor, done) for factor in factors)))
        case Ratio(top, bottom):
            return _merged(ratio(_simple(top, done), _simple(bottom, done)))
        case CFactor(of):
            return expression if of else ONE
        case _:
            assert_never(expression)


def same(one: Expression, other: Expression) -> bool:
    """Tell whether two formulas have one canonical form; no need not mean different numbers.

    >>> ab = P(frozenset("AB"))
    >>> same(ab, Product((P(frozenset("B"), frozenset("A")), P(frozenset("A")))))
    True
    """
    return simplify(one) == simplify(other)


def _merged(expression: Expression) -> Expression:
    """Write ``P(a | b, c) P(b | c)`` as ``P(a, b | c)``, wherever a product has both."""
    match expression:
        case Product(factors):
            return row(_joined(list(factors)))
        case Ratio(top, bottom):
            return ratio(_merged(top), _merged(bottom))
        case _:
            return expression


def _joined(factors: list[Expression]) -> list[Expression]:
    for earlier, later in permutations([f for f in factors if isinstance(f, P)], 2):
        if follows(later, earlier):
            rest = [f for f in factors if f is not earlier and f is not later]
            joint = P(later.of | earlier.of, earlier.given, earlier.logged)
            return _joined([*rest, joint])
    return factors
