"""A blind pilot: some rows that choose everything that is free, and the rest, which speak.

What a claim may choose (its scale, first guesses, which inequality, which rule) is chosen on
rows that have no other say. They are drawn row by row with one chance, so pilot and rest are
independent logs of the same law.

What is drawn hangs on a stream of random numbers, and the stream on a hash of all counts: the
same log is always drawn alike, and any two logs are drawn independently. A stream that is the
same for all logs will not do. Counts are thinned cell by cell, so a number that is low for the
successes of one cell would leave too many of them to the rest in every log alike: with one such
seed the rest's estimates were off by .3 of a standard error on average over logs.

Where the pilot's columns leave a choice open, some columns of further rows may be looked at.
Levels before the value then read neither, but the rewards of these rows speak: given all that
was seen of them, they are draws of their cells.

A log of 0/1 rewards is drawn as successes and failures. Of a numeric reward the counts hold
only sums, which cannot be taken apart: its pilot has no rewards, and its rewards all speak.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.random import Generator, SeedSequence

from boundit.bounds.binary_reward import BinaryReward
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable
from boundit.estimand.language.expression import P
from boundit.terms.names import Nodes

PILOT_SEED: Final = 20240226
"""Fixed once for all, beside the hash: who tries seeds and keeps the best has no guarantee."""
FOR_PILOT, FOR_BETS, FOR_HALVES, FOR_LOOKED = range(4)
"""What a seed is made for: streams for different ends are independent."""
_PLAIN = 60, 0.015, 0.04  # 60 rows and 1.5 percent, at most 4 percent
_LARGER = 200, 0.04, 0.1


@dataclass(frozen=True, eq=False)
class SplitRows:
    """One source of counts: its pilot, the folds of the rest, and what holds the rewards.

    ``rewarded`` is, for each fold, the table that rewards are read off: the fold itself, or all
    rows where the reward is numeric. ``looked`` counts rows outside the pilot by those of their
    columns that choose with it; they are in no fold, unless nothing but rewards is read of it.
    """

    pilot: BinaryReward
    folds: tuple[BinaryReward, ...]
    rewarded: tuple[BinaryReward, ...]
    looked: NamedArray | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the source is an exact law, of which there is nothing to draw.

        Its levels then pay nothing.
        """
        return self.pilot.table.exact

    @property
    def undrawn(self) -> BinaryReward:
        """All rows but the pilot's, those that are looked at among them."""
        return self.folds[0] if self.looked is None else self.rewarded[0]

    def count_columns(self, names: Nodes) -> NamedArray:
        """Count all rows that may choose, by some columns that are no rewards."""
        found = self.pilot.marginalize(names)
        if self.looked is None or not names <= self.looked.names:
            return found
        more = self.looked.marginalize(names).align(found.axes)
        return NamedArray(found.axes, found.values + more)

    def look_at(self, names: Nodes, chance: float, rng: Generator) -> "SplitRows":
        """Let some columns of rows outside the pilot choose, each row with a chance.

        With a chance of 1 all rows stay in their fold: for a log off which nothing but rewards
        is read.
        """
        (rest,) = self.folds
        if chance >= 1:
            return replace(self, looked=rest.marginalize(names))
        drawn, left = thin(rest, chance, rng)
        return replace(self, folds=(left,), looked=drawn.marginalize(names))


@dataclass(frozen=True, eq=False)
class SplitSources:
    """The log and the external tables, each split into pilot and rest."""

    log: SplitRows
    population: tuple[SplitRows, ...]

    def find(self, term: P) -> SplitRows:
        """Find the source of a term: the log, or the smallest external table that has it."""
        if term.logged:
            return self.log
        return next(s for s in self.population if term.of | term.given <= s.rewarded[0].names)

    def look_at(self, names: Nodes, chance: float, rng: Generator) -> "SplitSources":
        """Let some columns of further rows of the log choose, and their rewards speak."""
        own = self.log.look_at(names, chance, rng)
        others = tuple(own if each is self.log else each for each in self.population)
        return SplitSources(own, others)


def split_sources(
    log: BinaryReward,
    population: Sequence[BinaryReward],
    *,
    n_folds: int = 1,
    larger: bool = False,
) -> SplitSources:
    """Draw the pilot of the log and of every external table, by a stream of their own.

    It is ``larger`` where it has more to choose, as multipliers of programs. The rest is cut
    into ``n_folds`` folds of like size.
    """
    streams = make_seed((log, *population), FOR_PILOT).spawn(1 + len(population))
    split = partial(_split_rows, n_folds=n_folds, larger=larger)
    own = split(log, rng=np.random.default_rng(streams[0]))
    sized = sorted(
        zip(population, streams[1:], strict=True),
        key=lambda pair: float(np.prod(list(pair[0].n_levels.values()))),
    )
    others = tuple(
        own if source is log else split(source, rng=np.random.default_rng(stream))
        for source, stream in sized
    )
    return SplitSources(own, others)


def make_streams(sources: Iterable[BinaryReward], n_streams: int) -> list[Generator]:
    """Make random streams for the orders of bets, independent of the pilot's."""
    seeds = make_seed(sources, FOR_BETS).spawn(n_streams)
    return [np.random.default_rng(seed) for seed in seeds]


def make_seed(sources: Iterable[BinaryReward], purpose: int) -> SeedSequence:
    """Make a seed from a hash of all counts, so that every log has a stream of its own.

    Numeric rewards are left out: all of them speak, so that they may not even choose by chance.
    """
    found = blake2b(digest_size=16)
    for source in sources:
        table = source.table
        found.update(np.ascontiguousarray(table.codes, dtype="<i8").tobytes())
        found.update(np.ascontiguousarray(table.n, dtype="<f8").tobytes())
        if source.binary and table.sums is not None:
            found.update(np.ascontiguousarray(table.sums, dtype="<f8").tobytes())
    return SeedSequence((PILOT_SEED, purpose, int.from_bytes(found.digest(), "little")))


def choose_chance(rows: float, *, larger: bool = False) -> float:
    """Choose with which chance a row goes to the pilot: 60 rows and 1.5 percent, at most 4.

    A ``larger`` one has 200 rows and 4 percent, at most 10.

    >>> choose_chance(500), choose_chance(5_000), choose_chance(5_000, larger=True)
    (0.04, 0.027, 0.08)
    """
    own, share, most = _LARGER if larger else _PLAIN
    return min(most, share + own / max(rows, 1.0))


def _split_rows(
    source: BinaryReward, *, n_folds: int, larger: bool, rng: Generator
) -> SplitRows:
    """Draw the pilot of one source, and cut what is left into folds."""
    if source.table.exact:
        return SplitRows(source, (source,) * n_folds, (source,) * n_folds)
    pilot, rest = thin(source, choose_chance(source.table.rows, larger=larger), rng)
    folds = list[BinaryReward]()
    for left in range(n_folds, 1, -1):
        fold, rest = thin(rest, 1 / left, rng)
        folds.append(fold)
    folds.append(rest)
    spoken = tuple(folds) if source.binary or source.outcome is None else (source,) * n_folds
    return SplitRows(pilot, tuple(folds), spoken)


def thin(
    source: BinaryReward, chance: float, rng: Generator
) -> tuple[BinaryReward, BinaryReward]:
    """Draw each row with a chance; return the rows drawn and those left.

    Rewards that are not 0/1 are lost, as sums cannot be taken apart.
    """
    table = source.table
    if table.reward is None or source.outcome is None or not source.binary:
        drawn = _draw(table.n, chance, rng)
        bare = replace(
            table, reward=None, sums=None, squares=None, lowest=None, highest=None, n=drawn
        )
        hidden = replace(source, outcome=None)
        return (
            replace(hidden, table=_drop_empty(bare)),
            replace(hidden, table=_drop_empty(replace(bare, n=table.n - drawn))),
        )
    assert table.sums is not None
    low, high = source.low, source.high
    successes = np.rint((table.sums - low * table.n) / (high - low))
    won = _draw(successes, chance, rng)
    lost = _draw(table.n - successes, chance, rng)
    return (
        replace(source, table=_count_again(table, won, lost, low, high)),
        replace(
            source,
            table=_count_again(table, successes - won, table.n - successes - lost, low, high),
        ),
    )


def _draw(counts: Floats, chance: float, rng: Generator) -> Floats:
    """Draw how many of each line's rows are taken, each row with the same chance."""
    return rng.binomial(np.rint(counts).astype(np.int64), chance).astype(np.float64)


def _count_again(
    table: CountTable, won: Floats, lost: Floats, low: float, high: float
) -> CountTable:
    """Make a table of the same cells with other numbers of successes and failures."""
    n = won + lost
    return _drop_empty(
        replace(
            table,
            n=n,
            sums=low * lost + high * won,
            squares=low**2 * lost + high**2 * won,
            lowest=np.where(lost > 0, low, high),
            highest=np.where(won > 0, high, low),
        )
    )


def _drop_empty(table: CountTable) -> CountTable:
    """Drop the lines of a table that have no rows."""
    kept = table.n > 0

    def keep(array: Floats | None) -> Floats | None:
        return None if array is None else array[kept]

    return replace(
        table,
        codes=table.codes[kept],
        n=table.n[kept],
        sums=keep(table.sums),
        squares=keep(table.squares),
        lowest=keep(table.lowest),
        highest=keep(table.highest),
    )
