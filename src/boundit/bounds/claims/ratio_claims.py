r"""Claims on a ratio of sums: thresholds tried one after another, until one is not passed.

For a threshold ``t`` the claim :math:`T - t B > 0` is one on a sum of levels. Thresholds go
upwards, in steps that the pilot fixed, and the last before the first that is not passed is the
lower end. To miss, the first of them that is not below the ratio would have to be passed: one
error however many are tried. Passed thresholds need not lie together, so none may be skipped.
Upper ends go downwards. Where the bottom may be 0 nothing is passed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from boundit.bounds.claims.level_form import RatioForm
from boundit.bounds.claims.pilot import SplitSources
from boundit.bounds.claims.pilot_choice import PilotChoice, PilotChooser
from boundit.bounds.claims.read_ratio import (
    UNKNOWN,
    RatioPilot,
    RatioRest,
    has_fixed_levels,
    make_ratio_reader,
    read_ratio_pilot,
    read_ratio_rest,
)
from boundit.bounds.claims.sum_claims import SumClaims
from boundit.counts.formulas.workspace import Workspace
from boundit.counts.named_array import Floats

N_KNOTS: Final = 17
"""At how many thresholds the pilot chooses scales; between them they are interpolated."""
N_STEPS: Final = 256
"""How many thresholds are tried for an end, at most."""
FINE_STEPS: Final = 1024
"""How many where no pilot tells near which thresholds an end will be."""
LEAST_STEPS: Final = 32
"""How many are tried at least, however large the table is."""
_BLOCK: Final = 200_000  # how many cells are computed at once
_MOST: Final = 50_000_000  # how many cells an end may take before its steps get longer
_REACH: Final = 1.6  # how many half widths the pilot may err, for each of its own


@dataclass(frozen=True, eq=False)
class RatioChoice:
    """What the pilot chose for one end of all rows: thresholds, in order, and a scale for each.

    The last axis is that of thresholds. ``spread`` is as in ``PilotChoice``; ``predicted`` is
    the end that the pilot expects.
    """

    steps: Floats
    scale: Floats
    spread: tuple[NDArray[np.bool_], ...]
    predicted: Floats


@final
class RatioClaims:
    """Claims on one ratio of sums, for all rows of a table.

    ``choose`` asks the pilot alone; ``bound`` reads the rest under what was chosen. Levels pay
    ``by_range`` where one before the last is read at a fixed value.
    """

    def __init__(self, pilot: RatioPilot, rest: RatioRest, *, by_range: bool) -> None:
        self.pilot, self.rest, self.by_range = pilot, rest, by_range
        n_axes = len(pilot.arrays.layout.axes)
        self._knots = np.linspace(0, 1, N_KNOTS).reshape((1,) * (n_axes - 1) + (-1,))
        self._chooser = PilotChooser(pilot.at(self._knots), by_range=by_range)

    def choose(self, log_error: Floats, *, upper: bool) -> RatioChoice:
        """Choose thresholds and scales of one end of all rows, and predict it."""
        found = self._chooser.choose(log_error[..., None], upper=upper)
        expected = self._predict(found.predicted, upper=upper)
        estimate = self.pilot.estimate[..., 0]
        near = np.abs(estimate - expected)
        # The pilot errs by the square root of how much smaller it is.
        reach = near * (1 + _REACH * self.pilot.growth**0.5) + 1e-9
        low, high = np.maximum(expected - reach, 0.0), np.minimum(expected + reach, 1.0)
        start, stop = (high, low) if upper else (low, high)
        n_steps = self._count_steps()
        parts = np.linspace(0, 1, n_steps + 1)[1:]  # an end at the start says nothing
        steps = start[..., None] + (stop - start)[..., None] * parts
        at = np.clip(steps * (N_KNOTS - 1), 0, N_KNOTS - 1)
        below = np.minimum(at.astype(np.int64), N_KNOTS - 2)
        scales = np.log(np.broadcast_to(found.scale, (*expected.shape, N_KNOTS)))
        low_log, high_log = (
            np.take_along_axis(scales, place, axis=-1) for place in (below, below + 1)
        )
        scale = np.exp(low_log + (at - below) * (high_log - low_log))
        nearest = np.rint(at).astype(np.int64)
        spread = tuple(
            np.take_along_axis(np.broadcast_to(each, scales.shape), nearest, axis=-1)
            for each in found.spread
        )
        return RatioChoice(steps, scale, spread, expected)

    def bound(self, choice: RatioChoice, log_error: Floats, *, upper: bool) -> Floats:
        """Bound one end of all rows, each missing with chance ``exp(-log_error)``."""
        n_steps = choice.steps.shape[-1]
        size = max(1, _BLOCK // self._count_cells())
        shape = np.broadcast_shapes(choice.steps.shape[:-1], self.rest.mass.shape[:-1])
        end = np.full(shape, 1.0 if upper else 0.0)
        passing = np.ones(end.shape, dtype=bool)
        for first in range(0, n_steps, size):
            self.rest.arrays.settings.workspace.require_time()
            part = slice(first, first + size)
            t = choice.steps[..., part]
            passed = self._pass_steps(choice, part, log_error, upper=upper)
            leading = np.where(
                passing, np.logical_and.accumulate(passed, axis=-1).sum(axis=-1), 0
            )
            reached = np.take_along_axis(t, np.maximum(leading - 1, 0)[..., None], axis=-1)
            end = np.where(leading > 0, reached[..., 0], end)
            passing = leading == t.shape[-1]
            if not passing.any():
                break
        found: Floats = np.clip(end, 0.0, 1.0)
        return found

    def _pass_steps(
        self, choice: RatioChoice, part: slice, log_error: Floats, *, upper: bool
    ) -> NDArray[np.bool_]:
        """Tell which of some thresholds the ratio surely is above, or below for upper ends."""
        t = choice.steps[..., part]
        spread = tuple(each[..., part] for each in choice.spread)
        own = PilotChoice(choice.scale[..., part], spread, np.zeros_like(t))
        claims = SumClaims(self.pilot.at(t), self.rest.at(t), centre=t)
        found = claims.bound(own, log_error[..., None], upper=upper)
        level = t * self.rest.mass
        return found < level if upper else found > level

    def _predict(self, ends: Floats, *, upper: bool) -> Floats:
        """Predict where thresholds will no longer be passed, from the ends at all knots."""
        margin = (self._knots - ends) if upper else (ends - self._knots)
        shape = np.broadcast_shapes(margin.shape, self.pilot.estimate.shape)
        margin = np.broadcast_to(margin, shape)
        knots = np.broadcast_to(self._knots, margin.shape)
        if upper:
            margin, knots = margin[..., ::-1], knots[..., ::-1]
        # The first knot is the end of the range itself, which is never passed.
        last = (margin[..., 1:] > 0).cumprod(axis=-1).sum(axis=-1)
        place = np.minimum(last, N_KNOTS - 2)[..., None]
        here, there = (np.take_along_axis(margin, place + i, axis=-1)[..., 0] for i in (0, 1))
        from_, to = (np.take_along_axis(knots, place + i, axis=-1)[..., 0] for i in (0, 1))
        part = np.clip(here / np.where(here > there, here - there, 1.0), 0.0, 1.0)
        return np.where(last > 0, from_ + part * (to - from_), 1.0 if upper else 0.0)

    def _count_cells(self) -> int:
        """Count the cells of the last level for one threshold."""
        sizes = self.rest.arrays.settings.sizes
        return int(np.prod([sizes[axis] for axis in self.rest.arrays.layout.cells[-1].axes]))

    def _count_steps(self) -> int:
        """Count how many thresholds to try: fewer for a table with very many cells."""
        most = FINE_STEPS if self.pilot.growth >= UNKNOWN else N_STEPS
        return int(np.clip(_MOST // self._count_cells(), LEAST_STEPS, most))


def make_ratio_claims(
    ratio: RatioForm,
    sources: SplitSources,
    levels: Mapping[str, int],
    workspace: Workspace,
    rng: Generator,
    variances: Sequence[float | None],
) -> list[RatioClaims]:
    """Make the claims on a ratio, one for each variance that a numeric reward may have.

    Of 0/1 rewards the pilot knows: their variance is None.
    """
    reader = make_ratio_reader(ratio, sources, levels, workspace)
    rest = read_ratio_rest(reader, rng, numeric=variances[0] is not None)
    by_range = has_fixed_levels(ratio.form)
    return [
        RatioClaims(read_ratio_pilot(reader, variance), rest, by_range=by_range)
        for variance in variances
    ]
