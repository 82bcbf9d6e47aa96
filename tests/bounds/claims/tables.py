"""Count tables made of dense arrays of counts."""

from collections.abc import Sequence

import numpy as np

from boundit.bounds.binary_reward import BinaryReward
from boundit.counts.table import CountTable
from tests.bounds.claims.logs import Floats


def make_binary(names: Sequence[str], counts: Floats) -> BinaryReward:
    """Make a source of counts whose last axis is the reward ``Y``, failures and successes."""
    flat = counts.reshape(-1, 2)
    codes = np.argwhere(np.ones(counts.shape[:-1], dtype=bool))
    seen = flat.sum(axis=1) > 0
    n, won = flat.sum(axis=1)[seen], flat[seen, 1]
    levels = {
        name: tuple(range(size)) for name, size in zip(names, counts.shape[:-1], strict=True)
    }
    lowest, highest = np.where(won < n, 0.0, 1.0), np.where(won > 0, 1.0, 0.0)
    table = CountTable(
        tuple(names), levels, codes[seen], n, "Y", won, won.copy(), lowest, highest
    )
    return BinaryReward(table, "Y", 0.0, 1.0)


def make_numeric(names: Sequence[str], counts: Floats, rewards: Floats) -> BinaryReward:
    """Make a source of counts by reward, on the last axis, of which sums and squares are kept.

    Rewards are between 0 and 1.
    """
    flat = counts.reshape(-1, len(rewards))
    codes = np.argwhere(np.ones(counts.shape[:-1], dtype=bool))
    seen = flat.sum(axis=1) > 0
    flat = flat[seen]
    levels = {
        name: tuple(range(size)) for name, size in zip(names, counts.shape[:-1], strict=True)
    }
    has = flat > 0
    lowest = np.where(has, rewards, np.inf).min(axis=1, initial=np.inf)
    highest = np.where(has, rewards, -np.inf).max(axis=1, initial=-np.inf)
    table = CountTable(
        tuple(names),
        levels,
        codes[seen],
        flat.sum(axis=1),
        "Y",
        flat @ rewards,
        flat @ rewards**2,
        lowest,
        highest,
    )
    return BinaryReward(table, "Y", 0.0, 1.0, binary=False)


def make_bare(names: Sequence[str], counts: Floats, *, exact: bool = False) -> BinaryReward:
    """Make a source of counts, or an exact law, without a reward."""
    codes = np.argwhere(counts > 0)
    levels = {name: tuple(range(size)) for name, size in zip(names, counts.shape, strict=True)}
    table = CountTable(tuple(names), levels, codes, counts[counts > 0], exact=exact)
    return BinaryReward(table, None, 0.0, 1.0)
