"""Formulas over the log and the population, as small frozen nodes.

Nodes hold fields; what one does with them are functions in other modules: ``simplify``,
``render``, ``boundit.counts.evaluate``. A variable that no enclosing ``Sum`` binds is
*free*: the formula is a function of its value.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, assert_never

from boundit.terms.names import Nodes

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
    """``Q[of]``: the law of ``of`` when everything else is set by hand; not yet recovered."""

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


def find_free_variables(expression: Expression) -> Nodes:
    """Collect the variables whose values the formula depends on: those it does not sum over.

    >>> sorted(find_free_variables(Sum(frozenset("Z"), P(frozenset("YZ"), frozenset("X")))))
    ['X', 'Y']
    """
    return expression.free


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
