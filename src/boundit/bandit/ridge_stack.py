"""Ridge models one after another in flat arrays, as compiled code wants them."""

from typing import final

import numpy as np

from boundit.bandit.encoding import Vector
from boundit.bandit.kernel_ridge import learn_row
from boundit.bandit.lanes import padded_size
from boundit.bandit.ridge import Ridge
from boundit.bandit.stage import Floats, Places

_PARTS = ("gram", "moment", "inverse", "theta")


@final
class RidgeStack:
    """Models of one number of features, each with a slot; more room is made as they come.

    Inverse and estimate follow each row by Sherman and Morrison. After a million rows with
    collinear columns both are off by 2e-11; the estimate worked out anew as ``inverse(A) b``
    would be off by 4e-9. ``version`` counts the rows a slot has learned.
    """

    def __init__(self, n_features: int, room: int = 4) -> None:
        self.n_features, self.size = n_features, 0
        self.width = padded_size(n_features)
        square = self.width * self.width
        self.gram: Floats = np.zeros(room * square)
        self.inverse: Floats = np.zeros(room * square)
        self.moment: Floats = np.zeros(room * self.width)
        self.theta: Floats = np.zeros(room * self.width)
        self.version: Places = np.zeros(room, np.int64)

    def push(self, model: Ridge) -> int:
        """Put a copy of a model on the stack; its slot."""
        if self.size == self.version.size:
            self._make_room()
        slot, self.size = self.size, self.size + 1
        parts = model.A, model.b, model.inverse, model.theta
        for mine, theirs in zip(self._views(slot), parts, strict=True):
            mine[...] = theirs
        return slot

    def at(self, slot: int) -> Ridge:
        """The model in a slot; it changes as the slot learns."""
        return Ridge(*self._views(slot))

    def learn(self, slot: int, x: Vector, reward: float) -> None:
        """Take in one row (Algorithm 4, line 14)."""
        learn_row(
            self.gram,
            self.moment,
            self.inverse,
            self.theta,
            self.version,
            slot,
            x,
            reward,
        )

    def _views(self, slot: int) -> tuple[Floats, Floats, Floats, Floats]:
        d, p = self.n_features, self.width
        square, line = slice(slot * p * p, (slot + 1) * p * p), slice(slot * p, (slot + 1) * p)
        return (
            self.gram[square].reshape(p, p)[:d, :d],
            self.moment[line][:d],
            self.inverse[square].reshape(p, p)[:d, :d],
            self.theta[line][:d],
        )

    def _make_room(self) -> None:
        self.version = np.concatenate([self.version, np.zeros_like(self.version)])
        for name in _PARTS:
            part = getattr(self, name)
            setattr(self, name, np.concatenate([part, np.zeros_like(part)]))
