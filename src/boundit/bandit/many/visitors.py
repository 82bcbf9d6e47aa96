"""Visitors of one call, grouped by their contexts: what is alike is worked out once."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple, cast

import numpy as np

from boundit.bandit.errors import BadOption
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.many.rows import list_contexts, name_row, require_length
from boundit.bandit.spec import PLAIN, BanditSpec
from boundit.terms.bound import Context
from boundit.terms.errors import BounditError


class Visitors(NamedTuple):
    """Who comes in one call: contexts as they were given, and groups of equal ones.

    ``groups`` says for each visitor which of the ``distinct`` contexts is theirs; ``cells`` are
    these as the prior has them, numbers being in bins.
    """

    contexts: list[Context]
    groups: Places
    distinct: list[Context]
    cells: list[Context]

    def split(self) -> list[Places]:
        """List the places of the visitors of each group, in the order they came."""
        order = np.argsort(self.groups, kind="stable")
        sizes = np.bincount(self.groups, minlength=len(self.distinct))
        ends = [0, *np.cumsum(sizes).tolist()]
        return [order[start:end] for start, end in pairwise(ends)]


def read_visitors(spec: BanditSpec, given: object, *, sees_numbers: bool) -> Visitors:
    """Read the contexts of several visitors, each as ``decide`` would, or name a bad row.

    A policy that does not see numbers has their bins instead.

    >>> read_visitors(BanditSpec(), [(0,), (1,), (0,)], sees_numbers=True).groups.tolist()
    [0, 1, 0]
    """
    rows = list_contexts(given, spec.context)
    contexts, distinct = _read_distinct(spec, rows)
    cells = [spec.find_cell(context) for context in distinct]
    if spec.bins and not sees_numbers:
        cell_of = dict(zip(distinct, cells, strict=True))
        contexts = [cell_of[context] for context in contexts]
        distinct = cells = list(dict.fromkeys(cells))
    place = {context: i for i, context in enumerate(distinct)}
    groups = np.fromiter(map(place.__getitem__, contexts), np.int64, len(contexts))
    return Visitors(contexts, groups, distinct, cells)


def _read_distinct(
    spec: BanditSpec, rows: Sequence[object]
) -> tuple[list[Context], list[Context]]:
    """Read the contexts of all rows, and list those that differ in the order they came.

    Where all rows are tuples of plain values, equal ones are read once.
    """
    if {*map(type, rows)} <= {tuple}:
        plain = cast("list[Context]", rows)
        if PLAIN.issuperset(map(type, chain.from_iterable(plain))):
            distinct = list(dict.fromkeys(plain))
            _read_each(spec, distinct, lambda i: plain.index(distinct[i]))
            return plain, distinct
    contexts = _read_each(spec, rows, lambda i: i)
    return contexts, list(dict.fromkeys(contexts))


def _read_each(
    spec: BanditSpec, given: Sequence[object], find_row: Callable[[int], int]
) -> list[Context]:
    """Read contexts one by one; an error names the row that ``find_row`` gives for its place."""
    found = list[Context]()
    for context in given:
        try:
            found.append(spec.read_context(context))
        except BounditError as error:
            raise name_row(error, find_row(len(found))) from None
    return found


def read_ids(given: object, n: int) -> list[str]:
    """Read the ids of ``n`` decisions, one text each, or name the row that is none.

    >>> read_ids(["a", "b"], 2)
    ['a', 'b']
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise BadOption("ids", "a list of texts", given)
    found = require_length("ids", list(given), n)
    for row, name in enumerate(found):
        if not isinstance(name, str):
            raise name_row(BadOption("ids", "texts", name), row)
    return cast("list[str]", found)
