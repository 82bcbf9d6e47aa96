"""Estimators and rows that the tests of models share."""

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import boundit as bd

Array = NDArray[np.float64]
BACK_DOOR = "Z -> X -> Y; Z -> Y"


class CellMeans(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A saturated model: the share of every class in each combination of features."""

    def fit(self, features: Array, target: NDArray[np.intp]) -> Self:
        self.classes_ = np.unique(target)
        self.whole_ = np.array([(target == c).mean() for c in self.classes_])
        self.cells_ = dict[tuple[float, ...], Array]()
        for cell in {tuple(row) for row in features.tolist()}:
            here = (features == np.array(cell)).all(axis=1)
            self.cells_[cell] = np.array([(target[here] == c).mean() for c in self.classes_])
        return self

    def predict_proba(self, features: Array) -> Array:
        return np.array([self.cells_.get(tuple(r), self.whole_) for r in features.tolist()])


class Constant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model that learned nothing: every class has the same chance everywhere."""

    def fit(self, features: Array, target: NDArray[np.intp]) -> Self:
        del features
        self.classes_ = np.unique(target)
        return self

    def predict_proba(self, features: Array) -> Array:
        return np.full((len(features), len(self.classes_)), 1 / len(self.classes_))


SATURATED = bd.Models(reward=CellMeans(), arm=CellMeans(), external=CellMeans())


def draw_back_door(
    n: int, seed: int, *, n_strata: int = 4, least: float = 0.2
) -> tuple[dict[str, NDArray[np.intp]], Array]:
    """Rows of a back door, and the true mean of both arms."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_strata, 5.0))
    e = rng.uniform(least, 1 - least, n_strata)
    means = rng.uniform(0.1, 0.9, (2, n_strata))
    z = rng.choice(n_strata, n, p=shares)
    x = (rng.random(n) < e[z]).astype(np.intp)
    y = (rng.random(n) < means[x, z]).astype(np.intp)
    return {"Z": z, "X": x, "Y": y}, means @ shares
