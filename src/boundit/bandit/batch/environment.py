"""A finite environment as arrays of numbers, for whole runs in compiled code."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import final

import numpy as np

from boundit.bandit.kernels.arrays import Floats
from boundit.terms.bound import Arm, Context, Value


@final
@dataclass(frozen=True, eq=False)
class SideObservation:
    """What else shows after a round: some variables, and how likely each cell of them is.

    Cells are the combinations of ``levels`` in the order of ``itertools.product``. ``ends`` are
    the chances of the cells added up, contexts x arms x rewards x cells: a uniform that lies
    below the end of a cell, and of none before it, shows that cell.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    ends: Floats

    @cached_property
    def cells(self) -> tuple[tuple[Value, ...], ...]:
        """All cells: combinations of levels of the variables that a round shows.

        In the order of ``itertools.product``.
        """
        return tuple(product(*self.levels))

    def observe(
        self, context: int, arm: int, reward: float, uniform: float
    ) -> dict[str, Value]:
        """Draw what one round shows besides its reward: a value for each variable.

        By the number ``uniform``; ``context`` and ``arm`` are places in the environment.

        >>> shown = SideObservation(("W",), ((0, 1),), np.array([[[[0.3, 1.0], [0.8, 1.0]]]]))
        >>> shown.observe(0, 0, 1.0, 0.5), shown.observe(0, 0, 0.0, 0.5)
        ({'W': 0}, {'W': 1})
        """
        ends = self.ends[context, arm, int(reward)]
        cell = self.cells[int(np.searchsorted(ends, uniform, side="right"))]
        return dict(zip(self.variables, cell, strict=True))


@final
@dataclass(frozen=True, eq=False)
class FiniteEnvironment:
    """The contexts and arms of a world, and what each arm earns in each context.

    Contexts and arms go by their places here. An arm pays 1 where the uniform lies below
    its mean, and 0 otherwise. What a round shows besides, its ``side_observation``, hangs on
    the reward.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    means: Floats  # contexts x arms
    side_observation: SideObservation | None = None
