"""What a policy can learn online to narrow its bounds.

``E[Y | do(x), c]`` is a mean of ``E[Y | do(x), c, w]`` over ``w``. The log bounds these means,
and not the weights ``P(w | do(x), c)``; whoever sees ``w`` after each round learns them. Pairs
of arm and context whose weights are the same law form a *pool* and learn together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias, final

from boundit.terms.bound import Arm, Context, Key, Value
from boundit.terms.bound_file import decode_level, encode_level
from boundit.terms.interval import Interval

Pool: TypeAlias = tuple[Value, ...]
"""The values of the arm and context on which the weights depend."""


@final
@dataclass(frozen=True)
class Living:
    """Variables to be seen, the pool of every pair, and its interval for every cell of them.

    Cells are the combinations of ``levels`` in the order of ``itertools.product``.
    """

    variables: tuple[str, ...]
    levels: tuple[tuple[Value, ...], ...]
    pools: Mapping[Key, Pool]
    ends: Mapping[Key, tuple[Interval, ...]]
    reason: str = ""

    def __post_init__(self) -> None:
        if any(len(found) != self.n_cells for found in self.ends.values()):
            raise ValueError(f"a pair has an interval for each of its {self.n_cells} cells")
        if self.pools.keys() != self.ends.keys():
            raise ValueError("pools and intervals speak of other pairs")

    @property
    def n_cells(self) -> int:
        """How many combinations of levels there are."""
        return prod(map(len, self.levels))

    @property
    def cells(self) -> tuple[tuple[Value, ...], ...]:
        """The combinations of levels, in their order.

        >>> Living(("W",), ((0, 1),), {}, {}).cells
        ((0,), (1,))
        """
        return tuple(product(*self.levels))

    def record(self) -> dict[str, object]:
        """Spell it as a JSON object."""
        return {
            "variables": list(self.variables),
            "levels": [_spelled(found) for found in self.levels],
            "pairs": [
                [
                    _spelled(arm),
                    _spelled(context),
                    _spelled(self.pools[arm, context]),
                    [[float(end.lower), float(end.upper)] for end in found],
                ]
                for (arm, context), found in self.ends.items()
            ],
            "reason": self.reason,
        }

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Living":
        """Read back what ``record`` wrote; what does not fit raises Key-, Type- or ValueError.

        >>> one = Living(("W",), (("a", "b"),), {((1,), ()): (1,)},
        ...              {((1,), ()): (Interval(0, 0.5), Interval(0.2, 1))})
        >>> Living.read(one.record()) == one
        True
        """
        pairs: list[tuple[Arm, Context, Pool, tuple[Interval, ...]]] = []
        for arm, context, pool, ends in _listed(record["pairs"]):
            found = tuple(Interval(float(low), float(high)) for low, high in ends)
            pairs.append((_read(arm), _read(context), _read(pool), found))
        return cls(
            variables=tuple(map(str, _listed(record["variables"]))),
            levels=tuple(map(_read, _listed(record["levels"]))),
            pools={(arm, context): pool for arm, context, pool, _ in pairs},
            ends={(arm, context): ends for arm, context, _, ends in pairs},
            reason=str(record["reason"]),
        )


def _spelled(values: Iterable[Value]) -> list[object]:
    return [encode_level(value) for value in values]


def _read(values: Iterable[object]) -> tuple[Value, ...]:
    return tuple(map(decode_level, values))


def _listed(found: object) -> list[Any]:
    if not isinstance(found, list):
        raise TypeError("a list was expected")
    return found
