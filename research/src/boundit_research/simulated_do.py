"""What arms earn in worlds too large for exact answers: people drawn under ``do(arm)``.

Where elimination can compute the means it does. Else people are drawn for every arm, with the
arm set by hand; only causes of the reward and the contexts need be.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.results.bound import Key
from boundit.simulation.environment import Environment
from boundit.simulation.errors import ModelTooLarge

PEOPLE = 200_000
"""So many are drawn for every arm."""
BATCH = 50_000


@dataclass(frozen=True, slots=True)
class TrueMeans:
    """The mean reward of every arm in every context, and the standard error of each.

    The errors are zero where the means are exact; a mean of nobody has an infinite one.
    """

    means: Mapping[Key, float]
    errors: Mapping[Key, float]
    exact: bool


def compute_true_means(
    world: Environment, rng: Generator, *, people: int = PEOPLE
) -> TrueMeans:
    """Compute what every arm earns in every context: exactly, or from drawn people.

    >>> from boundit.simulation.environments import paper_environment
    >>> compute_true_means(paper_environment(), np.random.default_rng(0)).exact
    True
    """
    try:
        means = dict[Key, float](world.means().items())
    except ModelTooLarge:
        return simulate_means(world, rng, people=people)
    return TrueMeans(means, dict.fromkeys(means, 0.0), exact=True)


def simulate_means(world: Environment, rng: Generator, *, people: int = PEOPLE) -> TrueMeans:
    """Estimate what every arm earns in every context from people drawn under ``do(arm)``.

    >>> from boundit.simulation.environments import paper_environment
    >>> found = simulate_means(paper_environment(), np.random.default_rng(0))
    >>> key = ((0, 0), (0, 0))
    >>> abs(found.means[key] - 0.254167) < 5 * found.errors[key] < 0.01
    True
    """
    query, levels = world.query, world.model.n_levels
    shape = tuple(levels[name] for name in query.context)
    means: dict[Key, float] = {}
    errors: dict[Key, float] = {}
    for arm in product(*(range(levels[name]) for name in query.treatments)):
        counts = _draw_arm(world, dict(zip(query.treatments, arm, strict=True)), rng, people)
        for i, (failed, paid) in enumerate(counts):
            key = arm, tuple(map(int, np.unravel_index(i, shape))) if shape else ()
            n = failed + paid
            means[key] = float(paid / n) if n else 0.5
            # One of each kind more, so that a rare reward that never came has an error too.
            errors[key] = float(np.sqrt((paid + 1) * (failed + 1) / (n + 2) ** 3)) if n else inf
    return TrueMeans(means, errors, exact=False)


def _draw_arm(
    world: Environment, do: Mapping[str, int], rng: Generator, people: int
) -> NDArray[np.int64]:
    """Draw people with an arm set by hand, and count in each context who earned 0 and who 1."""
    query, levels = world.query, world.model.n_levels
    names = (*query.context, *query.outcomes)
    shape = tuple(levels[name] for name in names)
    counts = np.zeros(prod(shape), dtype=np.int64)
    for start in range(0, people, BATCH):
        rows = world.model.sample(min(BATCH, people - start), rng, do=do, names=names)
        places = np.ravel_multi_index(tuple(rows[name] for name in names), shape)
        counts += np.bincount(places, minlength=len(counts))
    return counts.reshape(-1, 2)
