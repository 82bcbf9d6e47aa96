"""The allocation program in machine code; ``allocation`` says what it is."""

import math

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.kernels.compile import compile_kernel
from boundit.bandit.kernels.dense import Numbers, add_scaled, dot, orthonormalize
from boundit.bandit.oam.barrier import NO_LENGTH, solve

NO_GAP = 1e-9  # what rounding leaves of a gap of zero


@compile_kernel
def allocated(
    features: Numbers,
    gaps: Numbers,
    tested: NDArray[np.bool_],
    width: float,
    cap: float,
    smallest_gap: float,
) -> tuple[Numbers, float, float, float]:
    """Pulls, what they cost, what any must cost, and the worst ratio of a constraint."""
    n, smallest = gaps.shape[0], math.inf
    for i in range(n):
        if gaps[i] > NO_GAP:
            smallest = min(smallest, max(gaps[i], smallest_gap))
    x, base = _reduced(features, gaps, cap)
    pulls, pulled = np.zeros(n), np.empty(n, np.int64)
    costs, rows = np.empty(n), np.empty(n, np.int64)
    count, asked = 0, 0
    for i in range(n):
        if gaps[i] <= NO_GAP:
            pulls[i] = cap * width / smallest**2 if smallest < math.inf else math.inf
        elif dot(x[i], x[i]) > NO_LENGTH**2:
            pulled[count], costs[count] = i, smallest / max(gaps[i], smallest_gap)
            if tested[i]:
                rows[asked] = count
                asked += 1
            count += 1
    y = np.zeros((count, x.shape[1]))
    for i in range(count):
        add_scaled(y[i], costs[i], x[pulled[i]])
    costs = costs[:count]
    u, proven, worst = solve(y, base, costs, rows[:asked])
    for i in range(count):
        pulls[pulled[i]] = u[i] * width * costs[i] ** 2 / smallest**2
    unit = width / smallest
    return pulls, unit * dot(costs, u), unit * proven, worst


@compile_kernel
def _reduced(features: Numbers, gaps: Numbers, cap: float) -> tuple[Numbers, Numbers]:
    """Write the vectors in as many coordinates as they need, and what is known beforehand."""
    (n, size), longest = features.shape, 0.0
    for i in range(n):
        longest = max(longest, dot(features[i], features[i]))
    x, best = np.zeros((n, size)), np.zeros((n, size))
    for i in range(n):
        add_scaled(x[i], 1.0 / math.sqrt(longest) if longest > 0.0 else 1.0, features[i])
        if gaps[i] <= NO_GAP:
            best[i] = x[i]
    if cap == math.inf:
        known = orthonormalize(best, NO_LENGTH)
        for k in range(known.shape[0]):
            for i in range(n):
                add_scaled(x[i], -dot(x[i], known[k]), known[k])
    basis = orthonormalize(x, NO_LENGTH)
    rank = basis.shape[0]
    short, base = np.empty((n, rank)), np.zeros((rank, rank))
    for i in range(n):
        for k in range(rank):
            short[i, k] = dot(x[i], basis[k])
        if gaps[i] <= NO_GAP and cap < math.inf:
            for k in range(rank):
                add_scaled(base[k], cap * short[i, k], short[i])
    return short, base
