"""Tables in groups, written as arrays or drawn at random."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from boundit.checks.strata import Strata


def lay_out(tables: ArrayLike) -> Strata:
    """Lay out tables with axes group, one, other."""
    counts = np.asarray(tables, dtype=np.float64)
    group, one, other = np.nonzero(counts)
    places = np.arange(len(counts))
    n_levels = counts.shape[1], counts.shape[2]
    whole = Strata(group, one, other, counts[group, one, other], places, n_levels)
    return whole.select_varied()


def draw_independent(
    rng: Generator, n_groups: int, n: int, one: Sequence[float], other: Sequence[float]
) -> Strata:
    """Draw groups of ``n`` rows in which one variable tells nothing about the other."""
    law = np.outer(one, other)
    counts = rng.multinomial(n, law.ravel(), size=n_groups)
    return lay_out(counts.reshape(n_groups, *law.shape))
