"""The rows whose rewards an end is made of, and how much each of them weighs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boundit.bounds.approximate.derivatives import OWN, TermDerivative
from boundit.bounds.approximate.term_counts import TermCounter, TermCounts, align_to
from boundit.bounds.binary_reward import SUCCESS
from boundit.counts.named_array import Floats


@dataclass(frozen=True, slots=True, eq=False)
class RewardRows:
    """How many rows, successes and failures count as much as those behind each end.

    Rows that weigh unevenly count as fewer (Kish): the square of their weights' sum by the sum
    of squares. ``unseen`` is the weight of cells without any row.
    """

    rows: Floats
    successes: Floats
    failures: Floats
    unseen: Floats

    @classmethod
    def of(
        cls,
        derivatives: Sequence[TermDerivative],
        counts: TermCounter,
        outcome: str,
        level: int | None,
        shape: Sequence[int],
    ) -> "RewardRows":
        """Weigh the rows of all terms that hold the outcome, of which a ``level`` is read.

        With None every cell has a weight of its own: what raises the end counts as a success.
        Called by ``FormulaEnds`` for every end.
        """
        sums, squares = np.zeros((3, *shape)), np.zeros((3, *shape))
        unseen = np.zeros(shape)
        for derivative in derivatives:
            if outcome not in derivative.term.of:
                continue
            counted = counts.read(derivative.term)
            some, more, hole = (
                _weigh_cells(derivative, counted)
                if level is None
                else _weigh(derivative, counted, outcome, level)
            )
            sums, squares = sums + some, squares + more
            unseen = unseen + hole
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(squares > 0, sums**2 / squares, 0.0)
        return cls(effective[0], effective[1 + SUCCESS], effective[1 + 1 - SUCCESS], unseen)


def _weigh(
    derivative: TermDerivative, counts: TermCounts, outcome: str, level: int
) -> tuple[Floats, Floats, Floats]:
    """Add up weights and squared weights of all rows, failures and successes of a term.

    Called by ``RewardRows.of``.
    """
    names, order, n_rows = derivative.names, derivative.axes, derivative.n_row_axes
    place = order.index(OWN + outcome)
    inner = tuple(range(n_rows, len(order)))
    values = np.take(derivative.values, [level], place)
    seen = align_to(counts.axes, counts.n, names, order)
    inverse = np.where(seen > 0, 1 / np.where(seen > 0, seen, 1), 0.0)
    weights = values * inverse
    rows = align_to(counts.axes, counts.k, names, order)
    kinds = [rows.sum(axis=place, keepdims=True)]
    kinds += [np.take(rows, [one], place) for one in (0, 1)]
    sums = np.stack([np.asarray((weights * kind).sum(axis=inner)) for kind in kinds])
    squares = np.stack([np.asarray((weights**2 * kind).sum(axis=inner)) for kind in kinds])
    hole = np.asarray((values * (seen == 0)).sum(axis=inner))
    return sums, squares, hole


def _weigh_cells(
    derivative: TermDerivative, counts: TermCounts
) -> tuple[Floats, Floats, Floats]:
    """Add up weights and squared weights of all rows, and of those that lower or raise an end.

    A row weighs as much as it moves the end away from its mean. Called by ``RewardRows.of`` for
    programs.
    """
    names, order, n_rows = derivative.names, derivative.axes, derivative.n_row_axes
    inner = tuple(range(n_rows, len(order)))
    over = derivative.list_own_axes(counts.term.of)
    shares = align_to(counts.axes, counts.find_shares().arrays[0], names, order)
    rows = align_to(counts.axes, counts.k, names, order)
    seen = align_to(counts.axes, counts.n, names, order)
    values = derivative.values
    moved = values - (values * shares).sum(axis=over, keepdims=True)
    weights = moved * np.where(seen > 0, 1 / np.where(seen > 0, seen, 1), 0.0)
    kinds = [np.abs(weights), np.maximum(-weights, 0), np.maximum(weights, 0)]
    sums = np.stack([np.asarray((kind * rows).sum(axis=inner)) for kind in kinds])
    squares = np.stack([np.asarray((kind**2 * rows).sum(axis=inner)) for kind in kinds])
    hole = np.abs(values).max(axis=over, keepdims=True) * (seen == 0)
    return sums, squares, np.asarray(hole.sum(axis=inner))
