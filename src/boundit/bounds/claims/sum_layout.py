"""Where the penalties of a sum of levels are paid: the cells of each level.

A level's penalties are paid at its *cells*: the values of what it is given and, within a
minimum, of everything that was summed or chosen outside it. Where branches of the sum that
differ outside a minimum read the same rows, they share the cell.

A claim must hold for one strategy, the one that chooses what is truly the worst by what is
summed outside. Under it the weights of all branches that come to the same rows add up, and a
penalty of the sum of weights is more than the sum of their penalties. But a branch ``a`` that
pays ``q`` times the penalty at ``1/q`` times its weight may be paid by itself, as long as the
``q`` of all branches that come to the same rows add up to one at most: a weighted geometric
mean of factors with mean one has mean one at most. Which branches do so hangs on the strategy,
which nobody knows. So the shares are functions of the branch alone. If they hung on unknown
variables too, they would add up to one for each constant choice, but those of branch 0 at one
choice and of branch 1 at another could add up to two.

A level that reaches no unknown variable is paid outside the minimum, with weights added up over
all branches: what the strategy chooses then only tells what follows its draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from boundit.bounds.claims.level_form import LevelForm
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, slots=True)
class LevelNames:
    """The variables of one level: those it draws or reads at fixed values, and those given."""

    of: Nodes
    given: Nodes
    depth: int = 0


@dataclass(frozen=True, slots=True)
class LevelCells:
    """Where the penalties of one level are paid.

    ``axes`` are the table's, then those of the cell. ``draws`` are the variables that the level
    sums over. ``depth`` counts the variables of unknown law outside it. Branches of the sum
    that differ in ``shared`` alone read the same rows. ``before`` numbers the levels that its
    weight is a product of. The level itself stands ``within`` so many minima, of which it may
    read none.
    """

    axes: tuple[str, ...]
    draws: tuple[str, ...]
    depth: int
    shared: tuple[str, ...]
    before: tuple[int, ...]
    within: int = 0


@dataclass(frozen=True, slots=True)
class SumLayout:
    """The axes of a table, the variables of unknown law, those drawn, and all levels' cells."""

    axes: tuple[str, ...]
    worst: tuple[str, ...]
    drawn: Mapping[str, int]
    cells: tuple[LevelCells, ...]

    def add_axis(self, name: str) -> "SumLayout":
        """Put an axis before those of the table, of which no level reads anything."""
        cells = tuple(replace(where, axes=(name, *where.axes)) for where in self.cells)
        return replace(self, axes=(name, *self.axes), cells=cells)

    def keep_outside(self, depth: int) -> frozenset[str]:
        """Collect the axes that are still there within so many minima."""
        outside = {name for name, at in self.drawn.items() if at < depth}
        return frozenset((*self.axes, *outside, *self.worst[:depth]))


def lay_out(
    levels: Sequence[LevelNames], axes: tuple[str, ...], worst: tuple[str, ...] = ()
) -> SumLayout:
    """Find for every level of a sum the cells at which its penalties are paid.

    The last level holds the value.
    """
    fixed = frozenset((*axes, *worst))
    drawn = {name: level.depth for level in levels[:-1] for name in level.of - fixed}
    cells = list[LevelCells]()
    for place, level in enumerate(levels):
        reached, _ = _trace_back(levels, place, level.given)
        held = [i for i, name in enumerate(worst) if name in reached]
        last = place == len(levels) - 1
        depth = level.depth if last else max(held, default=-1) + 1
        outside = frozenset(name for name, at in drawn.items() if at < depth)
        _, before = _trace_back(levels, place, level.given | outside)
        if last:
            before = tuple(range(place))
        own = level.given.union(outside, worst[:depth]).difference(axes, level.of)
        cells.append(
            LevelCells(
                (*axes, *sort_names(own)),
                tuple(sort_names(level.of & drawn.keys())),
                depth,
                tuple(sort_names(outside - level.given - level.of)),
                before,
                level.depth,
            )
        )
    return SumLayout(axes, worst, drawn, tuple(cells))


def _trace_back(
    levels: Sequence[LevelNames], place: int, names: Nodes
) -> tuple[Nodes, tuple[int, ...]]:
    """Find which earlier levels the weight of cells of ``names`` hangs on, and what they read.

    The shares of other levels add up to one at most.
    """
    reached, before = set(names), list[int]()
    for i in reversed(range(place)):
        if levels[i].of & reached:
            before.append(i)
            reached |= levels[i].given
    return frozenset(reached), tuple(reversed(before))


def lay_out_form(form: LevelForm) -> SumLayout:
    """Find the cells of a form's levels; its outcome and idle variables have no axes."""
    gone = {form.outcome, *form.idle}
    names = [
        LevelNames(level.of - gone, level.given - gone, level.depth) for level in form.levels
    ]
    return lay_out(names, form.axes, form.worst)
