import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import (
    BadFeatures,
    BadOption,
    CannotMerge,
    DamagedState,
    ForeignBounds,
)
from boundit.bandit.learned.features import Vector
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.ranked_arms import RankedArms
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm
from tests.bandit.all_policies import table

SPEC = BanditSpec(((0,), (1,)), ((0, 1),), ("U",), ((0, 1),))


def learn(models: RidgeModels, arm: Arm, x: Vector) -> None:
    models.take(Decision("", arm, (0,), tuple(x.tolist()), {}), 1.0)


def test_a_model_for_each_arm_or_one_for_all() -> None:
    x = np.array([1.0, 0.0, 1.0])
    apart, together = (
        RidgeModels(SPEC, RidgeSettings(shared=shared)) for shared in (False, True)
    )
    for models in (apart, together):
        learn(models, (1,), x)

    assert x @ apart.get_model((0,), 3).theta == 0.0
    assert x @ together.get_model((0,), 3).theta == x @ together.get_model((1,), 3).theta > 0


def test_features_keep_their_length() -> None:
    models = RidgeModels(
        SPEC, RidgeSettings(features=lambda context, _: [1.0] * (1 + len(context)))
    )
    learn(models, (0,), models.encoding.encode((), (0,)))
    ranked_arms = PriorBounds().rank(SPEC.arms, (5,), held=True)

    with pytest.raises(BadFeatures, match="are 2 numbers, and this policy learns 1"):
        models.get_features((5,), ranked_arms)


def test_a_context_is_encoded_once_while_its_arms_are_the_same() -> None:
    models, ranked_arms = (
        RidgeModels(SPEC, RidgeSettings()),
        PriorBounds().rank(SPEC.arms, (1,), held=True),
    )
    first = models.get_features((1,), ranked_arms)

    assert models.get_features((1,), ranked_arms) is first
    assert models.get_features((1,), RankedArms(ranked_arms)) is not first


def test_other_ways_of_learning_do_not_add_up() -> None:
    with pytest.raises(CannotMerge, match="other features, ridge or warm start"):
        RidgeModels(SPEC, RidgeSettings(ridge=2.0)).join(
            RidgeModels(SPEC, RidgeSettings()), RidgeModels(SPEC, RidgeSettings())
        )


def test_options_are_judged_when_made() -> None:
    for options, line in [
        ({"ridge": 0.0}, "ridge must be a number above 0, found 0"),
        ({"shared": 1}, "shared must be True or False"),
        ({"features": 3}, "features must be a function of context and arm"),
        ({"warm_start": 3}, "warm_start must be a WarmStart"),
    ]:
        with pytest.raises(BadOption, match=line):
            RidgeSettings(**options)  # type: ignore[arg-type]


def test_a_function_must_be_given_again() -> None:
    how = RidgeSettings(features=lambda *_: [1.0])

    with pytest.raises(DamagedState, match="give its function again, features="):
        RidgeSettings.restore_options(how.to_record(), None, "LinUCB")
    assert (
        RidgeSettings(**RidgeSettings.restore_options(how.to_record(), how.features, "LinUCB"))
        == how
    )
    with pytest.raises(DamagedState, match="its features were: none"):
        RidgeSettings.restore_options(RidgeSettings().to_record(), how.features, "LinUCB")


def test_a_record_is_read_back() -> None:
    how = RidgeSettings(2.0, True, None, WarmStart(table(0.0), 3))
    models = RidgeModels(SPEC, how)
    learn(models, (1,), np.array([1.0, 0.0, 1.0]))

    assert (
        RidgeSettings(**RidgeSettings.restore_options(how.to_record(), None, "LinUCB")) == how
    )
    assert models.restore(models.to_record(), SPEC).to_record() == models.to_record()
    with pytest.raises(ValueError, match="do not fit"):
        models.restore([[None, [[1.0]], [1.0, 2.0], [[1.0]], [1.0]]], SPEC)


def test_arms_without_an_estimate_start_alike_and_part_when_learned() -> None:
    """Arms that come and go take no room until something is learned of them."""
    models, x = RidgeModels(SPEC, RidgeSettings(ridge=2.0)), np.array([1.0, 0.0, 1.0])
    slots = {models.find_slot((i,), 3) for i in range(100)}

    learn(models, (1,), x)

    assert slots == {0}
    assert models.stack is not None
    assert models.find_slot((1,), 3) == models.stack.block
    assert models.get_model((0,), 3).b.tolist() == [0.0, 0.0, 0.0]


def test_until_a_reward_features_may_change_their_length() -> None:
    models = RidgeModels(SPEC, RidgeSettings(features=lambda context, _: [1.0] * len(context)))
    ranked_arms = PriorBounds().rank(SPEC.arms, (), held=True)

    first = models.get_features((5, 5), ranked_arms)
    again = (
        models.get_features((5, 5, 5), ranked_arms),
        models.get_features((5, 5), ranked_arms),
    )

    assert [features.n_features for features in (first, *again)] == [2, 3, 2]
    assert models.stack is not None
    assert models.stack.n_features == 2
    learn(models, (0,), np.ones(2))
    with pytest.raises(BadFeatures, match="are 3 numbers, and this policy learns 2"):
        models.get_features((5, 5, 5), ranked_arms)


def test_models_of_other_lengths_are_no_record() -> None:
    models = RidgeModels(SPEC, RidgeSettings())
    one = [[1.0]], [1.0], [[1.0]], [1.0]
    two = [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]

    with pytest.raises(ValueError, match="do not fit"):
        models.restore([[[0], *one], [[1], *two]], SPEC)


def test_a_context_met_before_is_pointed_to_the_models_that_are_there_now() -> None:
    """Nobody named the variables, so a context may be of any length until one is learned."""
    models = RidgeModels(BanditSpec(((0,), (1,)), ((0, 1),)), RidgeSettings())
    ranked_arms = PriorBounds().rank(((0,), (1,)), (), held=True)
    first = models.get_features((5,), ranked_arms)
    models.get_features((5, 5), ranked_arms)

    again = models.get_features((5,), ranked_arms)

    assert again is first
    assert again.stack is models.stack
    assert models.stack is not None
    assert models.stack.size == 1


@pytest.mark.parametrize("shared", [False, True])
def test_a_decision_is_learned_alike_by_its_row_and_by_its_features(shared: bool) -> None:
    """Bit for bit: where it was made its row is at hand, elsewhere only what it says."""
    at_hand, told = (
        LinUCB(arms=[0, 1, 2], context=["U", "V"], shared=shared) for _ in range(2)
    )
    rng = np.random.default_rng(0)
    for _ in range(60):
        decision = at_hand.decide((rng.random(), rng.random()))
        reward = float(rng.random())
        at_hand.learn(decision, reward)
        told.learn(Decision.from_json(decision.to_json()), reward)

    assert at_hand.statistics.to_record() == told.statistics.to_record()


def test_a_row_of_another_policy_is_read_by_its_features() -> None:
    """The models of one policy are no place for the rows of another."""
    one, two = (LinUCB(arms=[0], features=lambda *_: [1.0, 2.0]) for _ in range(2))
    three = LinUCB(arms=[0], features=lambda *_: [1.0])
    three.learn(three.decide(), 1.0)

    decision = one.decide()
    two.learn(decision, 1.0)

    assert two.statistics.get_model((0,), 2).b.tolist() == [1.0, 2.0]
    with pytest.raises(BadFeatures, match="are 2 numbers, and this policy learns 1"):
        three.learn(decision, 1.0)


def test_models_are_carried_over_to_more_levels() -> None:
    """As if rows had been written over all levels from the start, warm start included."""
    old, new = (
        BanditSpec((("b",), ("c",)), (levels,), ("U",), ((0, 1),))
        for levels in (("b", "c"), ("a", "b", "c"))
    )
    for shared in (False, True):
        models, always = (RidgeModels(s, RidgeSettings(2.0, shared)) for s in (old, new))
        for arm in "bcbb":
            for made in (models, always):
                x = made.encoding.encode((1,), (arm,)).tolist()
                made.take(Decision("", (arm,), (1,), tuple(x), {}), 0.5)

        wide = models.widen(new)

        assert models.widen(old) is models
        for key in always.learned_slots:
            one, two = wide.get_learned(key), always.get_learned(key)
            assert one is not None
            assert two is not None
            for part in ("A", "b", "inverse", "theta"):
                assert np.allclose(getattr(one, part), getattr(two, part), atol=1e-12)


def test_models_of_own_features_are_carried_over_as_they_are() -> None:
    models = RidgeModels(SPEC, RidgeSettings(features=lambda *_: [1.0, 2.0]))
    learn(models, (0,), np.array([1.0, 2.0]))

    wide = models.widen(BanditSpec(((0,), ("x",)), ((0, "x"),), ("U",), ((0, 1),)))

    assert wide.to_record() == models.to_record()


def test_untrained_models_take_any_levels() -> None:
    models = RidgeModels(SPEC, RidgeSettings())
    words = BanditSpec((("x",),), (("x", "y"),), ("U",), ((0, 1),))

    assert models.widen(words).n_features is None
    learn(models, (0,), np.array([1.0, 0.0, 1.0]))
    with pytest.raises(ForeignBounds, match="for other levels"):
        models.widen(words)
