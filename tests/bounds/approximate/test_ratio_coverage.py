"""Ratios of estimated sums: their approximate intervals hold as often as they say."""

import numpy as np
import pytest

import boundit as bd

NAPKIN = "W -> Z -> X -> Y; W <-> X; W <-> Y"
ARMS, OTHER = (0, 1), 0.3


def draw_counts(
    n: int, seed: int, instrument: tuple[float, float], reward: tuple[tuple[float, float], ...]
) -> dict[str, list[int]]:
    """Draw a log of the napkin: chances of Z by W, and those of Y by X and a hidden cause."""
    rng = np.random.default_rng(seed)
    hidden, other = rng.random(n) < 0.7, rng.random(n) < OTHER
    w = rng.random(n) < np.array([[0.2, 0.3], [0.66, 0.95]])[hidden * 1, other * 1]
    z = rng.random(n) < np.array(instrument)[w * 1]
    x = rng.random(n) < np.array([[0.56, 0.12], [0.42, 0.41]])[z * 1, hidden * 1]
    y = rng.random(n) < np.array(reward)[x * 1, other * 1]
    rows, counts = np.unique(np.stack([w, z, x, y], 1) * 1, axis=0, return_counts=True)
    columns = dict(zip("WZXY", rows.T.tolist(), strict=True))
    return {**columns, "n": counts.tolist()}


@pytest.mark.parametrize(
    ("n", "instrument", "reward"),
    [
        (300, (0.6, 0.4), ((0.5, 0.3), (0.6, 0.8))),
        (400, (0.94, 0.13), ((0.14, 0.26), (0.58, 0.16))),
    ],
)
def test_a_ratio_of_few_rows_holds_as_often_as_it_says(
    n: int, instrument: tuple[float, float], reward: tuple[tuple[float, float], ...]
) -> None:
    """Where W all but settles Z, a handful of rows makes half of the ratio."""
    truth = [(1 - OTHER) * reward[x][0] + OTHER * reward[x][1] for x in ARMS]
    n_logs, held = 120, 0
    for seed in range(n_logs):
        log = bd.read_log(draw_counts(n, seed, instrument, reward), weight="n")
        table = bd.derive_bounds(NAPKIN, "Y | do(X)", log, inference="approximate")
        held += all(table[x, ()].lower <= truth[x] <= table[x, ()].upper for x in ARMS)
    assert held >= 0.95 * n_logs
