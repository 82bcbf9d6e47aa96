"""Conditional probability tables: as users write them, and sums of their products."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product as combine
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boundit.core.errors import InvalidName, shorten
from boundit.core.names import Nodes, is_name, join_names, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.named_array import Floats, NamedArray, agree_on_levels
from boundit.graph.causal_graph import order_causally
from boundit.simulation.errors import (
    InvalidModel,
    ModelTooLarge,
)

TableSpec: TypeAlias = tuple[Sequence[str], ArrayLike | Callable[..., ArrayLike]]
"""Parents, and the probabilities given them.

The probabilities are a nested list or array with one axis per parent, or a function of the
parents' levels. Each entry is the probability of level 1 of a binary node, or the list of the
probabilities of all its levels.
"""
LARGEST = 2**22
"""Most numbers of a table: 22 binary variables, or 13 of three levels."""


def read_tables(specs: Mapping[str, TableSpec]) -> dict[str, NamedArray]:
    """Read the tables of a model, causes first, each with its node as the last axis.

    >>> tables = read_tables({"Y": (["X"], lambda x: x / 4), "X": ([], [0.5, 0.3, 0.2])})
    >>> {node: table.axes for node, table in tables.items()}
    {'X': ('X',), 'Y': ('X', 'Y')}
    >>> tables["Y"].values[:, 1]
    array([0.  , 0.25, 0.5 ])
    """
    children: dict[str, list[str]] = {node: [] for node in specs}
    for node in specs:
        if not is_name(node):
            raise InvalidName(node)
        for parent in _read_parents(node, specs[node]):
            if parent not in specs:
                raise InvalidModel(
                    f"The table of {node!r} reads {parent!r}, which has no table (tables: "
                    f"{shorten(join_names(specs))}). Add a table of {parent!r}."
                )
            children[parent].append(node)
    tables: dict[str, NamedArray] = {}
    for node in order_causally(children):
        parents, entries = specs[node]
        shape = [tables[parent].values.shape[-1] for parent in parents]
        values = _complete_table(node, entries, shape)
        _check_probabilities(node, parents, values)
        tables[node] = NamedArray((*parents, node), values)
    return tables


def _read_parents(node: str, spec: TableSpec) -> Sequence[str]:
    match spec:
        case ([*parents], _) if all(map(is_name, parents)):
            if len(set(parents)) < len(parents):
                raise InvalidModel(f"The table of {node!r} names a parent twice: {parents}.")
            return parents
        case _:
            raise InvalidModel(
                f"The table of {node!r} is not (parents, probabilities). Write for example "
                f"{node!r}: (['X'], [0.2, 0.8])."
            )


def _complete_table(
    node: str, entries: ArrayLike | Callable[..., ArrayLike], shape: Sequence[int]
) -> Floats:
    """Make the array with the probabilities of all levels on its last axis."""
    if callable(entries):
        rows = [_read_numbers(node, entries(*at)) for at in combine(*map(range, shape))]
        if len({row.shape for row in rows}) > 1:
            raise InvalidModel(f"The table of {node!r} has different numbers of levels.")
        values = np.reshape(rows, (*shape, *rows[0].shape))
    else:
        values = _read_numbers(node, entries)
    if values.ndim == len(shape):
        values = np.stack([1 - values, values], axis=-1)
    if values.shape[:-1] != tuple(shape) or values.ndim != len(shape) + 1:
        raise InvalidModel(
            f"The table of {node!r} has shape {values.shape}. Its parents have {tuple(shape)} "
            "levels; one more axis may hold its own."
        )
    return values


def _read_numbers(node: str, entries: ArrayLike) -> Floats:
    try:
        return np.array(entries, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidModel(
            f"The table of {node!r} is not a regular array of numbers."
        ) from None


def _check_probabilities(node: str, parents: Sequence[str], values: Floats) -> None:
    valid = (values >= 0) & (values <= 1 + ROUNDING)
    # nan and infinities are invalid, so that they have no part in the sum.
    total = np.where(valid, values, 0).sum(axis=-1)
    wrong = np.argwhere(~valid.all(axis=-1) | (np.abs(total - 1) > ROUNDING))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        where = ", ".join(f"{name}={i}" for name, i in zip(parents, at, strict=True))
        shown = shorten(", ".join(f"{p:.6g}" for p in values[at]))
        raise InvalidModel(
            f"The table of {node!r}{' at ' * bool(where)}{where} is ({shown}). Probabilities are "
            "at least 0 and add up to 1."
        )


def sum_product(tables: Sequence[NamedArray], kept: Sequence[str]) -> NamedArray:
    """Multiply tables and sum over every variable but ``kept``, which order the answer.

    Variable elimination: the variable with the smallest product of its tables goes first. It
    shares no code with the evaluation of formulas, which is checked against it.

    >>> coin = NamedArray(("A",), np.array([0.5, 0.5]))
    >>> copy = NamedArray(("A", "B"), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> sum_product([coin, copy], ["B"]).values
    array([0.55, 0.45])

    Raises ModelTooLarge if a product on the way has more than 4,194,304 numbers.
    """
    levels = agree_on_levels(*tables)
    left = list(tables)
    waiting = set(levels).difference(kept)
    while waiting:
        reach = {name: _find_neighbors(left, name) for name in sort_names(waiting)}
        name = min(reach, key=lambda n: prod(levels[other] for other in reach[n]))
        waiting.remove(name)
        touched = [table for table in left if name in table.names]
        left = [table for table in left if name not in table.names]
        left.append(_contract(touched, sort_names(reach[name] - {name}), levels))
    return _contract(left, kept, levels)


def _find_neighbors(tables: Iterable[NamedArray], name: str) -> Nodes:
    return frozenset().union(*(table.names for table in tables if name in table.names))


def _contract(
    tables: Sequence[NamedArray], kept: Sequence[str], levels: Mapping[str, int]
) -> NamedArray:
    """Multiply tables and sum over every variable but ``kept``, all at once."""
    names = frozenset(kept).union(*(table.names for table in tables))
    cells = prod(levels[name] for name in names)
    if cells > LARGEST:
        raise ModelTooLarge(names, cells, LARGEST)
    axes = [*kept, *sort_names(names.difference(kept))]
    product: Floats = np.ones([1] * len(axes))
    for table in sorted(tables, key=lambda t: t.values.size):
        product = product * table.align(axes)
    gone = tuple(range(len(kept), len(axes)))
    return NamedArray(tuple(kept), product.sum(axis=gone))
