"""A pilot sample: rows that choose everything that is free, and the rest, which are bounded with.

Scales, first guesses, which inequality and which rule are chosen on rows that play no other part.
They are drawn row by row with one probability, so that pilot and rest are independent logs of the
same distribution. The random stream comes from a hash of all counts: the same log is always
split alike, and two logs independently. (With one fixed stream for all logs the rest's estimates
were off by .3 of a standard error on average: counts are thinned cell by cell.)

Of a numeric reward the counts hold only sums, which cannot be taken apart: its pilot has no
rewards, and all its rewards are in the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import prod

import numpy as np
from numpy.random import Generator, SeedSequence

from boundit.bounds.evidence import Counts, Evidence
from boundit.core.names import Nodes
from boundit.counts.named_array import Floats, NamedArray
from boundit.counts.table import CountTable

PILOT_SEED = 20240226  # fixed: who tries seeds and keeps the best has no guarantee
_PRIOR_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class Split:
    """One table of counts: its pilot, the rest, and the table that rewards are read off."""

    pilot: Counts
    rest: Counts
    rewarded: Counts

    @property
    def is_exact(self) -> bool:
        """Whether it is a distribution, of which nothing is split."""
        return self.pilot.table.exact


def make_seed(tables: Sequence[Counts], purpose: int) -> SeedSequence:
    """A seed from a hash of all counts."""
    found = blake2b(digest_size=16)
    for counts in tables:
        found.update(np.ascontiguousarray(counts.table.codes, dtype="<i8").tobytes())
        found.update(np.ascontiguousarray(counts.table.n, dtype="<f8").tobytes())
        if counts.binary and counts.table.sums is not None:
            found.update(np.ascontiguousarray(counts.table.sums, dtype="<f8").tobytes())
    return SeedSequence((PILOT_SEED, purpose, int.from_bytes(found.digest(), "little")))


def split_evidence(evidence: Evidence) -> dict[int, Split]:
    """Split the log and every table, by identity."""
    own = (evidence.log, *evidence.population)
    streams = make_seed(own, 0).spawn(len(own))
    found = dict[int, Split]()
    for counts, stream in zip(own, streams, strict=True):
        if id(counts) not in found:
            found[id(counts)] = _split(counts, np.random.default_rng(stream))
    return found


def make_streams(evidence: Evidence, n: int) -> list[Generator]:
    """Streams for the orders in which rewards are revealed, independent of the pilot's."""
    seed = make_seed((evidence.log, *evidence.population), 1)
    return [np.random.default_rng(each) for each in seed.spawn(n)]


def _split(counts: Counts, rng: Generator) -> Split:
    if counts.table.exact:
        return Split(counts, counts, counts)
    share = min(0.04, 0.015 + 60 / max(counts.table.rows, 1.0))
    pilot, rest = thin(counts, share, rng)
    whole = counts.binary or counts.outcome is None
    return Split(pilot, rest, rest if whole else counts)


def thin(counts: Counts, share: float, rng: Generator) -> tuple[Counts, Counts]:
    """Draw each row with one probability: the rows drawn, and those left."""
    table, low, high = counts.table, counts.low, counts.high

    def draw(n: Floats) -> Floats:
        return rng.binomial(np.rint(n).astype(np.int64), share).astype(np.float64)

    if table.reward is None or counts.outcome is None or not counts.binary:
        bare = replace(table, reward=None, sums=None, squares=None, lowest=None, highest=None)
        drawn = draw(table.n)
        made = (replace(bare, n=n) for n in (drawn, table.n - drawn))
        one, other = (replace(counts, outcome=None, table=_drop_empty(t)) for t in made)
        return one, other
    assert table.sums is not None
    successes = np.rint((table.sums - low * table.n) / (high - low))
    won, lost = draw(successes), draw(table.n - successes)

    def count(won: Floats, lost: Floats) -> CountTable:
        return _drop_empty(
            replace(
                table,
                n=won + lost,
                sums=low * lost + high * won,
                squares=low**2 * lost + high**2 * won,
                lowest=np.where(lost > 0, low, high),
                highest=np.where(won > 0, high, low),
            )
        )

    rest = count(successes - won, table.n - successes - lost)
    return replace(counts, table=count(won, lost)), replace(counts, table=rest)


def _drop_empty(table: CountTable) -> CountTable:
    kept = table.n > 0

    def keep(values: Floats | None) -> Floats | None:
        return None if values is None else values[kept]

    return replace(
        table,
        codes=table.codes[kept],
        n=table.n[kept],
        sums=keep(table.sums),
        squares=keep(table.squares),
        lowest=keep(table.lowest),
        highest=keep(table.highest),
    )


def smooth(joint: NamedArray, of: Nodes, split: Split) -> NamedArray:
    """Pilot counts with a few rows added as if variables were independent, blown up to the rest.

    No cell is then empty, and rare arms are near their average.
    """
    values, total = joint.values, float(joint.values.sum())
    given = [i for i, axis in enumerate(joint.axes) if axis not in of]
    drawn = [i for i, axis in enumerate(joint.axes) if axis in of]
    prior = np.ones(())
    for i in given:
        others = tuple(k for k in range(values.ndim) if k != i)
        prior = prior * (values.sum(axis=others, keepdims=True) + 1) / (total + values.shape[i])
    cells = prod(values.shape[i] for i in drawn)
    prior = prior * (values.sum(axis=tuple(given), keepdims=True) + 1) / (total + cells)
    n_prior = _PRIOR_ROWS * prod(values.shape[i] for i in given)
    factor = max(split.rest.table.rows, 1.0) / (total + n_prior)
    return NamedArray(joint.axes, (values + n_prior * prior) * factor)
