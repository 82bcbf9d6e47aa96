"""What a policy can learn online to narrow its bounds.

``E[Y | do(x), c]`` is a mean of ``E[Y | do(x), c, w]`` over ``w``. The log bounds these means,
and not the weights ``P(w | do(x), c)``; whoever sees ``w`` after each round learns them. Pairs
of arm and context whose weights are the same law form a *pool* and learn together. Where the
rows of the log are counted in the same cells (``FusedPlan``), rounds narrow the means as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias, final

from boundit.terms.bound import Key, Value
from boundit.terms.interval import Interval

Pool: TypeAlias = tuple[Value, ...]
"""The values of the arm and context on which the weights depend."""


@final
@dataclass(frozen=True)
class Living:
    """A plan by which a policy narrows bounds: the variables to see after each round, and why.

    Pairs of arm and context in one pool learn together; ``ends`` has for each pair the interval
    of its reward in every cell. Cells are the combinations of ``levels`` in the order of
    ``itertools.product``. ``chances`` has, where rows of a log are draws of some factor of the
    table's ``FusedPlan``, by factor and pool the interval of each of its cells.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    pools: Mapping[Key, Pool]
    ends: Mapping[Key, tuple[Interval, ...]]
    reason: str = ""
    chances: tuple[tuple[tuple[Interval, ...], ...], ...] = ()

    def __post_init__(self) -> None:
        if any(len(found) != self.n_cells for found in self.ends.values()):
            raise ValueError(f"a pair has an interval for each of its {self.n_cells} cells")
        if self.pools.keys() != self.ends.keys():
            raise ValueError("pools and intervals speak of other pairs")

    @property
    def n_cells(self) -> int:
        """The number of combinations of levels of the variables seen after each round.

        Read by ``Living.__post_init__`` and ``_shape_weights``.
        """
        return prod(map(len, self.levels))

    @property
    def cells(self) -> tuple[tuple[Value, ...], ...]:
        """The combinations of levels of the variables that a policy sees after each round.

        Read by ``_place_leaves`` for what policies see.

        >>> Living(("W",), ((0, 1),), {}, {}).cells
        ((0,), (1,))
        """
        return tuple(product(*self.levels))
