"""Approximate inference: as often right as it says, and never wider than exact inference."""

import numpy as np
import pytest

import boundit as bd
from boundit.bounds.inference import Approximate, Exact
from boundit.bounds.inference.approximate import find_critical
from boundit.bounds.inference.base import Endpoints
from boundit.counts.log import read_log
from tests.bounds.inference.problems import measure, pose

NAPKIN = "W -> Z -> X -> Y; W <-> X; W <-> Y"
OTHER = 0.3


def draw(values: list[float], chances: list[float], n: int, seed: int) -> object:
    """A log of two arms whose outcomes have one distribution; a line for each outcome seen."""
    rng = np.random.default_rng(seed)
    counts = [rng.multinomial(n // 2, chances) for _ in (0, 1)]
    lines = [
        (arm, value, float(k))
        for arm in (0, 1)
        for value, k in zip(values, counts[arm], strict=True)
        if k
    ]
    log = {name: [line[i] for line in lines] for i, name in enumerate(("X", "Y", "n"))}
    return read_log(log, weight="n")


def bound(log: object, span: tuple[float, float], *, exact: bool = False) -> Endpoints:
    inference = Exact() if exact else Approximate()
    return inference.bound(*pose("X -> Y", "Y | do(X)", log, outcome_range=span))


def count_held(
    values: list[float], chances: list[float], n: int, n_logs: int, most: float
) -> float:
    truth, held = float(np.dot(values, chances)) / most, 0
    for seed in range(n_logs):
        found = bound(draw(values, chances, n, seed), (0, most))
        held += bool(((found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)).all())
    return held / n_logs


@pytest.mark.parametrize(("rare", "n"), [(1e-3, 500), (1e-4, 20_000), (1e-5, 50_000)])
def test_rare_outcomes_that_a_log_hardly_shows_are_within_the_bounds(
    rare: float, n: int
) -> None:
    """Everybody pays 10, but for one in many who pays 20."""
    assert count_held([10, 20], [1 - rare, rare], n, 40, 20) >= 0.95


def test_sparse_revenue_holds_as_often_as_it_says() -> None:
    """Where few large outcomes make most of the variance, normal intervals hold too rarely."""
    values = [0, 5, 10, 20, 50, 100, 200, 500.0]
    chances = [0.9, *(0.1 * np.array([0.25, 0.3, 0.2, 0.15, 0.07, 0.02, 0.01]))]

    assert count_held(values, chances, 20_000, 100, 500) >= 0.95


def test_an_outcome_that_never_varied_is_not_certain_and_a_note_says_why() -> None:
    log = read_log({"X": [0, 1], "Y": [10, 10], "n": [10_000, 10_000]}, weight="n")

    found = bound(log, (0, 20))

    assert (found.lower < 0.5).all()
    assert (found.upper > 0.5).all()
    assert any("vary too little" in str(said) and "exact" in str(said) for said in found.notes)
    told = found.sampling(found.rules[0], (1,), upper=True)
    assert told is not None
    assert told.boxes is not None
    assert "vary too little" in told.boxes


@pytest.mark.parametrize("share", [0.005, 0.1])
@pytest.mark.parametrize("n", [500, 2_000, 20_000])
def test_no_approximate_interval_is_wider_than_the_exact_one(share: float, n: int) -> None:
    values = [0, 5, 20, 100, 500.0]
    chances = [1 - share, *(share * np.array([0.5, 0.3, 0.15, 0.05]))]
    log = draw(values, chances, n, seed=n)

    near, exact = bound(log, (0, 500)), bound(log, (0, 500), exact=True)

    assert all(a <= b + 1e-9 for a, b in zip(measure(near), measure(exact), strict=True))


def test_a_row_of_few_successes_is_what_exact_inference_says() -> None:
    log = read_log({"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1], "n": [500, 500, 500, 5]}, weight="n")

    near, exact = bound(log, (0, 1)), bound(log, (0, 1), exact=True)

    assert (near.lower[1], near.upper[1]) == (exact.lower[1], exact.upper[1])
    assert measure(near)[0] < measure(exact)[0]
    assert any(said.text.startswith("1 of 2 rows have fewer than 15") for said in near.notes)


def test_many_outcomes_that_vary_keep_their_normal_intervals() -> None:
    values, chances = [float(v) for v in range(7, 14)], [0.02, 0.08, 0.2, 0.4, 0.2, 0.08, 0.02]

    found = bound(draw(values, chances, 4_000, seed=1), (0, 20))

    normal = 2 * 2.26 * np.sqrt(1.4 / 2_000) / 20
    assert all(0.9 * normal < width < 1.1 * normal for width in measure(found))
    assert not any("exact" in str(said) for said in found.notes)


@pytest.mark.parametrize(
    ("n", "instrument", "means"),
    [
        (300, (0.6, 0.4), ((0.5, 0.3), (0.6, 0.8))),
        (400, (0.94, 0.13), ((0.14, 0.26), (0.58, 0.16))),
    ],
)
def test_a_ratio_of_few_rows_holds_as_often_as_it_says(
    n: int, instrument: tuple[float, float], means: tuple[tuple[float, float], ...]
) -> None:
    """Where W all but settles Z, a handful of rows makes half of the ratio."""
    truth = np.array([(1 - OTHER) * mean[0] + OTHER * mean[1] for mean in means])
    held, n_logs = 0, 60
    for seed in range(n_logs):
        log = draw_napkin(n, seed, instrument, means)
        domain = {name: range(2) for name in "WZX"}
        found = Approximate().bound(*pose(NAPKIN, "Y | do(X)", log, domain=domain))
        held += bool(((found.lower <= truth) & (truth <= found.upper)).all())
    assert held >= 0.95 * n_logs


def draw_napkin(
    n: int, seed: int, instrument: tuple[float, float], means: tuple[tuple[float, float], ...]
) -> object:
    """A log of the napkin: probabilities of Z by W, and of Y by X and a hidden cause."""
    rng = np.random.default_rng(seed)
    hidden, other = rng.random(n) < 0.7, rng.random(n) < OTHER
    w = rng.random(n) < np.array([[0.2, 0.3], [0.66, 0.95]])[hidden * 1, other * 1]
    z = rng.random(n) < np.array(instrument)[w * 1]
    x = rng.random(n) < np.array([[0.56, 0.12], [0.42, 0.41]])[z * 1, hidden * 1]
    y = rng.random(n) < np.array(means)[x * 1, other * 1]
    return dict(zip("WZXY", np.stack([w, z, x, y]) * 1, strict=True))


def test_clusters_widen_and_limit_the_degrees_of_freedom() -> None:
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(60), 50)
    lucky = rng.random(60) < 0.5
    x = rng.integers(2, size=3_000)
    y = (rng.random(3_000) < 0.3 + 0.4 * lucky[user]).astype(int)
    log = {"X": x, "Y": y, "user": user}

    apart = Approximate().bound(*pose("X -> Y", "Y | do(X)", log))
    together = Approximate().bound(*pose("X -> Y", "Y | do(X)", log, cluster="user"))

    assert all(
        1.5 * a < b < 6 * a for a, b in zip(measure(apart), measure(together), strict=True)
    )


def test_of_few_clusters_whose_rows_differ_nothing_is_said() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(2, 1_600))
    log = {"X": x, "Y": y, "user": np.repeat(np.arange(8), 200)}

    found = Approximate().bound(*pose("X -> Y", "Y | do(X)", log, cluster="user"))

    assert measure(found) == [1.0, 1.0]
    assert any("nothing is said" in str(said) for said in found.notes)


def test_clusters_whose_rows_agree_are_counted_once() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(2, 40))
    log = {"X": np.repeat(x, 5), "Y": np.repeat(y, 5), "user": np.repeat(np.arange(40), 5)}

    found = Approximate().bound(*pose("X -> Y", "Y | do(X)", log, cluster="user"))
    exact = Exact().bound(*pose("X -> Y", "Y | do(X)", {"X": x, "Y": y}))

    assert max(measure(found)) <= max(measure(exact)) + 1e-9


def test_endpoints_that_move_together_need_no_more_than_one() -> None:
    together, apart = np.ones((5, 5)), np.eye(5)

    assert find_critical(0.05, together) == pytest.approx(1.645, abs=0.06)
    assert find_critical(0.05, apart) == pytest.approx(2.32, abs=0.06)


def test_an_arm_as_it_came_is_a_column_beside_the_arm() -> None:
    """The rows and what is summed over may have a variable of one name."""
    graph = bd.parse_graph("V4 -> V2; V5 -> [S]; [S] <-> V1; [S] <-> V3; V4 <-> V5")
    rng = np.random.default_rng(5)
    rows = {name: rng.integers(0, 2, 4_000).tolist() for name in ("V1", "V2", "V3", "V4", "V5")}
    table = bd.derive_bounds(
        graph,
        "V4 | do(V1, V5), V2",
        rows,
        external=[{"V5": rng.integers(0, 2, 300).tolist()}],
        selection_rate=0.44,
        inference="approximate",
    )
    assert all(interval.width < 0.5 for interval in table.intervals.values())
