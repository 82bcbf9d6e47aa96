r"""One normal form of a formula, and one contraction that evaluates and differentiates it.

A recovered formula (nested sums, products and ratios of conditional probabilities) becomes

.. math:: \sum_{v} \prod_j P_j(\text{of}_j \mid \text{given}_j) \Big/ \prod_k D_k

in which every occurrence of a probability is one *factor* with explicit names for its columns, so
that no variable of the sum is bound twice (alpha renaming), and every denominator ``D_k`` is a
formula of the same kind. Everything that is ever computed of it is a *contraction*: multiply
some of the tables, keep some names, sum over the rest, by variable elimination.

- all factors, keeping the free names: the value, or both endpoints if tables hold two arrays;
- all factors but one: the derivative with respect to that factor's cells (the formula is linear
  in each factor), which is what influence functions and the weights of exact bounds are made of.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from boundit.counts.formulas.elimination import ProductTable, eliminate, multiply_out
from boundit.counts.formulas.errors import NotRecovered
from boundit.counts.formulas.evaluation import find_shared_parts
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import CFactor, Expression, P, Product, Ratio, Sum
from boundit.terms.names import Nodes, sort_names

Pair = tuple[Floats, Floats]
"""Lower and upper endpoints of the same numbers."""


@dataclass(frozen=True, eq=False)
class Factor:
    """One occurrence of ``P(of | given)``, or of a formula, with a name for each of its columns.

    ``names`` maps columns to names. ``divides``: it stands below the line. ``depth`` counts the
    variables of unknown distribution that are fixed outside it, where a chain has any.
    """

    body: "P | Formula"
    names: Mapping[str, str]
    divides: bool = False
    depth: int = 0

    @cached_property
    def of(self) -> Nodes:
        """The names that a term draws."""
        assert isinstance(self.body, P)
        return frozenset(self.names[column] for column in self.body.of)

    @cached_property
    def given(self) -> Nodes:
        """The names that a term conditions on."""
        assert isinstance(self.body, P)
        return frozenset(self.names[column] for column in self.body.given)

    @property
    def columns(self) -> dict[str, str]:
        """Which column each name is read from."""
        return {name: column for column, name in self.names.items()}


@dataclass(frozen=True, eq=False)
class Formula:
    """A sum of products over ``summed``; ``columns`` says which column each name is."""

    factors: tuple[Factor, ...]
    summed: tuple[str, ...]
    columns: Mapping[str, str]

    @cached_property
    def terms(self) -> frozenset[P]:
        """The distinct conditional probabilities that it reads."""
        found = set[P]()
        for factor in self.factors:
            found |= {factor.body} if isinstance(factor.body, P) else factor.body.terms
        return frozenset(found)


@dataclass
class Normaliser:
    """Gathers expressions as factors of one product, each sum with names of its own."""

    taken: set[str]
    factors: list[Factor] = field(default_factory=list)
    summed: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    shared: dict[int, "Formula | None"] = field(default_factory=dict)

    def name(self, column: str) -> str:
        """Name a variable as no other is: by its column, with primes where that is taken."""
        name = column
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        self.columns[name] = column
        return name

    def add(self, node: Expression, scope: Mapping[str, str], depth: int = 0) -> None:
        """Add an expression; ``scope`` says what its free columns are called."""
        if id(node) in self.shared:  # a part in several places is normalised and evaluated once
            self._nest(node, scope, depth)
            return
        match node:
            case P():
                own = {column: scope[column] for column in node.free}
                self.factors.append(Factor(node, own, depth=depth))
            case Product(parts):
                for part in parts:
                    self.add(part, scope, depth)
            case Sum(over, body):
                own = {column: self.name(column) for column in sort_names(over)}
                self.summed += own.values()
                self.add(body, {**scope, **own}, depth)
            case Ratio(top, bottom):
                self.add(top, scope, depth)
                self._nest(bottom, scope, depth, divides=True)
            case CFactor(of):
                raise NotRecovered(of)

    def _nest(
        self, node: Expression, scope: Mapping[str, str], depth: int, *, divides: bool = False
    ) -> None:
        body = self.shared.get(id(node))
        if body is None:
            others = {key: part for key, part in self.shared.items() if key != id(node)}
            body = normalise(node, others)
            if id(node) in self.shared:
                self.shared[id(node)] = body
        own = {column: scope[column] for column in node.free}
        self.factors.append(Factor(body, own, divides, depth))


def normalise(
    node: Expression,
    shared: dict[int, Formula | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> Formula:
    """Bring an expression into normal form; free columns keep their names, or get ``names``."""
    if shared is None:
        shared = dict.fromkeys(find_shared_parts(node))
    free = {column: (names or {}).get(column, column) for column in node.free}
    made = Normaliser(
        set(free.values()), columns={n: c for c, n in free.items()}, shared=shared
    )
    made.add(node, free)
    return Formula(tuple(made.factors), tuple(made.summed), made.columns)


class TermReader(Protocol):
    """Whoever holds the numbers of terms: two endpoints of each, or an estimate twice."""

    levels: Mapping[str, int]
    workspace: Workspace

    def read_term(self, term: P) -> ProductTable:
        """Both endpoints of ``P(of | given)``, an axis for each of its columns."""


def evaluate(formula: Formula, reader: TermReader) -> tuple[tuple[str, ...], Pair]:
    """Compute both endpoints of a formula at every value of its free names."""
    tables = _reduce(formula, reader, {})
    free = {name for name in formula.columns if name not in formula.summed}
    axes = tuple(sort_names(free & {axis for table in tables for axis in table.axes}))
    sizes = {name: reader.levels[column] for name, column in formula.columns.items()}
    one = ProductTable((), (np.ones(()), np.ones(())))
    low, high = multiply_out([*tables, one], axes, sizes, reader.workspace)
    return axes, (low, high)


def _reduce(
    formula: Formula, reader: TermReader, known: dict[int, list[ProductTable]]
) -> list[ProductTable]:
    """Sum a formula out; what is left is a list of tables that are not multiplied out."""
    if id(formula) in known:
        return known[id(formula)]
    tables = [
        table for factor in formula.factors for table in _read_factor(factor, reader, known)
    ]
    sizes = {name: reader.levels[column] for name, column in formula.columns.items()}
    held = {axis for table in tables for axis in table.axes}
    tables = eliminate(
        tables, [name for name in formula.summed if name in held], sizes, reader.workspace
    )
    # A variable that no factor reads repeats the sum once for each of its levels.
    times = float(np.prod([sizes[name] for name in formula.summed if name not in held]))
    if times != 1.0:
        tables = [*tables, ProductTable((), (np.array(times), np.array(times)))]
    known[id(formula)] = tables
    return tables


def _read_factor(
    factor: Factor, reader: TermReader, known: dict[int, list[ProductTable]]
) -> list[ProductTable]:
    if isinstance(factor.body, P):
        tables = [reader.read_term(factor.body).drop_short_axes()]
    else:
        tables = _reduce(factor.body, reader, known)
    if factor.divides:  # the greatest denominator gives the least quotient
        with np.errstate(divide="ignore"):
            tables = [ProductTable(t.axes, (1 / t.arrays[1], 1 / t.arrays[0])) for t in tables]
    return [table.rename(factor.names) for table in tables]


def contract(
    tables: Iterable[ProductTable],
    keep: Sequence[str],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> Floats:
    """Multiply tables of one array and sum over every name that is not kept.

    The result has an axis for each name in ``keep``, of length 1 where no table has it.
    """
    left = [*tables, ProductTable((), (np.ones(()),))]
    held = {axis for table in left for axis in table.axes}
    left = eliminate(left, held.difference(keep), sizes, workspace)
    (found,) = multiply_out(left, tuple(keep), sizes, workspace)
    return found


def differentiate(
    formula: Formula,
    read: "dict[P, ProductTable]",
    constants: Sequence[ProductTable],
    rows: Sequence[str],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> Iterator[tuple[Factor, tuple[str, ...], Floats]]:
    """Yield the derivative of every row's value with respect to each term occurrence.

    ``read`` has the estimates of all terms, ``constants`` tables that are not estimated (an
    indicator of success, choices of unknown variables). The derivative is the contraction of
    all other factors; for a denominator D it is that of -1/D^2 times D's own derivative. Axes
    are the ``rows``, then those names of the factor that are not among them.
    """
    tables = [estimate_factor(factor, read, sizes, workspace) for factor in formula.factors]
    for place, factor in enumerate(formula.factors):
        others = [table for i, table in enumerate(tables) if i != place]
        names = tuple(name for name in factor.names.values() if name not in rows)
        if isinstance(factor.body, P):
            yield (
                factor,
                (*rows, *names),
                contract([*others, *constants], (*rows, *names), sizes, workspace),
            )
            continue
        # d(1/D) = -dD / D^2: hand the rest on as one more constant of the denominator's formula.
        slope = contract([*others, *constants], (*rows, *names), sizes, workspace)
        if factor.divides:
            slope = (
                -slope
                * ProductTable(tables[place].axes, (tables[place].arrays[0] ** 2,)).align(
                    (*rows, *names)
                )[0]
            )
        outer = ProductTable((*rows, *names), (slope,))
        yield from _differentiate_inside(factor, outer, read, rows, sizes, workspace)


def _differentiate_inside(
    factor: Factor,
    outer: ProductTable,
    read: dict[P, ProductTable],
    rows: Sequence[str],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> Iterator[tuple[Factor, tuple[str, ...], Floats]]:
    """Differentiate a nested formula, its free columns called as the factor says."""
    body = factor.body
    assert isinstance(body, Formula)
    new = {name: f"{name}/{id(factor)}" for name in body.summed} | dict(factor.names)
    inner = Formula(
        tuple(
            Factor(f.body, {c: new[n] for c, n in f.names.items()}, f.divides, f.depth)
            for f in body.factors
        ),
        tuple(new[name] for name in body.summed),
        {new[name]: column for name, column in body.columns.items()},
    )
    larger = {**sizes, **{new[n]: sizes[c] for n, c in body.columns.items() if c in sizes}}
    drop = tuple(i for i, n in enumerate(outer.arrays[0].shape) if n == 1)
    outer = ProductTable(
        tuple(a for i, a in enumerate(outer.axes) if i not in drop),
        (outer.arrays[0].squeeze(axis=drop),),
    )
    yield from differentiate(inner, read, [outer], rows, larger, workspace)


def estimate_factor(
    factor: Factor,
    read: Mapping[P, ProductTable],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> ProductTable:
    """Estimate one factor as a table under its names; a denominator is inverted."""
    if isinstance(factor.body, P):
        table = read[factor.body]
    else:
        body = factor.body
        own = [estimate_factor(inner, read, sizes, workspace) for inner in body.factors]
        free = tuple(sort_names(set(body.columns) - set(body.summed)))
        levels = {name: sizes[column] for name, column in body.columns.items()}
        values = contract(own, free, levels, workspace)
        if factor.divides:
            values = np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)
        table = ProductTable(free, (values,)).drop_short_axes()
    return table.rename(factor.names)
