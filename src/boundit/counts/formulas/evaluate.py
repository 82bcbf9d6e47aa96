"""A formula's numbers: an ``Expression`` and the laws it speaks of in, a ``NamedArray`` out.

A formula is a function of its free variables, so its value is an array with one axis for each
of them.

Whatever is divided by zero is nan, and nan stays nan in sums and products, also where its
weight is zero: a number comes out only when every cell the formula asks for has been seen.
"""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Protocol, final

import numpy as np

from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.formulas.errors import NeedsPopulation, NotLogged, NotRecovered
from boundit.counts.formulas.evaluation import Arrays, evaluate_with
from boundit.counts.formulas.workspace import KeptArrays, Workspace
from boundit.counts.named_array import NamedArray, agree_on_levels, divide
from boundit.estimand.language.expression import Expression, P
from boundit.terms.names import Nodes, sort_names

_KEPT = 2**16
"""Up to how many cells an answer is kept: reasons of rows ask for the same one again."""


class CountSource(Protocol):
    """Numbers of rows, or shares of them, by the levels of some variables."""

    @property
    def names(self) -> Nodes:
        """The variables that the table counts."""

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels (values) each variable of the table has."""

    def marginalize(self, names: Nodes) -> NamedArray:
        """Add up the table's counts (or probabilities) by some of its variables."""


def evaluate(
    expression: Expression, log: CountSource, *, external: Iterable[CountSource] = ()
) -> NamedArray:
    """Compute a formula at every value of its free variables, from a log and external tables.

    ``log`` is the law (or the counts) of the logged rows, which ``P(..., logged=True)`` reads.
    ``external`` are tables of the whole population, each over some of the variables; a term
    with ``logged=False`` reads the smallest that covers it. Without selection the log is the
    population: pass it as both.

    >>> from boundit.estimand.language.expression import Product, Sum
    >>> law = NamedArray(("X", "Y"), np.array([[0.1, 0.3], [0.2, 0.4]]))
    >>> x, y = frozenset("X"), frozenset("Y")
    >>> answer = evaluate(Sum(x, Product((P(y, x), P(x)))), law)
    >>> answer.axes, answer.values.round(3)
    (('Y',), array([0.3, 0.7]))
    """
    return Evaluator(log, external)(expression)


@final
class Evaluator:
    """One log and its external tables; what formulas share is computed once."""

    def __init__(
        self,
        log: CountSource,
        external: Iterable[CountSource] = (),
        workspace: Workspace | None = None,
    ) -> None:
        tables = tuple(external)
        self.levels: Mapping[str, int] = agree_on_levels(log, *tables)
        self.n_arrays = 1
        self.workspace = workspace or Workspace.make_default()
        self._log = log
        self._external = sorted(tables, key=lambda t: prod(t.n_levels.values()))
        self._marginals = KeptArrays[tuple[int, Nodes], NamedArray](self.workspace)
        self._terms = KeptArrays[P, ProductTable](self.workspace)
        # By identity: hashing a formula walks all of it. The formula is kept, so that no other
        # can have its identity.
        self._answers: dict[int, tuple[Expression, NamedArray]] = {}

    def __call__(self, expression: Expression) -> NamedArray:
        """Compute one formula; what it came to is kept where it is small."""
        if id(expression) in self._answers:
            return self._answers[id(expression)][1]
        axes, (values,) = evaluate_with(self, expression)
        answer = NamedArray(axes, values)
        if values.size <= _KEPT:
            self._answers[id(expression)] = expression, answer
        return answer

    def read_term(self, term: P) -> ProductTable:
        """Compute a term ``P(of | given)`` from its table; nan where nothing was seen."""
        return self._terms.get(
            term, lambda: self._divide_counts(term), ProductTable.count_cells
        )

    def _divide_counts(self, term: P) -> ProductTable:
        """Divide the counts of a term ``P(of | given)`` by those of ``given``.

        A variable of one level needs no axis.
        """
        source = self.find_source(term, term.free)
        varying = frozenset(name for name in term.free if self.levels[name] > 1)
        joint = self._marginalize(source, varying)
        below = self._marginalize(source, term.given & varying)
        values = divide(joint.values, below.align(joint.axes))
        return ProductTable(joint.axes, (values,))

    def read_c_factor(self, of: Nodes) -> Arrays:
        """Refuse a c-factor that has no formula: it has no numbers."""
        raise NotRecovered(of)

    def invert(self, arrays: Arrays) -> Arrays:
        """Invert the numbers of a factor below the line; 1 / 0 is nan."""
        return tuple(divide(np.ones(()), array) for array in arrays)

    def find_source(self, term: P, asked: Nodes) -> CountSource:
        """Find the table that a term reads: the log, or the smallest that covers it.

        Raises NotLogged or NeedsPopulation where no table has its variables.
        """
        if term.logged:
            if missing := asked - self._log.names:
                raise NotLogged(sort_names(missing)[0], self._log.names)
            return self._log
        for table in self._external:
            if asked <= table.names:
                return table
        raise NeedsPopulation(term, [table.names for table in self._external])

    def _marginalize(self, source: CountSource, names: Nodes) -> NamedArray:
        """Add up a table by some of its variables, and keep the answer for the next term."""

        def add_up() -> NamedArray:
            cells = prod(source.n_levels[name] for name in names)
            self.workspace.require_cells(cells, names)
            return source.marginalize(names)

        return self._marginals.get((id(source), names), add_up, lambda made: made.values.size)
