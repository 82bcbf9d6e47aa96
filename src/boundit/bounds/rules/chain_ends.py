"""What a chain comes to on a table of counts: its ends, going backwards from the reward."""

from collections.abc import Sequence

import numpy as np

from boundit.bounds.binary_reward import HEADS
from boundit.bounds.numbers import Ends, Numbers, values_of
from boundit.bounds.rules.chain import Chain, ChainLink
from boundit.counts.evaluate import Evaluator
from boundit.counts.named_array import Floats


def bracket(chain: Chain, numbers: Numbers, *, outcome: str, axes: Sequence[str]) -> Ends:
    """Go backwards along a chain from the reward: expect what is known, else take the worst.

    The induction: if ``L <= P(y | do(x), c, w_<=j) <= U`` then the expectation of L over the
    true law of ``w_j`` is at most that of the middle, and is at least the least expectation
    over all laws that the numbers allow. Where they say nothing, that is the least L.
    """
    order = (*axes, *chain.variables)
    low, high = numbers.between(chain.reward.expression, (*order, outcome))
    ends = Ends(low[..., HEADS].clip(0, 1), high[..., HEADS].clip(0, 1))
    return backwards(chain.links, ends, numbers, axes=axes)


def backwards(
    links: Sequence[ChainLink], ends: Ends, numbers: Numbers, *, axes: Sequence[str]
) -> Ends:
    """Take the links away, the last first, from ends over ``axes`` and all of them."""
    order = (*axes, *(link.variable for link in links))
    lower, upper = ends.lower, ends.upper
    for place in reversed(range(len(axes), len(order))):
        link = links[place - len(axes)]
        if link.weights is None:
            lower, upper = lower.min(axis=place), upper.max(axis=place)
        else:
            weights = numbers.between(link.weights.expression, order[: place + 1])
            lower, upper = least(*weights, lower), -least(*weights, -upper)
    shape = [numbers.levels[axis] for axis in axes]
    return Ends(np.broadcast_to(lower, shape), np.broadcast_to(upper, shape))


def least(low: Floats, high: Floats, values: Floats) -> Floats:
    """Find the least expectation of ``values``, along the last axis, over laws between bounds.

    Every level gets its least weight, and what is left goes to the smallest values first.

    >>> low, high = np.array([0.2, 0.1, 0.0]), np.array([0.6, 1.0, 1.0])
    >>> float(least(low, high, np.array([0.0, 1.0, 0.5])).round(3))
    0.25
    """
    low, high, values = np.broadcast_arrays(low.clip(0, 1), high.clip(0, 1), values)
    order = values.argsort(axis=-1)
    low, high, values = (np.take_along_axis(a, order, axis=-1) for a in (low, high, values))
    left = np.maximum(1 - low.sum(axis=-1, keepdims=True), 0)
    room = (high - low).clip(0)
    before = room.cumsum(axis=-1) - room
    weights = low + np.minimum(room, (left - before).clip(0))
    # Bounds that leave no law between them: share out, the missing rest to the smallest value.
    weights[..., :1] += (1 - weights.sum(axis=-1, keepdims=True)).clip(0)
    return np.asarray((weights * values).sum(axis=-1) / weights.sum(axis=-1))


def seen_cells(
    chain: Chain,
    evaluator: Evaluator,
    outcome: str,
    axes: Sequence[str],
    place: tuple[int, ...],
) -> list[tuple[dict[str, int], float]]:
    """List the rewards that one row was made from: the chain's levels and the number there."""
    order = (*axes, *chain.variables)
    wanted = (*order, outcome)
    found = values_of(chain.reward.expression, evaluator, wanted).aligned(wanted)[..., HEADS]
    shape = [evaluator.levels[name] for name in order]
    at = np.broadcast_to(found, shape)[place]
    return [
        (dict(zip(chain.variables, index, strict=True)), float(value))
        for index, value in np.ndenumerate(at)
    ]
