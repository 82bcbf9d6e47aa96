"""Formulas written flat: terms multiplied, sums taken out, what is below a line kept apart.

A flat formula has a variable of its own for every sum, so that all of them can be summed out in
one order, and the derivative by a term is the product of everything else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import assert_never, final

from boundit.counts.formulas.errors import NotRecovered
from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
)
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, sort_names

MOST_OCCURRENCES = 200
"""How many terms a flat formula may have; parts in several places are written out."""


class TooManyTerms(BounditError):
    """A formula that has too many terms once it is written flat."""

    def __init__(self) -> None:
        super().__init__(f"a formula has more than {MOST_OCCURRENCES} terms when written flat")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A term in one place of a formula, and which variable each of its columns is there."""

    term: P
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FlatFormula:
    """Terms and inverted parts multiplied, times a number, and summed over some variables."""

    occurrences: tuple[Occurrence, ...] = ()
    bottoms: "tuple[FlatFormula, ...]" = ()
    summed: tuple[str, ...] = ()
    times: float = 1.0

    @property
    def variables(self) -> Nodes:
        """The variables that the terms and inverted parts speak of, by their names in it."""
        own = (frozenset(each.names.values()) for each in self.occurrences)
        return frozenset[str]().union(*own, *(below.free for below in self.bottoms))

    @property
    def free(self) -> Nodes:
        """The variables that are not summed over."""
        return self.variables.difference(self.summed)

    def multiply(self, others: "Iterable[FlatFormula]", summed: Iterable[str]) -> "FlatFormula":
        """Multiply by other formulas, and sum over some variables more."""
        parts = (self, *others)
        return FlatFormula(
            tuple(each for part in parts for each in part.occurrences),
            tuple(each for part in parts for each in part.bottoms),
            (*(name for part in parts for name in part.summed), *summed),
            prod(part.times for part in parts),
        )


@final
class FlatWriter:
    """Writes formulas flat; ``levels`` grows by the variables that it makes for sums."""

    def __init__(self, levels: Mapping[str, int]) -> None:
        self.levels = dict(levels)
        self._left = MOST_OCCURRENCES

    def write(self, part: Expression, names: Mapping[str, str]) -> FlatFormula:
        """Write a formula flat; ``names`` says what variables around it are called."""
        match part:
            case P():
                return self._write_term(part, names)
            case Sum():
                return self._write_sum(part, names)
            case Product(parts):
                return FlatFormula().multiply([self.write(one, names) for one in parts], ())
            case Ratio(top, bottom):
                below = FlatFormula(bottoms=(self.write(bottom, names),))
                return self.write(top, names).multiply([below], ())
            case CFactor(of):
                raise NotRecovered(of)
            case _:
                assert_never(part)

    def _write_term(self, term: P, names: Mapping[str, str]) -> FlatFormula:
        """Write a term, unless there are too many."""
        self._left -= 1
        if self._left < 0:
            raise TooManyTerms
        columns = sort_names(term.free)
        return FlatFormula((Occurrence(term, {c: names.get(c, c) for c in columns}),))

    def _write_sum(self, part: Sum, names: Mapping[str, str]) -> FlatFormula:
        """Write a sum with variables of its own; those its body lacks repeat it."""
        new = {name: self.make_variable(name) for name in sort_names(part.over)}
        inner = self.write(part.body, {**names, **new})
        held = [name for name in new.values() if name in inner.variables]
        times = prod(self.levels[name] for name in new.values() if name not in held)
        return inner.multiply([FlatFormula(times=float(times))], held)

    def make_variable(self, name: str) -> str:
        """Make a variable for one sum: the name with as many primes as make it new."""
        new = name + "'"
        while new in self.levels:
            new += "'"
        self.levels[new] = self.levels[name]
        return new
