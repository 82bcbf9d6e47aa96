r"""Sums over the cells that were seen, where a table of all cells would not fit.

A log of correlated columns has few of the cells that their levels allow: of zip code, city and
state no more than there are zip codes. A formula whose terms can be read one after another,

.. math:: \sum_v \prod_j P(v_j \mid g_j), \qquad g_j \subseteq \text{what came before},

is then a walk over seen cells: each term extends every line by the values that were seen given
what the line holds, and multiplies its weight by their share. Where nothing was seen given a
line, the rest may be anything from 0 to 1, with the weight of the line. What was never seen
before a term has no weight, and costs nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from boundit.core.names import Nodes, sort_names
from boundit.counts.memory import Workspace
from boundit.counts.named_array import Floats, NamedArray, SeenCells, find_distinct
from boundit.estimand.expression import P


@dataclass(frozen=True, slots=True)
class ReadTerm:
    """A term, and the names that its variables have where it is read, if they differ."""

    term: P
    names: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def of(self) -> Nodes:
        """The variables whose distribution the term is, by the names they have here."""
        return frozenset(self.names.get(name, name) for name in self.term.of)

    @property
    def given(self) -> Nodes:
        """The variables that it is given, by the names they have here."""
        return frozenset(self.names.get(name, name) for name in self.term.given)

    @property
    def columns(self) -> Mapping[str, str]:
        """The column behind each of its variables, by the name it has here."""
        return {self.names.get(name, name): name for name in self.term.free}


CellReader: TypeAlias = Callable[[P], SeenCells]
"""Reads which cells of a term's variables were seen, and how often."""


def order_terms(terms: Iterable[ReadTerm]) -> list[ReadTerm] | None:
    """Order the terms of a sum of products so that each is given only what came before.

    No variable may be in the distribution of two terms. None if they cannot be ordered so.
    """
    left = list(terms)
    drawn = [name for each in left for name in each.of]
    if len(drawn) != len(set(drawn)):
        return None
    known = {name for each in left for name in each.given}.difference(drawn)
    ordered = list[ReadTerm]()
    while left:
        ready = next((each for each in left if each.given <= known), None)
        if ready is None:
            return None
        left.remove(ready)
        ordered.append(ready)
        known |= ready.of
    return ordered


def sum_over_seen(
    product: Iterable[ReadTerm],
    summed: Iterable[str],
    read: CellReader,
    levels: Mapping[str, int],
    workspace: Workspace,
) -> tuple[NamedArray, NamedArray] | None:
    """Compute the least and the greatest value of a sum of products over the cells seen.

    They differ by the weight of what was never seen given the rest. Both have an axis for each
    free variable. None for a formula that cannot be read term after term.
    """
    terms = order_terms(product)
    if terms is None:
        return None
    held = frozenset[str]().union(*(each.of | each.given for each in terms))
    if not held.issuperset(summed):
        return None
    free = tuple(sort_names(held.difference(summed)))
    sizes = {name: levels[own] for each in terms for name, own in each.columns.items()}
    shape = [sizes[name] for name in free]
    workspace.require_cells(prod(shape), free)
    if _holds_all(terms, frozenset(free)):
        return _sum_from_last(terms, free, read, sizes)
    state = SeenCells((), np.zeros((1, 0), dtype=np.int64), np.ones(1))
    unknown = np.zeros(shape)
    for place, each in enumerate(terms):
        workspace.require_time()
        later = frozenset(free).union(*(other.given for other in terms[place + 1 :]))
        state = _cross(state, each.given, sizes, workspace)
        state, lost = _extend(state, each, read(each.term), sizes, workspace)
        unknown += _add_up(lost, free, sizes)
        state = _merge(state, later, sizes)
    known = np.broadcast_to(_add_up(state, free, sizes), shape)
    return NamedArray(free, known), NamedArray(free, known + unknown)


def _holds_all(terms: Sequence[ReadTerm], free: Nodes) -> bool:
    """Tell whether the last term speaks of every variable, as the reward does in adjustments.

    What the other terms draw must be summed over, so that their weights add up to one.
    """
    last = terms[-1]
    every = free.union(*(each.of | each.given for each in terms))
    drawn = frozenset[str]().union(*(each.of for each in terms[:-1]))
    return every <= last.of | last.given and not drawn & free


def _sum_from_last(
    terms: Sequence[ReadTerm],
    free: Sequence[str],
    read: CellReader,
    sizes: Mapping[str, int],
) -> tuple[NamedArray, NamedArray]:
    """Sum over the cells of the last term, each weighed by the shares of all other terms.

    The weights of all cells, seen or not, add up to one at most; what is missing to one is the
    weight of what is not known.
    """
    last = terms[-1]
    back = last.columns
    given, of = sort_names(last.given), sort_names(last.of)
    cells = read(last.term)
    codes = cells.select([back[name] for name in given])
    first, group = find_distinct(codes, [sizes[name] for name in given])
    rows = np.bincount(group, cells.weights, len(first))
    lines = SeenCells(tuple(given), codes[first], np.ones(len(first)))
    weights = np.ones(len(first))
    for each in terms[:-1]:
        weights = weights * _look_up_shares(each, read(each.term), lines, sizes)
    longer = np.hstack([codes, cells.select([back[name] for name in of])])
    shares = weights[group] * cells.weights / rows[group]
    shape = [sizes[name] for name in free]
    whole = _add_up(SeenCells((*given, *of), longer, shares), free, sizes)
    known = _add_up(SeenCells(lines.variables, lines.codes, weights), free, sizes)
    lower = np.broadcast_to(whole, shape)
    return NamedArray(tuple(free), lower), NamedArray(
        tuple(free), lower + np.clip(1 - known, 0, 1)
    )


def _look_up_shares(
    each: ReadTerm, cells: SeenCells, lines: SeenCells, sizes: Mapping[str, int]
) -> Floats:
    """Look up the share that a term gives to each line; 0 where it was not seen."""
    back = each.columns
    names, given = sort_names(each.of | each.given), sort_names(each.given)

    def number(chosen: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
        own = cells.select([back[name] for name in chosen])
        both = np.vstack([own, lines.select(chosen)])
        first, group = find_distinct(both, [sizes[name] for name in chosen])
        return group[: len(own)], group[len(own) :], len(first)

    mine, asked, n = number(names)
    counts = np.bincount(mine, cells.weights, n)[asked]
    mine, asked, n = number(given)
    rows = np.bincount(mine, cells.weights, n)[asked]
    return np.divide(counts, rows, out=np.zeros(len(rows)), where=rows > 0)


def _cross(
    state: SeenCells, needed: Nodes, sizes: Mapping[str, int], workspace: Workspace
) -> SeenCells:
    """Repeat every line at each level of variables that it lacks: those that nothing draws."""
    for name in sort_names(needed.difference(state.variables)):
        n_lines, n_levels = len(state.weights), sizes[name]
        _require_lines(n_lines * n_levels, (*state.variables, name), workspace)
        level = np.tile(np.arange(n_levels), n_lines)[:, None]
        codes = np.hstack([np.repeat(state.codes, n_levels, axis=0), level])
        weights = np.repeat(state.weights, n_levels)
        state = SeenCells((*state.variables, name), codes, weights)
    return state


def _extend(
    state: SeenCells,
    each: ReadTerm,
    cells: SeenCells,
    sizes: Mapping[str, int],
    workspace: Workspace,
) -> tuple[SeenCells, SeenCells]:
    """Extend every line by the values of a term that were seen given it, with their shares.

    Returns the longer lines, and those given which nothing was seen.
    """
    back = each.columns
    given, of = sort_names(each.given), sort_names(each.of)
    own = cells.select([back[name] for name in given])
    both = np.vstack([own, state.select(given)])
    _, group = find_distinct(both, [sizes[name] for name in given])
    mine, asked = group[: len(own)], group[len(own) :]
    n_groups = int(group.max(initial=-1)) + 1
    order = np.argsort(mine, kind="stable")
    n_cells = np.bincount(mine, minlength=n_groups)
    rows = np.bincount(mine, cells.weights, n_groups)
    times = n_cells[asked]
    names = (*state.variables, *of)
    _require_lines(int(times.sum()), names, workspace)
    line = np.repeat(np.arange(len(asked)), times)
    first = np.concatenate([[0], np.cumsum(n_cells)])[asked]
    within = np.arange(len(line)) - np.repeat(np.cumsum(times) - times, times)
    cell = order[first[line] + within]
    share = cells.weights[cell] / rows[asked[line]]
    drawn = cells.select([back[name] for name in of])[cell]
    longer = np.hstack([state.codes[line], drawn])
    empty = times == 0
    lost = SeenCells(state.variables, state.codes[empty], state.weights[empty])
    return SeenCells(names, longer, state.weights[line] * share), lost


def _merge(state: SeenCells, needed: Nodes, sizes: Mapping[str, int]) -> SeenCells:
    """Add up the lines that agree in all variables that are still needed."""
    kept = tuple(name for name in state.variables if name in needed)
    codes = state.select(kept)
    first, group = find_distinct(codes, [sizes[name] for name in kept])
    weights = np.bincount(group, state.weights, len(first)).astype(np.float64)
    return SeenCells(kept, codes[first], weights)


def _add_up(state: SeenCells, free: Sequence[str], sizes: Mapping[str, int]) -> Floats:
    """Add up the weights of lines by the free variables, with length 1 where they lack one."""
    held = [name for name in free if name in state.variables]
    shape = [sizes[name] for name in held]
    place = np.zeros(len(state.weights), dtype=np.int64)
    for column, n_levels in zip(state.select(held).T, shape, strict=True):
        place = place * n_levels + column
    added = np.bincount(place, state.weights, prod(shape)).astype(np.float64)
    return NamedArray(tuple(held), added.reshape(shape)).align(free)


def _require_lines(lines: int, names: Sequence[str], workspace: Workspace) -> None:
    """Refuse more lines than fit, before they are made."""
    workspace.require_cells(lines * (len(names) + 1), names)
