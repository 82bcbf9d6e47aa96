"""The numbers of a formula, from a log and external tables: a ``NamedArray`` of its value."""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Protocol

from boundit.core.errors import QueryError
from boundit.core.names import Nodes, sort_names
from boundit.counts.contraction import ProductTable
from boundit.counts.formula import NeedsPopulation, NotLogged, normalise
from boundit.counts.formula import evaluate as evaluate_formula
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.counts.named_array import MOST_AXES, NamedArray, agree_on_levels, divide
from boundit.estimand.derivation import Identification
from boundit.estimand.expression import Expression, P, find_variables


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
    expression: Expression,
    log: CountSource,
    *,
    external: Iterable[CountSource] = (),
    workspace: Workspace | None = None,
) -> NamedArray:
    """Compute a formula at every value of its free variables, from a log and external tables.

    ``log`` is the distribution (or the counts) of the logged rows, which ``P(..., logged=True)``
    reads. ``external`` are tables of the whole population, each over some of the variables; a term
    with ``logged=False`` reads the smallest that covers it. Without selection the log is the
    population: pass it as both. A cell that was never seen is nan, and so is what reads it.

    >>> import numpy as np
    >>> from boundit.estimand.expression import Product, Sum
    >>> p = NamedArray(("X", "Y"), np.array([[0.1, 0.3], [0.2, 0.4]]))
    >>> x, y = frozenset("X"), frozenset("Y")
    >>> answer = evaluate(Sum(x, Product((P(y, x), P(x)))), p)
    >>> answer.axes, answer.values.round(3)
    (('Y',), array([0.3, 0.7]))
    """
    reader = _Estimates(log, tuple(external), workspace or Workspace.make_default())
    axes, (values, _) = evaluate_formula(normalise(expression), reader)
    answer = NamedArray(axes, values)
    free = tuple(sort_names(expression.free))
    # A variable of one level has an axis as well, as long as NumPy allows it.
    return NamedArray(free, answer.align(free)) if len(free) <= MOST_AXES else answer


class _Levels(dict[str, int]):
    """How many levels each variable has; one that no table has is refused by name."""

    def __missing__(self, name: str) -> int:
        raise NotLogged(name, self)


class _Estimates:
    """The estimates of terms: shares of rows, from the log or the smallest table that has them."""

    def __init__(
        self, log: CountSource, external: tuple[CountSource, ...], workspace: Workspace
    ) -> None:
        self.levels: Mapping[str, int] = _Levels(agree_on_levels(log, *external))
        self.log, self.workspace = log, workspace
        self.external = sorted(external, key=lambda table: prod(table.n_levels.values()))
        self._terms: dict[P, ProductTable] = {}

    def read_term(self, term: P) -> ProductTable:
        """The estimate of ``P(of | given)``, nan where nothing was seen."""
        if term not in self._terms:
            able = [t for t in self.external if term.free <= t.names]
            if term.logged and (missing := term.free - self.log.names):
                raise NotLogged(sort_names(missing)[0], self.log.names)
            if not term.logged and not able:
                raise NeedsPopulation(term, [table.names for table in self.external])
            varying = frozenset(name for name in term.free if self.levels[name] > 1)
            self.workspace.require_cells(prod(self.levels[n] for n in varying), varying)
            joint = (self.log if term.logged else able[0]).marginalize(varying)
            below = joint.marginalize(term.given & varying).align(joint.axes)
            self._terms[term] = ProductTable(joint.axes, (divide(joint.values, below),))
        return self._terms[term]


def evaluate_identified(
    found: Identification, log: object, external: Iterable[object]
) -> NamedArray:
    """Compute the formula of an identified effect; without selection the log is the population.

    Each table is counted by those variables of the formula that it has.
    """
    if found.expression is None:
        raise QueryError(f"there is no formula to evaluate: {found}")
    names = find_variables(found.expression)
    sources = [read_log(of) for of in (log, *external)]
    logged, *tables = (of.count(sort_names(names & {*of.columns})) for of in sources)
    return evaluate(
        found.expression, logged, external=tables if found.selected else [logged, *tables]
    )
