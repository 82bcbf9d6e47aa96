"""What a round teaches, against formulas written out."""

import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.fused.arrays import BIAS_EVIDENCE, OWN_EVIDENCE, WEIGHT
from boundit.bandit.fused.beliefs import FusedBeliefs
from boundit.bandit.fused.indices import score_pair
from boundit.bandit.fused.layout import PRIOR, TAUS
from boundit.bandit.fused.learn import learn_particles, predict_reward, weigh_particles
from tests.bandit.fused.plain_fused import PlainFused, draw_plan, predict


@pytest.mark.parametrize("sizes", [(), (2,), (3,), (2, 3)])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_evidence_taus_and_indices_are_those_of_the_formulas(
    sizes: tuple[int, ...], known: bool, share: float
) -> None:
    plan, rng = draw_plan(7, sizes, known=known, rows=60), np.random.default_rng(3)
    beliefs = FusedBeliefs(plan, (0.0, 2.0), trusting=False)
    beliefs.layout.tied[:] = 0
    plain = PlainFused(plan, TAUS, PRIOR, 0.5)
    names, leaves = plan.variables, list(beliefs.reader.leaves)
    for t in range(150):
        pair = int(rng.integers(len(plan.pairs)))
        y = float(rng.choice([0.0, 1.0, 0.25]))
        values = leaves[int(rng.integers(len(leaves)))]
        told = {name: v for name, v in zip(names, values, strict=True) if rng.random() < share}
        fits = [
            i
            for i, found in enumerate(leaves)
            if all(v == told.get(name, v) for name, v in zip(names, found, strict=True))
        ]
        arm, context = plan.pairs[pair]
        # Only what cells predict is written out, so that particles must not decide.
        beliefs.counts.totals[1] = 1e9
        beliefs.take(Decision(str(t), arm, context), 2 * y, told)
        plain.learn(pair, y, fits[0] if len(fits) == 1 else None, fits)
    counts = beliefs.counts
    assert counts.shifts == pytest.approx(np.array(list(plain.shifts.values())), abs=1e-9)
    assert counts.taus[:, WEIGHT] == pytest.approx(plain.weights, rel=1e-9, abs=1e-12)
    for pair in range(len(plan.pairs)):
        assert counts.pairs[pair, BIAS_EVIDENCE] == pytest.approx(plain.lb[pair], abs=1e-9)
        assert counts.pairs[pair, OWN_EVIDENCE] == pytest.approx(plain.lp[pair], abs=1e-9)
        scratch = np.empty((6, 30))
        for i, tau in enumerate(TAUS):
            for own in (False, True):
                found = score_pair(beliefs.layout, counts, pair, i, own, 1.0, scratch)
                mean, variance = plain.moments(pair, tau, own=own)
                assert found == pytest.approx(mean + variance**0.5, rel=1e-9)


def test_a_reward_between_0_and_1_is_predicted_by_the_mean_of_its_likelihood() -> None:
    for y in (0.0, 0.3, 1.0):
        assert predict_reward(y, 2.5, 4.0) == pytest.approx(predict(y, 2.5, 4.0))
    x = (np.arange(100_000) + 0.5) / 100_000
    density = x**1.5 * (1 - x) ** 3
    mean = (x**0.3 * (1 - x) ** 0.7 * density).sum() / density.sum()
    assert predict_reward(0.3, 2.5, 4.0) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("tilt", [False, True])
@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2)])
def test_particles_weighed_reward_by_reward_are_those_weighed_at_once(
    tilt: bool, sizes: tuple[int, ...]
) -> None:
    plan = draw_plan(2, sizes, tilt=tilt)
    beliefs, rng = FusedBeliefs(plan, (0.0, 1.0), trusting=False), np.random.default_rng(1)
    beliefs.spread_particles()
    pairs = np.zeros((len(plan.pairs), 4))
    predicted = 0.0
    for _ in range(60):
        pair, y = int(rng.integers(len(plan.pairs))), float(rng.random() < 0.7)
        chance, mean = learn_particles(beliefs.laws, beliefs.learned, pair, y)
        assert chance == pytest.approx(mean if y else 1 - mean, rel=1e-9)
        predicted += np.log(chance)
        pairs[pair, :2] += y, 1 - y
    at_once = beliefs.particles.make_counts()
    weigh_particles(beliefs.laws, at_once, pairs, beliefs.layout.log_prior)
    for one, two in zip(beliefs.learned, at_once, strict=True):
        assert one[..., -1] == pytest.approx(two[..., -1], rel=1e-6, abs=1e-10)
    assert np.isfinite(predicted)
