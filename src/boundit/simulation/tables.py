"""Conditional tables as people write them, read into arrays that are checked."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from boundit.counts.named_array import Floats, NamedArray
from boundit.graph.causal_graph import order_causally
from boundit.simulation.errors import MalformedTable, NotADistribution, UnknownParent
from boundit.terms.errors import InvalidName
from boundit.terms.names import is_name
from boundit.terms.rounding import ROUNDING

TableSpec: TypeAlias = tuple[Sequence[str], ArrayLike | Callable[..., ArrayLike]]
"""Parents in an order of one's own, and the probabilities given them.

The probabilities are a nested list or array with one axis for each parent, or a function of
the parents' levels. Each entry is the chance of level 1 of a binary node, or the list of the
chances of all its levels.
"""


def read_tables(specs: Mapping[str, TableSpec]) -> dict[str, NamedArray]:
    """Read a model's probability tables, causes first, each with its node as the last axis.

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
                raise UnknownParent(node, parent, frozenset(specs))
            children[parent].append(node)
    levels: dict[str, int] = {}
    tables: dict[str, NamedArray] = {}
    for node in order_causally(children):
        parents, entries = specs[node]
        values = _complete_table(node, entries, [levels[parent] for parent in parents])
        tables[node] = NamedArray((*parents, node), _check_chances(node, parents, values))
        levels[node] = values.shape[-1]
    return tables


def _read_parents(node: str, spec: TableSpec) -> Sequence[str]:
    """Read the names of the parents in a node's table."""
    match spec:
        case ([*parents], _) if all(map(is_name, parents)):
            if len(set(parents)) < len(parents):
                raise MalformedTable(node, f"names a parent twice among {', '.join(parents)}")
            return parents
        case _:
            raise MalformedTable(
                node, "is not written (parents, probabilities), as in (['X'], [0.2, 0.8])"
            )


def _complete_table(
    node: str, entries: ArrayLike | Callable[..., ArrayLike], shape: Sequence[int]
) -> Floats:
    """Write a node's table as an array with the chances of all its levels on the last axis.

    Users may give the chance of level 1 alone.
    """
    if callable(entries):
        rows = [_read_numbers(node, entries(*at)) for at in product(*map(range, shape))]
        if len({row.shape for row in rows}) > 1:
            raise MalformedTable(node, "has different numbers of levels at different parents")
        values = np.reshape(rows, (*shape, *rows[0].shape))
    else:
        values = _read_numbers(node, entries)
    if values.ndim == len(shape):
        values = np.stack([1 - values, values], axis=-1)
    if values.shape[:-1] != tuple(shape) or values.ndim != len(shape) + 1:
        raise MalformedTable(
            node,
            f"has {values.ndim} axes of lengths {values.shape}; its parents have "
            f"{tuple(shape)} levels, and one more axis may hold its own",
        )
    return values


def _read_numbers(node: str, entries: ArrayLike) -> Floats:
    """Read the entries of a node's table as an array of numbers, or raise."""
    try:
        return np.array(entries, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MalformedTable(node, "is no regular array of numbers") from None


def _check_chances(node: str, parents: Sequence[str], values: Floats) -> Floats:
    """Refuse a table whose entries are no chances that add up to 1; else give it back."""
    chances = (values >= 0) & (values <= 1 + ROUNDING)
    # What is no chance, nan and the infinite among it, has no part in the sum.
    total = np.where(chances, values, 0).sum(axis=-1)
    wrong = np.argwhere(~chances.all(axis=-1) | (np.abs(total - 1) > ROUNDING))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise NotADistribution(node, dict(zip(parents, at, strict=True)), values[at].tolist())
    return values
