"""Small dense matrices in machine code, every sum in the order it is written.

Libraries are quicker on large ones, but not bound to give the same bits twice.
"""

import math

import numpy as np

from boundit.bandit.compiled import kernel, step
from boundit.bandit.draws import Floats


@step
def dot(x: Floats, y: Floats) -> float:
    """Add up the products of two vectors, in their order."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@step
def add_scaled(x: Floats, share: float, y: Floats) -> None:
    """Add in place: ``x += share y``."""
    for i in range(x.shape[0]):
        x[i] += share * y[i]


@kernel
def factor(a: Floats) -> Floats:
    """Find the lower triangle ``L`` with ``L L' = a`` (Cholesky); reads its lower half only.

    A pivot that rounding took below zero counts as infinite: nothing moves in its direction.
    """
    n = a.shape[0]
    low = np.zeros((n, n))
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest -= low[j, k] * low[j, k]
        low[j, j] = math.sqrt(rest) if rest > 0.0 else math.inf
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest -= low[i, k] * low[j, k]
            low[i, j] = rest / low[j, j]
    return low


@kernel
def solve_lower(low: Floats, x: Floats) -> Floats:
    """Solve ``L z = x'`` for every row of ``x``, a column of ``z`` for each.

    The squared length of a column is ``x' inverse(a) x``.
    """
    n, m = x.shape[1], x.shape[0]
    z = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            z[i, j] = x[j, i]
        for k in range(i):
            for j in range(m):
                z[i, j] -= low[i, k] * z[k, j]
        for j in range(m):
            z[i, j] /= low[i, i]
    return z


@kernel
def solve_cholesky(low: Floats, b: Floats) -> Floats:
    """Solve ``L L' x = b`` for one vector, ``L`` being what ``factor`` gives."""
    n, x = b.shape[0], b.copy()
    for i in range(n):
        for k in range(i):
            x[i] -= low[i, k] * x[k]
        x[i] /= low[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= low[k, i] * x[k]
        x[i] /= low[i, i]
    return x


@kernel
def orthonormalize(rows: Floats, least: float) -> Floats:
    """Find an orthonormal basis of what the rows span, a row each.

    Gram and Schmidt with the longest remainder first; one shorter than ``least`` is rounding.
    """
    rest = rows.copy()
    n_rows, size = rest.shape
    found = np.zeros((min(n_rows, size), size))
    for r in range(found.shape[0]):
        longest, square = 0, -1.0
        for i in range(n_rows):
            here = dot(rest[i], rest[i])
            if here > square:
                longest, square = i, here
        if not math.sqrt(square) > least:
            return found[:r]
        axis = found[r]
        add_scaled(axis, 1.0 / math.sqrt(square), rest[longest])
        for k in range(r):  # again: the remainder was the difference of larger vectors
            add_scaled(axis, -dot(axis, found[k]), found[k])
        length = math.sqrt(dot(axis, axis))
        for k in range(size):
            axis[k] /= length
        for i in range(n_rows):
            add_scaled(rest[i], -dot(rest[i], axis), axis)
    return found
