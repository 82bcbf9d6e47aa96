"""The counts that bounds are made from, and the probabilities read off them.

An outcome in [low, high] has the mean of a success of probability ``(y - low) / (high - low)``,
so that every rule can be about ``P(y = 1 | ...)`` and only sums of outcomes need to be counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np

from boundit.core.errors import BounditError, OptionError
from boundit.core.formula import StepRecord
from boundit.core.message import Option, Placeholder
from boundit.core.names import Nodes, sort_names
from boundit.core.rounding import EXACT_ROUNDING
from boundit.counts.errors import TooLarge
from boundit.counts.formula import (
    Formula,
    NeedsPopulation,
    NotLogged,
    Pair,
    ProductTable,
    evaluate_endpoints,
)
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray, SeenCells, divide
from boundit.counts.seen_cells import ReadTerm, sum_over_seen
from boundit.counts.table import CountTable, merge_cells
from boundit.estimand.derivation import Question, lighten
from boundit.estimand.expression import P
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph

SUCCESS = 1
_EPS = float(np.finfo(np.float64).eps)
_NEAR = 1e-12
"""How far a sum of numbers that are not binary fractions may be off, for each of them."""


class Levels(dict[str, int]):
    """How many levels each variable has; ``X'`` is a copy of ``X`` (a natural value, an index)."""

    def __missing__(self, name: str) -> int:
        if not name.endswith("'"):
            raise KeyError(name)
        return self[name[:-1]]


@dataclass(frozen=True, eq=False)
class Counts:
    """A table of counts whose outcome is a variable of two levels: failure and success.

    ``outcome`` is None for a table that lacks it. ``binary``: every outcome was ``low`` or
    ``high``, so that successes are rows.
    """

    table: CountTable
    outcome: str | None
    low: float = 0.0
    high: float = 1.0
    binary: bool = True

    @property
    def names(self) -> Nodes:
        """The variables of the table, the outcome among them."""
        return self.table.names | ({self.outcome} if self.outcome else set())

    @property
    def n_levels(self) -> Mapping[str, int]:
        """How many levels each variable has; the outcome has two."""
        return {**self.table.n_levels, **({self.outcome: 2} if self.outcome else {})}

    @property
    def is_variable(self) -> bool:
        """Whether the success is the outcome itself, so that others may condition on it."""
        return self.binary and (self.low, self.high) == (0, 1)

    def marginalize(self, names: Nodes) -> NamedArray:
        """Count rows by some variables; by the outcome, failures and successes."""
        if self.outcome is None or self.outcome not in names:
            return self.table.marginalize(names)
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest), self.table.sum_rewards(rest).values
        won = np.clip((sums - self.low * n.values) / (self.high - self.low), 0, n.values)
        lost = self._failed.marginalize(rest).values
        return NamedArray((*n.axes, self.outcome), np.stack([lost, won], axis=-1))

    def list_seen(self, names: Nodes) -> SeenCells:
        """List the cells of some variables that were seen; by the outcome, both of its levels."""
        if self.outcome is None or self.outcome not in names:
            return self.table.list_seen(names)
        rest = names - {self.outcome}
        seen, lost = self.table.list_seen(rest), self._failed.list_seen(rest).weights
        sums = self.table.list_rewards(rest).weights
        won = np.clip(
            (sums - self.low * seen.weights) / (self.high - self.low), 0, seen.weights
        )
        level = np.repeat([1 - SUCCESS, SUCCESS], len(lost))[:, None]
        codes = np.hstack([np.vstack([seen.codes, seen.codes]), level])
        return SeenCells((*seen.variables, self.outcome), codes, np.concatenate([lost, won]))

    @cached_property
    def _failed(self) -> CountTable:
        """The table with failures for rows: counted line by line, few are not lost among many."""
        table = self.table
        sums = table.n if table.sums is None else table.sums
        won = (sums - self.low * table.n) / (self.high - self.low)
        return replace(table, n=table.n - np.clip(won, 0, table.n))

    def find_rounding(self, names: Nodes) -> NamedArray:
        """How far off the probabilities of an exact distribution may be, by some variables.

        Where a line mixes failures and successes, its failures are what successes leave of all,
        and both were rounded. Rows are whole numbers, of which nothing is lost.
        """
        table, rest = self.table, names - {self.outcome}
        mixed = np.zeros_like(table.n)
        if table.exact and table.lowest is not None and table.highest is not None:
            mixed = np.where(table.lowest < table.highest, table.n, 0.0)
        n = replace(table, n=mixed).marginalize(rest)
        if self.outcome is None or self.outcome not in names:
            return NamedArray(n.axes, np.zeros_like(n.values))
        off = 4 * _EPS * n.values
        off = np.stack([off, off * (self.low != 0)], axis=-1)
        return NamedArray((*n.axes, self.outcome), off)

    def sum_squares(self, names: Nodes) -> NamedArray:
        """Sum the squares of scaled failures and successes by some variables."""
        rest = names - {self.outcome}
        n, sums = self.table.marginalize(rest).values, self.table.sum_rewards(rest).values
        squares, width = self.table.sum_squares(rest), self.high - self.low
        won = (squares.values - 2 * self.low * sums + self.low**2 * n) / width**2
        lost = n - 2 * (sums - self.low * n) / width + won
        return NamedArray((*squares.axes, str(self.outcome)), np.stack([lost, won], axis=-1))


def pool(sources: Sequence[Counts], names: Nodes) -> Counts:
    """Add up the rows of several sources of one distribution, by some variables of all of them."""
    first, *others = sources
    if not others:
        return first
    kept = tuple(sort_names(names - {first.outcome}))
    held = first.outcome in names
    shape = [first.n_levels[name] for name in kept]
    tables = [counts.table for counts in sources]
    codes = np.vstack([t.codes[:, [t.variables.index(name) for name in kept]] for t in tables])
    arrays = ("sums", "squares", "lowest", "highest") if held else ()
    joined = {name: np.concatenate([getattr(t, name) for t in tables]) for name in arrays}
    n = np.concatenate([t.n for t in tables])
    codes, n, rewards, _ = merge_cells(codes, shape, n, joined)
    table = CountTable(
        variables=kept,
        levels={name: tables[0].levels[name] for name in kept},
        codes=codes,
        n=n,
        reward=tables[0].reward if held else None,
        sums=rewards.get("sums"),
        squares=rewards.get("squares"),
        lowest=rewards.get("lowest"),
        highest=rewards.get("highest"),
        adaptive=any(t.adaptive for t in tables),
        label=" and ".join(t.label for t in tables),
    )
    binary = all(counts.binary for counts in sources)
    return replace(first, table=table, outcome=first.outcome if held else None, binary=binary)


class NeedsRange(BounditError):
    """A numeric outcome whose range was not declared: the log may not show the extremes."""

    def __init__(self, outcome: str, low: float, high: float) -> None:
        self.outcome = outcome
        super().__init__(
            f"The outcome {outcome!r} is numeric ({low:g} to {high:g} in the data). Declare its "
            "possible range with ",
            Option("outcome_range", (Placeholder("low"), Placeholder("high"))),
            ".",
        )


class OutsideRange(BounditError):
    """An outcome beyond its declared range."""

    def __init__(self, outcome: str, value: float, declared: tuple[float, float]) -> None:
        self.outcome, self.value = outcome, value
        ends = tuple(Placeholder(f"{end:g}") for end in declared)
        super().__init__(
            f"The data have {outcome} = {value:g}, outside ",
            Option("outcome_range", ends),
            ". Widen the range or correct the data.",
        )


def settle_outcome_range(
    tables: Sequence[CountTable], declared: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the declared range of the outcome, or (0, 1) where none is and all outcomes are 0/1.

    Outcomes outside it are refused.
    """
    low, high = read_range(declared) if declared is not None else (0.0, 1.0)
    for table in tables:
        if table.reward is None or table.lowest is None or table.highest is None:
            continue
        least, most = float(table.lowest.min()), float(table.highest.max())
        if declared is None and not is_binary(table):
            raise NeedsRange(table.reward, least, most)
        for value in (least, most):
            if not low <= value <= high:
                raise OutsideRange(table.reward, value, (low, high))
    return low, high


def is_binary(table: CountTable) -> bool:
    """Tell whether every outcome of a table is 0 or 1: only then do sums and squares agree."""
    sums, squares, lowest, highest = table.sums, table.squares, table.lowest, table.highest
    if sums is None or squares is None or lowest is None or highest is None:
        return True
    inside = (lowest >= 0).all() and (highest <= 1).all()
    return bool(inside and np.array_equal(squares, sums))


def has_two_values(table: CountTable, low: float, high: float) -> bool:
    """Tell whether every outcome of a table, which is within its range, is at an end of it.

    Then a cell's successes are its rows with the outcome ``high``, a binomial count. Whether
    values between exist that were never logged does not matter to an interval of the mean: its
    lower endpoint is one of P(high), and the mean is no less; its upper endpoint is one of P(low),
    and the mean is no more than if all others had the outcome ``high``.
    """
    if (low, high) == (0, 1) or table.sums is None or table.squares is None:
        return is_binary(table)
    # The sum of (outcome - low) (high - outcome), which no outcome makes negative.
    within = (low + high) * table.sums - table.squares - low * high * table.n
    return bool((within <= _NEAR * table.n * max(abs(low), abs(high)) ** 2).all())


def read_range(given: tuple[float, float]) -> tuple[float, float]:
    """Read a declared range as two numbers with low < high; anything else is refused."""
    refused = OptionError(
        Option("outcome_range"), f" must be (low, high) with low < high, found {given!r}"
    )
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise refused from None
    if not low < high < float("inf") or low == float("-inf"):
        raise refused
    return low, high


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log and the tables of the population (the log itself, where nothing selects rows).

    ``pools``: rows of several counted tables that show one distribution add up; else the
    smallest table is read.
    """

    graph: CausalGraph
    query: EffectQuery
    log: Counts
    population: tuple[Counts, ...]
    workspace: Workspace
    pools: bool = False
    _counted: dict[P, tuple[NamedArray, NamedArray]] = field(default_factory=dict, repr=False)
    _pooled: dict[object, Counts] = field(default_factory=dict, repr=False)

    @cached_property
    def levels(self) -> Mapping[str, int]:
        """How many levels each variable has."""
        found = Levels()
        for counts in (*self.population, self.log):
            found |= counts.n_levels
        return found

    @property
    def shape(self) -> list[int]:
        """How many arms and contexts there are, axis by axis."""
        return [self.levels[axis] for axis in self.query.treatments + self.query.context]

    def scale(self, shares: Floats) -> list[float]:
        """Success probabilities as means of the outcome, within its range."""
        low, high = self.log.low, self.log.high
        return [float(end) for end in (low + (high - low) * shares).ravel()]

    @property
    def tables(self) -> tuple[Counts, ...]:
        """The log and the tables of the population, each once."""
        return tuple(dict.fromkeys((self.log, *self.population)))

    @property
    def is_exact(self) -> bool:
        """Whether all tables are exact distributions."""
        return all(counts.table.exact for counts in self.tables)

    @property
    def is_adaptive(self) -> bool:
        """Whether a policy learned while it wrote rows, so that rows are not independent."""
        return any(counts.table.adaptive for counts in self.tables)

    @property
    def is_clustered(self) -> bool:
        """Whether rows of one cluster are counted together."""
        return any(counts.table.clusters is not None for counts in self.tables)

    @property
    def is_numeric(self) -> bool:
        """Whether some outcomes lie between the ends of their range."""
        return any(counts.outcome is not None and not counts.binary for counts in self.tables)

    @cached_property
    def lightened(self) -> tuple[tuple[int, ...], tuple[StepRecord, ...]]:
        """Along which axes of a table the mean is the same, by the do-calculus, and why.

        All rows along them bound one number: their intervals may be intersected.
        """
        query, axes = self.query, self.query.treatments + self.query.context
        given = frozenset(query.treatments), frozenset(query.context)
        asked = Question(frozenset(query.outcomes), *given)
        light, steps = lighten(self.graph, asked)
        equal = tuple(i for i, axis in enumerate(axes) if axis not in light.variables)
        return equal, tuple(step.record for step in steps)

    def list_sources(self, term: P) -> tuple[Counts, ...]:
        """The sources that show a term's distribution: the log, or tables without selection.

        Of several exact tables the smallest is read; rows of counted ones add up. Where an exact
        one shows the distribution, counted ones say no more. Rows of one cluster may be in
        several tables: clustered ones are not added up.
        """
        if term.logged:
            if missing := term.free - self.log.names:
                raise NotLogged(min(missing), self.log.names)
            return (self.log,)
        able = [counts for counts in self.population if term.free <= counts.names]
        if not able:
            raise NeedsPopulation(term, [counts.names for counts in self.population])
        able.sort(key=lambda counts: prod(counts.n_levels.values()))
        exact = [counts for counts in able if counts.table.exact]
        clustered = any(counts.table.clusters is not None for counts in able)
        if exact or clustered or not self.pools:
            return ((exact or able)[0],)
        return tuple(dict.fromkeys(able))

    def find(self, term: P) -> Counts:
        """The counts that a term is read from: its source, or its sources added up."""
        sources = self.list_sources(term)
        if len(sources) == 1:
            return sources[0]
        key = *map(id, sources), term.free
        if key not in self._pooled:
            self._pooled[key] = pool(sources, term.free)
        return self._pooled[key]

    def count(self, term: P) -> tuple[NamedArray, NamedArray]:
        """Rows by ``of`` and ``given``, and by ``given`` alone; one level needs no axis."""
        if term not in self._counted:
            self.workspace.require_cells(prod(self.levels[n] for n in term.free), term.free)
            source = self.find(term)
            varying = frozenset(name for name in term.free if self.levels[name] > 1)
            joint = source.marginalize(varying)
            self._counted[term] = joint, joint.marginalize(term.given & varying)
        return self._counted[term]


class Probabilities:
    """Both endpoints of conditional probabilities, and of formulas made of them.

    This class takes the estimates as both endpoints, and 0 to 1 in cells without rows, which
    then count with their weight in every sum.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence, self.workspace = evidence, evidence.workspace
        self.levels = evidence.levels
        self._terms: dict[P, ProductTable] = {}
        self._read: dict[tuple[int, tuple[str, ...]], tuple[Formula, Pair]] = {}

    def bound_term(self, term: P, joint: NamedArray, n: Floats) -> Pair:
        """Both endpoints of a term's cells, from its counts."""
        share = divide(joint.values, n)
        low, high = np.nan_to_num(share, nan=0.0), np.nan_to_num(share, nan=1.0)
        source = self.evidence.find(term)
        if not source.table.exact or source.outcome not in joint.axes:
            return low, high
        # Of an exact distribution, what rounding left: failures that are rare among successes.
        off = source.find_rounding(frozenset(joint.axes))
        off_below = source.find_rounding(term.given & off.names).align(joint.axes)
        loose = (off.values > EXACT_ROUNDING * joint.values) | (off_below > EXACT_ROUNDING * n)
        least = divide(np.maximum(joint.values - off.values, 0.0), n + off_below)
        most = divide(joint.values + off.values, np.maximum(n - off_below, 0.0))
        return (
            np.where(loose, np.fmin(low, least), low),
            np.where(loose, np.nan_to_num(most, nan=1.0).clip(high, 1), high),
        )

    def covers(self, terms: Iterable[P]) -> bool:
        """Whether the endpoints of these terms hold at once with all others."""
        del terms
        return True

    def read_term(self, term: P) -> ProductTable:
        """Both endpoints of ``P(of | given)``, an axis for each of its columns."""
        if term not in self._terms:
            joint, below = self.evidence.count(term)
            n = np.broadcast_to(below.align(joint.axes), joint.values.shape)
            self._terms[term] = ProductTable(joint.axes, self.bound_term(term, joint, n))
        return self._terms[term]

    def combine_idle(self, low: Floats, high: Floats, idle: tuple[int, ...]) -> Pair:
        """Average over variables whose level does not matter to the true number.

        Of the levels with an estimate the mean is taken; without any, the widest endpoints.
        """
        known = low == high
        weight = known.sum(axis=idle)
        mean = np.where(known, low, 0.0).sum(axis=idle) / np.maximum(weight, 1)
        return (
            np.where(weight > 0, mean, low.min(axis=idle)),
            np.where(weight > 0, mean, high.max(axis=idle)),
        )

    def sum_over_seen(self, formula: Formula) -> tuple[NamedArray, NamedArray] | None:
        """Both endpoints of a formula whose tables are too large, from the cells that were seen.

        None for a formula that cannot be read term after term.
        """
        terms = list[ReadTerm]()
        for factor in formula.factors:
            if not isinstance(factor.body, P):
                return None
            terms.append(ReadTerm(factor.body, factor.names))

        def read(term: P) -> SeenCells:
            return self.evidence.find(term).list_seen(term.free).drop_empty()

        return sum_over_seen(terms, formula.summed, read, self.levels, self.workspace)

    def read(self, formula: Formula, axes: Sequence[str]) -> Pair:
        """Both endpoints of a formula at every level of ``axes``, clipped to [0, 1]."""
        key = id(formula), tuple(axes)
        if key not in self._read:
            try:
                held, (low, high) = evaluate_endpoints(formula, self)
            except TooLarge:
                if (found := self.sum_over_seen(formula)) is None:
                    raise
                held, (low, high) = found[0].axes, (found[0].values, found[1].values)
            low = np.nan_to_num(low, nan=0.0).clip(0, 1)
            high = np.nan_to_num(high, nan=1.0).clip(0, 1)
            idle = tuple(i for i, axis in enumerate(held) if axis not in axes)
            if idle:
                low, high = self.combine_idle(low, high, idle)
            kept = tuple(axis for axis in held if axis in axes)
            pair = NamedArray(kept, low).align(axes), NamedArray(kept, high).align(axes)
            self._read[key] = formula, pair
        return self._read[key][1]
