"""The paper's online claims, each simulated with fixed seeds and stated margins.

Small forms of the studies that ``boundit study`` plays in full. What holds stands
beside what does not; the latter have entries in ``research/docs/deviations.md``.
"""

from functools import cache

import numpy as np
import pytest

from boundit.bandit.lin_ucb import LinUCB
from boundit.bandit.oam.policy import OAM
from boundit.bandit.ridge import WarmStart
from boundit.bandit.spec import show
from boundit.simulation.block import RunBlock
from boundit.simulation.environment import Environment
from boundit.simulation.environments import (
    flipped_environment,
    paper_environment,
    random_environment,
)
from boundit.simulation.policies import OfflineTables, pick_policies
from boundit.simulation.regret import Regret
from boundit.simulation.simulate import simulate
from boundit_research.online.ceilings import run_ceiling_study
from boundit_research.online.monitor import run_monitor_study
from boundit_research.online.suite import make_suite, run_suite_study
from boundit_research.online.theorem6 import run_theorem6
from boundit_research.theory import compute_oam_rate

ROUNDS = 15_000
WARM = [f"LinUCB_{of}-{rows}" for of in ("CP", "Biased") for rows in (100, "counts")]


@cache
def play_paper_world() -> Regret:
    """LinUCB without bounds, with those of the exact law, and from an estimate of the log."""
    names = ["LinUCB", "LinUCB-PCB", *(f"LinUCB_CP-{rows}" for rows in (1, 100, "counts"))]
    return play(PAPER, names, runs=100)


@cache
def play_flipped_world() -> Regret:
    """The same where bias flips the best arm."""
    return play(FLIPPED, ["LinUCB", "LinUCB-PCB", *WARM], runs=20)


def play(world: Environment, names: list[str], runs: int) -> Regret:
    policies = pick_policies(names, OfflineTables.from_environment(world), exact=True)
    return simulate(world, policies, rounds=ROUNDS, runs=runs)


PAPER, FLIPPED = paper_environment(), flipped_environment()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("world", [PAPER, FLIPPED, random_environment(7)], ids=lambda w: w.name)
def test_an_arm_ruled_out_is_not_pulled_while_the_best_has_its_due(
    world: Environment, shared: bool
) -> None:
    """Lemma 6, round by round: it holds wherever the best arm's index is at least its mean."""
    bounds = OfflineTables.from_environment(world, size=2_000).exact
    policy = LinUCB(prior=bounds, shared=shared).clone(
        arms=world.finite.arms, context=world.query.context
    )
    chunk, kept = RunBlock(world, 3, range(1), 800), 0
    for visitor, luck in zip(chunk.contexts[0], chunk.uniforms[0], strict=True):
        context, means = world.finite.contexts[visitor], world.finite.means[visitor]
        decision = policy.decide(context)
        best = show(world.finite.arms[int(means.argmax())])
        if decision.scores.get(best, -np.inf) >= means.max():
            assert bounds[decision.arm_values, context].upper >= means.max() - 1e-12
            kept += 1
        policy.learn(decision, float(luck < world.mean(decision.arm_values, context)))
    assert kept > 300


def test_bounds_lower_the_regret_of_linucb_on_the_papers_model() -> None:
    """Figure 4 (LinUCB-PCB below LinUCB) holds; 2,000 runs say by how much, 100 that it is."""
    line = play_paper_world().only("LinUCB", "LinUCB-PCB").summary()[1]

    assert 5 < line.less_lower < line.less < line.less_upper < 100


def test_a_hundred_simulations_say_little() -> None:
    """The online experiment (D-40): regret is heavy-tailed, 100 runs leave a wide margin."""
    line, final = play_paper_world().summary()[0], play_paper_world().final("LinUCB")

    assert line.median_upper < line.mean
    assert final.std() > 0.6 * final.mean()
    assert line.error > 0.1 * line.mean


def test_the_outcome_of_a_warm_start_hangs_on_its_weight() -> None:
    """The weight of a warm start (D-39): at 100 rows a cell CP beats LinUCB, in full it loses.

    With one row there is no telling. The paper says that it does worse than LinUCB.
    """
    lines = {line.policy: line for line in play_paper_world().summary(correction="holm")}

    assert lines["LinUCB_CP-100"].less > 0 > lines["LinUCB_CP-counts"].less
    assert lines["LinUCB_CP-100"].p < 0.05 > lines["LinUCB_CP-counts"].p
    assert lines["LinUCB_CP-1"].p > 0.1


def test_where_bias_flips_the_best_arm_naive_warm_starts_are_worse_and_bounds_are_not() -> None:
    """The paper's warning holds here, beyond any margin, from 100 rows a cell on."""
    lines = {line.policy: line for line in play_flipped_world().summary(correction="holm")}

    for name in WARM:
        assert lines[name].less_upper < -100
    assert lines["LinUCB-PCB"].less_upper > 0
    assert lines["LinUCB-PCB"].median_upper < lines["LinUCB"].median_lower


def test_a_full_warm_start_of_the_flipped_world_regrets_in_every_round() -> None:
    """With the log's own counts the wrong arm is played to the end: regret is linear."""
    curve = play_flipped_world().only("LinUCB_CP-counts").bands()[0]
    half = len(curve.at) // 2

    assert curve.mean[-1] > 1.7 * curve.mean[half]
    assert curve.mean[-1] > 0.1 * ROUNDS


def test_valid_bounds_cost_no_regret_on_the_suite() -> None:
    """Theorem 6 as a measurement: in no world of the suite beyond a corrected interval."""
    study = run_suite_study(runs=40, rounds=1_500)

    assert study
    assert sum(row.better for row in study.rows) >= 4
    assert len(study.rows) == len(make_suite())


def test_a_valid_bound_raises_the_regret_of_a_near_tie() -> None:
    """Theorem 6 does not hold (D-29): 4.236 without the bound and 5.054 with it."""
    without, bounded = run_theorem6(runs=4_000).summary()

    assert without.mean == pytest.approx(4.236, abs=0.09)
    assert bounded.mean == pytest.approx(5.054, abs=0.09)
    assert bounded.less_upper < -0.6


def test_a_wrong_bound_costs_the_gap_in_every_round_until_the_monitor_drops_it() -> None:
    """An arm that is ruled out is not played, so that only a policy that explores finds it."""
    slopes = dict(run_monitor_study(runs=4, rounds=5_000, explore=0.3).slopes)
    gap = 0.1125  # of the best arm to the mixed items

    assert slopes["wrong bounds"] == pytest.approx(gap, abs=0.01)
    assert slopes["wrong, monitored"] > 0.5 * gap
    explores = slopes["right, monitored, explores"]
    assert slopes["wrong, monitored, explores"] == pytest.approx(explores, abs=0.1 * gap)
    assert explores < 0.5 * gap
    assert slopes["no bounds"] < 0.25 * gap


def test_regret_stays_below_the_ceilings_of_theorems_5_and_8() -> None:
    """Theorem 5 in every run, for the alpha of its proof; Theorem 8 on average."""
    study = run_ceiling_study(
        runs=10, rounds=3_000, oam_runs=2, worlds=(PAPER, random_environment(4))
    )

    assert all(row.holds for row in study.rows if row.theorem in (5, 8))
    for row, bounded in zip(study.rows[1:3], study.rows[4:6], strict=True):
        assert bounded.ceiling <= row.ceiling


def test_theorem_7_promises_less_than_oam_pcb_regrets() -> None:
    """Theorem 7 (D-35, D-43): V log(T) is 85 here, and OAM-PCB regrets 132 in 15,000 rounds."""
    bounds, means = OfflineTables.from_environment(FLIPPED, size=2_000).exact, FLIPPED.means()
    x = {(arm, context): [1.0, *context, *arm] for arm, context in means}
    found = simulate(FLIPPED, {"OAM-PCB": OAM(prior=bounds)}, rounds=ROUNDS, runs=20)
    line = found.summary()[0]

    assert compute_oam_rate(x, means, bounds) * np.log(ROUNDS) == pytest.approx(85.47, abs=0.01)
    assert line.mean_lower > 100


def test_a_warm_start_without_weight_is_none() -> None:
    """So that nothing but the weight makes the difference."""
    cp = OfflineTables.from_environment(PAPER, size=2_000).cp
    policies = {"LinUCB": LinUCB(), "hardly": LinUCB(warm_start=WarmStart(cp, 1e-12))}
    plain, warm = simulate(PAPER, policies, rounds=300, runs=2).curves

    assert np.allclose(plain, warm)
