import copy

import pytest

from boundit.bandit.errors import BadFeatures
from boundit.bandit.kernels.score_table import LIN_UCB_VERSION, STATISTICS, UPPER
from boundit.bandit.learned.feature_cache import FeatureCache
from boundit.bandit.learned.features import FeatureEncoding
from boundit.bandit.learned.ridge_stack import RidgeStack
from boundit.bandit.ranked_arms import RankedArm, RankedArms
from boundit.bandit.spec import BanditSpec

SCENE = BanditSpec((("a", 1), ("c", 0)), (("c", "a", "b"), (0, 1)), ("Device", "Age"), ((), ()))
LINEUP = RankedArms.of([RankedArm(("a", 1), 0, 1, 0), RankedArm(("c", 0), 0, 1, 1)])


def test_rows_are_those_of_the_encoding_in_the_order_of_the_lineup() -> None:
    encoding = FeatureEncoding.of(SCENE)
    backwards = RankedArms(reversed(LINEUP))
    for lineup in (LINEUP, backwards):
        sight = FeatureCache(encoding).of((3, 0.5), lineup)
        for i, entrant in enumerate(lineup):
            expected = encoding.vector((3, 0.5), entrant.arm).tolist()
            assert list(sight.row(i)) == expected
            assert sight.x.reshape(2, -1)[i].tolist() == expected + [0.0] * 2


def test_a_context_is_looked_at_once_while_its_arms_are_the_same() -> None:
    sights = FeatureCache(FeatureEncoding.of(SCENE))
    first = sights.of((3, 0.5), LINEUP)

    assert sights.of((3, 0.5), LINEUP) is first
    assert sights.of((3, 0.5), RankedArms(LINEUP)) is not first
    assert copy.deepcopy(sights).of((3, 0.5), LINEUP) is not first


def test_a_function_of_ones_own_is_asked_each_time() -> None:
    """It may know the hour, or what is in stock."""
    asked = []

    def own(_: object, arm: tuple[object, ...]) -> list[float]:
        asked.append(arm)
        return [float(len(asked))]

    sights = FeatureCache(FeatureEncoding.of(SCENE, own))

    assert [sights.of((3, 0.5), LINEUP).row(1) for _ in range(2)] == [(2.0,), (4.0,)]


def test_memory_is_bounded() -> None:
    sights = FeatureCache(FeatureEncoding.of(SCENE))
    for i in range(20_000):
        sights.of((i, 0.5), LINEUP)

    assert len(sights._known) * 64 <= 2**19


def test_all_arms_must_have_as_many_numbers() -> None:
    ragged = FeatureEncoding.of(SCENE, lambda _, arm: [1.0] * (2 if arm[1] else 3))
    bare = FeatureEncoding.of(BanditSpec())

    with pytest.raises(BadFeatures, match=r"are 3 numbers, and those of arm \('a', 1\) 2"):
        FeatureCache(ragged).of((), LINEUP)
    with pytest.raises(BadFeatures, match="are 2 numbers, and those of arm"):
        FeatureCache(bare).of(
            (), RankedArms.of([RankedArm((1,), 0, 1, 0), RankedArm((1, 2), 0, 1, 1)])
        )


def test_slots_are_known_until_something_new_is_learned() -> None:
    sight, stack = FeatureCache(FeatureEncoding.of(SCENE)).of((3, 0.5), LINEUP), RidgeStack(6)
    sight.sheet[:, LIN_UCB_VERSION] = 5
    sight.point(stack, [0, 1], 2)

    assert sight.points(LINEUP, stack, 2)
    assert not sight.points(LINEUP, stack, 3)
    assert not sight.points(LINEUP, RidgeStack(6), 2)
    assert sight.sheet[:, LIN_UCB_VERSION].tolist() == [-1, -1]
    assert sight.sheet[:, STATISTICS].tolist() == [0, 1]


def test_when_only_ends_moved_the_rows_stay() -> None:
    """Living bounds move often; the features of their arms do not."""
    sights = FeatureCache(FeatureEncoding.of(SCENE))
    moved = RankedArms(e._replace(upper=0.5) for e in LINEUP)
    first = sights.of((3, 0.5), LINEUP)

    assert sights.of((3, 0.5), moved).x is first.x
    assert sights.of((3, 0.5), moved).sheet[:, UPPER].tolist() == [0.5, 0.5]
    assert sights.of((3, 0.5), RankedArms(reversed(LINEUP))).x is not first.x


def test_contexts_of_another_length_have_rows_of_their_own() -> None:
    """Nobody named the variables; the arms stand behind whatever came."""
    sights = FeatureCache(FeatureEncoding.of(BanditSpec()))
    lineup = RankedArms.of([RankedArm((7,), 0, 1, 0), RankedArm((8,), 0, 1, 1)])

    for context in ((), (2,), (3, 4), (5,), ()):
        rows = [sights.of(context, lineup).row(i) for i in range(2)]
        assert rows == [(1.0, *context, 7.0), (1.0, *context, 8.0)]
