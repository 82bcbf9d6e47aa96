"""How well a model fits: the likelihood of the logged rows, and a pull towards given means.

The logged law of a model is ``P(v, S=1) / P(S=1)``. What the log says is the law ``target``;
its log-likelihood ``sum target log P(v | S=1)`` is greatest where the two agree. Models that
fit alike may differ in what arms would earn: the pull adds, with a small weight, the likelihood
of rounds in which each arm was set by hand and earned a given mean. Where the log settles a
mean the pull is outweighed; where the log leaves it open, it chooses.
"""

from dataclasses import dataclass

import numpy as np

from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.simulation.fitted.latent_design import LatentDesign

TINY = 1e-300


@dataclass(frozen=True, eq=False)
class MeanPull:
    """Towards which mean each arm is pulled in each context, and how strongly.

    ``means`` has an axis for every treatment and every context variable, and so do ``weights``.
    """

    query: EffectQuery
    means: NamedArray
    weights: Floats


@dataclass(frozen=True, eq=False)
class FitObjective:
    """The log-likelihood of a target law, with its gradient, as a function of parameters.

    ``target`` has the axes of the observed variables of the design, and adds up to 1.
    """

    design: LatentDesign
    target: Floats
    pull: MeanPull | None = None

    def compute(self, numbers: Floats) -> tuple[float, Floats]:
        """Compute minus the objective and its gradient, for a search that goes downhill."""
        chances = self.design.read_chances(numbers)
        value, slopes = self._fit_law(chances)
        if self.pull is not None:
            more, others = self._fit_means(chances, self.pull)
            value += more
            slopes = [a + b for a, b in zip(slopes, others, strict=True)]
        gradient = np.empty_like(numbers)
        for place, table, slope in zip(self.design.places, chances, slopes, strict=True):
            if place.node == self.design.graph.selection:
                along = slope * (1 - table)
            else:
                along = slope - table * slope.sum(axis=-1, keepdims=True)
            gradient[place.part] = along.ravel()
        return -value, -gradient

    def compute_law(self, numbers: Floats) -> Floats:
        """Compute the law of logged rows of the model with these parameters."""
        chances = self.design.read_chances(numbers)
        law = self.design.multiply(chances, frozenset()).sum(axis=self._hidden_axes)
        return np.asarray(law / law.sum())

    @property
    def _hidden_axes(self) -> tuple[int, ...]:
        """The places of the hidden causes among the axes of the design."""
        n = len(self.design.axes)
        return tuple(range(n - len(self.design.hidden), n))

    def _fit_law(self, chances: list[Floats]) -> tuple[float, list[Floats]]:
        """Compute the log-likelihood of the target, and its slope in the log of every chance."""
        joint = self.design.multiply(chances, frozenset())
        law = np.maximum(joint.sum(axis=self._hidden_axes), TINY)
        total = float(law.sum())
        value = float((self.target * np.log(law)).sum()) - np.log(total)
        weights = self.target / law - 1 / total
        joint *= weights.reshape(weights.shape + (1,) * len(self.design.hidden))
        return value, [place.narrow(joint) for place in self.design.places]

    def _fit_means(self, chances: list[Floats], pull: MeanPull) -> tuple[float, list[Floats]]:
        """Compute the weighted likelihood of the pulled means, and its slopes as above.

        With the tables of the treatments left out, each of their values is as if set by hand.
        """
        query, axes = pull.query, self.design.axes
        (outcome,) = query.outcomes
        left = frozenset(query.treatments) | {str(self.design.graph.selection)}
        joint = self.design.multiply(chances, left)
        asked = (*query.treatments, *query.context, outcome)
        spots = [axes.index(name) for name in asked]
        gone = tuple(i for i in range(len(axes)) if i not in spots)
        found = joint.sum(axis=gone, keepdims=True)
        wide = pull.means.align(axes)
        paid = axes.index(outcome)
        wanted = np.concatenate([1 - wide, wide], axis=paid)
        everyone = np.maximum(found.sum(axis=paid, keepdims=True), TINY)
        found = np.maximum(found, TINY)
        weights = NamedArray(pull.means.axes, pull.weights).align(axes)
        value = float((weights * wanted * np.log(found / everyone)).sum())
        joint *= weights * (wanted / found - 1 / everyone)
        return value, [
            np.zeros(place.shape) if place.node in left else place.narrow(joint)
            for place in self.design.places
        ]
