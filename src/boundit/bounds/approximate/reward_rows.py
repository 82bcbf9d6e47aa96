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

    Successes of a reward that is not 0/1 are no rows, and a heavy cell may have none of them. By
    how few rows an end is moved tell fourth powers of deviations: the square of a variance by
    their sum. ``tails`` is that sum; for a reward that is not 0/1 the most that it can be if
    rewards reach as far as seen. ``hidden`` is how far one row more can move the end whose
    reward lies as far out as the range goes; 0 for a 0/1 reward.
    """

    rows: Floats
    successes: Floats
    failures: Floats
    unseen: Floats
    tails: Floats
    hidden: Floats

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
        """
        sums, squares = np.zeros((3, *shape)), np.zeros((3, *shape))
        unseen, tails, hidden = np.zeros((3, *shape))
        for derivative in derivatives:
            counted = counts.read(derivative.term)
            if counted.overstated is None:
                tails = tails + _add_fourth_powers(derivative, counted)
            if outcome not in derivative.term.of:
                continue
            some, more, hole = (
                _weigh_cells(derivative, counted)
                if level is None
                else _weigh(derivative, counted, outcome, level)
            )
            sums, squares = sums + some, squares + more
            unseen = unseen + hole
            if counted.overstated is not None:
                seen, most = _weigh_tails(derivative, counted, counted.overstated, outcome)
                tails, hidden = tails + seen, np.maximum(hidden, most)
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(squares > 0, sums**2 / squares, 0.0)
        kinds = effective[0], effective[1 + SUCCESS], effective[1 + 1 - SUCCESS]
        return cls(*kinds, unseen, tails, hidden)


def _weigh(
    derivative: TermDerivative, counts: TermCounts, outcome: str, level: int
) -> tuple[Floats, Floats, Floats]:
    """Add up weights and squared weights of all rows, failures and successes of a term."""
    names, order, n_rows = derivative.names, derivative.axes, derivative.n_row_axes
    place = order.index(OWN + outcome)
    inner = tuple(range(n_rows, len(order)))
    values = derivative.values
    values = np.take(values, [level], place) - np.take(values, [1 - level], place)
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

    A row weighs as much as it moves the end away from its mean.
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


def _add_fourth_powers(derivative: TermDerivative, counts: TermCounts) -> Floats:
    """Add up the fourth powers of how far rows move every end, of smoothed shares."""
    names, order, values = derivative.names, derivative.axes, derivative.values
    inner = tuple(range(derivative.n_row_axes, len(order)))
    over = derivative.list_own_axes(counts.term.of)
    shares = align_to(counts.axes, counts.smooth_shares(), names, order)
    mean = (values * shares).sum(axis=over, keepdims=True)
    fourth = ((values - mean) ** 4 * shares).sum(axis=over, keepdims=True)
    # At other levels of a tied column the derivative is nothing.
    fourth = fourth + (1 - shares.sum(axis=over, keepdims=True)).clip(0) * mean**4
    inverse = align_to(counts.axes, counts.invert_rows(), names, order)
    return np.asarray((fourth * inverse**3).sum(axis=inner))


def _weigh_tails(
    derivative: TermDerivative, counts: TermCounts, overstated: Floats, outcome: str
) -> tuple[Floats, Floats]:
    """Add up the most that fourth powers of deviations can be; find the farthest of a new row.

    A deviation's fourth power is at most its square times that of the greatest, and squares add
    up to the rewards' variance.
    """
    names, order = derivative.names, derivative.axes
    place = order.index(OWN + outcome)
    inner = tuple(range(derivative.n_row_axes, len(order)))
    values = derivative.values
    slope = np.take(values, [SUCCESS], place) - np.take(values, [1 - SUCCESS], place)
    weights = np.abs(slope * align_to(counts.axes, counts.invert_rows(), names, order))
    rows = align_to(counts.axes, counts.k, names, order)
    sums, n = np.take(rows, [SUCCESS], place), rows.sum(axis=place, keepdims=True)
    mean = sums / np.where(n > 0, n, 1)
    squares = sums - align_to(counts.axes, overstated, names, order) - sums * mean
    squares = np.maximum(squares, 0)  # rounding may leave less
    low, high = counts.reach
    seen, most = np.maximum(high - mean, mean - low), np.maximum(1 - mean, mean)
    fourth = (weights**4 * squares * seen**2).sum(axis=inner)
    return np.asarray(fourth), np.asarray((weights * most).max(axis=inner, initial=0))
