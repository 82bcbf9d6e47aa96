"""A formula's numbers, without multiplying it out: its factors, and what is summed over.

Sums within products are taken out first, each with variables of its own, so that all of them
can be summed out in one order. A ratio is its top times the inverse of its bottom; the bottom
is summed by itself, but stays a list of factors. A part that a formula has in several places is
computed once.
"""

from collections.abc import Mapping
from math import prod
from typing import Protocol, assert_never, final

import numpy as np

from boundit.counts.formulas.elimination import (
    ProductTable,
    eliminate,
    merge_factors,
    multiply_out,
)
from boundit.counts.formulas.errors import NotLogged
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.terms.names import Nodes, sort_names

MOST_AXES = 32
Arrays = tuple[Floats, ...]
"""The numbers of a factor: an estimate, or a lower and an upper end."""


class TermReader(Protocol):
    """Whoever has the numbers of terms: ``n_arrays`` for each, side by side."""

    levels: Mapping[str, int]
    workspace: Workspace
    n_arrays: int

    def read_term(self, term: P) -> ProductTable:
        """Read the numbers of a term ``P(of | given)``, an axis for each of its variables."""

    def read_c_factor(self, of: Nodes) -> Arrays:
        """Read what is known of a c-factor without a formula, alike at all levels, or refuse."""

    def invert(self, arrays: Arrays) -> Arrays:
        """Invert the numbers of a factor below the line."""


def evaluate_with(reader: TermReader, expression: Expression) -> tuple[tuple[str, ...], Arrays]:
    """Compute a formula at every value of its free variables.

    Returns the variables in order, and arrays with an axis for each of them.
    """
    return FormulaEvaluation(reader, expression).compute()


@final
class FormulaEvaluation:
    """One formula, and whoever reads its terms."""

    def __init__(self, reader: TermReader, expression: Expression) -> None:
        self.reader, self.expression = reader, expression
        self.levels = dict(reader.levels)
        # By identity: hashing a formula walks all of it, and shared parts many times.
        self._shared = find_shared_parts(expression)
        self._known: dict[int, list[ProductTable]] = {}

    def compute(self) -> tuple[tuple[str, ...], Arrays]:
        """Compute the formula: its free variables in order, and an axis of arrays for each."""
        reader = self.reader
        factors = [*self.reduce(self.expression, {}), self._repeat(1.0)]
        held = frozenset[str]().union(*(factor.axes for factor in factors))
        # NumPy has room for few axes; one of length 1 that is left out is there all the same.
        room = len(self.expression.free) <= MOST_AXES
        axes = tuple(
            name
            for name in sort_names(self.expression.free)
            if name in held or (self.levels.get(name) == 1 and room)
        )
        return axes, multiply_out(factors, axes, self.levels, reader.workspace)

    def reduce(self, part: Expression, own: Mapping[str, str]) -> list[ProductTable]:
        """Compute a part of the formula as a list of factors, with nothing left to sum.

        ``own`` are the names of variables that sums around the part are over.
        """
        summed = list[str]()
        factors = self.expand(part, own, summed)
        return eliminate(factors, summed, self.levels, self.reader.workspace)

    def expand(
        self, part: Expression, own: Mapping[str, str], summed: list[str]
    ) -> list[ProductTable]:
        """Write a part as a list of factors, adding to ``summed`` the variables to sum over.

        A part in several places is computed once, whatever surrounds it.
        """
        if id(part) not in self._shared:
            return self.expand_node(part, own, summed)
        if id(part) not in self._known:
            inside = list[str]()
            factors = self.expand_node(part, {}, inside)
            self._known[id(part)] = merge_factors(
                eliminate(factors, inside, self.levels, self.reader.workspace)
            )
        return [factor.rename(own) for factor in self._known[id(part)]]

    def expand_node(
        self, node: Expression, own: Mapping[str, str], summed: list[str]
    ) -> list[ProductTable]:
        """Write one term, sum, product or ratio as a list of factors."""
        match node:
            case P():
                return [self.reader.read_term(node).drop_short_axes().rename(own)]
            case Sum():
                return self.expand_sum(node, own, summed)
            case Product(parts):
                return [factor for part in parts for factor in self.expand(part, own, summed)]
            case Ratio(top, bottom):
                below = self.reduce(bottom, own)
                inverted = [ProductTable(f.axes, self.reader.invert(f.arrays)) for f in below]
                return [*self.expand(top, own, summed), *inverted]
            case CFactor(of):
                return [ProductTable((), self.reader.read_c_factor(of))]
            case _:
                assert_never(node)

    def expand_sum(
        self, node: Sum, own: Mapping[str, str], summed: list[str]
    ) -> list[ProductTable]:
        """Write the body of a sum as factors, with variables of its own to sum over.

        A variable that the body does not speak of repeats it once for each of its levels.
        """
        if missing := node.over - self.reader.levels.keys():
            raise NotLogged(sort_names(missing)[0], self.reader.levels)
        new = {name: self._make_variable(name) for name in sort_names(node.over)}
        factors = self.expand(node.body, {**own, **new}, summed)
        held = frozenset[str]().union(*(factor.axes for factor in factors))
        summed += [name for name in new.values() if name in held]
        times = prod(self.levels[name] for name in new.values() if name not in held)
        return factors if times == 1 else [*factors, self._repeat(float(times))]

    def _repeat(self, number: float) -> ProductTable:
        """Make a factor of one number, the same in all arrays."""
        return ProductTable((), (np.array(number),) * self.reader.n_arrays)

    def _make_variable(self, name: str) -> str:
        """Make a variable for one sum: the name with as many primes as make it new."""
        new = name + "'"
        while new in self.levels:
            new += "'"
        self.levels[new] = self.reader.levels[name]
        return new


def find_shared_parts(expression: Expression) -> frozenset[int]:
    """Find the sums and ratios that a formula has in several places, by their identities.

    Parts of parts that are shared would otherwise be computed endlessly often.
    """
    times: dict[int, int] = {}
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, P | CFactor):
            continue
        times[id(node)] = times.get(id(node), 0) + 1
        if times[id(node)] > 1:
            continue
        match node:
            case Sum(_, body):
                waiting.append(body)
            case Product(parts):
                waiting += parts
            case Ratio(top, bottom):
                waiting += (top, bottom)
            case _:
                assert_never(node)
    return frozenset(place for place, n in times.items() if n > 1)
