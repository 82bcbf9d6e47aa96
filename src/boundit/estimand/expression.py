"""Formulas over the log and the population, as small frozen nodes.

Nodes hold fields; what one does with them are functions in other modules: ``simplify``,
``render``, ``boundit.counts.evaluate``. A variable that no enclosing ``Sum`` binds is *free*:
the formula is a function of its value.
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from boundit.terms.names import Nodes


@dataclass(frozen=True, slots=True)
class P:
    """``P(of | given)``, of the logged rows (given S = 1 too) or else of everyone."""

    of: Nodes
    given: Nodes = frozenset()
    logged: bool = True


@dataclass(frozen=True, slots=True)
class Sum:
    """``body`` summed over every value of ``over``; it hides outer values of the same names."""

    over: Nodes
    body: "Expression"


@dataclass(frozen=True, slots=True)
class Product:
    """All ``factors`` multiplied; the empty product is 1."""

    factors: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Ratio:
    """``top`` divided by ``bottom``."""

    top: "Expression"
    bottom: "Expression"


@dataclass(frozen=True, slots=True)
class CFactor:
    """``Q[of]``: the law of ``of`` when everything else is set by hand; not yet recovered."""

    of: Nodes


Expression: TypeAlias = P | Sum | Product | Ratio | CFactor

ONE = Product(())


def free_variables(expression: Expression) -> Nodes:
    """Collect the variables whose values the formula depends on.

    >>> sorted(free_variables(Sum(frozenset("Z"), P(frozenset("YZ"), frozenset("X")))))
    ['X', 'Y']
    """
    match expression:
        case P(of, given):
            return of | given
        case Sum(over, body):
            return free_variables(body) - over
        case Product(factors):
            return frozenset[str]().union(*map(free_variables, factors))
        case Ratio(top, bottom):
            return free_variables(top) | free_variables(bottom)
        case CFactor(of):
            return of
        case _:
            assert_never(expression)


def all_variables(expression: Expression) -> Nodes:
    """Collect the variables a formula speaks of, those it sums over included.

    >>> sorted(all_variables(Sum(frozenset("Z"), P(frozenset("YZ"), frozenset("X")))))
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
