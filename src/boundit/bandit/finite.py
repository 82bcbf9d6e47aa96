"""A finite environment as arrays of numbers: where whole runs are played."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundit.results.bound import Arm, Context, Value


@final
@dataclass(frozen=True, eq=False)
class SideObservation:
    """Distribution of other variables that are measured after a decision.

    Parameters
    ----------
    variables : tuple of str
        Names of the variables.
    levels : tuple of tuples
        Values of each variable. Cells are their combinations in the order of
        ``itertools.product``.
    ends : array
        Cumulative probabilities of the cells, contexts x arms x rewards x cells, with the
        rewards in the order of ``FiniteEnvironment.values``.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    ends: NDArray[np.float64]

    @cached_property
    def cells(self) -> tuple[tuple[Value, ...], ...]:
        """All combinations of values of the variables."""
        return tuple(product(*self.levels))

    def observe(self, context: int, arm: int, reward: int, uniform: float) -> dict[str, Value]:
        """Draw the variables of one round by a uniform number; all else are positions.

        >>> shown = SideObservation(("W",), ((0, 1),), np.array([[[[0.8, 1.0], [0.3, 1.0]]]]))
        >>> shown.observe(0, 0, 1, 0.5), shown.observe(0, 0, 0, 0.5)
        ({'W': 1}, {'W': 0})
        """
        ends = self.ends[context, arm, reward]
        cell = self.cells[int(np.searchsorted(ends, uniform, side="right"))]
        return dict(zip(self.variables, cell, strict=True))


@final
@dataclass(frozen=True, eq=False)
class FiniteEnvironment:
    """Contexts and arms of an environment, and the distribution of the reward of each pair.

    Parameters
    ----------
    contexts, arms : tuple of tuples
        Their values.
    values : array
        The rewards there are, the highest first.
    ends : array
        Cumulative probabilities of ``values``, contexts x arms x rewards. A round pays the first
        value whose end lies above its uniform number: rewards 1 and 0 are decided by whether
        the number lies below the mean.
    means : array
        Mean reward, contexts x arms.
    side_observation : SideObservation, optional
        What else a round shows.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    values: NDArray[np.float64]
    ends: NDArray[np.float64]
    means: NDArray[np.float64]
    side_observation: SideObservation | None = None

    def draw_reward(self, context: int, arm: int, uniform: float) -> int:
        """Draw the reward of one round, as a position in ``values``."""
        drawn = int(np.searchsorted(self.ends[context, arm], uniform, side="right"))
        return min(drawn, len(self.values) - 1)
