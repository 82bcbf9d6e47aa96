"""Exact inference: coverage, shares of the error, logs of all kinds, and symmetries."""

import numpy as np
import pytest

from boundit.bounds.inference import Approximate, Exact, PlugIn
from boundit.bounds.program.rule import Program
from boundit.counts.log import read_log
from boundit.counts.named_array import Floats
from tests.bounds.inference.problems import measure, pose

BACK_DOOR = "Z -> X; Z -> Y; X -> Y"
INSTRUMENT = "Z -> X -> Y; X <-> Y"


def draw_back_door(n: int, seed: int, levels: int = 4) -> tuple[dict[str, Floats], Floats]:
    """A log with a confounder of some levels, and the true effect of both arms."""
    world, rng = np.random.default_rng(7), np.random.default_rng(seed)
    weights, arm, means = (
        world.dirichlet(np.ones(levels)),
        world.uniform(0.2, 0.8, levels),
        world.uniform(0.1, 0.9, (levels, 2)),
    )
    z = rng.choice(levels, n, p=weights)
    x = (rng.random(n) < arm[z]).astype(int)
    y = (rng.random(n) < means[z, x]).astype(int)
    return {"Z": z, "X": x, "Y": y}, weights @ means


@pytest.mark.parametrize("n", [120, 2_000])
def test_endpoints_hold_at_least_as_often_as_they_say(n: int) -> None:
    held = 0
    for seed in range(60):
        log, truth = draw_back_door(n, seed)
        rules, evidence = pose(BACK_DOOR, "Y | do(X)", log, domain={"Z": range(4)})
        found = Exact(0.8).bound(rules, evidence)
        held += bool(((found.lower <= truth) & (truth <= found.upper)).all())
    assert held >= 0.8 * 60


def test_sums_of_many_strata_cost_little_more_than_few() -> None:
    widths = []
    for levels in (2, 30):
        log, _ = draw_back_door(5_000, 1, levels)
        found = Exact().bound(*pose(BACK_DOOR, "Y | do(X)", log, domain={"Z": range(levels)}))
        widths.append(max(measure(found)))
    assert widths[1] < 1.4 * widths[0] < 0.12


def draw_sparse(n: int, seed: int) -> tuple[dict[str, Floats], float]:
    """Two arms of one distribution: 5 % pay, up to 500."""
    values = np.array([0, 5, 10, 20, 50, 100, 200, 500.0])
    chances = np.array([0.95, *(0.05 * np.array([0.25, 0.3, 0.2, 0.15, 0.07, 0.02, 0.01]))])
    rng = np.random.default_rng(seed)
    return {"X": rng.integers(2, size=n), "Y": rng.choice(values, n, p=chances)}, float(
        values @ chances
    )


@pytest.mark.parametrize(("n", "most"), [(2_000, 2.8), (200_000, 1.7)])
def test_sparse_outcomes_are_not_far_from_a_normal_interval(n: int, most: float) -> None:
    ratios, held = [], 0
    for seed in range(6):
        log, truth = draw_sparse(n, seed)
        found = Exact().bound(*pose("X -> Y", "Y | do(X)", log, outcome_range=(0, 500)))
        normal = [2 * 2.24 * np.std(log["Y"][log["X"] == x]) / (n / 2) ** 0.5 for x in (0, 1)]
        ratios += [500 * w / normal[x] for x, w in enumerate(measure(found))]
        held += bool((500 * found.lower <= truth).all() and (truth <= 500 * found.upper).all())
    assert np.mean(ratios) < most
    assert held == 6


def draw_instrument(n: int) -> dict[str, Floats]:
    rng = np.random.default_rng(3)
    u, z = rng.integers(2, size=(2, n))
    x = (rng.random(n) < 0.1 + 0.7 * z + 0.1 * u).astype(int)
    y = (rng.random(n) < 0.2 + 0.4 * x + 0.2 * u).astype(int)
    return {"Z": z, "X": x, "Y": y}


def test_a_program_has_cells_of_its_own_and_narrows_where_no_chain_gives_a_point() -> None:
    log = draw_instrument(20_000)
    rules, evidence = pose(INSTRUMENT, "Y | do(X)", log, program=True)
    chains = [rule for rule in rules if not isinstance(rule, Program)]

    both, alone = Exact().bound(rules, evidence), Exact().bound(chains, evidence)

    assert sum(measure(both)) < 0.95 * sum(measure(alone))
    assert any(isinstance(rule, Program) for rule in both.rules)
    assert both.program_run is not both.run
    assert not both.empty.any()


def test_a_program_costs_nothing_where_a_chain_gives_a_point() -> None:
    log, _ = draw_back_door(3_000, 0)
    rules, evidence = pose(BACK_DOOR, "Y | do(X)", log, program=True)
    chains = [rule for rule in rules if not isinstance(rule, Program)]

    assert measure(Exact().bound(rules, evidence)) == measure(Exact().bound(chains, evidence))


def test_a_log_that_breaks_an_instrument_is_refuted() -> None:
    """Z decides Y although nobody's X changes: no model of the graph does that."""
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=4_000)
    log = {"Z": z, "X": np.where(rng.random(4_000) < 0.02, 0, 1), "Y": z}

    found = Exact().bound(*pose(INSTRUMENT, "Y | do(X)", log, program=True))

    assert found.empty.any()


def test_estimates_are_not_put_into_programs_that_multiply_unknowns() -> None:
    rng = np.random.default_rng(2)
    columns = {name: rng.integers(2, size=500) for name in "ABXY"}
    rules, evidence = pose(
        "A -> X; X -> Y; X <-> Y; B -> Y; A -> [S]; B -> [S]",
        "Y | do(X)",
        columns,
        program=True,
    )
    program = next(rule for rule in rules if isinstance(rule, Program))
    found = PlugIn().bound(rules, evidence)

    named = any(program.name in str(note) and "confidence" in str(note) for note in found.notes)
    assert named is not program.is_linear
    assert (program in found.rules) is program.is_linear


def test_rules_that_depend_on_a_learning_policy_are_left_out() -> None:
    log, _ = draw_back_door(900, 0)
    plain = read_log(log)
    rules, evidence = pose("X -> Y; X <-> Y", "Y | do(X)", plain)
    adaptive = read_log(log, adaptive=True)

    found = Exact().bound(*pose("X -> Y; X <-> Y", "Y | do(X)", adaptive))

    assert any("changed while the policy learned" in str(note) for note in found.notes)
    assert sum(measure(found)) > sum(measure(Exact().bound(rules, evidence)))


def test_time_uniform_intervals_are_wider() -> None:
    log, _ = draw_back_door(900, 0)
    widths = [
        sum(
            measure(Exact().bound(*pose("X -> Y", "Y | do(X)", read_log(log, adaptive=adapts))))
        )
        for adapts in (False, True)
    ]
    assert widths[0] < widths[1] < 2 * widths[0]


def test_an_exact_table_beside_a_counted_log_costs_no_error() -> None:
    graph, rng = "Z -> X; Z -> Y; X -> Y; Z -> [S]", np.random.default_rng(4)
    z, x = rng.integers(2, size=(2, 3_000))
    log = {"Z": z, "X": x, "Y": (rng.random(3_000) < 0.2 + 0.3 * z + 0.2 * x).astype(int)}
    exact = read_log({"Z": [0, 1], "n": [0.3, 0.7]}, weight="n", exact=True)
    counted = read_log({"Z": [0, 1], "n": [300, 700]}, weight="n")

    widths = [
        sum(measure(Exact().bound(*pose(graph, "Y | do(X)", log, external=[table]))))
        for table in (exact, counted)
    ]

    assert 0 < widths[0] < widths[1]


def test_exact_distributions_have_no_sampling_error() -> None:
    law = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1], "n": [0.1, 0.3, 0.45, 0.15]}
    rules, evidence = pose("X -> Y", "Y | do(X)", read_log(law, weight="n", exact=True))

    for inference in (PlugIn(), Exact(), Approximate()):
        found = inference.bound(rules, evidence)
        assert found.lower == pytest.approx([0.75, 0.25])
        assert found.upper == pytest.approx([0.75, 0.25])


def test_a_rule_without_time_is_named() -> None:
    log, _ = draw_back_door(500, 0)
    rules, evidence = pose(BACK_DOOR, "Y | do(X)", log, time_limit=1e-9)

    found = Exact().bound(rules, evidence)

    assert measure(found) == [1.0, 1.0]
    assert any("time_limit was reached" in str(note) for note in found.notes)


@pytest.mark.parametrize("inference", [Exact(), Approximate(), PlugIn()])
def test_failures_are_the_mirror_of_successes(inference: Exact | Approximate | PlugIn) -> None:
    log, _ = draw_back_door(1_500, 5)
    other = {**log, "Y": 1 - log["Y"]}

    one, mirror = (inference.bound(*pose("X -> Y", "Y | do(X)", each)) for each in (log, other))

    assert one.lower == pytest.approx(1 - mirror.upper)
    assert one.upper == pytest.approx(1 - mirror.lower)


@pytest.mark.parametrize("inference", [Exact(), Approximate()])
def test_numbers_on_another_scale_are_the_same(inference: Exact | Approximate) -> None:
    log, _ = draw_sparse(3_000, 2)
    moved = {**log, "Y": 3 * log["Y"] - 100}

    one = inference.bound(*pose("X -> Y", "Y | do(X)", log, outcome_range=(0, 500)))
    other = inference.bound(*pose("X -> Y", "Y | do(X)", moved, outcome_range=(-100, 1_400)))

    assert one.lower == pytest.approx(other.lower, abs=1e-6)
    assert one.upper == pytest.approx(other.upper, abs=1e-6)
