"""Closed forms for a binary instrument."""

from boundit.counts.named_array import Floats


def solve_balke_pearl(p: Floats) -> tuple[list[float], list[float]]:
    """The bounds of Balke and Pearl (1997) on P(y=1 | do(x)), from ``p[y, x, z]``."""
    lower = [
        max(
            p[1, 0, 1],
            p[1, 0, 0],
            p[1, 0, 0] + p[1, 1, 0] - p[0, 0, 1] - p[1, 1, 1],
            p[0, 1, 0] + p[1, 0, 0] - p[0, 0, 1] - p[0, 1, 1],
        ),
        max(
            p[1, 1, 0],
            p[1, 1, 1],
            -p[0, 0, 0] - p[0, 1, 0] + p[0, 0, 1] + p[1, 1, 1],
            -p[0, 1, 0] - p[1, 0, 0] + p[1, 0, 1] + p[1, 1, 1],
        ),
    ]
    upper = [
        min(
            1 - p[0, 0, 1],
            1 - p[0, 0, 0],
            p[0, 1, 0] + p[1, 0, 0] + p[1, 0, 1] + p[1, 1, 1],
            p[1, 0, 0] + p[1, 1, 0] + p[0, 1, 1] + p[1, 0, 1],
        ),
        min(
            1 - p[0, 1, 1],
            1 - p[0, 1, 0],
            p[0, 0, 0] + p[1, 1, 0] + p[1, 0, 1] + p[1, 1, 1],
            p[1, 0, 0] + p[1, 1, 0] + p[0, 0, 1] + p[1, 1, 1],
        ),
    ]
    return lower, upper


def is_instrumental(p: Floats) -> bool:
    """Pearl's inequality, with Bonet's: for binary variables, whether a model exists.

    For two levels each, the inequality alone is enough (Bonet 2001).
    """
    return all(float(p[:, x, :].max(axis=1).sum()) <= 1 + 1e-12 for x in range(p.shape[1]))
