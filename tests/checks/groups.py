"""Tables in groups, written as arrays or drawn at random."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from boundit.checks.independence import Strata


def lay_out(tables: ArrayLike) -> Strata:
    """Lay out tables with axes group, one, other."""
    counts = np.asarray(tables, dtype=np.float64)
    group, one, other = np.nonzero(counts)
    return Strata(group, one, other, counts[group, one, other]).keep_varied()


def draw_independent(
    rng: Generator, n_groups: int, n: int, one: Sequence[float], other: Sequence[float]
) -> Strata:
    """Draw groups of ``n`` rows in which the two variables are independent."""
    shares = np.outer(one, other)
    counts = rng.multinomial(n, shares.ravel(), size=n_groups)
    return lay_out(counts.reshape(n_groups, *shares.shape))
