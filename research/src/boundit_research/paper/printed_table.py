"""The paper's offline table (appendix, "Reward Estimation for the Synthetic Data"), as printed.

The paper does not say which row is which; in the order (x1, x2, u1, u2), counted up in binary,
its CP column agrees with its own probabilities up to sampling noise.
"""

from typing import NamedTuple

from boundit.core.interval import Interval


class PrintedRow(NamedTuple):
    """One row as printed."""

    cp: float
    biased: float
    lower: float
    upper: float
    truth: float

    @property
    def interval(self) -> Interval:
        """The bounds that the paper prints for this arm and context."""
        return Interval(self.lower, self.upper)


PRINTED: tuple[PrintedRow, ...] = (
    PrintedRow(0.313, 0.364, 0.246, 0.385, 0.283),
    PrintedRow(0.336, 0.351, 0.236, 0.371, 0.278),
    PrintedRow(0.533, 0.346, 0.233, 0.367, 0.275),
    PrintedRow(0.51, 0.362, 0.244, 0.384, 0.283),
    PrintedRow(0.517, 0.539, 0.35, 0.565, 0.448),
    PrintedRow(0.494, 0.519, 0.376, 0.545, 0.44),
    PrintedRow(0.657, 0.513, 0.371, 0.538, 0.436),
    PrintedRow(0.71, 0.537, 0.389, 0.563, 0.448),
    PrintedRow(0.377, 0.492, 0.296, 0.505, 0.419),
    PrintedRow(0.386, 0.474, 0.285, 0.486, 0.411),
    PrintedRow(0.525, 0.468, 0.282, 0.48, 0.407),
    PrintedRow(0.518, 0.49, 0.295, 0.503, 0.419),
    PrintedRow(0.547, 0.652, 0.414, 0.665, 0.58),
    PrintedRow(0.513, 0.628, 0.409, 0.64, 0.569),
    PrintedRow(0.756, 0.62, 0.404, 0.632, 0.564),
    PrintedRow(0.681, 0.649, 0.324, 0.662, 0.58),
)
