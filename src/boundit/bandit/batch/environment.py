"""A finite environment as arrays of numbers, for whole runs in compiled code."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import final

import numpy as np

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.terms.bound import Arm, Context, Value


@final
@dataclass(frozen=True, eq=False)
class SideObservation:
    """What else shows after a round: some variables, and how likely each cell of them is.

    Cells are the combinations of ``levels`` in the order of ``itertools.product``. ``ends`` are
    the chances of the cells added up, contexts x arms x rewards x cells: a second luck that
    lies below the end of a cell, and of none before it, shows that cell.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    ends: Floats

    @cached_property
    def cells(self) -> tuple[tuple[Value, ...], ...]:
        """The combinations of levels, in their order."""
        return tuple(product(*self.levels))

    def observe(self, visitor: int, arm: int, reward: float, luck: float) -> dict[str, Value]:
        """Say what is seen of the variables in one round.

        Called by ``Chunk._play_round_by_round`` where policies are told what they can use.

        >>> shown = SideObservation(("W",), ((0, 1),), np.array([[[[0.3, 1.0], [0.8, 1.0]]]]))
        >>> shown.observe(0, 0, 1.0, 0.5), shown.observe(0, 0, 0.0, 0.5)
        ({'W': 0}, {'W': 1})
        """
        ends = self.ends[visitor, arm, int(reward)]
        cell = self.cells[int(np.searchsorted(ends, luck, side="right"))]
        return dict(zip(self.variables, cell, strict=True))


@final
@dataclass(frozen=True, eq=False)
class FiniteEnvironment:
    """The contexts and arms of a world, and what each arm earns in each context.

    Contexts and arms go by their places here. An arm pays 1 to a visitor whose luck lies below
    its mean, and 0 otherwise. What a round shows besides, its ``side_observation``, hangs on
    the reward.
    """

    contexts: tuple[Context, ...]
    arms: tuple[Arm, ...]
    means: Floats  # contexts x arms
    side_observation: SideObservation | None = None

    def compute_rewards(self, visitors: Places, luck: Floats, pulls: Places) -> Floats:
        """Compute what the visitors pay for these pulls.

        Called by ``_replay_run`` to narrow bounds once a batch was played.

        >>> environment = FiniteEnvironment(((),), (("A",), ("B",)), np.array([[0.2, 0.6]]))
        >>> luck, pulls = np.array([0.5, 0.5]), np.array([0, 1])
        >>> environment.compute_rewards(np.zeros(2, int), luck, pulls).tolist()
        [0.0, 1.0]
        """
        return (luck < self.means[visitors, pulls]).astype(np.float64)
