"""How far an effect can go while the log stays as it is: a search over models.

Several models climb at once along the slope of the effect, projected so that the log does not
change to first order; two of Newton's steps after each correct what is left. Steps are in
logits, so that chances near 0 and 1 move as freely as others and no step leaves the family.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.query import EffectQuery
from boundit.simulation.scm import SCM
from boundit_research.audits.sharpness_family import ModelFamily, TableProduct

MATCH = 1e-6
"""How far a found model's log may be from the given one, in total variation; and its rate."""
AGREE = 1e-3
"""How near two climbs end that found the same."""
_SPAN = 30.0  # chances below exp(-30) of the greatest in their row are as good as none
_CLOSE = 1e-8  # how far a log may be off while climbing, in total variation
_LONGEST, _SHORTEST = 4.0, 1e-6
_PATIENCE, _GAIN = 25, 1e-6


@dataclass(frozen=True, eq=False)
class ModelValues:
    """Some models evaluated: how far their logs are off, their effects, and the slopes."""

    off: Floats
    off_slope: Floats
    effect: Floats
    slope: Floats

    @property
    def distance(self) -> Floats:
        """The total variation between each model's log and the log to show."""
        return np.asarray(np.abs(self.off).sum(axis=-1) / 2)

    def pick(self, good: NDArray[np.bool_], other: Self) -> Self:
        """Mix two evaluations: these values of models where ``good``, ``other``'s of the rest."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in vars(self))
        picks = (np.where(good.reshape(-1, *[1] * (a.ndim - 1)), a, b) for a, b in pairs)
        return type(self)(*picks)


@dataclass(frozen=True, eq=False)
class SearchTarget:
    """An effect ``P(y=1 | do(arm), context)``, and the log that models have to show.

    ``at`` holds the levels of arm and context. ``rate`` is the selection rate that they have
    to have too, None if any will do. ``sign`` is 1 for the greatest effect, -1 for the least.
    """

    family: ModelFamily
    query: EffectQuery
    at: dict[str, int]
    log: NamedArray
    rate: float | None
    sign: int

    @cached_property
    def _logged(self) -> TableProduct:
        """How to compute the law of a model's log from its tables, as a product of them."""
        return self.family.make_log_law()

    @cached_property
    def _paid(self) -> list[TableProduct]:
        """How to compute ``P(y, context | do(arm))`` from tables: y=1, and y=0 with a context.

        Products of tables, whose ratio is the effect.
        """
        (outcome,) = self.query.outcomes
        levels = (1, 0) if self.query.context else (1,)
        done = self.family.make_effect_law
        return [done(self.query.treatments, {**self.at, outcome: level}) for level in levels]

    @cached_property
    def _cells(self) -> Floats:
        """The chances of the log to show, in the order of the family's axes."""
        axes = [node for node in self.family.axes if node in self.log.names]
        return self.log.align(axes).ravel()

    def evaluate(self, logits: Floats) -> ModelValues:
        """Compute how far the logs of some models are off, their effects, and both slopes.

        A model is a row of ``logits``; slopes are in these.
        """
        tables = self.family.make_tables(logits)
        value, slope = self._logged.evaluate(tables)
        if self.rate is None:
            rate = value.sum(axis=-1, keepdims=True)
            value = value / rate
            slope = slope - value[..., None] * slope.sum(axis=1, keepdims=True)
            slope = slope / rate[..., None]
        else:
            value, slope = value / self.rate, slope / self.rate
        effect, climb = self._evaluate_effect(tables)
        return ModelValues(
            value - self._cells,
            self.family.convert_slopes(tables[:, None], slope),
            effect,
            self.sign * self.family.convert_slopes(tables, climb),
        )

    def _evaluate_effect(self, tables: Floats) -> tuple[Floats, Floats]:
        """Compute the effect of some models and its slopes in their table entries."""
        (won, won_slope), *lost = [paid.evaluate(tables) for paid in self._paid]
        if not lost:
            return won[:, 0], won_slope[:, 0]
        other, other_slope = lost[0]
        total = won + other
        slope = won_slope[:, 0] * other - other_slope[:, 0] * won
        return (won / total)[:, 0], slope / total**2

    def is_matched_by(self, model: SCM) -> bool:
        """Tell whether a model has the given log and selection rate, computed by ``SCM``."""
        law = model.log()
        off = np.abs(law.align(self.log.axes) - self.log.values).sum() / 2
        rate = model.selection_rate()
        return bool(off <= MATCH and abs(rate - (self.rate or rate)) <= MATCH)

    def compute_effect(self, model: SCM) -> float:
        """Compute a model's ``P(y=1 | do(arm), context)`` by ``SCM.effect``."""
        query = self.query
        effect = model.effect(
            outcomes=query.outcomes, treatments=query.treatments, context=query.context
        )
        return float(effect.at({**self.at, query.outcomes[0]: 1}))


@dataclass(frozen=True, slots=True)
class FurthestEffect:
    """The furthest effect of a model with the log, and how many climbs came as far."""

    effect: float
    agreed: int


def find_furthest(target: SearchTarget, starts: Floats, steps: int) -> FurthestEffect | None:
    """Find the greatest or least effect of a model with the given log.

    By climbs: steps to a further effect that keep the log, from each of ``starts`` (logits).
    None if no model that was found shows the log.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> family = ModelFamily(parse("X -> Y; X <-> Y"), levels=4)
    >>> starts = np.random.default_rng(0).normal(size=(4, family.size))
    >>> log = NamedArray(("X", "Y"), np.array([[0.1, 0.4], [0.3, 0.2]]))
    >>> most = SearchTarget(family, parse_query("Y | do(X)"), {"X": 1}, log, 1.0, sign=1)
    >>> round(find_furthest(most, starts, 300).effect, 4)  # Manski: 0.2 + P(X=0)
    0.7
    """
    tables = target.family.make_tables(climb(target, starts, steps))
    models = [target.family.make_model(table) for table in tables]
    effects = np.array(
        [target.compute_effect(model) for model in models if target.is_matched_by(model)]
    )
    if not effects.size:
        return None
    best = float(max(effects, key=lambda effect: target.sign * effect))
    return FurthestEffect(best, int(np.sum(np.abs(effects - best) <= AGREE)))


def climb(target: SearchTarget, starts: Floats, steps: int) -> Floats:
    """Move models step by step towards a further effect while their logs stay as they are.

    A model is a row of logits; gives the rows after up to ``steps`` steps, fewer when none
    gains any more.
    """
    logits = _match_log(target, starts, 20)
    current = target.evaluate(logits)
    length = np.full(len(starts), 0.5)
    last = current.effect
    for step in range(1, steps + 1):
        trial = logits + length[:, None] * _find_direction(current)
        trial = _match_log(target, trial, 2)
        reached = target.evaluate(trial)
        gains = target.sign * (reached.effect - current.effect) > 0
        good = (reached.distance <= np.maximum(_CLOSE, current.distance / 2)) & (
            gains | (current.distance > _CLOSE)
        )
        logits = np.where(good[:, None], trial, logits)
        current = reached.pick(good, current)
        length = np.clip(length * np.where(good, 1.6, 0.35), _SHORTEST, _LONGEST)
        if step % _PATIENCE == 0:
            if np.abs(current.effect - last).max() < _GAIN:
                break
            last = current.effect
    return logits


def _find_direction(values: ModelValues) -> Floats:
    """Find in which direction to move each model so that its effect changes and its log stays.

    The effect's slope without what would change the log, scaled to a greatest entry of 1.
    """
    across = np.einsum("rmn,rn->rm", values.off_slope, values.slope)
    along = values.slope - _find_least_moves(values.off_slope, across)
    return np.asarray(along / np.maximum(np.abs(along).max(axis=-1, keepdims=True), 1e-300))


def _match_log(target: SearchTarget, logits: Floats, steps: int) -> Floats:
    """Move models, as logits, by Newton's method until they show the log as nearly as they can.

    Gives the moved logits; no step is longer than 2 in any.
    """
    for _ in range(steps):
        values = target.evaluate(logits)
        move = _find_least_moves(values.off_slope, values.off)
        longest = np.abs(move).max(axis=-1, keepdims=True)
        move *= np.minimum(1, 2 / np.maximum(longest, 1e-300))
        logits = target.family.clip_logits(logits - move, _SPAN)
    return logits


def _find_least_moves(slope: Floats, change: Floats) -> Floats:
    """Find the least move of each model's logits that changes its log by ``change``.

    It does so nearly where the log's cells depend on each other.
    """
    square = slope @ slope.transpose(0, 2, 1)
    cells = square.shape[-1]
    ridge = 1e-11 * np.trace(square, axis1=1, axis2=2) / cells + 1e-300
    square += ridge[:, None, None] * np.eye(cells)
    weights = np.linalg.solve(square, change[..., None])[..., 0]
    return np.asarray(np.einsum("rmn,rm->rn", slope, weights))
