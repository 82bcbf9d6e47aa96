"""Claims of the package on every sequence of a few rows at once: each log is a row of a table.

A world says which columns there are and what each hangs on, and which sum is read off them. All
its logs of a few rows are listed with their probabilities; the axis ``log`` is then one of the
table's, so that one call of the package bounds them all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.claims.last_level import NumericPilot, NumericRest, ValuedPilot, ValuedRest
from boundit.bounds.claims.penalties import spread_squares
from boundit.bounds.claims.pilot_choice import PilotChoice
from boundit.bounds.claims.read_form import PilotNumbers, RestNumbers
from boundit.bounds.claims.sum_arrays import (
    ArraySettings,
    LevelNumbers,
    SumArrays,
    multiply_onto,
    take_worst,
)
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.bounds.claims.sum_layout import LevelNames, SumLayout, lay_out
from boundit.counts.formulas.elimination import ProductTable
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import NamedArray
from tests.bounds.claims.levels import name_column
from tests.bounds.claims.logs import Floats

LOG, VALUE = "log", "y"
Codes = NDArray[np.int64]
Tables = Mapping[str, Floats]
"""For every column its law given its parents, on the last axis."""


@dataclass(frozen=True)
class Read:
    """One level of a world's sum: what it draws or reads at a fixed value, given what."""

    of: str
    given: str = ""
    depth: int = 0
    source: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those it is given first."""
        return (*self.given.split(), *self.of.split())


@dataclass(frozen=True)
class World:
    """Columns with their parents, and a sum over levels read off them; the last draws ``y``.

    Each source has rows of its own; those ``exact`` are laws. Columns have two values unless
    ``sizes`` says more.
    """

    parents: Mapping[str, str]
    levels: tuple[Read, ...]
    axes: tuple[str, ...] = ()
    worst: tuple[str, ...] = ()
    exact: frozenset[int] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    rewards: tuple[float, ...] = (0.0, 1.0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, causes first."""
        return tuple(self.parents)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(self.count_values(column) for column in self.columns)

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return 1 + max(level.source for level in self.levels)

    def count_values(self, name: str) -> int:
        """Count the values of a column, or of a name that a column is read under."""
        column = name_column(name)
        return len(self.rewards) if column == VALUE else self.sizes.get(column, 2)

    def lay_out(self) -> SumLayout:
        """Lay the sum out as the package does, logs as a first axis of the table."""
        names = [
            LevelNames(
                frozenset(level.of.split()) - {VALUE},
                frozenset(level.given.split()),
                level.depth,
            )
            for level in self.levels
        ]
        return lay_out(names, (LOG, *self.axes), self.worst)

    def make_settings(self, n_logs: int) -> ArraySettings:
        """Say how many values each name has, logs among them."""
        names = {name for level in self.levels for name in level.names} | {*self.axes}
        sizes = {name: self.count_values(name) for name in names}
        return ArraySettings({LOG: n_logs, **sizes}, Workspace.make_default())

    def draw_tables(self, rng: np.random.Generator, concentration: float) -> dict[str, Floats]:
        """Draw the law of every column given its parents; a small concentration is skew."""
        found = dict[str, Floats]()
        for column, parents in self.parents.items():
            outer = [self.count_values(name) for name in parents.split()]
            weights = rng.gamma(concentration, size=(*outer, self.count_values(column))) + 1e-9
            found[column] = weights / weights.sum(axis=-1, keepdims=True)
        return found

    def find_joint(self, tables: Tables) -> Floats:
        """Multiply the laws of all columns."""
        found = np.ones(self.shape)
        for column, parents in self.parents.items():
            axes = (*parents.split(), column)
            found = found * NamedArray(axes, tables[column]).align(self.columns)
        return found

    def find_read(self, source: int, tables: Tables) -> Floats:
        """Find the law of what levels read off a source; columns nobody reads have one value.

        Rows that differ in such columns alone are the same rows to the sum.
        """
        levels = [level for level in self.levels if level.source == source]
        read = {name_column(name) for level in levels for name in level.names}
        unread = tuple(i for i, column in enumerate(self.columns) if column not in read)
        found: Floats = self.find_joint(tables).sum(axis=unread, keepdims=True)
        return found

    def find_level(self, level: Read, tables: Tables) -> NamedArray:
        """Find the true law of a level, by names; of the last the mean of the reward."""
        columns = [name_column(name) for name in level.names]
        own = columns[len(level.given.split()) :]
        if len(own) == 1 and {*self.parents[own[0]].split()} == {*columns[:-1]}:
            law = NamedArray((*self.parents[own[0]].split(), own[0]), tables[own[0]])
        else:
            joint = NamedArray(self.columns, self.find_joint(tables)).marginalize(columns)
            law = joint.condition_on([column for column in columns if column not in own])
        values = law.align(columns)
        if VALUE not in own:
            return NamedArray(level.names, values)
        at = columns.index(VALUE)
        mean = np.tensordot(values, np.array(self.rewards), axes=(at, 0))
        return NamedArray(tuple(n for n in level.names if n != VALUE), mean)

    def find_truth(self, tables: Tables, *, upper: bool) -> Floats:
        """Find the value of the sum at its worst, by all assignments; the axes are the arms."""
        nested = self._nest()
        dense = np.ones([self.count_values(name) for name in nested])
        for level in self.levels:
            dense = dense * self.find_level(level, tables).align(nested)
        for name in reversed(nested[len(self.axes) :]):
            if name in self.worst:
                dense = dense.max(axis=-1) if upper else dense.min(axis=-1)
            else:
                dense = dense.sum(axis=-1)
        return dense

    def find_choices(self, tables: Tables, *, upper: bool) -> list[NamedArray]:
        """Find for each unknown variable 1 where it is truly the worst, given all outside."""
        nested = self._nest()
        dense = np.ones([self.count_values(name) for name in nested])
        for level in self.levels:
            dense = dense * self.find_level(level, tables).align(nested)
        found = list[NamedArray]()
        for name in reversed(nested):
            if name in self.worst:
                best = dense.argmax(axis=-1) if upper else dense.argmin(axis=-1)
                chosen = np.eye(dense.shape[-1])[best]
                found.append(NamedArray(tuple(nested[: dense.ndim]), chosen))
                dense = dense.max(axis=-1) if upper else dense.min(axis=-1)
            elif name not in self.axes:
                dense = dense.sum(axis=-1)
        return found[::-1]

    def _nest(self) -> list[str]:
        """List the names from the outside in: what is summed at a depth, then what is worst."""
        nested = list(self.axes)
        drawn = {
            name: level.depth
            for level in self.levels
            for name in level.of.split()
            if name not in {*self.axes, *self.worst, VALUE}
        }
        for depth in range(len(self.worst) + 1):
            nested += [name for name, at in drawn.items() if at == depth]
            nested += self.worst[depth : depth + 1]
        return nested


@dataclass(frozen=True, eq=False)
class EveryLog:
    """Sequences of rows of every source, with their probabilities.

    ``codes`` has for each source logs, rows and columns.
    """

    world: World
    codes: tuple[Codes, ...]
    probability: Floats

    @property
    def n_logs(self) -> int:
        """How many logs there are."""
        return len(self.probability)

    def count(self, level: Read, rows: NDArray[np.bool_] | None = None) -> Floats:
        """Count what a level reads in every log, in some of the rows or in all."""
        codes = self.codes[level.source]
        shape = [self.world.count_values(name) for name in level.names]
        cell = self.number_cells(level.names, codes)
        cell = cell + np.arange(self.n_logs)[:, None] * int(np.prod(shape))
        kept = cell if rows is None else cell[rows]
        found = np.bincount(kept.ravel(), minlength=self.n_logs * int(np.prod(shape)))
        return found.reshape(self.n_logs, *shape).astype(np.float64)

    def number_cells(self, names: Sequence[str], codes: Codes) -> Codes:
        """Number the cell of every row."""
        found = np.zeros(codes.shape[:2], dtype=np.int64)
        for name in names:
            at = self.world.columns.index(name_column(name))
            found = found * self.world.count_values(name) + codes[..., at]
        return found

    def read_levels(self, tables: Tables) -> list[LevelNumbers]:
        """Read all levels but the last, or their laws."""
        found = list[LevelNumbers]()
        for level in self.world.levels[:-1]:
            given = tuple(level.given.split())
            if level.source in self.world.exact:
                law = self.world.find_level(level, tables)
                rows = NamedArray(given, np.ones(law.align(level.names).shape[: len(given)]))
                found.append(LevelNumbers(rows, law, exact=True))
                continue
            joint = NamedArray((LOG, *level.names), self.count(level))
            found.append(LevelNumbers(joint.marginalize((LOG, *given)), joint))
        return found

    def read_rest(self, tables: Tables) -> RestNumbers:
        """Read what the package reads off the rest, in the order of the rows."""
        layout, settings = self.world.lay_out(), self.world.make_settings(self.n_logs)
        arrays = SumArrays.from_numbers(layout, self.read_levels(tables), settings)
        if len(self.world.rewards) > 2:
            return RestNumbers(arrays, self._read_numeric(layout))
        level = self.world.levels[-1]
        codes = self.codes[level.source]
        cell = self.number_cells(level.given.split(), codes)
        seen = np.zeros_like(cell)
        for row in range(cell.shape[1]):
            seen[:, row] = (cell[:, :row] == cell[:, row : row + 1]).sum(axis=1)
        block = np.floor(np.log2(seen + 1)).astype(int)

        def part(rows: NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
            joint = NamedArray((LOG, *level.names), self.count(level, rows))
            axes = layout.cells[-1].axes
            below = joint.marginalize((LOG, *level.given.split())).align(axes)
            hits = joint.at({VALUE: 1}).align(axes)
            return below - hits, hits

        last = int(block.max(initial=0))
        blocks = tuple(part(block == at) for at in range(last + 1))
        return RestNumbers(arrays, ValuedRest(blocks, part(None), (np.zeros(()), np.ones(()))))

    def _read_numeric(self, layout: SumLayout) -> NumericRest:
        """Read sums, squares and running squares of a numeric reward."""
        level, rewards = self.world.levels[-1], np.array(self.world.rewards)
        joint = self.count(level)
        names = (LOG, *(name for name in level.names if name != VALUE))
        at = 1 + level.names.index(VALUE)
        one, two = (
            np.tensordot(joint, values, axes=(at, 0)) for values in (rewards, rewards**2)
        )
        below = NamedArray((LOG, *level.names), joint).marginalize((LOG, *level.given.split()))
        every = np.broadcast_to(below.align(names), one.shape)
        # Logs with the same counts are computed once.
        flat = np.concatenate(
            [each.reshape(self.n_logs, -1) for each in (every, one, two)], axis=1
        )
        _, firsts, place = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        guess = None if level.of == VALUE else np.full((), 0.5)
        each_log = [spread_squares(every[i], one[i], two[i], guess) for i in firsts]
        running = NamedArray(names, np.stack(each_log)[place.ravel()])
        axes = layout.cells[-1].axes
        sums, squares = (NamedArray(names, each).align(axes) for each in (one, two))
        return NumericRest(below.align(axes), sums, squares, running.align(axes))


def list_every_log(
    world: World, tables: Tables, rows: Sequence[int], *, least: float = 1e-7
) -> EveryLog:
    """List all sequences of so many rows of each source, of cells likelier than ``least``."""
    codes, chances = list[Codes](), list[Floats]()
    for source, n in enumerate(rows):
        if source in world.exact:
            codes.append(np.zeros((1, 0, len(world.columns)), dtype=np.int64))
            chances.append(np.ones(1))
            continue
        read = world.find_read(source, tables)
        cells, chance = np.argwhere(read > least), read[read > least]
        drawn = np.array(list(product(range(len(cells)), repeat=n)), dtype=np.int64)
        codes.append(cells[drawn.reshape(-1, n)])
        chances.append(chance[drawn.reshape(-1, n)].prod(axis=1))
    whole = np.ones(1)
    for each in chances:
        whole = np.outer(whole, each).ravel()
    spread = list[Codes]()
    after = len(whole)
    for each_codes in codes:
        after //= len(each_codes)
        repeated = np.repeat(each_codes, after, axis=0)
        spread.append(np.tile(repeated, (len(whole) // len(repeated), 1, 1)))
    return EveryLog(world, tuple(spread), whole)


def draw_logs(
    world: World, tables: Tables, rows: Sequence[int], n_logs: int, rng: np.random.Generator
) -> EveryLog:
    """Draw logs of so many rows of each source."""
    joint = world.find_joint(tables)
    codes = list[Codes]()
    for source, n in enumerate(rows):
        size = (n_logs, 0 if source in world.exact else n)
        drawn = rng.choice(joint.size, p=joint.ravel() / joint.sum(), size=size)
        codes.append(np.stack(np.unravel_index(drawn, joint.shape), axis=-1))
    return EveryLog(world, tuple(codes), np.full(n_logs, 1 / n_logs))


def make_pilot(
    world: World,
    tables: Tables,
    rows: Sequence[int],
    guesses: Tables,
    *,
    variance: float = 0.1,
) -> PilotNumbers:
    """Make what a pilot would say that believes in the laws ``guesses``; it has no logs' axis.

    Exact levels are those of ``tables``.
    """
    layout, settings = world.lay_out(), world.make_settings(1)
    numbers = list[LevelNumbers]()
    joint = NamedArray(world.columns, world.find_joint(guesses))
    for level in world.levels[:-1]:
        given = tuple(level.given.split())
        if level.source in world.exact:
            law = world.find_level(level, tables)
            ones = np.ones(law.align(level.names).shape[: len(given)])
            numbers.append(LevelNumbers(NamedArray(given, ones), law, exact=True))
            continue
        columns = [name_column(name) for name in level.names]
        counts = joint.marginalize(columns).align(columns) * rows[level.source]
        named = NamedArray(level.names, counts + 1e-3)
        numbers.append(LevelNumbers(named.marginalize(given), named))
    arrays = SumArrays.from_numbers(layout, numbers, settings)
    last, axes = world.levels[-1], layout.cells[-1].axes
    columns = [name_column(name) for name in last.given.split()]
    below = joint.marginalize(columns).align(columns) * rows[last.source] + 1e-3
    cells = NamedArray(tuple(last.given.split()), below).align(axes)
    if len(world.rewards) > 2:
        return PilotNumbers(arrays, NumericPilot(cells, variance))
    share = world.find_level(last, guesses).align(axes)
    return PilotNumbers(
        arrays, ValuedPilot(cells, (1 - share, share), (np.zeros(()), np.ones(())))
    )


def find_e_values(
    claims: SumClaims,
    choice: PilotChoice,
    truth: Floats,
    *,
    upper: bool,
    log_error: float = 3.0,
) -> Floats:
    """Find ``exp(scale (end - truth) - penalties)``, as the package pays, for logs and arms."""
    sign = 1.0 if upper else -1.0
    rest = claims.rest
    weights, last = rest.arrays.weights[-1], rest.last
    paid = claims._pay_last(choice.scale, upper=upper)
    mean = np.where(last.rows > 0, last.mean, 1.0 if upper else 0.0)
    lam = choice.scale.reshape(choice.scale.shape + (1,) * (paid.ndim - choice.scale.ndim))
    shape = choice.scale.shape
    levels = claims._pay_levels(
        choice, choice.scale, paid, np.full(shape, log_error), upper=upper
    )
    leaf = weights * mean + sign * paid / lam
    end = take_worst(claims.layout, leaf, levels, upper=upper)
    found: Floats = np.exp(-sign * choice.scale * (end - truth))
    return found


def find_spread(
    every: EveryLog, rest: RestNumbers, tables: Tables, place: int, *, upper: bool = False
) -> Floats:
    """Find the true spread of what follows a level's draws, at the shares, relative to weights.

    Levels before it are as estimated, those after it and the value are true; of unknown
    variables that its cells do not fix, the truly worst is chosen.
    """
    world, arrays = every.world, rest.arrays
    where = arrays.layout.cells[place]
    truths = [world.find_level(level, tables) for level in world.levels[place + 1 :]]
    truths += world.find_choices(tables, upper=upper)[where.depth :]
    factors = [
        *arrays.shares[:place],
        *(ProductTable(law.axes, (law.values,)) for law in truths),
    ]
    named = (*where.axes, *where.draws)
    valued = multiply_onto(factors, named, arrays.settings)
    over = tuple(range(len(where.axes), valued.ndim))
    law = world.find_level(world.levels[place], tables).align(named)
    share = arrays.shares[place].align(named)[0]
    weight = np.where(arrays.weights[place] > 0, arrays.weights[place], 1.0)
    value = valued / np.expand_dims(weight, over)
    expected = (law * value).sum(axis=over)
    drawn = (share * (value - np.expand_dims(expected, over)) ** 2).sum(axis=over)
    # What a level at a fixed value does not count has the value 0.
    other = (1 - share.sum(axis=over)) * expected**2
    found: Floats = drawn + other
    return found
