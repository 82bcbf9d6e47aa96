"""A formula's numbers: an ``Expression`` and the laws it speaks of in, a ``NamedArray`` out.

A formula is a function of its free variables, so its value is an array with one axis for each
of them. That is all there is to scope: ``Sum`` takes its axes away from its body, and outside
of it a variable of the same name is another factor's axis.

Whatever is divided by zero is nan, and nan stays nan in sums and products, also where its
weight is zero: a number comes out only when every cell the formula asks for has been seen.
"""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Protocol, assert_never

import numpy as np

from boundit.counts.named_array import Floats, NamedArray, agree_on_levels, divide
from boundit.estimand.language.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_variables,
)
from boundit.terms.errors import BounditError
from boundit.terms.names import Nodes, join_names, sort_names


class CannotEvaluate(BounditError):
    """A formula that the given tables have no numbers for."""


class NeedsPopulation(CannotEvaluate):
    """A term of the whole population that no unselected table covers."""

    def __init__(self, term: P, tables: "Iterable[CountSource]") -> None:
        self.term = term
        self.tables = tuple(tuple(sort_names(table.names)) for table in tables)
        held = "; ".join(join_names(names) for names in self.tables) or "none"
        super().__init__(
            f"{_write_term(term)} is of the whole population, which the log does not show; "
            f"give an external table over {join_names(term.of | term.given)} (given: {held})"
        )


class NotLogged(CannotEvaluate):
    """A term of the log about a variable the log does not have."""

    def __init__(self, name: str, axes: Iterable[str]) -> None:
        self.name, self.axes = name, tuple(axes)
        super().__init__(f"the log has no variable {name!r}; it has {join_names(self.axes)}")


class NotRecovered(CannotEvaluate):
    """A c-factor that is still a symbol."""

    def __init__(self, of: Nodes) -> None:
        self.of = of
        super().__init__(f"Q[{join_names(of)}] is a symbol without numbers; recover it first")


class CountSource(Protocol):
    """Numbers of rows, or shares of them, by the levels of some variables."""

    @property
    def names(self) -> Nodes:
        """The variables that the table counts.

        Read by ``Evaluator._find_source`` to find a table that covers a term.
        """

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels (values) each variable of the table has.

        Read by ``agree_on_levels``, which checks that tables agree.
        """

    def marginalize(self, names: Nodes) -> NamedArray:
        """Add up the table's counts (or probabilities) by some of its variables.

        Called by ``Evaluator._marginalize`` for the terms of a formula.
        """


def evaluate(
    expression: Expression, log: CountSource, *, external: Iterable[CountSource] = ()
) -> NamedArray:
    """Compute a formula at every value of its free variables, from a log and external tables.

    ``log`` is the law (or the counts) of the logged rows, which ``P(..., logged=True)`` reads.
    ``external`` are tables of the whole population, each over some of the variables; a term
    with ``logged=False`` reads the smallest that covers it. Without selection the log is the
    population: pass it as both. Users call it with a recovered formula; also called by
    ``_ask_question``, which compares formulas with true effects.

    >>> law = NamedArray(("X", "Y"), np.array([[0.1, 0.3], [0.2, 0.4]]))
    >>> x, y = frozenset("X"), frozenset("Y")
    >>> answer = evaluate(Sum(x, Product((P(y, x), P(x)))), law)
    >>> answer.axes, answer.values.round(3)
    (('Y',), array([0.3, 0.7]))
    """
    return Evaluator(log, external)(expression)


class Evaluator:
    """One log and its external tables; what formulas share is computed once."""

    def __init__(self, log: CountSource, external: Iterable[CountSource] = ()) -> None:
        tables = tuple(external)
        self.levels = agree_on_levels(log, *tables)
        self._log = log
        self._external = sorted(tables, key=lambda t: prod(t.n_levels.values()))
        self._marginals: dict[tuple[int, Nodes], NamedArray] = {}
        self._terms: dict[P, NamedArray] = {}

    def __call__(self, expression: Expression) -> NamedArray:
        """Compute one formula."""
        return _Evaluation(self, sort_names(find_variables(expression))).compute(expression)

    def compute_term(self, term: P) -> NamedArray:
        """Compute a term ``P(of | given)`` from its table; nan where nothing was seen.

        Called by ``_Evaluation.compute_node`` for every term of a formula.
        """
        if term not in self._terms:
            asked = term.of | term.given
            source = self._find_source(term, asked)
            joint, below = (
                self._marginalize(source, asked),
                self._marginalize(source, term.given),
            )
            values = divide(joint.values, below.align(joint.axes))
            self._terms[term] = NamedArray(joint.axes, values)
        return self._terms[term]

    def _find_source(self, term: P, asked: Nodes) -> CountSource:
        """Find the table that a term reads: the log, or the smallest that covers it.

        Raises NotLogged or NeedsPopulation where no table has its variables. Called by
        ``Evaluator.compute_term``.
        """
        if term.logged:
            if missing := asked - self._log.names:
                raise NotLogged(sort_names(missing)[0], self._log.names)
            return self._log
        for table in self._external:
            if asked <= table.names:
                return table
        raise NeedsPopulation(term, self._external)

    def _marginalize(self, source: CountSource, names: Nodes) -> NamedArray:
        """Add up a table by some of its variables, and keep the answer for the next term.

        Called by ``Evaluator.compute_term``.
        """
        key = (id(source), names)
        if key not in self._marginals:
            self._marginals[key] = source.marginalize(names)
        return self._marginals[key]


class _Evaluation:
    """One pass over one formula; every node that is shared is computed once."""

    def __init__(self, tables: Evaluator, axes: Iterable[str]) -> None:
        self.tables, self.axes = tables, tuple(axes)
        self.place = {axis: i for i, axis in enumerate(self.axes)}
        # By identity: hashing a formula walks all of it, and shared parts many times.
        self.seen: dict[int, tuple[Nodes, Floats]] = {}

    def compute(self, expression: Expression) -> NamedArray:
        """Compute a formula as an array over its free variables.

        Called by ``Evaluator.__call__``.
        """
        free, values = self.compute_once(expression)
        bound = tuple(i for i, axis in enumerate(self.axes) if axis not in free)
        return NamedArray(tuple(a for a in self.axes if a in free), values.squeeze(bound))

    def compute_once(self, node: Expression) -> tuple[Nodes, Floats]:
        """Compute a part of a formula, or return it if it was computed before.

        Returns its free variables and its numbers, with one axis for every variable. Called by
        ``_Evaluation.compute``, then for parts by ``_Evaluation.compute_node``.
        """
        if id(node) not in self.seen:
            self.seen[id(node)] = self.compute_node(node)
        return self.seen[id(node)]

    def compute_node(self, node: Expression) -> tuple[Nodes, Floats]:
        """Compute one part of a formula (term, sum, product, ratio) from its own parts.

        Called by ``_Evaluation.compute_once``.
        """
        match node:
            case P(of, given):
                return of | given, self.tables.compute_term(node).align(self.axes)
            case Sum(over, body):
                return self.sum_out(over, *self.compute_once(body))
            case Product(factors):
                return self.multiply([self.compute_once(factor) for factor in factors])
            case Ratio(top, bottom):
                (above, numerator), (below, denominator) = (
                    self.compute_once(top),
                    self.compute_once(bottom),
                )
                return above | below, divide(numerator, denominator)
            case CFactor(of):
                raise NotRecovered(of)
            case _:
                assert_never(node)

    def sum_out(self, over: Nodes, free: Nodes, values: Floats) -> tuple[Nodes, Floats]:
        """Sum an array over variables; one that it does not depend on repeats it.

        Returns the variables and the numbers left. Called by ``_Evaluation.compute_node`` for a
        sum in a formula.
        """
        if missing := over - self.tables.levels.keys():
            raise NotLogged(sort_names(missing)[0], self.tables.levels)
        gone = tuple(self.place[name] for name in over & free)
        # A variable the body does not speak of repeats it once for each of its levels.
        times = prod(self.tables.levels[name] for name in over - free)
        return free - over, values.sum(axis=gone, keepdims=True) * times

    def multiply(self, factors: list[tuple[Nodes, Floats]]) -> tuple[Nodes, Floats]:
        """Multiply the arrays of a product's factors, each stretched over the axes it lacks.

        Called by ``_Evaluation.compute_node``.
        """
        free, product = frozenset[str](), np.ones([1] * len(self.axes))
        for names, values in factors:
            free, product = free | names, product * values
        return free, product


def _write_term(term: P) -> str:
    """Spell a term as ``P(a | b)`` for the message of an error.

    Called by ``NeedsPopulation``.
    """
    bar = f" | {join_names(term.given)}" if term.given else ""
    return f"P({join_names(term.of)}{bar})"
