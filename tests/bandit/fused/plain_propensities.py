"""The chances of a fused decision by the formula itself, on a fine grid."""

import numpy as np
from scipy.special import betainc


def compute_plain_propensities(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum the wins of all arms by their points, ties shared evenly, and by their Beta laws."""
    doubts, own, wins, losses = table[:, :4].T
    n_taus, found = len(weights), np.zeros(len(table))
    chances = (1 - doubts)[:, None] * np.stack([1 - own, own], axis=1)
    ties, tie_weights = np.polynomial.legendre.leggauss(len(table) + 1)
    inner = (np.arange(20_000) + 0.5) / 20_000
    edges = np.unique(np.concatenate([inner**3, 1 - inner**3, table[:, 4:].ravel(), [0, 1]]))
    edges = edges[(edges >= 0) & (edges <= 1)]
    middles = (edges[1:] + edges[:-1]) / 2
    masses = np.diff(betainc(wins, losses, edges[:, None]), axis=0)
    cdf = betainc(wins, losses, middles[:, None])
    for tau, weight in enumerate(weights):
        points = table[:, [4 + tau, 4 + n_taus + tau]]
        for place in np.unique(points):
            below = ((points < place) * chances).sum(axis=1)
            below += doubts * betainc(wins, losses, np.clip(place, 0, 1))
            tied = ((points == place) * chances).sum(axis=1)
            for u, share in zip((ties + 1) / 2, tie_weights / 2, strict=True):
                found += weight * share * tied * multiply_others((below + u * tied)[None])[0]
        below = doubts * cdf
        for part in range(2):
            below += (points[:, part] < middles[:, None]) * chances[:, part]
        found += weight * doubts * (masses * multiply_others(below)).sum(axis=0)
    return found


def multiply_others(chances: np.ndarray) -> np.ndarray:
    """Multiply in each row the chances of all other arms, for every arm."""
    arms = range(chances.shape[1])
    return np.stack([np.delete(chances, k, axis=1).prod(axis=1) for k in arms], axis=1)
