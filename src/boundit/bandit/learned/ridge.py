"""A ridge regression, and the stack where those that learn lie for compiled code."""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.ridge import (
    compute_block_size,
    locate_estimate,
    locate_statistics,
)
from boundit.bandit.kernels.simd import pad_size
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
    def from_statistics(cls, A: Matrix, b: Vector) -> "Ridge":  # noqa: N803, the paper's letter
        """Make a ridge model from its sums ``A = ridge I + sum x x'`` and ``b = sum reward x``.

        By inverting ``A``.
        """
        inverse: Matrix = np.asarray(np.linalg.inv(A), dtype=np.float64)
        return cls(A, b, inverse, inverse @ b)

    @classmethod
    def make_untrained(cls, n_features: int, ridge: float) -> "Ridge":
        """Make a ridge model that has learned nothing: ``A = ridge I`` and ``b = 0``.

        Algorithm 4 of the paper (LinUCB), line 6, where ``ridge`` is 1.
        """
        eye = np.eye(n_features)
        return cls(ridge * eye, np.zeros(n_features), eye / ridge, np.zeros(n_features))


@final
class RidgeStack:
    """Models of one number of features; more room is made as they come.

    A model goes by its slot, which is where its block begins (``kernels.ridge``). Inverse and
    estimate follow each row by Sherman and Morrison. After a million rows with collinear
    columns both are off by 2e-11; the estimate worked out anew as ``inverse(A) b`` would be off
    by 4e-9.
    """

    def __init__(self, n_features: int, room: int = 4) -> None:
        self.n_features, self.size = n_features, 0
        self.width = pad_size(n_features)
        self.block = compute_block_size(self.width)
        self.models: Floats = np.zeros(room * self.block)

    def push(self, model: Ridge) -> int:
        """Copy a ridge model to the stack; gives its slot, where its numbers begin there."""
        slot = self.size * self.block
        if slot == self.models.size:
            self.models = np.concatenate([self.models, np.zeros_like(self.models)])
        self.size += 1
        parts = model.A, model.b, model.inverse, model.theta
        for mine, theirs in zip(self._view_parts(slot), parts, strict=True):
            mine[...] = theirs
        return slot

    def get_model(self, slot: int) -> Ridge:
        """Get the ridge model in a slot of the stack; it changes as the slot learns."""
        return Ridge(*self._view_parts(slot))

    def _view_parts(self, slot: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Give ``A``, ``b``, inverse and estimate of the ridge model in a slot of the stack.

        As views without padding: writing on them changes the model.
        """
        d, p = self.n_features, self.width
        block = self.models[slot : slot + self.block]
        estimate, sums = block[locate_estimate(p) :], block[locate_statistics(p) :]
        inverse, gram = (part[: p * p].reshape(p, p)[:d, :d] for part in (block, sums))
        return gram, sums[p * p : p * p + d], inverse, estimate[:d]
