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

Whatever is divided by zero is nan, and nan stays nan in sums and products, also where its
weight is zero: a number comes out only when every cell the formula asks for has one.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Protocol, assert_never

import numpy as np

from boundit.core.errors import DataError, QueryError
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.counts.named_array import MOST_AXES, Floats, NamedArray, agree_on_levels, divide
from boundit.estimand.derivation import Identification
from boundit.estimand.expression import (
    CFactor,
    Expression,
    P,
    Product,
    Ratio,
    Sum,
    find_variables,
    order_elimination,
)

_BY_LEVEL = 2**16
"""From how many cells on a product is made level by level of the variable to sum out."""


@dataclass(frozen=True, slots=True, eq=False)
class ProductTable:
    """A table of a product: arrays of one shape, an axis for each of its variables."""

    axes: tuple[str, ...]
    arrays: tuple[Floats, ...]

    def align(self, axes: Sequence[str]) -> tuple[Floats, ...]:
        """Show the arrays with these axes in this order, length 1 where the table lacks one."""
        if self.axes == axes:
            return self.arrays
        place = {axis: i for i, axis in enumerate(self.axes)}
        own = [place[axis] for axis in axes if axis in place]
        shape = [self.arrays[0].shape[place[axis]] if axis in place else 1 for axis in axes]
        return tuple(array.transpose(own).reshape(shape) for array in self.arrays)

    def rename(self, names: Mapping[str, str]) -> "ProductTable":
        """Give some variables other names."""
        return ProductTable(tuple(names.get(axis, axis) for axis in self.axes), self.arrays)

    def drop_short_axes(self) -> "ProductTable":
        """Take the axes of variables with one level away: NumPy allows few axes."""
        shape = self.arrays[0].shape
        if 1 not in shape:
            return self
        kept = tuple(axis for axis, n in zip(self.axes, shape, strict=True) if n > 1)
        return ProductTable(kept, tuple(array.squeeze() for array in self.arrays))

    def select(self, axis: str, level: int) -> "ProductTable":
        """Fix one variable at a level; its axis goes. A table without it stays as it is."""
        if axis not in self.axes:
            return self
        at = self.axes.index(axis)
        left = self.axes[:at] + self.axes[at + 1 :]
        return ProductTable(left, tuple(np.take(array, level, at) for array in self.arrays))


def contract(
    tables: Iterable[ProductTable],
    keep: Sequence[str],
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> Floats:
    """Multiply tables of one array and sum over every name that is not kept.

    The result has an axis for each name in ``keep``, of length 1 where no table has it.
    """
    left = list(tables)
    held = {axis for table in left for axis in table.axes}
    left = eliminate(left, held.difference(keep), sizes, workspace)
    return multiply_out(left, tuple(keep), sizes, workspace)[0]


def eliminate(
    factors: Sequence[ProductTable],
    summed: Collection[str],
    levels: Mapping[str, int],
    workspace: Workspace,
) -> list[ProductTable]:
    """Sum variables out of a product of tables; what is left is again a list of tables.

    Every variable must be in some table. Nothing is multiplied that would not fit into the
    workspace.
    """
    left = list(factors)
    order = order_elimination([factor.axes for factor in left], summed, levels)
    workspace.require_cells(order.largest, order.widest)
    for axis in order.variables:
        workspace.require_time()
        touched = [factor for factor in left if axis in factor.axes]
        left = [factor for factor in left if axis not in factor.axes]
        left.append(_sum_out(axis, touched, levels, workspace))
    return left


def multiply_out(
    factors: Sequence[ProductTable],
    axes: Sequence[str],
    levels: Mapping[str, int],
    workspace: Workspace,
) -> tuple[Floats, ...]:
    """Multiply tables into one over the variables ``axes``, length 1 where no table has one."""
    held = dict.fromkeys(name for factor in factors for name in factor.axes)
    workspace.require_cells(prod(levels[axis] for axis in held), held)
    return _multiply(factors, tuple(axes))


def merge_factors(factors: Sequence[ProductTable]) -> list[ProductTable]:
    """Multiply each table into one that has all its variables, if there is one.

    If it is multiplied by itself again and again, the list of its tables must not grow.
    """
    left = list[ProductTable]()
    for factor in sorted(factors, key=lambda factor: -len(factor.axes)):
        names = frozenset(factor.axes)
        home = next((i for i, other in enumerate(left) if names.issubset(other.axes)), None)
        if home is None:
            left.append(factor)
        else:
            axes = left[home].axes
            left[home] = ProductTable(axes, _multiply([factor, left[home]], axes))
    return left


def _sum_out(
    axis: str, factors: Sequence[ProductTable], levels: Mapping[str, int], workspace: Workspace
) -> ProductTable:
    """Multiply tables and sum over one variable that they have.

    A large product is made for one level of it after the other, and added up.
    """
    held = dict.fromkeys(name for factor in factors for name in factor.axes)
    kept = tuple(name for name in held if name != axis)
    if prod(levels[other] for other in held) <= _BY_LEVEL:
        products = _multiply(factors, (*kept, axis))
        return ProductTable(kept, tuple(array.sum(axis=-1) for array in products))
    sums = [array.copy() for array in _multiply([f.select(axis, 0) for f in factors], kept)]
    for level in range(1, levels[axis]):
        workspace.require_time()
        products = _multiply([f.select(axis, level) for f in factors], kept)
        for total, array in zip(sums, products, strict=True):
            np.add(total, array, out=total)
    return ProductTable(kept, tuple(sums))


def _multiply(factors: Sequence[ProductTable], axes: tuple[str, ...]) -> tuple[Floats, ...]:
    """Multiply tables over the variables ``axes``, the smallest first."""
    if not factors:
        return (np.ones([1] * len(axes)),)
    first, *others = sorted(factors, key=lambda factor: len(factor.axes))
    products = first.align(axes)
    for factor in others:
        arrays = factor.align(axes)
        n = max(len(products), len(arrays))
        products = tuple(
            products[i % len(products)] * arrays[i % len(arrays)] for i in range(n)
        )
    return products


Pair = tuple[Floats, Floats]
"""Lower and upper endpoints of the same numbers."""


class NeedsPopulation(DataError):
    """A term of the whole population that no unselected table covers."""

    def __init__(self, term: P, tables: Iterable[Nodes]) -> None:
        self.term = term
        self.tables = tuple(tuple(sort_names(names)) for names in tables)
        held = "; ".join(join_names(names) for names in self.tables) or "none"
        bar = f" | {join_names(term.given)}" if term.given else ""
        super().__init__(
            f"P({join_names(term.of)}{bar}) is of the whole population, which the log does not "
            f"show; give an external table over {join_names(term.free)} (given: {held})"
        )


class NotLogged(DataError):
    """A term of the log about a variable the log does not have."""

    def __init__(self, name: str, axes: Iterable[str]) -> None:
        self.name, self.axes = name, tuple(axes)
        super().__init__(f"The log has no variable {name!r}. It has {join_names(self.axes)}.")


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
    """Gathers expressions as factors of one product, each sum with names of its own.

    ``shared`` are parts in several places, by identity, and what they became: they are
    normalised and evaluated once.
    """

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
        if id(node) in self.shared:
            self._nest(node, scope, depth)
        else:
            self.expand(node, scope, depth)

    def expand(self, node: Expression, scope: Mapping[str, str], depth: int = 0) -> None:
        """Add the parts of an expression that may be shared itself."""
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
                said = f"Q[{join_names(of)}] is a symbol without numbers; recover it first"
                raise DataError(said)

    def _nest(
        self, node: Expression, scope: Mapping[str, str], depth: int, *, divides: bool = False
    ) -> None:
        body = self.shared.get(id(node)) or normalise(node, self.shared)
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
    made.expand(node, free)
    return Formula(tuple(made.factors), tuple(made.summed), made.columns)


def find_shared_parts(expression: Expression) -> frozenset[int]:
    """Find the sums, products and ratios that a formula has in several places, by identity.

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


class TermReader(Protocol):
    """What holds the numbers of terms: two endpoints of each, or one array of estimates."""

    levels: Mapping[str, int]
    workspace: Workspace

    def read_term(self, term: P) -> ProductTable:
        """The endpoints of ``P(of | given)``, an axis for each of its columns."""


def evaluate_endpoints(formula: Formula, reader: TermReader) -> tuple[tuple[str, ...], Pair]:
    """Compute both endpoints of a formula at every value of its free names.

    Where terms have one array each, both are the same. A free name of one level has no axis.
    """
    tables = _reduce(formula, reader, {})
    free = {name for name in formula.columns if name not in formula.summed}
    axes = tuple(sort_names(free & {axis for table in tables for axis in table.axes}))
    sizes = {name: reader.levels[column] for name, column in formula.columns.items()}
    arrays = multiply_out(tables, axes, sizes, reader.workspace)
    return axes, (arrays[0], arrays[-1])


def _reduce(
    formula: Formula, reader: TermReader, known: dict[int, list[ProductTable]]
) -> list[ProductTable]:
    """Sum a formula out; what is left is a list of tables that are not multiplied out."""
    tables = list[ProductTable]()
    for factor in formula.factors:
        body = factor.body
        if isinstance(body, P):
            read = [reader.read_term(body).drop_short_axes()]
        else:
            if id(body) not in known:
                known[id(body)] = merge_factors(_reduce(body, reader, known))
            read = known[id(body)]
        for table in read:
            arrays = table.arrays
            if factor.divides:  # the greatest denominator gives the least quotient
                arrays = tuple(divide(np.ones(()), array) for array in reversed(arrays))
            tables.append(ProductTable(table.axes, arrays).rename(factor.names))
    sizes = {name: reader.levels[column] for name, column in formula.columns.items()}
    held = {axis for table in tables for axis in table.axes}
    # A variable that no factor reads repeats the sum once for each of its levels.
    times = prod(sizes[name] for name in formula.summed if name not in held)
    gone = [name for name in formula.summed if name in held]
    left = eliminate(tables, gone, sizes, reader.workspace)
    return left if times == 1 else [*left, ProductTable((), (np.array(float(times)),))]


def differentiate(
    formula: Formula,
    read: Mapping[P, ProductTable],
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
        axes = (*rows, *(name for name in factor.names.values() if name not in rows))
        slope = contract([*others, *constants], axes, sizes, workspace)
        if isinstance(factor.body, P):
            yield factor, axes, slope
            continue
        # d(1/D) = -dD / D^2: hand the rest on as one more constant of the denominator's formula.
        if factor.divides:
            squared = ProductTable(tables[place].axes, (tables[place].arrays[0] ** 2,))
            slope = -slope * squared.align(axes)[0]
        outer = ProductTable(axes, (slope,)).drop_short_axes()
        inner, larger = _open_nested(factor, sizes)
        yield from differentiate(inner, read, [outer], rows, larger, workspace)


def _open_nested(factor: Factor, sizes: Mapping[str, int]) -> tuple[Formula, dict[str, int]]:
    """Rename a nested formula as its factor says, its sums as no other; and sizes of all names."""
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
    return inner, {**sizes, **{new[n]: sizes[c] for n, c in body.columns.items() if c in sizes}}


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
    axes, (values, _) = evaluate_endpoints(normalise(expression), reader)
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
        raise QueryError(f"The effect has no formula to evaluate: {found}.")
    names = find_variables(found.expression)
    sources = [read_log(of) for of in (log, *external)]
    logged, *tables = (of.count(sort_names(names & {*of.columns})) for of in sources)
    return evaluate(
        found.expression, logged, external=tables if found.selected else [logged, *tables]
    )
