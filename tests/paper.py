"""The paper's graphs and numbers, each with its place in the text.

W. Huang and X. Wu, Robustly Improving Bandit Algorithms with Confounded and Selection Biased
Offline Data: A Causal Approach, AAAI 2024. Only what is printed there stands here; what follows
from it is computed by the tests.
"""

from itertools import product
from typing import NamedTuple

from boundit.graph.text import parse
from tests.nodes import make_nodes

FIGURE_2 = parse("U1 -> X1 -> I1 -> Y; U1 -> Y; U2 -> X2 -> Y; I1 <-> Y; I1 -> [S]")
"""Figure 2, with the dashed node C1 as the bidirected edge between I1 and Y."""

OUTCOME = make_nodes("Y")
ARM = make_nodes("X1", "X2")
CONTEXT = make_nodes("U1", "U2")
"""The worked example below Algorithm 3: the effect of (x1, x2) on y given (u1, u2)."""

EXAMPLE_RELEVANT = make_nodes("Y", "U1", "U2")
"""The set D as the worked example gives it, before eq. (11)."""

EXAMPLE_FACTORS = (make_nodes("Y"), make_nodes("U1"), make_nodes("U2"))
"""The c-factors of eq. (11)."""

EXAMPLE_SUBSTITUTE = make_nodes("I1")
"""What FindRSI is said to return on Figure 2, below eq. (11)."""

GENERATED, LOGGED = 30_000, 15_000
"""Empirical Evaluation: rows generated, and "approximately" how many remain after selection."""


class OfflineRow(NamedTuple):
    """One row of Table 1: two baselines, the two ends of the bound, and the effect."""

    cp: float
    biased: float
    lower: float
    upper: float
    truth: float


TABLE_1 = (
    OfflineRow(0.313, 0.364, 0.246, 0.385, 0.283),
    OfflineRow(0.336, 0.351, 0.236, 0.371, 0.278),
    OfflineRow(0.533, 0.346, 0.233, 0.367, 0.275),
    OfflineRow(0.510, 0.362, 0.244, 0.384, 0.283),
    OfflineRow(0.517, 0.539, 0.350, 0.565, 0.448),
    OfflineRow(0.494, 0.519, 0.376, 0.545, 0.440),
    OfflineRow(0.657, 0.513, 0.371, 0.538, 0.436),
    OfflineRow(0.710, 0.537, 0.389, 0.563, 0.448),
    OfflineRow(0.377, 0.492, 0.296, 0.505, 0.419),
    OfflineRow(0.386, 0.474, 0.285, 0.486, 0.411),
    OfflineRow(0.525, 0.468, 0.282, 0.480, 0.407),
    OfflineRow(0.518, 0.490, 0.295, 0.503, 0.419),
    OfflineRow(0.547, 0.652, 0.414, 0.665, 0.580),
    OfflineRow(0.513, 0.628, 0.409, 0.640, 0.569),
    OfflineRow(0.756, 0.620, 0.404, 0.632, 0.564),
    OfflineRow(0.681, 0.649, 0.324, 0.662, 0.580),
)
"""Appendix, Table 1 (Reward Estimation for the Synthetic Data), rows 1 to 16."""

ROUNDING = 0.0005
"""Table 1 has three decimals."""


def list_rows(*names: str) -> list[dict[str, int]]:
    """Count through the binary values of ``names``, the last one fastest.

    Table 1 numbers its rows and does not say which row is which; every order is a reading.
    """
    return [dict(zip(names, bits, strict=True)) for bits in product((0, 1), repeat=len(names))]


TABLE_1_ROWS = list_rows("X1", "X2", "U1", "U2")
"""Our reading of the index of Table 1 (D-4)."""
