r"""Whether rows of the log themselves deny that a law may be pooled.

The graph says that a law does not depend on some variables, so that all their levels count
together. Where rows are draws of the law given those variables too, they can deny it: the
likelihood of the rows, averaged over all laws alike, is then far higher with a law for each
level than with one for all. What is not pooled is still right under the graph, and costs no
more than rows, so that rows need not be more certain than a doubt of one in twenty asks for.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

_NEEDED = 20.0
"""How much likelier rows must be with laws of their own than with one."""


def find_denied(counts: NDArray[np.float64], n_given: int) -> tuple[int, ...]:
    """Find the axes on which the law of the last one depends, though the graph denies it.

    The first ``n_given`` axes are what the law depends on by the graph, those after them what
    it does not, and the last one has counts of each outcome. An axis is added as long as some
    alone denies what is pooled, then all the rest if they do together.

    >>> find_denied(np.array([[[90.0, 10.0], [20.0, 80.0]]]), 1)
    (1,)
    >>> find_denied(np.array([[[90.0, 10.0], [85.0, 15.0]]]), 1)
    ()
    """
    rest = list(range(n_given, counts.ndim - 1))
    kept = list(range(n_given))
    needed = np.log(_NEEDED * (len(rest) + 1))
    while rest:
        found = {axis: weigh_split(counts, kept, [axis]) for axis in rest}
        best = max(found, key=found.__getitem__)
        if found[best] < needed:
            break
        kept.append(best)
        rest.remove(best)
    if rest and weigh_split(counts, kept, rest) >= needed:
        kept.extend(rest)
    return tuple(sorted(kept[n_given:]))


def weigh_split(
    counts: NDArray[np.float64], kept: Sequence[int], added: Sequence[int]
) -> float:
    """Compute the log of how much likelier rows are if a law depends on further axes."""
    return _average_likelihood(counts, (*kept, *added)) - _average_likelihood(counts, kept)


def _average_likelihood(counts: NDArray[np.float64], kept: Sequence[int]) -> float:
    """Compute the log of the likelihood averaged over all laws alike, one for each level kept."""
    others = tuple(i for i in range(counts.ndim - 1) if i not in kept)
    added, n_cells = counts.sum(axis=others).reshape(-1, counts.shape[-1]), counts.shape[-1]
    found = gammaln(added + 1.0).sum() + len(added) * gammaln(n_cells)
    return float(found - gammaln(added.sum(axis=1) + n_cells).sum())
