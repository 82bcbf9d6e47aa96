"""Approximate tables of rewards that hardly vary: as often right as they say, never wider."""

import numpy as np
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.counts.read import read_log
from boundit.terms.bound_table import BoundTable
from boundit.terms.sampling import Inference

GRAPH, QUERY = "X -> Y", "Y | do(X)"


def draw(
    values: list[float], chances: list[float], n: int, seed: int
) -> dict[str, list[float]]:
    """Draw a log of two arms whose rewards have one law; a line for each reward seen."""
    rng = np.random.default_rng(seed)
    counts = [rng.multinomial(n // 2, chances) for _ in (0, 1)]
    lines = [
        (arm, value, float(k))
        for arm in (0, 1)
        for value, k in zip(values, counts[arm], strict=True)
        if k
    ]
    return {name: [line[i] for line in lines] for i, name in enumerate(("X", "Y", "n"))}


def bound(
    log: dict[str, list[float]],
    outcome_range: tuple[float, float],
    inference: Inference = "approximate",
) -> BoundTable:
    return derive_bounds(
        GRAPH,
        QUERY,
        read_log(log, weight="n"),
        outcome_range=outcome_range,
        inference=inference,
    )


def share_that_holds(
    values: list[float], chances: list[float], n: int, n_logs: int, most: float
) -> float:
    truth = float(np.dot(values, chances))
    held = 0
    for seed in range(n_logs):
        table = bound(draw(values, chances, n, seed), (0, most))
        held += all(
            each.lower <= truth + 1e-9 and truth <= each.upper + 1e-9
            for each in table.bounds.values()
        )
    return held / n_logs


@pytest.mark.parametrize(("rare", "n"), [(1e-3, 500), (1e-4, 20_000), (1e-5, 50_000)])
def test_rare_rewards_that_a_log_hardly_shows_are_within_the_bounds(
    rare: float, n: int
) -> None:
    """Everybody pays 10, but for one in many who pays 20."""
    assert share_that_holds([10, 20], [1 - rare, rare], n, 60, 20) >= 0.95


def test_sparse_revenue_holds_as_often_as_it_says() -> None:
    """Where few large rewards make most of the variance, the normal law holds too rarely."""
    values = [0, 5, 10, 20, 50, 100, 200, 500.0]
    chances = [0.9, *(0.1 * np.array([0.25, 0.3, 0.2, 0.15, 0.07, 0.02, 0.01]))]

    assert share_that_holds(values, chances, 20_000, 200, 500) >= 0.95


def test_a_reward_that_never_varied_is_not_certain_and_the_table_says_why() -> None:
    log: dict[str, list[float]] = {"X": [0, 1], "Y": [10, 10], "n": [10_000, 10_000]}

    table = bound(log, (0, 20))

    assert all(each.lower < 10 < each.upper for each in table.bounds.values())
    assert any("vary too little" in said and "exact" in said for said in table.caveats)
    assert "found by the exact method" in table.explain(1)


@pytest.mark.parametrize("share", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("n", [500, 2_000, 20_000])
def test_no_approximate_interval_is_wider_than_the_exact_one(share: float, n: int) -> None:
    values = [0, 5, 20, 100, 500.0]
    chances = [1 - share, *(share * np.array([0.5, 0.3, 0.15, 0.05]))]
    log = draw(values, chances, n, seed=n)

    near, exact = bound(log, (0, 500)), bound(log, (0, 500), "exact")

    for key, row in near.bounds.items():
        assert row.upper - row.lower <= exact[key].upper - exact[key].lower + 1e-9


def test_a_row_of_few_successes_is_what_exact_inference_says() -> None:
    log: dict[str, list[float]] = {
        "X": [0, 0, 1, 1],
        "Y": [0, 1, 0, 1],
        "n": [500, 500, 500, 5],
    }

    near, exact = bound(log, (0, 1)), bound(log, (0, 1), "exact")

    assert (near[1, ()].lower, near[1, ()].upper) == (exact[1, ()].lower, exact[1, ()].upper)
    assert near[0, ()].width < exact[0, ()].width
    assert any(said.startswith("1 of 2 rows have fewer than 15") for said in near.caveats)


def test_many_rewards_that_vary_keep_their_normal_intervals() -> None:
    values, chances = [float(v) for v in range(7, 14)], [0.02, 0.08, 0.2, 0.4, 0.2, 0.08, 0.02]

    table = bound(draw(values, chances, 4_000, seed=1), (0, 20))

    normal = 2 * 2.26 * np.sqrt(1.4 / 2_000)
    assert all(0.9 * normal < table[arm, ()].width < 1.1 * normal for arm in (0, 1))
    assert not any("exact" in said for said in table.caveats)


@pytest.mark.parametrize(
    ("graph", "confounder"),
    [
        ("C -> X; C -> Y; Z -> X; Z -> Y; X -> Y", "Z"),
        ("C -> X; C -> Y; X -> Z -> Y; X <-> Y", "mediator"),
    ],
)
@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ([0, 1], [0.98, 0.02]),
        ([10, 20], [0.998, 0.002]),
        ([0, 5, 20, 100], [0.95, 0.03, 0.015, 0.005]),
    ],
)
def test_contexts_whose_rewards_are_rare_hold_and_are_no_wider_than_exact_ones(
    graph: str, confounder: str, values: list[float], chances: list[float]
) -> None:
    """In context 1 rewards are rare, in context 0 they vary; neither arm nor Z matters."""
    even = np.full(len(values), 1 / len(values))
    laws, span = [even, np.array(chances)], (0.0, float(max(values)))
    held, n_logs, n = 0, 20, 1_500
    for seed in range(n_logs):
        rng = np.random.default_rng(seed)
        c, z, x = rng.integers(2, size=(3, n))
        if confounder == "mediator":
            z = np.where(rng.random(n) < 0.8, x, 1 - x)
        y = np.array([rng.choice(values, p=laws[at]) for at in c])
        log = read_log({"C": c, "Z": z, "X": x, "Y": y})
        near, exact = (
            derive_bounds(graph, "Y | do(X), C", log, outcome_range=span, inference=how)
            for how in ("approximate", "exact")
        )
        for key, row in near.bounds.items():
            assert row.upper - row.lower <= exact[key].width + 1e-9
        held += all(
            row.lower - 1e-9 <= float(np.dot(values, laws[int(str(key[1][0]))])) <= row.upper
            for key, row in near.bounds.items()
        )
    assert held >= 0.95 * n_logs
