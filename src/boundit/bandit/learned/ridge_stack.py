"""Ridge models one after another in one flat array, as compiled code wants them."""

from typing import final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.bandit.kernels.ridge import (
    compute_block_size,
    learn_row,
    locate_estimate,
    locate_statistics,
)
from boundit.bandit.kernels.simd import pad_size
from boundit.bandit.learned.ridge import Ridge


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
        """Put a copy of a model on the stack; its slot."""
        slot = self.size * self.block
        if slot == self.models.size:
            self.models = np.concatenate([self.models, np.zeros_like(self.models)])
        self.size += 1
        parts = model.A, model.b, model.inverse, model.theta
        for mine, theirs in zip(self._views(slot), parts, strict=True):
            mine[...] = theirs
        return slot

    def at(self, slot: int) -> Ridge:
        """The model in a slot; it changes as the slot learns."""
        return Ridge(*self._views(slot))

    def learn(self, slot: int, x: Floats, at: int, reward: float) -> None:
        """Take in the row that begins at some place of ``x`` (Algorithm 4, line 14)."""
        learn_row(self.models, slot, x, at, self.n_features, reward)

    def _views(self, slot: int) -> tuple[Floats, Floats, Floats, Floats]:
        d, p = self.n_features, self.width
        block = self.models[slot : slot + self.block]
        estimate, sums = block[locate_estimate(p) :], block[locate_statistics(p) :]
        inverse, gram = (part[: p * p].reshape(p, p)[:d, :d] for part in (block, sums))
        return gram, sums[p * p : p * p + d], inverse, estimate[:d]
