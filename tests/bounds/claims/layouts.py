"""Random layouts of sums, with shares of their levels."""

from dataclasses import dataclass

import numpy as np

from boundit.bounds.claims.sum_arrays import ArraySettings, LevelNumbers, SumArrays
from boundit.bounds.claims.sum_layout import LevelNames, SumLayout, lay_out
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import NamedArray
from boundit.terms.names import sort_names

AXES = ("x", "c")


@dataclass(frozen=True)
class DrawnSum:
    """A layout with the levels it was made of, and how many values each name has."""

    levels: tuple[LevelNames, ...]
    layout: SumLayout
    sizes: dict[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the table's first."""
        return tuple(self.sizes)

    def make_arrays(self, rng: np.random.Generator) -> SumArrays:
        """Draw counts of all levels, none of them empty."""
        numbers = list[LevelNumbers]()
        for level in self.levels[:-1]:
            axes = (*sort_names(level.given), *sort_names(level.of))
            counts = rng.integers(1, 6, size=[self.sizes[axis] for axis in axes])
            joint = NamedArray(axes, counts.astype(float))
            numbers.append(LevelNumbers(joint.marginalize(level.given), joint))
        settings = ArraySettings(self.sizes, Workspace.make_default())
        return SumArrays.from_numbers(self.layout, numbers, settings)


def draw_sum(rng: np.random.Generator, *, n_worst: int, fixed: bool = False) -> DrawnSum:
    """Draw a sum of up to three levels before the last, deeper ones later.

    With ``fixed`` some levels are read at the table's or the worst's values.
    """
    worst = tuple(f"w{i}" for i in range(n_worst))
    sizes = {"x": 2, "c": 2, **dict.fromkeys(worst, 2)}
    drawn, levels = list[str](), list[LevelNames]()
    depths = sorted(int(d) for d in rng.integers(0, n_worst + 1, size=rng.integers(1, 4)))
    for place, depth in enumerate(depths):
        own = [f"v{place}"] if not fixed or rng.random() < 0.6 else []
        pool = [name for name in (*AXES, *worst[:depth], *drawn) if rng.random() < 0.5]
        of = own or [str(rng.choice([*AXES, *worst[:depth]]))]
        given = [name for name in pool if name not in of]
        sizes.update(dict.fromkeys(own, int(rng.integers(2, 4))))
        levels.append(LevelNames(frozenset(of), frozenset(given), depth))
        drawn += own
    read = [name for name in (*AXES, *worst, *drawn) if rng.random() < 0.6]
    levels.append(LevelNames(frozenset(), frozenset(read), n_worst))
    return DrawnSum(tuple(levels), lay_out(levels, AXES, worst), sizes)
