import numpy as np
import pytest

from boundit.bandit.decision import Decision
from boundit.bandit.errors import BadFeatures, BadOption, CannotMerge, DamagedState
from boundit.bandit.learned.features import Vector
from boundit.bandit.learned.ridge_models import RidgeModels, RidgeSettings
from boundit.bandit.learned.warm_start import WarmStart
from boundit.bandit.policies.lin_ucb import LinUCB
from boundit.bandit.prior.bounds import PriorBounds
from boundit.bandit.spec import BanditSpec
from boundit.terms.bound import Arm
from tests.bandit.all_policies import table

SCENE = BanditSpec(((0,), (1,)), ((0, 1),), ("U",), ((0, 1),))


def learn(book: RidgeModels, arm: Arm, x: Vector) -> None:
    book.take(Decision("", arm, (), tuple(x.tolist()), {}), 1.0)


def test_a_model_for_each_arm_or_one_for_all() -> None:
    x = np.array([1.0, 0.0, 1.0])
    apart, together = (
        RidgeModels(SCENE, RidgeSettings(shared=shared)) for shared in (False, True)
    )
    for book in (apart, together):
        learn(book, (1,), x)

    assert apart.model((0,), 3).mean(x) == 0.0
    assert together.model((0,), 3).mean(x) == together.model((1,), 3).mean(x) > 0


def test_features_keep_their_length() -> None:
    book = RidgeModels(
        SCENE, RidgeSettings(features=lambda context, _: [1.0] * (1 + len(context)))
    )
    learn(book, (0,), book.vector((), (0,)))

    with pytest.raises(BadFeatures, match="are 2 numbers, and this policy learns 1"):
        book.vector((5,), (0,))


def test_other_ways_of_learning_do_not_add_up() -> None:
    with pytest.raises(CannotMerge, match="other features, ridge or warm start"):
        RidgeModels(SCENE, RidgeSettings(ridge=2.0)).join(
            RidgeModels(SCENE, RidgeSettings()), RidgeModels(SCENE, RidgeSettings())
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
        RidgeSettings.given(how.to_record(), None, "LinUCB")
    assert RidgeSettings(**RidgeSettings.given(how.to_record(), how.features, "LinUCB")) == how
    with pytest.raises(DamagedState, match="its features were: none"):
        RidgeSettings.given(RidgeSettings().to_record(), how.features, "LinUCB")


def test_a_record_is_read_back() -> None:
    how = RidgeSettings(2.0, True, None, WarmStart(table(0.0), 3))
    book = RidgeModels(SCENE, how)
    learn(book, (1,), np.array([1.0, 0.0, 1.0]))

    assert RidgeSettings(**RidgeSettings.given(how.to_record(), None, "LinUCB")) == how
    assert book.restore(book.to_record(), SCENE).to_record() == book.to_record()
    with pytest.raises(ValueError, match="do not fit"):
        book.restore([[None, [[1.0]], [1.0, 2.0], [[1.0]], [1.0]]], SCENE)


def test_arms_without_an_estimate_start_alike_and_part_when_learned() -> None:
    """Arms that come and go take no room until something is learned of them."""
    book, x = RidgeModels(SCENE, RidgeSettings(ridge=2.0)), np.array([1.0, 0.0, 1.0])
    slots = {book.slot((i,), 3) for i in range(100)}

    learn(book, (1,), x)

    assert slots == {0}
    assert book.stack is not None
    assert book.slot((1,), 3) == book.stack.block
    assert book.model((0,), 3).b.tolist() == [0.0, 0.0, 0.0]


def test_until_a_reward_features_may_change_their_length() -> None:
    book = RidgeModels(SCENE, RidgeSettings(features=lambda context, _: [1.0] * len(context)))
    lineup = PriorBounds().rank(SCENE.arms, (), held=True)

    first = book.sight((5, 5), lineup)
    again = book.sight((5, 5, 5), lineup), book.sight((5, 5), lineup)

    assert [sight.n_features for sight in (first, *again)] == [2, 3, 2]
    assert book.stack is not None
    assert book.stack.n_features == 2
    learn(book, (0,), np.ones(2))
    with pytest.raises(BadFeatures, match="are 3 numbers, and this policy learns 2"):
        book.sight((5, 5, 5), lineup)


def test_models_of_other_lengths_are_no_record() -> None:
    book = RidgeModels(SCENE, RidgeSettings())
    one = [[1.0]], [1.0], [[1.0]], [1.0]
    two = [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]

    with pytest.raises(ValueError, match="do not fit"):
        book.restore([[[0], *one], [[1], *two]], SCENE)


def test_a_context_met_before_is_pointed_to_the_models_that_are_there_now() -> None:
    """Nobody named the variables, so a context may be of any length until one is learned."""
    book = RidgeModels(BanditSpec(((0,), (1,)), ((0, 1),)), RidgeSettings())
    lineup = PriorBounds().rank(((0,), (1,)), (), held=True)
    first = book.sight((5,), lineup)
    book.sight((5, 5), lineup)

    again = book.sight((5,), lineup)

    assert again is first
    assert again.stack is book.stack
    assert book.stack is not None
    assert book.stack.size == 1


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

    assert two.statistics.model((0,), 2).b.tolist() == [1.0, 2.0]
    with pytest.raises(BadFeatures, match="are 2 numbers, and this policy learns 1"):
        three.learn(decision, 1.0)
