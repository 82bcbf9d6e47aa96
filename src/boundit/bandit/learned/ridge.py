"""A ridge regression: its statistics, its estimate, and how sure it is."""

import math
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.learned.features import Vector

Matrix: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """``A = ridge I + sum of x x'`` and ``b = sum of reward x``, with ``A``'s inverse at hand.

    ``theta`` is the estimate ``inverse(A) b``. A model that learns lies in a ``RidgeStack``.
    """

    A: Matrix
    b: Vector
    inverse: Matrix
    theta: Vector

    @classmethod
    def of(cls, A: Matrix, b: Vector) -> "Ridge":  # noqa: N803, the paper's letter
        """Make one from its two statistics."""
        inverse: Matrix = np.asarray(np.linalg.inv(A), dtype=np.float64)
        return cls(A, b, inverse, inverse @ b)

    @classmethod
    def untried(cls, n_features: int, ridge: float) -> "Ridge":
        """Nothing seen yet (Algorithm 4, line 6, where ``ridge`` is 1)."""
        eye = np.eye(n_features)
        return cls(ridge * eye, np.zeros(n_features), eye / ridge, np.zeros(n_features))

    def mean(self, x: Vector) -> float:
        """What ``x`` is expected to earn."""
        return float(self.theta @ x)

    def spread(self, x: Vector) -> float:
        """``sqrt(x' inverse(A) x)``: how little is known in the direction of ``x``."""
        return math.sqrt(max(float(x @ self.inverse @ x), 0.0))
