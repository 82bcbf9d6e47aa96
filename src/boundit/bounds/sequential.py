"""Sequential bounds: the numeric half (what a chain comes to on a table of counts)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boundit.bounds.chain import Chain
from boundit.bounds.coin import HEADS
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.expression import Expression


@dataclass(frozen=True, eq=False)
class Ends:
    """A lower and an upper end for every arm and context, axes in the query's order."""

    lower: Floats
    upper: Floats


def bracket(chain: Chain, evaluator: Evaluator, *, outcome: str, axes: Sequence[str]) -> Ends:
    """Go backwards along a chain from the reward: expect what is known, else take the worst.

    Whatever the counts leave undefined is unknown: a reward in [0, 1], or any weights. The
    induction: if ``L <= P(y | do(x), c, w_<=j) <= U`` then the expectation of L over the true
    law of ``w_j`` is at most that of the middle, and is at least the least L.
    """
    order = (*axes, *chain.variables)
    reward = rewards(chain, evaluator, outcome=outcome, axes=axes).aligned(order)
    lower, upper = np.nan_to_num(reward, nan=0.0), np.nan_to_num(reward, nan=1.0)
    lower, upper = lower.clip(0, 1), upper.clip(0, 1)
    for place in reversed(range(len(axes), len(order))):
        link = chain.links[place - len(axes)]
        worst, best = lower.min(axis=place), upper.max(axis=place)
        if link.weights is not None:
            known = order[: place + 1]
            weights = values_of(link.weights.expression, evaluator, known).aligned(known)
            lower = _expected(weights, lower, worst)
            upper = _expected(weights, upper, best)
        else:
            lower, upper = worst, best
    shape = [evaluator.levels[axis] for axis in axes]
    return Ends(np.broadcast_to(lower, shape), np.broadcast_to(upper, shape))


def rewards(
    chain: Chain, evaluator: Evaluator, *, outcome: str, axes: Sequence[str]
) -> NamedArray:
    """``P(y = 1 | do(x), c, w)`` as the chain knows it; nan where nothing was seen."""
    wanted = (*axes, *chain.variables, outcome)
    return values_of(chain.reward.expression, evaluator, wanted).at({outcome: HEADS})


def values_of(
    expression: Expression, evaluator: Evaluator, wanted: Sequence[str]
) -> NamedArray:
    """Evaluate a formula; over variables of which any value will do, take the mean."""
    found = evaluator(expression)
    idle = tuple(i for i, axis in enumerate(found.axes) if axis not in wanted)
    if not idle:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing is nan, rightly
        mean = np.nanmean(found.values, axis=idle)
    return NamedArray(tuple(a for a in found.axes if a in wanted), mean)


def _expected(weights: Floats, values: Floats, otherwise: Floats) -> Floats:
    """Average over the last axis of ``weights``; where a weight is nan, fall back."""
    total = weights.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * values).sum(axis=-1) / total
    return np.where(np.isfinite(mean), mean, otherwise)


def seen_cells(
    chain: Chain,
    evaluator: Evaluator,
    outcome: str,
    axes: Sequence[str],
    place: tuple[int, ...],
) -> list[tuple[dict[str, int], float]]:
    """List the rewards that one row was made from: the chain's levels and the number there."""
    order = (*axes, *chain.variables)
    found = rewards(chain, evaluator, outcome=outcome, axes=axes).aligned(order)
    shape = [evaluator.levels[name] for name in order]
    at = np.broadcast_to(found, shape)[place]
    return [
        (dict(zip(chain.variables, index, strict=True)), float(value))
        for index, value in np.ndenumerate(at)
    ]
