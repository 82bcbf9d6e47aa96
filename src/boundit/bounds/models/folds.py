"""Folds: which rows are predicted by models that never saw them."""

import numpy as np
from numpy.typing import NDArray

from boundit.counts.levels import Codes


def assign_folds(
    strata: Codes, clusters: Codes | None, n_folds: int, stream: np.random.Generator
) -> NDArray[np.intp]:
    """Draw a fold for every row: equally many rows of each stratum, and clusters whole.

    ``strata`` are arms, so that every fold has rows of each; clusters come as they are.

    >>> drawn = assign_folds(np.array([0, 0, 1, 1]), None, 2, np.random.default_rng(0))
    >>> sorted(drawn[:2].tolist()), sorted(drawn[2:].tolist())
    ([0, 1], [0, 1])
    """
    if clusters is not None:
        names, places = np.unique(clusters, return_inverse=True)
        return np.asarray((stream.permutation(len(names)) % n_folds)[places])
    order = stream.permutation(len(strata))
    # Rows of one stratum follow each other, in the order drawn.
    order = order[np.argsort(strata[order], kind="stable")]
    folds = np.empty(len(strata), dtype=np.intp)
    folds[order] = np.arange(len(strata)) % n_folds
    return folds
